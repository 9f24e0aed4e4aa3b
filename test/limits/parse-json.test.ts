import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseJsonInSlices } from '../../src/limits/parse-json.ts';

describe('JSON that is parsed in slices', () => {
  it('has the value that JSON.parse gives', async () => {
    await fc.assert(
      fc.asyncProperty(fc.jsonValue({ maxDepth: 5 }), fc.nat(3), async (value, indent) => {
        const large = {
          empty: {},
          none: [],
          data: Array.from({ length: 3_000 }, () => ({ value, text: 'a,]}"\\'.repeat(20) })),
        };
        const text = JSON.stringify(large, null, indent);
        expect(text.length).toBeGreaterThan(256 * 1024);
        expect(await parseJsonInSlices(text)).toEqual(JSON.parse(text));
      }),
      { numRuns: 15 },
    );
  });

  it('may be one long text, or short', async () => {
    for (const value of [
      'x'.repeat(1_000_000),
      'short',
      null,
      [],
      ['x'.repeat(1_000_000)],
      { a: 'x'.repeat(1_000_000) },
    ]) {
      expect(await parseJsonInSlices(JSON.stringify(value))).toEqual(value);
    }
  });

  it('does not block the event loop while a large value is parsed', async () => {
    const text = JSON.stringify(Array.from({ length: 400_000 }, (_, id) => ({ id, text: 'some text' })));
    let turns = 0;
    const count = () => {
      turns++;
      timer = setImmediate(count);
    };
    let timer = setImmediate(count);
    await parseJsonInSlices(text);
    clearImmediate(timer);
    expect(turns).toBeGreaterThan(2);
  });
});
