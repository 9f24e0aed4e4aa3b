import { createReadStream, createWriteStream, type Dirent } from 'node:fs';
import { mkdir, readdir, stat } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import { createInterface } from 'node:readline';
import { pipeline } from 'node:stream/promises';
import { resources } from '../../data-transfer/resources.ts';
import { contentTypeOfKey, isStorageKey } from '../../storage/keys.ts';
import type { Storage } from '../../storage/storage.ts';

/** Folder of an export that holds the bytes which its rows name, each under its key. */
const FILES = 'files';
/** Documents that an operator brings may be larger than uploads. */
const MAX_FILE_BYTES = 1024 ** 3;

/** Copies the bytes that the exported rows name; answers how many files that are. */
export async function exportFiles(storage: Storage, folder: string): Promise<number> {
  const keys = await namedKeys(folder);
  for (const key of keys) {
    const found = await storage.bytes.open(key);
    if (!found) throw new Error(`${key}, which the export names, is not in the storage.`);
    const path = join(folder, FILES, key);
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    await pipeline(found.stream, createWriteStream(path, { mode: 0o600, flush: true }));
  }
  return keys.size;
}

/** Brings the folder's files into the storage, and tells which of the keys that the rows name have bytes there. */
export async function importFiles(storage: Storage, folder: string): Promise<(key: string) => boolean> {
  for (const path of await filesUnder(join(folder, FILES))) {
    const key = relative(join(folder, FILES), path).split(sep).join('/');
    if (!isStorageKey(key) || key.startsWith('uploads/')) continue;
    const { size } = await stat(path);
    if ((await storage.bytes.stat(key))?.size === size) continue;
    await storage.keep(key, createReadStream(path), contentTypeOfKey(key), MAX_FILE_BYTES);
  }
  const present = new Set<string>();
  for (const key of await namedKeys(folder)) if (isStorageKey(key) && (await storage.bytes.stat(key))) present.add(key);
  return (key) => present.has(key);
}

/** Every key of stored bytes in the rows of the folder. What is no row is for the import to refuse. */
async function namedKeys(folder: string): Promise<Set<string>> {
  const keys = new Set<string>();
  for (const { file, files } of resources) {
    if (!files) continue;
    const path = join(folder, `${file}.ndjson`);
    if (!(await stat(path).catch(() => null))) continue;
    for await (const line of createInterface({ input: createReadStream(path), crlfDelay: Number.POSITIVE_INFINITY })) {
      const row = parsed(line);
      for (const property of Object.keys(files)) if (typeof row[property] === 'string') keys.add(row[property]);
    }
  }
  return keys;
}

function parsed(line: string): Record<string, unknown> {
  try {
    return (JSON.parse(line) ?? {}) as Record<string, unknown>;
  } catch {
    return {};
  }
}

async function filesUnder(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch((): Dirent[] => []);
  const nested = entries.map((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return filesUnder(path);
    return entry.isFile() ? [path] : [];
  });
  return (await Promise.all(nested)).flat();
}
