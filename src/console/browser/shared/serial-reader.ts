/** Runs a read for requests, one run at a time. Requests during a run share the run that follows it. */
export class SerialReader {
  readonly #read: (reader: SerialReader) => Promise<void>;
  #running = false;
  #requested = false;
  #stopped = false;

  /** @param read must not reject. */
  constructor(read: (reader: SerialReader) => Promise<void>) {
    this.#read = read;
  }

  get stopped(): boolean {
    return this.#stopped;
  }

  /** Starts a run, or another one after that which is under way: a read of many pages finishes, also where records change all the time. */
  async request(): Promise<void> {
    this.#requested = true;
    if (this.#running) return;
    this.#running = true;
    while (this.#requested && !this.#stopped) {
      this.#requested = false;
      await this.#read(this);
    }
    this.#running = false;
  }

  stop(): void {
    this.#stopped = true;
  }
}
