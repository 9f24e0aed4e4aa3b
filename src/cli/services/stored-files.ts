import { randomBytes } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { lstat, mkdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { type ExportOptions, exportFolder } from '../../data-transfer/export.ts';
import { fileDefinitions } from '../../data-transfer/file-definitions.ts';
import { LineSplitter } from '../../data-transfer/line-splitter.ts';
import { isRecordKey, toContentType } from '../../storage/keys.ts';
import type { Storage } from '../../storage/storage.ts';

/** Subfolder of an export with the files that its rows refer to, each under its storage key. */
const FILES = 'files';
/** Imported documents may be larger than uploads. */
const MAX_FILE_BYTES = 1024 ** 3;

/**
 * Exports records to the folder with the files that they refer to. The records are renamed last: a folder with the records of a killed
 * export has their files too.
 */
export async function exportWithStoredFiles(
  database: Parameters<typeof exportFolder>[0],
  storage: Storage,
  folder: string,
  options: ExportOptions,
) {
  let storedFiles = 0;
  const beforeRename = async (toPath: (file: string) => string) => {
    storedFiles = await exportStoredFiles(storage, folder, toPath);
  };
  const exported = await exportFolder(database, folder, { ...options, beforeRename });
  return { ...exported, storedFiles };
}

async function exportStoredFiles(storage: Storage, folder: string, toPath: (file: string) => string): Promise<number> {
  const keys = await collectStorageKeys(toPath);
  const mark = randomBytes(6).toString('hex');
  for (const key of keys) {
    const found = await storage.byteStore.open(key);
    if (!found) throw new Error(`${key}, which the export refers to, is not in the storage.`);
    const path = join(folder, FILES, key);
    const draft = `${path}.${mark}.part`;
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    try {
      await pipeline(found.stream, createWriteStream(draft, { mode: 0o600, flush: true }));
      await rename(draft, path);
    } catch (error) {
      await rm(draft, { force: true });
      throw error;
    }
  }
  return keys.size;
}

/**
 * Copies the files that the folder's rows refer to into the storage, and replaces none that is stored: a folder must not change the
 * objects of other records. Returns a predicate: whether a key of the folder's rows is stored.
 */
export async function importStoredFiles(storage: Storage, folder: string): Promise<(key: string) => boolean> {
  const present = new Set<string>();
  for (const key of await collectStorageKeys((file) => join(folder, file))) {
    if (!isRecordKey(key)) continue;
    const path = join(folder, FILES, key);
    const isStored = (await storage.byteStore.stat(key)) !== null;
    const isGiven = !isStored && (await lstat(path).catch(() => null))?.isFile();
    if (isGiven) await storage.store(key, createReadStream(path), toContentType(key), MAX_FILE_BYTES);
    if (isStored || isGiven) present.add(key);
  }
  return (key) => present.has(key);
}

/** Collects the storage keys in the rows of the files. Invalid rows are skipped; the import reports them. */
async function collectStorageKeys(toPath: (file: string) => string): Promise<Set<string>> {
  const keys = new Set<string>();
  for (const { file, storageKeys } of fileDefinitions) {
    if (!storageKeys) continue;
    const path = toPath(`${file}.ndjson`);
    if (!(await stat(path).catch(() => null))) continue;
    const splitter = new LineSplitter({
      line(bytes) {
        const row = parseRow(bytes.toString());
        for (const property of Object.keys(storageKeys)) if (typeof row[property] === 'string') keys.add(row[property]);
      },
      onOverlongLine: () => undefined,
    });
    for await (const chunk of createReadStream(path)) splitter.push(chunk);
    splitter.end();
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
