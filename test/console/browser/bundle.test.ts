import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';

const FOLDER = join(import.meta.dirname, '../../../dist/console');
const LIMIT = 150 * 1024;

interface Chunk {
  file: string;
  imports?: string[];
  css?: string[];
}

const manifest = JSON.parse(readFileSync(join(FOLDER, '.vite/manifest.json'), 'utf8')) as Record<string, Chunk>;

/** Files that a page loads with these entries, with what they import. */
function filesOf(entries: readonly string[]): Set<string> {
  const files = new Set<string>();
  const add = (name: string) => {
    const { file, imports = [], css = [] } = manifest[name]!;
    if (files.has(file)) return;
    for (const one of [file, ...css]) files.add(one);
    for (const imported of imports) add(imported);
  };
  for (const entry of entries) add(entry);
  return files;
}

const compressedSize = (files: Iterable<string>) =>
  [...files].reduce((sum, file) => sum + gzipSync(readFileSync(join(FOLDER, file))).length, 0);

describe('the built console (`npm run build`)', () => {
  it.each(Object.keys(manifest).filter((name) => name.endsWith('.page.tsx')))(
    'loads less than 150 KB compressed for %s',
    (page) => {
      expect(compressedSize(['index.html', ...filesOf(['index.html', page])])).toBeLessThan(LIMIT);
    },
  );

  it('has no inline script and no inline style, which the Content-Security-Policy would block', () => {
    for (const page of ['index.html', 'graphiql.html']) {
      const html = readFileSync(join(FOLDER, page), 'utf8');
      expect(html).not.toMatch(/<style|\sstyle=|<script(?![^>]*\ssrc=)|\son\w+=/);
    }
  });
});
