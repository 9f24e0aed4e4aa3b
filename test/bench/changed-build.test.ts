import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { ISOLATION_FILES, removeIsolation } from './remove-isolation.ts';
import { removeSpans } from './remove-spans.ts';

describe('removeSpans', () => {
  it('replaces each call of traced by a call of its function', () => {
    const code = `
      import { traced } from './tracing.js';
      const one = traced(\`store \${name(1, 2)}\`, { a: [1, 2] }, () => work(3, 4));
      return traced(bound[0].name, attributes, () => this.#query(bound), traces);
      untraced(a, b, c);`;
    expect(removeSpans(code)).toBe(`
      import { traced } from './tracing.js';
      const one = ( () => work(3, 4))();
      return ( () => this.#query(bound))();
      untraced(a, b, c);`);
  });
});

describe('removeIsolation', () => {
  it.each(ISOLATION_FILES)('changes the built file %s', async (name) => {
    const code = await readFile(`dist/${name}`, 'utf8');
    expect(removeIsolation(code, name)).not.toBe(code);
  });

  it('throws where a file of the build does not contain the expected code', () => {
    expect(() => removeIsolation('', 'src/app.js')).toThrow('src/app.js has no "limitPipelining(app);".');
  });

  it('does not change other files', () =>
    expect(removeIsolation('meter.check();', 'src/server.js')).toBe('meter.check();'));
});
