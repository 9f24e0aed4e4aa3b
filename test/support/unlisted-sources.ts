import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** A list that must name what files of a kind export, because nothing else finds them. */
interface SourceList {
  folder: string;
  /** File of the folder that has the list. */
  list: string;
  isListed: (file: string) => boolean;
  /** First group: an exported name that the list must contain. */
  exported: RegExp;
}

const LISTS: SourceList[] = [
  {
    folder: 'entities',
    list: 'index.ts',
    isListed: (file) => file.endsWith('.entity.ts'),
    exported: /@(?:EntityType|Entity)\([\s\S]*?^export class (\w+)/gm,
  },
  {
    folder: 'resolvers',
    list: 'registry.ts',
    isListed: (file) => /\.(resolver|edges)\.ts$/.test(file),
    exported: /^export (?:class|const) (\w+(?:Resolver|[eE]dges|Fields))\b/gm,
  },
];

/**
 * Returns a sentence for each entity that is missing from `entities/index.ts`, and each resolver and array of fields that is missing
 * from `resolvers/registry.ts`.
 *
 * @param root folder of `package.json`.
 */
export async function findUnlistedSources(root: string): Promise<string[]> {
  const missing: string[] = [];
  for (const { folder, list, isListed, exported } of LISTS) {
    const text = await readFile(join(root, folder, list), 'utf8');
    const listed = text.slice(text.lastIndexOf('= ['));
    const files = await readdir(join(root, folder), { recursive: true });
    for (const file of files.filter(isListed).sort()) {
      const source = await readFile(join(root, folder, file), 'utf8');
      for (const [, name] of source.matchAll(exported)) {
        if (new RegExp(`\\b${name}\\b`).test(listed)) continue;
        missing.push(`${name} of ${folder}/${file} is missing from ${folder}/${list}.`);
      }
    }
  }
  return missing;
}
