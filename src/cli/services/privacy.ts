import { Readable } from 'node:stream';
import type { ChangeContext } from '../../domain/change-context.ts';
import { exportPerson } from '../../domain/privacy/export-person.ts';
import { Folder } from '../../shared/folder.ts';
import type { Storage } from '../../storage/storage.ts';

/** Writes what identifies a person to `person.json` and `files/` of the folder, after the export was recorded. */
export async function exportPersonTo(context: ChangeContext, storage: Storage, folder: string, ids: string[]) {
  const person = await exportPerson(context, ids);
  const missing: string[] = [];
  const target = await Folder.create(folder);
  const copyFiles = async () => {
    for (const key of person.files) {
      const found = await storage.byteStore.open(key);
      if (found) await target.writeFile(`files/${key}`, found.stream);
      else missing.push(key);
    }
  };
  const json = Readable.from([Buffer.from(`${JSON.stringify(person, null, 2)}\n`)]);
  // Begun first, so that an export of another person into the folder at the same time ends before it has written anything.
  await target.writeFile('person.json', json, copyFiles);
  const rows = Object.fromEntries(Object.entries(person.records).map(([type, records]) => [type, records.length]));
  return { folder, rows, mentionedIn: person.mentionedIn.length, files: person.files.length, missingFiles: missing };
}
