import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Integrator } from '../../entities/integrator.entity.ts';
import { Timesheet } from '../../entities/timesheet.entity.ts';
import { TOKEN_KEY } from '../support/harness.ts';
import { type CliHarness, startCli } from './cli-harness.ts';

let cli: CliHarness;
let folder: string;

beforeAll(async () => {
  cli = await startCli();
  folder = await mkdtemp(join(tmpdir(), 'demo-'));
  cli.env.DATA_DIR = folder;
});
afterAll(async () => {
  await cli.close();
  await rm(folder, { recursive: true });
});

describe('demo', () => {
  it('loads the demo data into empty databases', async () => {
    const credentials = join(folder, 'demo.json');
    expect(await cli.json(['demo'])).toEqual({ credentials });
    expect(JSON.parse(await readFile(credentials, 'utf8')).clients.length).toBeGreaterThan(5);
    expect(await cli.databases.us1.fork().count(Timesheet)).toBeGreaterThan(0);
    expect((await cli.run(['demo'])).out).toMatch(/^The demo data is loaded\.\n {2}credentials {2}\/.*demo\.json\n$/);
  });

  it('is rejected in production, and for a database with other data', async () => {
    const other = await startCli();
    Object.assign(other.env, { DATA_DIR: folder, BASE_URL: 'https://api.example.com' });
    Object.assign(other.env, { TOKEN_KEY, NODE_ENV: 'production' });
    try {
      expect(await other.errorOf(['demo'])).toBe('demo: is not available in production.');
      expect(await other.databases.au1.fork().count(Integrator)).toBe(0);
      await other.json(['integrator', 'create', '--name', 'Site Sync']);
      other.env.NODE_ENV = 'development';
      expect(await other.errorOf(['demo'])).toBe('demo: au1 has data other than the demo data.');
      expect(await other.databases.us1.fork().count(Integrator)).toBe(0);
    } finally {
      await other.close();
    }
  });
});
