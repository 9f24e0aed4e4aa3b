import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { EQUIVALENT, ROOT, readGuardList, scanFile, scanGuards, toKey } from './scan-guards.ts';

const list = readGuardList();
const keys = scanGuards().map(toKey);

describe('the guards of the code', () => {
  // Add a line to test/guards/guards.tsv with the test file that fails without the guard: `npm run proof -- guards --only FILE`.
  it('are each in the list, with the test that notices their removal', () => {
    expect(keys.filter((key) => !list.has(key))).toEqual([]);
  });

  it('are all that the list has', () => {
    expect([...list.keys()].filter((key) => !keys.includes(key))).toEqual([]);
  });

  it('have tests that exist, or a reason why none can notice', () => {
    const wrong = [...list.values()].filter((test) =>
      test.startsWith(EQUIVALENT) ? test.length < EQUIVALENT.length + 20 : !existsSync(join(ROOT, test)),
    );
    expect(wrong).toEqual([]);
  });
});

describe('the removal of a guard', () => {
  it.each([
    ['lock', "await select('id = 1 for update skip locked');", "await select('id = 1 ');"],
    ['lock', 'const row = await lockRow(em, User, { id });', 'const row = await em.findOne(User, { id });'],
    ['lock', "'isolation level repeatable read'", "'isolation level read committed'"],
    ['clock', '`at < clock_timestamp()`', '`at < to_timestamp(0)`'],
    ['clock', 'await databases[region].now()', 'await Date.now()'],
    ['permission', '  await requireUnchanged(context, em, row, id);', '  ;'],
    ['permission', "  throw forbidden('No.');", "  if (false) throw forbidden('No.');"],
    ['order', '`order by at desc, id desc limit 1`', '`order by at desc limit 1`'],
    ['order', "{ orderBy: { name: 'asc', id: 'asc' } }", "{ orderBy: { name: 'asc' } }"],
    ['limit', 'const MAX_TITLE = 160;', 'const MAX_TITLE = Number.MAX_SAFE_INTEGER;'],
  ])('of the kind %s leaves the rest of %s', (kind, source, removed) => {
    expect(scanFile('resolvers/example.ts', `${source}\n`)).toMatchObject([
      { kind, text: source.trim(), removed: `${removed}\n` },
    ]);
  });
});
