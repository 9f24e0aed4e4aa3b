import pg from 'pg';
import { describe, expect, it, vi } from 'vitest';
import { findMissingInternals } from '../../src/node-internals/self-tests.ts';
import { listSofaHandlers } from '../../src/node-internals/sofa-routes.ts';

describe('the self-tests at start', () => {
  it('find every undocumented interface in the versions that the project uses', async () => {
    expect(await findMissingInternals()).toEqual([]);
  });

  it.each(['describe', 'sync', 'bind'])('name what to do when pg has no method %s', async (name) => {
    const method = vi.spyOn(pg.Connection.prototype as unknown as Record<string, () => void>, name);
    method.mockImplementation(() => undefined);
    const messages = await findMissingInternals();
    method.mockRestore();
    expect(messages).toEqual([expect.stringContaining('src/node-internals/pg-pipeline.ts')]);
  });

  it('name what to do when SOFA has another router', () => {
    expect(() => listSofaHandlers({})).toThrow('src/node-internals/sofa-routes.ts');
  });
});
