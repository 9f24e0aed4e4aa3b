import { type FileDefinition, fileDefinitions, isOwnKey, STORED_FILES } from '../../data-transfer/file-definitions.ts';
import { type Row, readRows } from '../../data-transfer/read-lines.ts';
import { type Folder, FolderError } from '../../shared/folder.ts';
import { isRecordKey, toContentType } from '../../storage/keys.ts';
import type { Storage } from '../../storage/storage.ts';

/** Imported documents may be larger than uploads. */
const MAX_FILE_BYTES = 1024 ** 3;

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
  /** By key, with the size that its rows have; NaN where they differ. */
  const toCopy = new Map<string, unknown>();
  for (const definition of fileDefinitions) {
    const { file, storageKeys } = definition;
    const opened = storageKeys && (await folder.openFile(`${file}.ndjson`));
    if (!opened) continue;
    // Invalid rows are skipped; the import reports them.
    await readRows(opened.createReadStream(), (row) => {
      for (const [property, objectFolder] of Object.entries(storageKeys)) {
        const key = row[property];
        if (typeof key !== 'string' || !isRecordKey(key) || !isOwnKey(key, objectFolder, definition, row)) continue;
        if (isLeftOut(definition, row)) accepted.add(key);
        else toCopy.set(key, toCopy.has(key) && toCopy.get(key) !== row.fileSize ? Number.NaN : row.fileSize);
      }
    });
  }
  for (const [key, fileSize] of toCopy) {
    const stored = await storage.byteStore.stat(key);
    const given = stored ? null : await folder.openFile(`${STORED_FILES}/${key}`);
    try {
      const found = stored ?? (await given?.stat());
      if (given && found!.size > MAX_FILE_BYTES)
        throw new FolderError(`${STORED_FILES}/${key} has more than ${MAX_FILE_BYTES} bytes.`);
      // Of another size is a file whose copy was interrupted.
      if (!found || (fileSize ?? found.size) !== found.size) continue;
      if (given) await storage.store(key, given.createReadStream(), toContentType(key), MAX_FILE_BYTES);
      accepted.add(key);
    } finally {
      await given?.close();
    }
  }
  return (key) => accepted.has(key);
}
