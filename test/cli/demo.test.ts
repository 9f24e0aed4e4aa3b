import { describe, expect, it } from 'vitest';
import { Integrator } from '../../entities/integrator.entity.ts';
import { TOKEN_KEY } from '../support/harness.ts';
import { useCli } from './cli-harness.ts';

const cli = useCli();

describe('demo', () => {
  it('is rejected in production, and for a database with other data', async () => {
    Object.assign(cli.env, { BASE_URL: 'https://api.example.com', TOKEN_KEY, NODE_ENV: 'production' });
    expect(await cli.errorOf(['demo'])).toBe('demo: is not available in production.');
    expect(await cli.databases.au1.fork().count(Integrator)).toBe(0);
    await cli.json(['integrator', 'create', '--name', 'Site Sync']);
    cli.env.NODE_ENV = 'development';
    expect(await cli.errorOf(['demo'])).toBe('demo: au1 has data other than the demo data.');
    expect(await cli.databases.us1.fork().count(Integrator)).toBe(0);
  });
});
