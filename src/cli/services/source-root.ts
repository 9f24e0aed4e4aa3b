import { access } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { CliError } from '../cli-error.ts';

/** Finds the folder of `package.json` above this file, which runs from `src` or from `dist`. */
export async function findSourceRoot(): Promise<string> {
  for (let folder = import.meta.dirname; folder !== dirname(folder); folder = dirname(folder)) {
    const found = await access(join(folder, 'package.json')).then(
      () => true,
      () => false,
    );
    if (found) return folder;
  }
  throw CliError.forOption('sources', 'there is no package.json above this program');
}
