import { createReadStream } from 'node:fs';
import type { Readable } from 'node:stream';
import { type ExportOptions, exportFolder } from '../../data-transfer/export.ts';
import { type FileDefinition, fileDefinitions, isOwnKey } from '../../data-transfer/file-definitions.ts';
import { type Row, readRows } from '../../data-transfer/read-lines.ts';
import type { Folder } from '../../shared/folder.ts';
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
  const beforeRename: ExportOptions['beforeRename'] = async (target, drafts) => {
    const keys = new Set<string>();
    await readStorageKeys(
      async (file) => createReadStream(drafts.get(file)!.path),
      (key) => keys.add(key),
    );
    for (const key of keys) {
      const found = await storage.byteStore.open(key);
      if (!found) throw new Error(`${key}, which the export refers to, is not in the storage.`);
      await target.writeFile(`${FILES}/${key}`, found.stream);
    }
    storedFiles = keys.size;
  };
  const exported = await exportFolder(database, folder, { ...options, beforeRename });
  return { ...exported, storedFiles };
}

/**
 * Copies the files that the folder's rows refer to into the storage, and replaces none that is stored: a folder must not change the
 * objects of other records. Files of another owner than the row's and those of rows that are left out are not copied. Returns a predicate:
 * whether a key of the folder's rows is stored, or is that of a row that is left out.
 */
export async function importStoredFiles(
  storage: Storage,
  folder: Folder,
  isLeftOut: (definition: FileDefinition, row: Row) => boolean,
): Promise<(key: string) => boolean> {
  const accepted = new Set<string>();
  const toCopy = new Set<string>();
  const openFile = async (file: string) => (await folder.openFile(file))?.createReadStream();
  await readStorageKeys(openFile, (key, definition, objectFolder, row) => {
    if (!isRecordKey(key) || !isOwnKey(key, objectFolder, row)) return;
    (isLeftOut(definition, row) ? accepted : toCopy).add(key);
  });
  for (const key of toCopy) {
    const isStored = (await storage.byteStore.stat(key)) !== null;
    const given = isStored ? null : await folder.openFile(`${FILES}/${key}`);
    if (given) await storage.store(key, given.createReadStream(), toContentType(key), MAX_FILE_BYTES);
    if (isStored || given) accepted.add(key);
  }
  return (key) => accepted.has(key);
}

/** Reads the storage keys in the rows of the files. Invalid rows are skipped; the import reports them. */
async function readStorageKeys(
  open: (file: string) => Promise<Readable | undefined>,
  onKey: (key: string, definition: FileDefinition, objectFolder: string, row: Row) => void,
): Promise<void> {
  for (const definition of fileDefinitions) {
    const { file, storageKeys } = definition;
    const stream = storageKeys && (await open(`${file}.ndjson`));
    if (!stream) continue;
    await readRows(stream, (row) => {
      for (const [property, objectFolder] of Object.entries(storageKeys)) {
        const key = row[property];
        if (typeof key === 'string') onKey(key, definition, objectFolder, row);
      }
    });
  }
}
