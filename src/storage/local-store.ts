import type { BigIntStats, Dirent } from 'node:fs';
import { link, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import type { RegionId } from '../shared/regions.ts';
import type { ByteRange, ByteStore, PutOnceOutcome, StoredObject, UploadUrlOptions } from './byte-store.ts';
import { hasSameBytes } from './compare-files.ts';
import { isStorageKey } from './keys.ts';
import type { UrlSigner } from './url-signer.ts';

const isNotFound = (error: unknown) => ['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '');

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
    await this.#makeFolder(dirname(target));
    await rename(path, target);
    await syncFolder(dirname(target));
  }

  /** `link` fails when the target exists, on a shared folder too; `rename` would replace it. */
  async putOnce(key: string, path: string): Promise<PutOnceOutcome> {
    const target = this.toLocalPath(key);
    await this.#makeFolder(dirname(target));
    try {
      await link(path, target);
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
    await this.#makeFolder(dirname(target));
    while (!(await tryLink(this.toLocalPath(from), target))) {
      // The link fails when the source is replaced concurrently; then it is retried with the new file.
      if (!(await this.stat(from))) return null;
      await this.#makeFolder(dirname(target));
    }
    await syncFolder(dirname(target));
    return toVersion(await stat(target, { bigint: true }));
  }

  async open(key: string, range?: ByteRange) {
    try {
      const file = await open(this.toLocalPath(key), 'r');
      if (range) {
        const { first: start, last: end } = range;
        return { stream: file.createReadStream({ start, end }), size: end - start + 1 };
      }
      const { size } = await file.stat();
      return { stream: file.createReadStream(), size };
    } catch (error) {
      if (isNotFound(error)) return null;
      throw error;
    }
  }

  async stat(key: string): Promise<StoredObject | null> {
    try {
      const found = await stat(this.toLocalPath(key), { bigint: true });
      const modifiedAt = Math.max(Number(found.mtimeMs), Number(found.ctimeMs));
      return { key, size: Number(found.size), modifiedAt, version: toVersion(found) };
    } catch (error) {
      if (isNotFound(error)) return null;
      throw error;
    }
  }

  toLocalPath(key: string): string {
    if (!isStorageKey(key)) throw new Error(`"${key}" is no valid object key.`);
    return join(this.#folder, key);
  }

  async remove(keys: readonly string[]): Promise<void> {
    for (const key of keys) await rm(this.toLocalPath(key), { force: true });
  }

  async *list(prefix: string): AsyncGenerator<StoredObject> {
    for (const folder of await findFolders(join(this.#folder, prefix))) {
      for (const entry of await readEntries(folder)) {
        const key = relative(this.#folder, join(folder, entry.name)).split(sep).join('/');
        const found = entry.isFile() && isStorageKey(key) ? await this.stat(key) : null;
        if (found) yield found;
      }
    }
  }

  /** Syncs the parent of each folder that it creates, so that the folder survives a crash. */
  async #makeFolder(folder: string): Promise<void> {
    const first = await mkdir(folder, { recursive: true, mode: 0o700 });
    if (first === undefined) return;
    for (let created = folder; created.length >= first.length; created = dirname(created)) {
      await syncFolder(dirname(created));
    }
  }
}

/** Hard links of a file have the same version. */
const toVersion = ({ ino, mtimeNs }: BigIntStats): string => `${ino}-${mtimeNs}`;

/** Creates a hard link. Returns false when the existing file is missing. */
async function tryLink(existing: string, name: string): Promise<boolean> {
  try {
    await link(existing, name);
    return true;
  } catch (error) {
    if (isNotFound(error)) return false;
    throw error;
  }
}

async function findFolders(folder: string): Promise<string[]> {
  const below = (await readEntries(folder)).filter((entry) => entry.isDirectory());
  const nested = await Promise.all(below.map(({ name }) => findFolders(join(folder, name))));
  return [folder, ...nested.flat()];
}

async function readEntries(folder: string): Promise<Dirent[]> {
  try {
    return await readdir(folder, { withFileTypes: true });
  } catch (error) {
    if (isNotFound(error)) return [];
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
