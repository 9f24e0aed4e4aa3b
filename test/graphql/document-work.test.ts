import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'graphql';
import { describe, expect, it } from 'vitest';
import { countFragmentVisits, MAX_FRAGMENT_VISITS } from '../../src/graphql/server/fragment-visits.ts';
import { countComparisons, MAX_COMPARISONS } from '../../src/graphql/server/selection-work.ts';

const countComparisonsOf = (text: string, limit?: number) => countComparisons(parse(text), limit);
const repeat = (count: number, write: (index: number) => string) =>
  Array.from({ length: count }, (_, i) => write(i)).join(' ');

/** Returns the query of a client with components that each select the same fields at each level. */
function createClientQuery(components: number, levels: number): string {
  const leaves = repeat(10, (i) => `field${i}`);
  const fragments = Array.from({ length: levels }, (_, level) =>
    repeat(components, (i) => {
      const below = level + 1 < levels ? `next { ${repeat(components, (j) => `...L${level + 1}C${j}`)} }` : '';
      return `fragment L${level}C${i} on T { ${leaves} ${i === 0 ? below : ''} }`;
    }),
  );
  return `{ ${repeat(components, (i) => `...L0C${i}`)} } ${fragments.join(' ')}`;
}

describe('the comparisons of a document', () => {
  it('are few in the queries of docs/graphql.md', () => {
    const page = readFileSync(join(import.meta.dirname, '../..', 'docs', 'graphql.md'), 'utf8');
    const queries = [...page.matchAll(/```graphql\n([\s\S]*?)```/g)].map(([, query]) => query!);
    expect(queries.length).toBeGreaterThan(2);
    for (const query of queries) expect(countComparisonsOf(query)).toBeLessThan(10);
  });

  it('of a client with many components are far below the limit', () => {
    expect(countComparisonsOf(createClientQuery(20, 5))).toBeLessThan(MAX_COMPARISONS / 2);
  });

  it('grow with the pairs of fields with one response key, with and without fragments', () => {
    const pairs = (100 * 99) / 2;
    const written = [
      `{ ${repeat(100, () => 'me { id }')} }`,
      `{ ${repeat(100, () => '... { me { id } }')} }`,
      `{ ...F } fragment F on Query { ${repeat(100, () => 'me { id }')} }`,
      `{ ${repeat(50, () => 'me { id }')} ...F } fragment F on Query { ${repeat(50, () => 'me { id }')} }`,
    ];
    for (const text of written) expect(countComparisonsOf(text, Infinity)).toBeGreaterThan(pairs);
    expect(countComparisonsOf(`{ ${repeat(100, (i) => `a${i}: me { id }`)} }`, Infinity)).toBeLessThan(100);
  });

  it('include fields that are merged only because their parents are', () => {
    const parents = repeat(30, () => `projects { data { ${repeat(10, () => 'builder { id }')} } }`);
    expect(countComparisonsOf(`{ ${parents} }`, Infinity)).toBeGreaterThan((300 * 299) / 2);
  });

  it('include the arguments of each pair', () => {
    const without = countComparisonsOf(`{ ${repeat(50, () => 'a { id }')} }`, Infinity);
    const withTwo = countComparisonsOf(`{ ${repeat(50, () => 'a(b: 1, c: 2) { id }')} }`, Infinity);
    expect(withTwo - without).toBe(50 * 49);
  });

  it('are counted once for fragments that double at every level and for recursive ones', () => {
    const doubled = `{ a { ...F0 } } ${repeat(200, (i) => `fragment F${i} on T { a { ...F${i + 1} } b { ...F${i + 1} } }`)} fragment F200 on T { id }`;
    expect(countComparisonsOf(doubled)).toBeLessThan(MAX_COMPARISONS);
    expect(countComparisonsOf('{ ...A } fragment A on T { a { ...B } } fragment B on T { a { ...A } b }')).toBeLessThan(
      10,
    );
  });

  it('are not counted far beyond the limit', () => {
    const places = `{ ${repeat(800, (i) => `p${i} { ...A }`)} } fragment A on T { ${repeat(1_000, (i) => `a${i}`)} }`;
    const all = countComparisonsOf(places, Infinity);
    const counted = countComparisonsOf(places, 1_000);
    expect(all).toBeGreaterThan(40_000);
    expect(counted).toBeGreaterThan(1_000);
    expect(counted).toBeLessThan(1_200);
  });
});

describe('the visits of fragments', () => {
  it('are counted for each operation that reaches them', () => {
    const fragments = repeat(10, (i) => `fragment F${i} on Query { ...F${i + 1} }`);
    const text = (count: number) =>
      `${repeat(count, (i) => `query A${i} { ...F0 }`)} ${fragments} fragment F10 on Query { id }`;
    const one = countFragmentVisits(parse(text(1)));
    expect(one).toBe(2 + 10 * 2 + 1);
    expect(countFragmentVisits(parse(text(7)))).toBe(7 * one);
  });

  it('are not counted far beyond the limit', () => {
    const text = `${repeat(400, (i) => `query A${i} { ...F }`)} fragment F on Query { ${repeat(400, (i) => `a${i}: b(c: $d)`)} }`;
    const count = countFragmentVisits(parse(text));
    expect(count).toBeGreaterThan(MAX_FRAGMENT_VISITS);
    expect(count).toBeLessThan(MAX_FRAGMENT_VISITS + 500);
  });
});
