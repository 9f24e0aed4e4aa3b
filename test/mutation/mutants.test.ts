import { describe, expect, it } from 'vitest';
import { applyMutant, findMutants } from './mutants.ts';
import { instrumentFunctions } from './reach.ts';
import { describeObsolete, type TestedMutant, toInterval } from './report.ts';
import { ResultStore } from './store.ts';

/** Sources with one change each. */
const mutate = (source: string) => findMutants('a.ts', source).map((mutant) => applyMutant(source, mutant));

describe('findMutants', () => {
  it.each([
    ['if (a) b;', ['if (!(a)) b;']],
    ['const x = a ? b : c;', ['const x = !(a) ? b : c;']],
    ['const x = a < b;', ['const x = a <= b;']],
    ['const x = a && b;', ['const x = a || b;']],
    ['const x = a === 1;', ['const x = a !== 1;', 'const x = a === 2;']],
    ['const x = true;', ['const x = false;']],
    ['const DAY_MS = 24 * HOUR_MS;', ['const DAY_MS = 24 / HOUR_MS;']],
    ['await lock();', [';']],
    ["throw new Error('a');", [';']],
    ['x = y;', [';']],
    ['const o = { lockMode: LockMode.PESSIMISTIC_READ };', ['const o = { lockMode: LockMode.NONE };']],
  ])('changes %s', (source, expected) => {
    expect(mutate(source)).toEqual(expected);
  });

  it.each([
    ['`select id from a where b is null for share`', ['b is not null for share`', 'b is null`']],
    ['`select id from a where b = $1 and c <= $2`', ['b <> $1 and', '= $1 or c', 'c < $2`']],
    ['`update a set b = $1 where c = $2`', ['set b = $1 where c <> $2`']],
    ['`insert into a values ($1) on conflict (b) do nothing`', ['values ($1)`']],
    ["'select pg_advisory_xact_lock($1)'", ["'select pg_try_advisory_xact_lock($1)'"]],
  ])('changes the SQL %s', (source, expected) => {
    const found = mutate(source);
    expect(found).toHaveLength(expected.length);
    for (const [at, mutated] of found.entries()) expect(mutated).toContain(expected[at]);
  });

  it('does not change types, imports and other texts', () => {
    expect(mutate(`import a from 'a'; type B = 1 | true; const c: 2 = d as 2; const e = 'b and c';`)).toEqual([]);
  });

  it('identifies each mutant by its line and change, and has the index of its function', () => {
    const source = 'const x = () => {\n  return [1, 1, () => 2];\n};\nconst y = 3;';
    expect(findMutants('a.ts', source).map(({ id, line, functionIndex }) => [id, line, functionIndex])).toEqual([
      ['a.ts | return [1, 1, () => 2]; | 1 -> 2', 2, 0],
      ['a.ts | return [1, 1, () => 2]; | 1 -> 2 | 2', 2, 0],
      ['a.ts | return [1, 1, () => 2]; | 2 -> 3', 2, 1],
      ['a.ts | const y = 3; | 3 -> 4', 4, null],
    ]);
  });

  it('keeps the ids of mutants when their lines move', () => {
    const idsOf = (source: string) => findMutants('a.ts', source).map(({ id }) => id);
    expect(idsOf('const a = 0;\n\n  if (b) c();')).toEqual(['a.ts | const a = 0; | 0 -> 1', ...idsOf('if (b) c();')]);
  });
});

describe('describeObsolete', () => {
  const [survivor, killed] = findMutants('a.ts', 'const x = a < 1;') as [TestedMutant, TestedMutant];
  const result = { source: '', tests: 1, by: null, error: null };
  const mutants: TestedMutant[] = [
    { ...survivor, result: { ...result, status: 'survived' } },
    { ...killed, result: { ...result, status: 'killed', by: 'a test' } },
  ];
  const because = { equivalent: false, reason: 'a reason' };

  it('lists the reasons of mutants that no longer exist or that a test kills', () => {
    const gone = 'a.ts | const x = a <= 1; | <= -> <';
    expect(describeObsolete(mutants, { [survivor.id]: because, [killed.id]: because, [gone]: because })).toEqual([
      `Noticed by "a test", remove its reason: ${killed.id}`,
      `No such mutant, remove its reason: ${gone}`,
    ]);
  });

  it('does not list reasons of mutants that were not tested', () => {
    expect(describeObsolete([{ ...killed, result: undefined }], { [killed.id]: because })).toEqual([]);
  });
});

describe('ResultStore', () => {
  it('keeps which tests reach a changed file, without its functions', () => {
    const store = new ResultStore();
    const tests = { passed: true, milliseconds: 1, test: '' };
    store.invalidateFunctions({ 'a.ts': '1', 'b.ts': '1' });
    store.reach['a.test.ts'] = { ...tests, functions: ['a.ts:0', 'a.ts:1', 'b.ts:2'] };
    store.invalidateFunctions({ 'a.ts': '2', 'b.ts': '1' });
    expect(store.reach['a.test.ts']!.functions).toEqual(['a.ts:*', 'b.ts:2']);
  });
});

describe('instrumentFunctions', () => {
  it('makes each function record that it was called', () => {
    const code = instrumentFunctions('a.ts', 'const f = (x: number) => x + 1; const g = () => { return f(1); };');
    const javascript = code.replace(': number', '');
    const reached = new Function(`${javascript} g(); return [...globalThis.reachedFunctions].toSorted();`)();
    expect(reached).toEqual(['a.ts:0', 'a.ts:1']);
  });
});

describe('toInterval', () => {
  it.each([
    [9, 10, [60, 98]],
    [10, 10, [72, 100]],
    [90, 100, [83, 94]],
    [0, 5, [0, 43]],
  ])('is the Wilson interval of %i among %i', (count, total, interval) => {
    expect(toInterval(count, total)).toEqual(interval);
  });
});
