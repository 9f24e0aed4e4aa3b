import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDatabase } from '../setup/database.ts';
import { freePort } from '../support/ports.ts';
import { readBlock } from '../support/printed-blocks.ts';
import { endPrograms, startProgram } from '../support/program.ts';

const ROOT = join(import.meta.dirname, '../..');
/** Prefix of the roles and databases of this run, which share a cluster with those of other tests. */
const PREFIX = `first_hour_${randomBytes(4).toString('hex')}`;

let admin: pg.Client;
let folder: string;
let drop: () => Promise<void>;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'first-hour-'));
  const created = await createDatabase('template1');
  drop = created.drop;
  admin = new pg.Client({ connectionString: created.url });
  await admin.connect();
});

afterAll(async () => {
  await endPrograms();
  for (const region of ['au1', 'us1']) await admin.query(`drop database if exists ${PREFIX}_${region} with (force)`);
  for (const role of [PREFIX, `${PREFIX}_owner`]) await admin.query(`drop role if exists ${role}`);
  await admin.end();
  await drop();
  await rm(folder, { recursive: true });
});

/** Returns a block of docs/operations.md, with the names and the server of this test. */
const readCommands = (name: string) =>
  readBlock('docs/operations.md', `commands:${name}`)
    .replaceAll('builder_api', PREFIX)
    .replaceAll('localhost:5432', `127.0.0.1:${admin.port}`);

describe('the first hour of docs/operations.md', () => {
  it('leads from an empty PostgreSQL to a token with which an integrator reads its builder', async () => {
    for (const statement of readCommands('roles').trim().split(';\n')) await admin.query(statement);
    const port = await freePort();
    const baseUrl = `http://localhost:${port}`;
    const script = readCommands('first-hour').replace('https://api.example.com', baseUrl);
    const program = `builder-api() { "${process.execPath}" "${join(ROOT, 'dist/src/bin.cjs')}" "$@"; }`;
    const env = { PATH: process.env.PATH!, DATA_DIR: join(folder, 'data') };
    const lines = [program, script, 'env'].join('\n');
    const { stdout } = await promisify(execFile)('bash', ['-eu', '-o', 'pipefail', '-c', lines], { cwd: folder, env });

    expect(stdout).toMatch(/^au1: \d+ migrations? applied$/m);
    expect(stdout).toMatch(/role +ADMIN\n.*regions +au1 us1\n/);
    const find = (pattern: RegExp) => pattern.exec(stdout)![1]!;
    const exported = (name: string) => find(new RegExp(`^${name}=(.*)$`, 'm'));
    const names = ['NODE_ENV', 'BASE_URL', 'TOKEN_KEY', 'DATABASE_URL_AU1', 'DATABASE_URL_US1'];
    const settings = Object.fromEntries(names.map((name) => [name, exported(name)]));
    await startProgram({ ...settings, DATA_DIR: env.DATA_DIR, PORT: String(port), WORKERS: '1' });

    const credentials = `${find(/clientId +(\S+)/)}:${find(/clientSecret +(\S+)/)}`;
    const token = await fetch(`${baseUrl}/oauth/token`, {
      method: 'POST',
      headers: { authorization: `Basic ${Buffer.from(credentials).toString('base64')}` },
      body: new URLSearchParams({ grant_type: 'client_credentials', audience: baseUrl, scope: 'read:builders' }),
    });
    const { access_token: accessToken } = (await token.json()) as { access_token: string };
    const builders = await fetch(`${baseUrl}/builders`, { headers: { authorization: `Bearer ${accessToken}` } });
    expect(await builders.json()).toMatchObject({ data: [{ name: 'Harbourline Constructions' }] });
  });
});
