import { join } from 'node:path';
import type { Folder } from '../shared/folder.ts';
import type { FileMapping } from './file-mapping.ts';
import { DataTransferError } from './transaction.ts';

/** Returns the mappings whose files the folder has. Throws on a file `.ndjson` with an unknown name. */
export async function findFiles(folder: Folder, mappings: FileMapping[]): Promise<FileMapping[]> {
  const names = await folder.list();
  const dataFiles = names.filter((name) => name.toLowerCase().endsWith('.ndjson'));
  const expected = mappings.map(({ file }) => file);
  const unknown = dataFiles.filter((name) => !expected.includes(name)).sort();
  if (unknown.length > 0) {
    throw new DataTransferError(
      `${join(folder.path, unknown[0]!)} is not a file of the format, which has ${expected.join(', ')}.`,
    );
  }
  if (dataFiles.length === 0) throw new DataTransferError(`The folder ${folder.path} has no file of the format.`);
  return mappings.filter(({ file }) => dataFiles.includes(file));
}
