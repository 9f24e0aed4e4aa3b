import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Timesheet } from '../../entities/timesheet.entity.ts';
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
});
