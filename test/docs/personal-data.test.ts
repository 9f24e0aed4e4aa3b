import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { createOrm } from '../../src/database/orm.ts';
import { formatErasureTable } from '../../src/domain/privacy/personal-tables.ts';
import { formatRetentionTable } from '../../src/domain/retention/retention-rules.ts';

const PAGE = join(import.meta.dirname, '../../docs/personal-data.md');
const orm = createOrm('postgresql://none@127.0.0.1/none');
afterAll(() => orm.close());

const tables = {
  'personal-data': () => formatErasureTable(orm.getMetadata()),
  retention: formatRetentionTable,
};

/** Returns the page with the tables of the code, between the markers. */
const withTables = (page: string) =>
  Object.entries(tables).reduce(
    (text, [name, format]) =>
      text.replace(
        new RegExp(`(<!-- ${name}:begin -->\\n)[\\s\\S]*?(<!-- ${name}:end -->)`),
        (_, begin, end) => `${begin}${format()}\n${end}`,
      ),
    page,
  );

describe('docs/personal-data.md', () => {
  it('shows the tables of erasure and retention as the code declares them; -u writes them', () => {
    const page = readFileSync(PAGE, 'utf8');
    const expected = withTables(page);
    if (expect.getState().snapshotState['_updateSnapshot' as never] === 'all') writeFileSync(PAGE, expected);
    expect(readFileSync(PAGE, 'utf8')).toBe(expected);
    expect(expected).toContain('| `app_user` |');
  });
});
