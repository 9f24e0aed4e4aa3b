import { describe, expect, it } from 'vitest';
import { withoutSpans } from './without-spans.ts';

describe('withoutSpans', () => {
  it('replaces each call of traced by its work', () => {
    const code = `
      import { traced } from './tracing.js';
      const one = traced(\`store \${name(1, 2)}\`, { a: [1, 2] }, () => work(3, 4));
      return traced(bound[0].name, attributes, () => this.#query(bound), traces);
      untraced(a, b, c);`;
    expect(withoutSpans(code)).toBe(`
      import { traced } from './tracing.js';
      const one = ( () => work(3, 4))();
      return ( () => this.#query(bound))();
      untraced(a, b, c);`);
  });
});
