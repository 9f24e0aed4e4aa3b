import type { BigIntStats } from 'node:fs';
import { link, mkdir, open, readdir, rename, rm, rmdir, stat } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import type { RegionId } from '../shared/regions.ts';
import type { ByteRange, ByteStore, PutOnceOutcome, StoredObject, UploadUrlOptions } from './byte-store.ts';
import { hasSameBytes } from './compare-files.ts';
import { isStorageKey } from './keys.ts';
import { giveFolderToOwner, giveToOwner } from './owned-folder.ts';
import type { UrlSigner } from './url-signer.ts';

const isNotFound = (error: unknown) => ['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '');

/** Returns the result, or null where the file or folder does not exist. */
const nullIfMissing = <T>(work: Promise<T>): Promise<T | null> =>
  work.catch((error) => {
    if (isNotFound(error)) return null;
    throw error;
  });

/** Attempts to write into a folder that is deleted again and again. */
const MAX_ATTEMPTS = 10;

const FOLDER = { recursive: true, mode: 0o700 } as const;

/** Stores objects as files in a folder. Clients upload to the service's own signed URLs. */
export class LocalStore implements ByteStore {
  readonly #folder: string;
  readonly #region: RegionId;
  readonly #signer: UrlSigner;

  constructor(options: { folder: string; region: RegionId; signer: UrlSigner }) {
    this.#folder = join(options.folder, options.region);
    this.#region = options.region;
    this.#signer = options.signer;
  }

  async presignUpload(key: string, { expiresInSeconds, ...terms }: UploadUrlOptions): Promise<string> {
    return this.#signer.sign({ method: 'PUT', region: this.#region, key, ...terms }, expiresInSeconds);
  }

  async put(key: string, path: string): Promise<void> {
    const target = this.toLocalPath(key);
    await giveToOwner(path);
    await this.#withFolder(dirname(target), () => rename(path, target));
    await syncFolder(dirname(target));
  }

  /** `link` fails when the target exists, on a shared folder too; `rename` would replace it. */
  async putOnce(key: string, path: string): Promise<PutOnceOutcome> {
    const target = this.toLocalPath(key);
    await giveToOwner(path);
    try {
      await this.#withFolder(dirname(target), () => link(path, target));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      return (await hasSameBytes(path, target)) ? 'same' : 'conflict';
    }
    await syncFolder(dirname(target));
    return 'stored';
  }

  /** Creates a hard link: a later upload replaces the file of the source's name and not the linked bytes. */
  async copy(from: string, to: string): Promise<string | null> {
    const target = this.toLocalPath(to);
    try {
      // Linking fails when an upload replaces the source concurrently, and is tried again with the new file.
      await this.#withFolder(dirname(target), () => link(this.toLocalPath(from), target));
    } catch (error) {
      if (isNotFound(error) && !(await this.stat(from))) return null;
      throw error;
    }
    await syncFolder(dirname(target));
    return toVersion(await stat(target, { bigint: true }));
  }

  async open(key: string, range?: ByteRange) {
    const file = await nullIfMissing(open(this.toLocalPath(key), 'r'));
    if (!file) return null;
    if (range) {
      const { first: start, last: end } = range;
      return { stream: file.createReadStream({ start, end }), size: end - start + 1 };
    }
    const { size } = await file.stat();
    return { stream: file.createReadStream(), size };
  }

  async stat(key: string): Promise<StoredObject | null> {
    const found = await nullIfMissing(stat(this.toLocalPath(key), { bigint: true }));
    if (!found?.isFile()) return null;
    const modifiedAt = Math.max(Number(found.mtimeMs), Number(found.ctimeMs));
    return { key, size: Number(found.size), modifiedAt, version: toVersion(found) };
  }

  toLocalPath(key: string): string {
    if (!isStorageKey(key)) throw new Error(`"${key}" is no valid object key.`);
    return join(this.#folder, key);
  }

  async remove(keys: readonly string[]): Promise<void> {
    for (const key of keys) {
      const path = this.toLocalPath(key);
      await rm(path, { force: true });
      await removeIfEmpty(dirname(path));
    }
  }

  async *list(prefix: string): AsyncGenerator<StoredObject> {
    yield* this.#listFolder(join(this.#folder, prefix));
  }

  /** One folder at a time: each photo has a folder of its renditions. */
  async *#listFolder(folder: string): AsyncGenerator<StoredObject> {
    for (const entry of (await nullIfMissing(readdir(folder, { withFileTypes: true }))) ?? []) {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) yield* this.#listFolder(path);
      const key = relative(this.#folder, path).split(sep).join('/');
      const found = entry.isFile() && isStorageKey(key) ? await this.stat(key) : null;
      if (found) yield found;
    }
  }

  /** Creates the folder and runs the work, again where `remove` deletes the empty folder or one of its parents in between. */
  async #withFolder(folder: string, work: () => Promise<void>): Promise<void> {
    let firstCreated: string | undefined;
    try {
      for (let attempt = 1; ; attempt++) {
        try {
          firstCreated = (await mkdir(folder, FOLDER)) ?? firstCreated;
          return await work();
        } catch (error) {
          if (attempt === MAX_ATTEMPTS || !isNotFound(error)) throw error;
        }
      }
    } finally {
      await nullIfMissing(giveFolderToOwner(folder, firstCreated));
      await syncCreated(folder, firstCreated);
    }
  }
}

/** Hard links of a file have the same version. */
const toVersion = ({ ino, mtimeNs }: BigIntStats): string => `${ino}-${mtimeNs}`;

/** Syncs the parent of each folder that was created, from the first one on, so that they survive a crash. */
async function syncCreated(folder: string, first: string | undefined): Promise<void> {
  if (first === undefined) return;
  for (let created = folder; created.length >= first.length; created = dirname(created)) {
    await syncFolder(dirname(created));
  }
}

async function removeIfEmpty(folder: string): Promise<void> {
  try {
    await rmdir(folder);
  } catch (error) {
    if (!isNotFound(error) && !['ENOTEMPTY', 'EEXIST'].includes((error as NodeJS.ErrnoException).code ?? ''))
      throw error;
  }
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
