import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { findSources } from './prepared-cluster.ts';

const ROOT = join(import.meta.dirname, '../..');

describe('the sources of the prepared cluster', () => {
  it.each(['src/database/migrations', 'entities'])('are all files of %s, among others', (folder) => {
    const files = readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      // Types of responses are in no table.
      .filter((name) => name.endsWith('.ts') && !name.endsWith('.type.ts'))
      .map((name) => `${folder}/${name}`);
    expect(findSources()).toEqual(expect.arrayContaining(files));
  });

  it('include what starts PostgreSQL, what loads the data, and the versions of packages', () => {
    const others = [
      'src/dev-postgres/postmaster.ts',
      'src/demo/words.ts',
      'test/setup/company/company.ts',
      'test/samples/company/builders.ndjson',
      'package-lock.json',
    ];
    expect(findSources()).toEqual(expect.arrayContaining(others));
  });
});
