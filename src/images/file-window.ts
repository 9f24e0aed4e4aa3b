import type { FileHandle } from 'node:fs/promises';
import { BadImage } from './types.ts';

const WINDOW_BYTES = 256 * 1024;

/** Reads a file from its start through a buffer of fixed size, so that a file of any size is walked in little memory. */
export class FileWindow {
  readonly #file: FileHandle;
  readonly #buffer = Buffer.allocUnsafe(WINDOW_BYTES);
  #start = 0;
  #end = 0;

  constructor(file: FileHandle) {
    this.#file = file;
  }

  /** Whether the byte can be read without a call of the file system. */
  holds(position: number): boolean {
    return position >= this.#start && position < this.#end;
  }

  /** A byte that the window holds. */
  byteAt(position: number): number {
    return this.#buffer[position - this.#start]!;
  }

  /**
   * The bytes there, valid until the next call.
   *
   * @param length at most 256 KiB. Throws `BadImage` where the file ends before.
   */
  async read(position: number, length: number): Promise<Buffer> {
    if (position < this.#start || position + length > this.#end) await this.#fill(position);
    const from = position - this.#start;
    if (position + length > this.#end) throw new BadImage('is truncated');
    return this.#buffer.subarray(from, from + length);
  }

  async #fill(position: number): Promise<void> {
    this.#start = position;
    this.#end = position;
    while (this.#end - position < WINDOW_BYTES) {
      const held = this.#end - position;
      const { bytesRead } = await this.#file.read(this.#buffer, held, WINDOW_BYTES - held, this.#end);
      if (bytesRead === 0) return;
      this.#end += bytesRead;
    }
  }
}
