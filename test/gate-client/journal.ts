import { mkdir, open, readFile } from 'node:fs/promises';
import { dirname } from 'node:path';

/** An append-only file of JSON lines. */
export class Journal<T> {
  readonly #path: string;
  readonly entries: T[] = [];
  #writing: Promise<void> = Promise.resolve();

  private constructor(path: string) {
    this.#path = path;
  }

  static async open<T>(path: string): Promise<Journal<T>> {
    const journal = new Journal<T>(path);
    await mkdir(dirname(path), { recursive: true });
    const text = await readFile(path, 'utf8').catch(() => '');
    for (const line of text.split('\n')) {
      // A power failure may leave an incomplete last line, whose append has not resolved.
      if (line.endsWith('}')) journal.entries.push(JSON.parse(line) as T);
    }
    if (text !== '' && !text.endsWith('\n')) await journal.#write('\n', false);
    return journal;
  }

  /** Appends entries. When it resolves they survive the end of this process and, with `durable`, a power failure. */
  append(entries: T[], { durable }: { durable: boolean }): Promise<void> {
    this.entries.push(...entries);
    const lines = entries.map((entry) => `${JSON.stringify(entry)}\n`).join('');
    this.#writing = this.#writing.then(() => this.#write(lines, durable));
    return this.#writing;
  }

  async #write(text: string, durable: boolean): Promise<void> {
    const file = await open(this.#path, 'a');
    try {
      await file.writeFile(text);
      if (durable) await file.datasync();
    } finally {
      await file.close();
    }
  }
}
