import { readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';

const ROOT = resolve(import.meta.dirname, '../..');

/** Returns the TypeScript files that a file imports, as paths from the root. An import of types alone counts too. */
export function findImports(file: string): string[] {
  const text = readFileSync(join(ROOT, file), 'utf8');
  const specifiers = [...text.matchAll(/(?:from|import)\s*\(?\s*'(\.[^']+)'/g)].map(([, specifier]) => specifier!);
  return specifiers
    .filter((specifier) => /\.tsx?$/.test(specifier))
    .map((specifier) => relative(ROOT, resolve(ROOT, dirname(file), specifier)));
}

/** Returns the file and all that it imports, directly or not, in a fixed order. */
export function findTransitiveImports(file: string): string[] {
  const found = new Set([file]);
  for (const each of found) for (const imported of findImports(each)) found.add(imported);
  return [...found].sort();
}
