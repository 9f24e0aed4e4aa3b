import type { FileHandle } from 'node:fs/promises';
import { BadImage } from './types.ts';

export const WINDOW_BYTES = 256 * 1024;

/** Reads a file through a buffer of fixed size. */
export class FileWindow {
  readonly #file: FileHandle;
  readonly #buffer = Buffer.allocUnsafe(WINDOW_BYTES);
  #start = 0;
  #end = 0;

  constructor(file: FileHandle) {
    this.#file = file;
  }

  /** Whether the byte is in the buffer. */
  holds(position: number): boolean {
    return position >= this.#start && position < this.#end;
  }

  /** Returns a byte of the buffer. */
  byteAt(position: number): number {
    return this.#buffer[position - this.#start]!;
  }

  /**
   * Returns the bytes at the position. They are valid until the next call.
   *
   * @param length at most 256 KiB
   * @throws `BadImage` when the file ends before
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
      const bufferedBytes = this.#end - position;
      const { bytesRead } = await this.#file.read(this.#buffer, bufferedBytes, WINDOW_BYTES - bufferedBytes, this.#end);
      if (bytesRead === 0) return;
      this.#end += bytesRead;
    }
  }
}
