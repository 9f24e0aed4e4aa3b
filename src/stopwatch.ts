/** Where the time of a start goes, phase after phase since the process began. */
export class Stopwatch {
  readonly #phases: [name: string, milliseconds: number][] = [];
  #since = 0;

  /** Ends a phase, which began with the end of the one before. */
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
