import { createReadStream, createWriteStream } from 'node:fs';
import { lstat, mkdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { pipeline } from 'node:stream/promises';
import { fileDefinitions } from '../../data-transfer/file-definitions.ts';
import { isRecordKey, toContentType } from '../../storage/keys.ts';
import type { Storage } from '../../storage/storage.ts';

/** Subfolder of an export with the files that its rows refer to, each under its storage key. */
const FILES = 'files';
/** Imported documents may be larger than uploads. */
const MAX_FILE_BYTES = 1024 ** 3;

/** Copies the files that the exported rows refer to into the folder. Returns their number. */
export async function exportStoredFiles(storage: Storage, folder: string): Promise<number> {
  const keys = await collectStorageKeys(folder);
  for (const key of keys) {
    const found = await storage.byteStore.open(key);
    if (!found) throw new Error(`${key}, which the export refers to, is not in the storage.`);
    const path = join(folder, FILES, key);
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    await pipeline(found.stream, createWriteStream(path, { mode: 0o600, flush: true }));
  }
  return keys.size;
}

/**
 * Copies the files that the folder's rows refer to into the storage, and replaces none that is stored: a folder must not change the
 * objects of other records. Returns a predicate: whether a key of the folder's rows is stored.
 */
export async function importStoredFiles(storage: Storage, folder: string): Promise<(key: string) => boolean> {
  const present = new Set<string>();
  for (const key of await collectStorageKeys(folder)) {
    if (!isRecordKey(key)) continue;
    const path = join(folder, FILES, key);
    const isStored = (await storage.byteStore.stat(key)) !== null;
    const isGiven = !isStored && (await lstat(path).catch(() => null))?.isFile();
    if (isGiven) await storage.store(key, createReadStream(path), toContentType(key), MAX_FILE_BYTES);
    if (isStored || isGiven) present.add(key);
  }
  return (key) => present.has(key);
}

/** Collects the storage keys in the rows of the folder. Invalid rows are skipped; the import reports them. */
async function collectStorageKeys(folder: string): Promise<Set<string>> {
  const keys = new Set<string>();
  for (const { file, storageKeys } of fileDefinitions) {
    if (!storageKeys) continue;
    const path = join(folder, `${file}.ndjson`);
    if (!(await stat(path).catch(() => null))) continue;
    for await (const line of createInterface({ input: createReadStream(path), crlfDelay: Number.POSITIVE_INFINITY })) {
      const row = parseRow(line);
      for (const property of Object.keys(storageKeys)) if (typeof row[property] === 'string') keys.add(row[property]);
    }
  }
  return keys;
}

function parseRow(line: string): Record<string, unknown> {
  try {
    return (JSON.parse(line) ?? {}) as Record<string, unknown>;
  } catch {
    return {};
  }
}
