import { readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { beforeAll, describe, expect, it } from 'vitest';
import { loadTokenKeys } from '../../src/auth/token-keys.ts';
import { runCli } from '../../src/cli/run.ts';
import { loadConfig } from '../../src/config.ts';
import { sweep } from '../../src/domain/uploads/sweep.ts';
import { systemClock } from '../../src/shared/clock.ts';
import { openStorages, type Storage } from '../../src/storage/storage.ts';
import { ConcurrentTransaction } from '../support/concurrent-transaction.ts';
import { createPicture } from '../support/images.ts';
import { seedBuilders, TextCollector, useCli } from './cli-harness.ts';

const DAY = 86_400_000;

const cli = useCli();
let storage: Storage;
let logo: string;

const openStorage = async (settings: Record<string, string> = {}) => {
  const config = loadConfig({ ...cli.env, ...settings });
  return openStorages(config, { secrets: await loadTokenKeys(config), clock: systemClock }).au1;
};

beforeAll(async () => {
  await seedBuilders(cli);
  const file = join(cli.env.DATA_DIR!, 'logo.jpg');
  await writeFile(file, await createPicture());
  await cli.json(['builder', 'set-logo', 'buil_a', file]);
  storage = await openStorage();
  const [row] = await cli.databases.au1
    .fork()
    .execute<{ key: string }[]>(`select logo_key as key from builder where id = 'buil_a'`);
  logo = row!.key;
});

describe('backup verify', () => {
  it('counts rows and stored bytes', async () => {
    const report = await cli.json(['backup', 'verify']);
    expect(report).toMatchObject({
      intact: true,
      rows: { builder: 2, project: 2, photo: 0 },
      wrongTotals: { photo: 0, timesheet: 0, meeting: 0, defect: 0, induction: 0, subcontractor: 0 },
      objects: { referenced: 1, present: 1, bytes: (await storage.byteStore.stat(logo))!.size, missing: [] },
    });
    expect(report.migration).toMatch(/^Migration\d+/);
  });

  it('counts the rows and totals of one state of the database', async () => {
    const other = await ConcurrentTransaction.open(cli.databases.au1.url);
    const before = (await cli.json(['backup', 'verify'])).rows;
    let verifying: Promise<{ rows: object }> | undefined;
    try {
      const change = `lock table project in access exclusive mode;
        insert into project select (jsonb_populate_record(project, '{"id": "proj_later"}')).* from project limit 1`;
      await other.whileOpen(change, [], async () => {
        verifying = cli.json(['backup', 'verify']);
        await other.untilWaiting(1);
      });
      expect((await verifying!).rows).toEqual(before);
    } finally {
      await other.close();
    }
  });

  it('fails with the totals that are wrong', async () => {
    const execute = (sql: string) => cli.databases.au1.fork().execute(sql);
    await execute(`insert into list_total (list, builder_id, kind, added) values ('photo', 'buil_a', 'GALLERY', 3)`);
    const { code, err } = await cli.run(['backup', 'verify', '--json']);
    expect(code).toBe(1);
    expect(JSON.parse(err)).toMatchObject({ intact: false, wrongTotals: { photo: 1, timesheet: 0 } });
    await cli.json(['totals', 'rebuild', '--region', 'au1']);
    expect(await cli.json(['backup', 'verify'])).toMatchObject({ intact: true });
  });

  it('fails with the objects that are missing', async () => {
    const bytes = (await storage.byteStore.open(logo))!;
    const chunks: Buffer[] = [];
    for await (const chunk of bytes.stream) chunks.push(chunk as Buffer);
    await storage.byteStore.remove([logo]);
    const { code, err } = await cli.run(['backup', 'verify']);
    expect(code).toBe(1);
    expect(err).toContain('Not complete.');
    expect(err).toContain('0 of 1 present');
    expect(err).toContain(logo);
    await storage.store(logo, Readable.from(chunks), 'image/jpeg', 1_000_000);
    expect(await cli.json(['backup', 'verify'])).toMatchObject({ intact: true });
  });
});

describe('backup verify, of the event log', () => {
  const execute = (sql: string) => cli.databases.au1.fork().execute(sql);

  it('says whether the epoch will be renewed because the database was restored (EVT-12)', async () => {
    await execute('select number_events(1000)');
    expect((await cli.json(['backup', 'verify'])).eventLog).toEqual({
      epoch: expect.stringMatching(/^[0-9a-f]{32}$/),
      renewsEpoch: false,
    });
    await execute(`update event_log set origin = '1/00000001'`);
    expect((await cli.json(['backup', 'verify'])).eventLog.renewsEpoch).toBe(true);
    expect((await cli.run(['backup', 'verify'])).out).toContain('all cursors expire');
    await execute('select number_events(1000)');
    expect((await cli.json(['backup', 'verify'])).eventLog.renewsEpoch).toBe(false);
  });
});

describe('the store of another deployment (UPL-34)', () => {
  const orphan = 'photos/buil_a/orphan.jpg';
  const later = () => Date.now() + 2 * DAY;
  const exists = async () => (await storage.byteStore.stat(orphan)) !== null;

  it('belongs to the first deployment that sweeps it', async () => {
    await storage.store(orphan, Readable.from(['bytes']), 'image/jpeg', 100);
    expect(await sweep(cli.databases.au1, storage, Date.now())).toMatchObject({ objects: 0 });
    const owner = { baseUrl: 'http://localhost:4000', database: expect.stringMatching(/^\d+\/00000001\/\w+$/) };
    expect(await cli.json(['backup', 'verify'])).toMatchObject({ storeOwner: owner });
  });

  it('keeps every object from a copy with another database', async () => {
    const copy = cli.databases.us1;
    await expect(sweep(copy, storage, later())).rejects.toThrow(
      /^The store of au1 belongs to http:\/\/localhost:4000 /,
    );
    expect(await exists()).toBe(true);
  });

  it('keeps every object from a copy with another address', async () => {
    const copy = await openStorage({ BASE_URL: 'http://localhost:5000' });
    await expect(sweep(cli.databases.au1, copy, later())).rejects.toThrow('nothing was deleted');
    expect(await exists()).toBe(true);
  });

  it('gets no erasure of a copy with another address, in one line', async () => {
    const user = ['--email', 'kim@example.com', '--name', 'Kim Tran', '--generate-password'];
    const { userId } = await cli.json(['user', 'create', ...user]);
    const env = { ...cli.env };
    cli.env.BASE_URL = 'http://localhost:5000';
    expect(await cli.errorOf(['person', 'erase', userId, '--yes'])).toMatch(/^The store of au1 belongs to [^\n]+$/);
    Object.assign(cli.env, { BASE_URL: env.BASE_URL });
  });

  it('is swept after storage claim', async () => {
    const env = { ...cli.env };
    cli.env.BASE_URL = 'http://localhost:5000';
    expect(await cli.errorOf(['storage', 'claim'])).toBe('--yes: is required without a terminal.');
    for (const answer of ['n\n', '\n', '']) {
      const stdin = Object.assign(new PassThrough(), { isTTY: true });
      const [stdout, stderr] = [new TextCollector(), new TextCollector()];
      stdin.end(answer);
      const io = { env: cli.env, clock: cli.clock, stdin, stdout, stderr };
      expect(await runCli(['storage', 'claim'], io)).toBe(1);
      expect(stderr.text).toMatch(/Continue\? \[y\/N\] [\s\S]*storage claim: was not confirmed\./);
    }
    expect(await cli.json(['storage', 'claim', '--yes'])).toMatchObject({
      previousOwner: { baseUrl: 'http://localhost:4000' },
      owner: { baseUrl: 'http://localhost:5000' },
    });
    await expect(sweep(cli.databases.au1, storage, later())).rejects.toThrow('belongs to http://localhost:5000');
    const claimed = await openStorage();
    expect(await sweep(cli.databases.au1, claimed, later())).toMatchObject({ objects: 1 });
    expect(await exists()).toBe(false);
    expect(await readdir(join(env.DATA_DIR!, 'storage', 'objects', 'au1'))).toContain('deployment.json');
    await rm(join(env.DATA_DIR!, 'logo.jpg'));
  });
});
