import type { BigIntStats, Dirent } from 'node:fs';
import { link, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import type { RegionId } from '../shared/regions.ts';
import type { ByteRange, ByteStore, PutOnceOutcome, StoredObject, UploadTerms } from './byte-store.ts';
import { isStorageKey } from './keys.ts';
import { hasSameBytes } from './same-bytes.ts';
import type { UrlSigner } from './signatures.ts';

const isMissing = (error: unknown) => ['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '');

/** Objects as files under one folder; clients upload to the service's own signed URLs. */
export class LocalStore implements ByteStore {
  readonly #folder: string;
  readonly #region: RegionId;
  readonly #signer: UrlSigner;

  constructor(options: { folder: string; region: RegionId; signer: UrlSigner }) {
    this.#folder = join(options.folder, options.region);
    this.#region = options.region;
    this.#signer = options.signer;
  }

  async presignUpload(key: string, { expiresInSeconds, ...terms }: UploadTerms): Promise<string> {
    return this.#signer.sign({ method: 'PUT', region: this.#region, key, ...terms }, expiresInSeconds);
  }

  async put(key: string, path: string): Promise<void> {
    const target = this.pathOf(key);
    await this.#makeFolder(dirname(target));
    await rename(path, target);
    await syncFolder(dirname(target));
  }

  /** A link is made once, on a shared folder too, where a rename would replace what is there. */
  async putOnce(key: string, path: string): Promise<PutOnceOutcome> {
    const target = this.pathOf(key);
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

  /** A second name of the same bytes: an upload that comes later replaces the first name alone, never the bytes. */
  async copy(from: string, to: string): Promise<string | null> {
    const target = this.pathOf(to);
    await this.#makeFolder(dirname(target));
    while (!(await isLinked(this.pathOf(from), target))) {
      // It finds nothing where the bytes are replaced before it has named them; those that replaced them are there.
      if (!(await this.stat(from))) return null;
      await this.#makeFolder(dirname(target));
    }
    await syncFolder(dirname(target));
    return versionOf(await stat(target, { bigint: true }));
  }

  async open(key: string, range?: ByteRange) {
    try {
      const file = await open(this.pathOf(key), 'r');
      if (range) {
        const { first: start, last: end } = range;
        return { stream: file.createReadStream({ start, end }), size: end - start + 1 };
      }
      const { size } = await file.stat();
      return { stream: file.createReadStream(), size };
    } catch (error) {
      if (isMissing(error)) return null;
      throw error;
    }
  }

  async stat(key: string): Promise<StoredObject | null> {
    try {
      const found = await stat(this.pathOf(key), { bigint: true });
      const modifiedAt = Math.max(Number(found.mtimeMs), Number(found.ctimeMs));
      return { key, size: Number(found.size), modifiedAt, version: versionOf(found) };
    } catch (error) {
      if (isMissing(error)) return null;
      throw error;
    }
  }

  pathOf(key: string): string {
    if (!isStorageKey(key)) throw new Error(`"${key}" is no key of an object.`);
    return join(this.#folder, key);
  }

  async remove(keys: readonly string[]): Promise<void> {
    for (const key of keys) await rm(this.pathOf(key), { force: true });
  }

  async *list(prefix: string): AsyncGenerator<StoredObject> {
    for (const folder of await foldersUnder(join(this.#folder, prefix))) {
      for (const entry of await entriesOf(folder)) {
        const key = relative(this.#folder, join(folder, entry.name)).split(sep).join('/');
        const found = entry.isFile() && isStorageKey(key) ? await this.stat(key) : null;
        if (found) yield found;
      }
    }
  }

  /** A folder survives a crash once its parent is synced, up to the first that was there before. */
  async #makeFolder(folder: string): Promise<void> {
    const first = await mkdir(folder, { recursive: true, mode: 0o700 });
    if (first === undefined) return;
    for (let made = folder; made.length >= first.length; made = dirname(made)) await syncFolder(dirname(made));
  }
}

/** Names of the same bytes share both. */
const versionOf = ({ ino, mtimeNs }: BigIntStats): string => `${ino}-${mtimeNs}`;

async function isLinked(existing: string, name: string): Promise<boolean> {
  try {
    await link(existing, name);
    return true;
  } catch (error) {
    if (isMissing(error)) return false;
    throw error;
  }
}

async function foldersUnder(folder: string): Promise<string[]> {
  const below = (await entriesOf(folder)).filter((entry) => entry.isDirectory());
  const nested = await Promise.all(below.map(({ name }) => foldersUnder(join(folder, name))));
  return [folder, ...nested.flat()];
}

async function entriesOf(folder: string): Promise<Dirent[]> {
  try {
    return await readdir(folder, { withFileTypes: true });
  } catch (error) {
    if (isMissing(error)) return [];
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
