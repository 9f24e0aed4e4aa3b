import { access } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { refuse } from '../cli-error.ts';

/** Folder of `package.json`, from where this file runs: among the sources, or built under `dist`. */
export async function sourceRoot(): Promise<string> {
  for (let folder = import.meta.dirname; folder !== dirname(folder); folder = dirname(folder)) {
    const found = await access(join(folder, 'package.json')).then(
      () => true,
      () => false,
    );
    if (found) return folder;
  }
  return refuse('sources', 'there is no package.json above this program');
}
