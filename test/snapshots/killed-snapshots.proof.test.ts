import { createHash } from 'node:crypto';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { SnapshotFile } from '../../entities/snapshot.entity.ts';
import { createDatabase } from '../setup/database.ts';
import { freePort } from '../support/ports.ts';
import { endPrograms, startProgram } from '../support/program.ts';

/** So many that a snapshot takes seconds. */
const TIMESHEETS = 30_000;
const POLL = { timeout: 120_000, interval: 100 };

const { clientId, clientSecret, scopes, builderIds } = inject('demo').clients.find(({ name }) => name === 'A')!;
let folder: string;
let database: pg.Client;
let settings: Record<string, string>;
let origin: string;
let token: string;
const drops: (() => Promise<void>)[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'snapshots-'));
  await chmod(folder, 0o711);
  const { templates } = inject('cluster');
  const [au1, us1] = await Promise.all([createDatabase(templates.au1), createDatabase(templates.us1)]);
  drops.push(au1.drop, us1.drop);
  settings = { DATABASE_URL_AU1: au1.url, DATABASE_URL_US1: us1.url, DATA_DIR: folder, WORKERS: '1' };
  database = new pg.Client({ connectionString: au1.url });
  await database.connect();
  await database.query(
    `insert into timesheet select (jsonb_populate_record(one, jsonb_build_object('id', 'ts_kill' || n))).*
      from timesheet one, generate_series(1, ${TIMESHEETS}) n where one.id = (select min(id) from timesheet where builder_id = $1)`,
    [builderIds[0]],
  );
});

afterAll(async () => {
  await endPrograms();
  await database?.end();
  for (const drop of drops) await drop();
  await rm(folder, { recursive: true, force: true });
});

/** Starts an instance, which all further requests are sent to. Every instance shares database, storage and key. */
async function startInstance() {
  const port = await freePort();
  const program = await startProgram({ ...settings, PORT: String(port), BASE_URL: `http://localhost:${port}` });
  origin = `http://127.0.0.1:${port}`;
  const form = { grant_type: 'client_credentials', client_id: clientId, client_secret: clientSecret! };
  const body = new URLSearchParams({ ...form, audience: `http://localhost:${port}`, scope: scopes.join(' ') });
  token = (await (await fetch(`${origin}/oauth/token`, { method: 'POST', body })).json()).access_token;
  return program;
}

async function call(path: string, body?: object) {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const sent = { method: body ? 'POST' : 'GET', headers, body: body && JSON.stringify(body) };
  return (await fetch(origin + path, sent)).json();
}

const waitFor = (id: string, status: string) =>
  expect.poll(async () => (await call(`/snapshots/${id}`)).status, POLL).toBe(status);

describe('kill -9 of an instance that writes a snapshot', () => {
  it('leaves it to another one, which begins again and completes it (SNP-8)', async () => {
    const first = await startInstance();
    const { id } = await call('/snapshots', { builderId: builderIds[0], resources: ['projects', 'timesheets'] });
    await expect.poll(async () => (await call(`/snapshots/${id}`)).progress.done, POLL).toBeGreaterThan(1_000);
    first.process.kill('SIGKILL');
    await first.exit;
    // The lease of a killed process ends by itself within 30 seconds, which the test does not wait for.
    const lease = `leased_until between clock_timestamp() and clock_timestamp() + interval '30 s'`;
    const ended = await database.query(`update snapshot set leased_until = clock_timestamp() where ${lease}`);
    expect(ended.rowCount).toBe(1);
    for (let instance = 0; instance < 2; instance++) await startInstance();
    await waitFor(id, 'READY');
    const { rows } = await database.query('select attempts from snapshot');
    expect(rows).toEqual([{ attempts: 2 }]);
    const { files } = await call(`/snapshots/${id}`);
    for (const { url, sha256, records } of files as SnapshotFile[]) {
      const { pathname, search } = new URL(url!);
      const bytes = Buffer.from(await (await fetch(origin + pathname + search)).arrayBuffer());
      expect(createHash('sha256').update(bytes).digest('hex')).toBe(sha256);
      expect(gunzipSync(bytes).toString().trimEnd().split('\n')).toHaveLength(records);
    }
    const [, timesheets] = files as SnapshotFile[];
    expect(timesheets!.records).toBeGreaterThan(TIMESHEETS);
  });
});
