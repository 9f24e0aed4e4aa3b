import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { splitJson } from '../../src/auth/json-chunks.ts';

const textOf = (value: unknown) => [...splitJson(value)].join('');

describe('the chunks of a value', () => {
  it('join to the text of JSON.stringify', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), fc.integer({ min: 0, max: 3 }), (value, copies) => {
        const large = { data: Array.from({ length: copies * 2_000 }, () => value), absent: undefined };
        expect(textOf(large)).toBe(JSON.stringify(large));
      }),
      { numRuns: 50 },
    );
  });

  it('have about 64 Ki characters', () => {
    const value = { data: Array.from({ length: 50_000 }, (_, id) => ({ id, text: 'some text', tags: ['a', 'b'] })) };
    const lengths = [...splitJson(value)].map((chunk) => chunk.length);
    expect(lengths.length).toBeGreaterThan(30);
    expect(Math.max(...lengths)).toBeLessThan(2 * 64 * 1024);
  });

  it('do not split surrogate pairs of a long text', () => {
    for (const text of ['x', '\u0001', '\ud83d\ude00', 'x\ud83d\ude00', '\ud83d']) {
      const value = { data: [{ notes: text.repeat(300_000) }] };
      expect(textOf(value)).toBe(JSON.stringify(value));
      const lengths = [...splitJson(value)].map((chunk) => chunk.length);
      expect(Math.max(...lengths)).toBeLessThan(7 * 64 * 1024);
    }
  });

  it.each([null, true, 1.5, 'text', [], {}])('of %j are a single one', (value) => {
    expect([...splitJson(value)]).toEqual([JSON.stringify(value)]);
  });
});
