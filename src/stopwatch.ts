/** Prints the duration of each phase of a start when it ends. */
export class Stopwatch {
  readonly #print: (line: string) => void;
  #since = 0;

  constructor(print: (line: string) => void) {
    this.#print = print;
  }

  /** Ends a phase, which began at the end of the previous one. */
  lap(name: string): void {
    const now = performance.now();
    this.#write(name, now - this.#since);
    this.#since = now;
  }

  /** Prints the time since the start of the process. */
  end(): void {
    this.#write('total', performance.now());
  }

  #write(name: string, milliseconds: number): void {
    this.#print(`  ${name.padEnd(16)}${milliseconds.toFixed(0).padStart(6)} ms`);
  }
}
