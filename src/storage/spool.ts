import { randomBytes } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { machineId, processStart } from '../shared/process-identity.ts';
import { passed } from './collector.ts';

/** More bytes came than were allowed. */
export class TooManyBytes extends Error {
  override name = 'TooManyBytes';
}

export interface SpooledFile {
  path: string;
  size: number;
}

/** Folder for bytes on their way: nothing in it is an object yet. The name of a file tells the process that writes it. */
export class Spool {
  readonly #folder: string;
  #owner: Promise<string> | undefined;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** A path that nobody else uses. */
  async place(): Promise<string> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    this.#owner ??= ownerName();
    return join(this.#folder, `${await this.#owner}.${randomBytes(12).toString('hex')}`);
  }

  /** Writes the stream to a file and syncs it; leaves nothing behind when it fails. At most `limit` bytes. */
  async receive(stream: Readable | AsyncIterable<Buffer>, limit: number, signal?: AbortSignal): Promise<SpooledFile> {
    const path = await this.place();
    let size = 0;
    const count = new Transform({
      transform(chunk: Buffer, _encoding, done) {
        size += chunk.length;
        passed(chunk.length);
        if (size > limit) done(new TooManyBytes(`More than ${limit} bytes.`));
        else done(null, chunk);
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

  /**
   * Removes the files of processes of this machine that are gone. Those of live processes stay, and those of other machines, which
   * may share the folder: a crash there leaves them to the other machine's next start, or to `sweep`.
   */
  async removeLeftovers(): Promise<number> {
    const machine = await machineId();
    let removed = 0;
    for (const name of await readdir(this.#folder).catch(() => [])) {
      const [writtenOn, pid, started] = name.split('.');
      if (writtenOn !== machine || (await processStart(Number(pid))) === started) continue;
      await this.discard(join(this.#folder, name));
      removed++;
    }
    return removed;
  }

  /** Removes what was last written before that instant; answers how much that was. */
  async sweep(before: number): Promise<number> {
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

/** `<machine>.<process id>.<its start time>`; a process id alone may have gone to another process since. */
const ownerName = async (): Promise<string> =>
  [await machineId(), process.pid, (await processStart(process.pid)) ?? ''].join('.');
