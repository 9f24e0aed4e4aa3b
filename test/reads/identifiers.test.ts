import { describe, expect, it } from 'vitest';
import { ID_PREFIXES, type IdKind, isId, newId } from '../../schema/ids.ts';
import { toInstant } from '../../schema/scalars.ts';

const kinds = Object.keys(ID_PREFIXES) as IdKind[];

/** The prefixes of the v1 contract. */
const PUBLISHED = [
  ...['buil', 'proj', 'sub', 'swms', 'prequal', 'ind', 'wkr', 'pers', 'ts', 'tsg', 'tscc', 'tstt', 'phrep', 'page'],
  ...['att', 'defect', 'loc', 'user', 'saevt', 'signon'],
];
const CHOSEN = [
  'meet',
  'mnote',
  'fold',
  'doc',
  'con',
  'mtpl',
  'intg',
  'cli',
  'tag',
  'aud',
  'era',
  'evt',
  'whe',
  'whd',
  'access',
  'snap',
];

describe('the prefixes of identifiers', () => {
  it('are those of the contract, and those that the service adds (IDN-1, IDN-2)', () => {
    expect(Object.values(ID_PREFIXES).toSorted()).toEqual([...PUBLISHED, ...CHOSEN].toSorted());
  });
});

describe('a new identifier', () => {
  it.each(kinds)('of a %s is its prefix, time and randomness, and is accepted (IDN-1, IDN-3)', (kind) => {
    const id = newId(kind, Date.UTC(2026, 2, 2));
    expect(id).toMatch(new RegExp(`^${ID_PREFIXES[kind]}_a[0-9a-z]{9}[0-9a-z]{16}$`));
    expect(isId(kind, id)).toBe(true);
  });

  it('sorts by creation time and is another one each time (IDN-3)', () => {
    const ids = Array.from({ length: 100 }, (_, milliseconds) => newId('project', milliseconds * 1_000_000_000));
    expect(ids.toSorted()).toEqual(ids);
    expect(new Set(Array.from({ length: 1_000 }, () => newId('project', 0))).size).toBe(1_000);
  });
});

describe('an identifier that is sent', () => {
  it.each(['proj_a', 'proj_0', 'proj_7abc', 'proj_a0mkq3v8t2n4c7x1p9r5w6yzb'])('may be %s (IDN-4)', (id) => {
    expect(isId('project', id)).toBe(true);
  });

  it.each(['proj_', 'proj_A', 'proj_a-b', 'PROJ_a', 'buil_a', 'proj_a\n', ' proj_a', 'proj_\u00e9'])(
    'may not be "%s" (IDN-4)',
    (id) => {
      expect(isId('project', id)).toBe(false);
    },
  );
});

describe('a timestamp that is sent', () => {
  it.each([
    ['2026-03-02T07:30:00.000Z', '2026-03-02T07:30:00.000Z'],
    ['2026-03-02T07:30Z', '2026-03-02T07:30:00.000Z'],
    ['2026-03-02T17:30:00+10:00', '2026-03-02T07:30:00.000Z'],
    ['2024-02-29T00:00:00Z', '2024-02-29T00:00:00.000Z'],
  ])('%s is the instant %s (IDN-8)', (text, instant) => expect(toInstant(text)).toBe(instant));

  it.each([
    '2026-03-02',
    '2026-03-02T07:30:00',
    '2026-02-29T00:00:00Z',
    '2026-03-02T24:00:00Z',
    '0000-01-01T00:00:00Z',
  ])('%s is refused (IDN-8)', (text) => expect(toInstant(text)).toBeNull());

  it.each([2024, 2026])('may have each day of %i and no other (IDN-8)', (year) => {
    const days = Array.from({ length: 14 * 33 }, (_, at) => [Math.floor(at / 33), at % 33]);
    const texts = days.map((parts) => [year, ...parts.map((part) => String(part).padStart(2, '0'))].join('-'));
    const accepted = texts.filter((text) => toInstant(`${text}T12:00:00.000Z`) !== null);
    const first = Date.UTC(year, 0, 1);
    const length = (Date.UTC(year + 1, 0, 1) - first) / 86_400_000;
    const calendar = Array.from({ length }, (_, day) => new Date(first + day * 86_400_000).toISOString().slice(0, 10));
    expect(accepted).toEqual(calendar);
  });
});
