import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { createOrm } from '../../src/database/orm.ts';
import { listPersonalTables } from '../../src/domain/privacy/personal-tables.ts';
import { RETENTION_RULES, type RetentionRule } from '../../src/domain/retention/retention-rules.ts';

const PAGE = join(import.meta.dirname, '../../docs/personal-data.md');
const orm = createOrm('postgresql://none@127.0.0.1/none');
afterAll(() => orm.close());

const EFFECTS = [
  ['name', 'pseudonym'],
  ['email', 'address without an owner'],
  ['cleared', 'cleared, listed in the records of others'],
  ['file', 'file deleted'],
  ['secret', 'cleared'],
  ['people', 'pseudonym where it is the person'],
  ['mentions', 'listed'],
  ['addresses', 'listed, never replaced'],
] as const;

/** Formats what erasing a person does to each table as a Markdown table. */
function formatErasureTable(): string {
  const rows = listPersonalTables(orm.em.getMetadata()).flatMap(({ table, declaration }) => {
    const { of = {}, erase, ...columns } = declaration;
    const effects = EFFECTS.flatMap(([group, effect]) => {
      const properties = columns[group] ?? [];
      return properties.length > 0 ? [`${effect}: ${properties.map((name) => `\`${name}\``).join(', ')}`] : [];
    });
    if (erase === 'delete') effects.splice(0, effects.length, 'row deleted');
    if (erase === 'audit') effects.splice(0, effects.length, 'person replaced by the pseudonym');
    if (effects.length === 0 && Object.keys(of).length > 0) effects.push('kept');
    return effects.length > 0
      ? [`| \`${table}\` | ${Object.keys(of).join(', ') || '–'} | ${effects.join('; ')} |`]
      : [];
  });
  return ['| Table | Rows about a | Effect |', '|---|---|---|', ...rows].join('\n');
}

/** What is kept until it is erased. */
const KEPT = [
  ['Records and files of a builder', 'until `builder erase`'],
  ['Records about a person', 'until `person erase`, or with those of the builder'],
  ['List of erasures', 'for ever; it contains ids and pseudonyms'],
] as const;

/** Formats the rules as a Markdown table. */
function formatRetentionTable(): string {
  const rows = Object.values<RetentionRule>(RETENTION_RULES).map(({ data, since, days }) => {
    const time = days === 0 ? 'at once' : `${days} ${days === 1 ? 'day' : 'days'}`;
    return `| ${data} | ${time} | ${since} |`;
  });
  const kept = KEPT.map(([data, until]) => `| ${data} | kept | ${until} |`);
  return ['| Data | Deleted after | Counted from |', '|---|---|---|', ...rows, ...kept].join('\n');
}

const tables = {
  'personal-data': formatErasureTable,
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
