import { randomBytes } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { paceChunk } from '../limits/paced-chunks.ts';
import { giveFolderToOwner } from './owned-folder.ts';

/** A stream with more bytes than allowed. */
export class SizeLimitError extends Error {
  override name = 'SizeLimitError';
}

export interface SpooledFile {
  path: string;
  size: number;
}

/** Folder of temporary files for uploads and downloads. The sweep removes those of killed processes. */
export class Spool {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Returns a unique path for a new file. */
  async createPath(): Promise<string> {
    await giveFolderToOwner(this.#folder, await mkdir(this.#folder, { recursive: true, mode: 0o700 }));
    return join(this.#folder, randomBytes(12).toString('hex'));
  }

  /**
   * Writes the stream to a file and syncs it. Removes the file and throws on errors; `SizeLimitError` for more than `limit` bytes.
   *
   * @param options.shareKey Share with which the chunks are received in turn with those of others (LIM-29).
   */
  async receive(
    stream: Readable | AsyncIterable<Buffer>,
    limit: number,
    { signal, shareKey = '' }: { signal?: AbortSignal; shareKey?: string } = {},
  ): Promise<SpooledFile> {
    const path = await this.createPath();
    let size = 0;
    const count: Transform = new Transform({
      transform(chunk: Buffer, _encoding, done) {
        size += chunk.length;
        if (size > limit) done(new SizeLimitError(`More than ${limit} bytes.`));
        else paceChunk(count, shareKey, () => done(null, chunk));
      },
    });
    try {
      const file = createWriteStream(path, { flags: 'wx', mode: 0o600, flush: true });
      await pipeline(stream, count, file, { signal });
      return { path, size };
    } catch (error) {
      await this.discard(path);
      throw error;
    }
  }

  async discard(path: string): Promise<void> {
    await rm(path, { force: true });
  }

  /** Removes files last modified before the time in milliseconds since the epoch, and returns their number. */
  async removeOlderThan(before: number): Promise<number> {
    const names = await readdir(this.#folder).catch(() => []);
    let removed = 0;
    for (const name of names) {
      const found = await stat(join(this.#folder, name)).catch(() => null);
      if (!found || found.mtimeMs >= before) continue;
      await this.discard(join(this.#folder, name));
      removed++;
    }
    return removed;
  }
}
