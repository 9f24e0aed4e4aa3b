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
  const timesheets = () => cli.databases.au1.fork().count(Timesheet);

  it('loads the demo data into empty databases, and adds the given number of timesheets', async () => {
    const credentials = join(folder, 'demo.json');
    expect(await cli.json(['demo'])).toEqual({ regionId: 'au1', timesheets: 0, credentials });
    expect(JSON.parse(await readFile(credentials, 'utf8')).clients.length).toBeGreaterThan(5);
    const before = await timesheets();
    const added = await cli.json(['demo', '--timesheets', '500']);
    expect(added).toEqual({ regionId: 'au1', timesheets: 500, credentials });
    expect(await timesheets()).toBe(before + 500);
    const { out } = await cli.run(['demo', '--timesheets', '20', '--region', 'us1']);
    expect(out).toMatch(/^Added 20 timesheets to us1\.\n {2}credentials {2}\/.*demo\.json\n$/);
  });

  it('rejects a number of timesheets that is not a positive integer', async () => {
    for (const text of ['0', '-1', '1.5', '1e6', 'many']) {
      expect(await cli.errorOf(['demo', '--timesheets', text])).toMatch(/--timesheets .*integer from 1/);
    }
  });

  it('is rejected in production, and for a region with other data', async () => {
    const other = await startCli();
    Object.assign(other.env, { DATA_DIR: folder, BASE_URL: 'https://api.example.com' });
    Object.assign(other.env, { TOKEN_KEY, NODE_ENV: 'production' });
    try {
      expect(await other.errorOf(['demo'])).toBe('demo: is not available in production.');
      expect(await other.databases.au1.fork().count(Integrator)).toBe(0);
      await other.json(['integrator', 'create', '--name', 'Site Sync']);
      other.env.NODE_ENV = 'development';
      const args = ['demo', '--timesheets', '5'];
      expect(await other.errorOf(args)).toBe('--region: au1 has data other than the demo data.');
      expect(await other.databases.us1.fork().count(Integrator)).toBe(0);
    } finally {
      await other.close();
    }
  });
});
