import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Integrator } from '../../entities/integrator.entity.ts';
import { Timesheet } from '../../entities/timesheet.entity.ts';
import { type Operator, startOperator } from './operator.ts';

let operator: Operator;
let folder: string;

beforeAll(async () => {
  operator = await startOperator();
  folder = await mkdtemp(join(tmpdir(), 'demo-'));
  operator.env.DATA_DIR = folder;
});
afterAll(async () => {
  await operator.close();
  await rm(folder, { recursive: true });
});

describe('demo', () => {
  const timesheets = () => operator.databases.au1.fork().count(Timesheet);

  it('loads the demo data into empty databases, and then as many timesheets as it is told', async () => {
    const credentials = join(folder, 'demo.json');
    expect(await operator.json(['demo'])).toEqual({ regionId: 'au1', timesheets: 0, credentials });
    expect(JSON.parse(await readFile(credentials, 'utf8')).clients.length).toBeGreaterThan(5);
    const before = await timesheets();
    const added = await operator.json(['demo', '--timesheets', '500']);
    expect(added).toEqual({ regionId: 'au1', timesheets: 500, credentials });
    expect(await timesheets()).toBe(before + 500);
    const { out } = await operator.run(['demo', '--timesheets', '20', '--region', 'us1']);
    expect(out).toMatch(/^Added 20 timesheets to us1\.\n {2}credentials {2}\/.*demo\.json\n$/);
  });

  it('refuses anything but a number from 1', async () => {
    for (const text of ['0', '-1', '1.5', '1e6', 'many']) {
      expect(await operator.refusal(['demo', '--timesheets', text])).toMatch(/--timesheets .*integer from 1/);
    }
  });

  it('refuses production, and a region that holds data of anybody else', async () => {
    const other = await startOperator();
    Object.assign(other.env, { DATA_DIR: folder, BASE_URL: 'https://api.example.com' });
    Object.assign(other.env, { TOKEN_KEY: Buffer.alloc(32, 7).toString('base64url'), NODE_ENV: 'production' });
    try {
      await other.json(['migrate', 'up']);
      expect(await other.refusal(['demo'])).toBe('demo: production takes no demo data.');
      expect(await other.databases.au1.fork().count(Integrator)).toBe(0);
      await other.json(['integrator', 'create', '--name', 'Site Sync']);
      other.env.NODE_ENV = 'development';
      const args = ['demo', '--timesheets', '5'];
      expect(await other.refusal(args)).toBe("--region: au1 holds data that is not the demo's.");
      expect(await other.databases.us1.fork().count(Integrator)).toBe(0);
    } finally {
      await other.close();
    }
  });
});
