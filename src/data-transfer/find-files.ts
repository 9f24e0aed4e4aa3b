import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { FileMapping } from './file-mapping.ts';
import { DataTransferError } from './transaction.ts';

interface FoundFile {
  mapping: FileMapping;
  path: string;
  size: number;
}

/** Finds the files of the folder, in the order of the mappings. Throws on a file `.ndjson` with an unknown name. */
export async function findFiles(folder: string, mappings: FileMapping[]): Promise<FoundFile[]> {
  const names = await readdir(folder).catch((error: Error) => {
    throw new DataTransferError(`The folder ${folder} cannot be read: ${error.message}`);
  });
  const dataFiles = names.filter((name) => name.toLowerCase().endsWith('.ndjson'));
  const expected = mappings.map(({ file }) => file);
  const unknown = dataFiles.filter((name) => !expected.includes(name)).sort();
  if (unknown.length > 0) {
    throw new DataTransferError(
      `${join(folder, unknown[0]!)} is not a file of the format, which has ${expected.join(', ')}.`,
    );
  }
  if (dataFiles.length === 0) throw new DataTransferError(`The folder ${folder} has no file of the format.`);
  const found: FoundFile[] = [];
  for (const mapping of mappings.filter(({ file }) => dataFiles.includes(file))) {
    const path = join(folder, mapping.file);
    const status = await stat(path).catch((error: Error) => {
      throw new DataTransferError(`${path} cannot be read: ${error.message}`);
    });
    if (!status.isFile()) throw new DataTransferError(`${path} is not a file.`);
    found.push({ mapping, path, size: status.size });
  }
  return found;
}
