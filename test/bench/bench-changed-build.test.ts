import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { LIMITED_FILES, withoutIsolation } from './without-isolation.ts';
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

describe('withoutIsolation', () => {
  it.each(LIMITED_FILES)('changes the built %s', async (name) => {
    const code = await readFile(`dist/${name}`, 'utf8');
    expect(withoutIsolation(code, name)).not.toBe(code);
  });

  it('names a text that a file of the build no longer has', () => {
    expect(() => withoutIsolation('', 'src/app.js')).toThrow('src/app.js has no "limitPipelining(app);".');
  });

  it('leaves other files as they are', () =>
    expect(withoutIsolation('meter.check();', 'src/server.js')).toBe('meter.check();'));
});
