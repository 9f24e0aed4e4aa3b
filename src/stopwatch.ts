/** Durations of the phases of a start. */
export class Stopwatch {
  readonly #phases: [name: string, milliseconds: number][] = [];
  #since = 0;

  /** Ends a phase, which began at the end of the previous one. */
  lap(name: string): void {
    const now = performance.now();
    this.#phases.push([name, now - this.#since]);
    this.#since = now;
  }

  toString(): string {
    const lines = [...this.#phases, ['total', this.#since] as const];
    return lines
      .map(([name, milliseconds]) => `  ${name.padEnd(16)}${milliseconds.toFixed(0).padStart(6)} ms\n`)
      .join('');
  }
}
