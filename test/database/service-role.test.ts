import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { buildApp } from '../../src/app.ts';
import { Database, type Databases } from '../../src/database/database.ts';
import { grantServiceRights } from '../../src/database/grant-rights.ts';
import { createCompactionJob, rebuildTotals } from '../../src/database/write/list-counters.ts';
import { numberEvents } from '../../src/domain/events/event-log.ts';
import { maintainPartitions } from '../../src/domain/events/retention.job.ts';
import { erasePerson } from '../../src/domain/privacy/erase-person.ts';
import { createErasureJob } from '../../src/domain/privacy/replay-erasures.ts';
import { createPurgeJob } from '../../src/domain/retention/purge.job.ts';
import { mapRegions, REGIONS } from '../../src/shared/regions.ts';
import { openStorages } from '../../src/storage/storage.ts';
import { OPERATOR } from '../support/audit.ts';
import { definition, operations } from '../support/definition.ts';
import { type Service, startService, TOKEN_KEY, testConfig } from '../support/harness.ts';
import { OperationCalls } from '../support/operation-calls.ts';
import { createSamples } from '../support/samples.ts';

const ROLE = `service_test_${randomBytes(6).toString('hex')}`;

let owner: Service;
let databases: Databases;
let app: FastifyInstance;
let dataDir: string;

beforeAll(async () => {
  owner = await startService();
  await owner.databases.au1.fork().execute(`create role ${ROLE} login password 'only-a-test'`);
  for (const region of REGIONS) await grantServiceRights(owner.databases[region], ROLE);
  databases = mapRegions((region) => {
    const url = Object.assign(new URL(owner.databases[region].url), { username: ROLE, password: 'only-a-test' });
    return new Database(region, url.href);
  });
  dataDir = await mkdtemp(join(tmpdir(), 'builder-api-role-'));
  const dependencies = { databases, clock: owner.clock, tokenKeys: [TOKEN_KEY], definition };
  app = await buildApp(testConfig({ DATA_DIR: dataDir }), dependencies);
});
afterAll(async () => {
  await app?.close();
  for (const region of REGIONS) {
    await databases[region].close();
    await owner.databases[region].fork().execute(`drop owned by ${ROLE}`);
  }
  await owner.databases.au1.fork().execute(`drop role ${ROLE}`);
  await owner.stop();
  await rm(dataDir, { recursive: true, force: true });
});

it('a role with the rights that migrations grant runs every operation and job (ACC-20)', async () => {
  const token = await owner.tokenOf('A');
  const samples = await createSamples(owner.databases.au1, owner.findDemoClient('A').builderIds[0]!);
  const calls = new OperationCalls(Object.assign(Object.create(owner), { request: app.inject.bind(app) }), samples);
  const failed: string[] = [];
  for (const operation of operations) {
    const { status } = await calls.rest(operation, token);
    if (status >= 500) failed.push(operation.field);
  }
  expect(failed).toEqual([]);
  const [{ owned }] = (await databases.au1
    .fork()
    .execute(`select count(*)::int as owned from pg_class where relowner = '${ROLE}'::regrole`)) as [{ owned: number }];
  expect(owned).toBe(0);
  const storages = openStorages(testConfig({ DATA_DIR: dataDir }), { secrets: [TOKEN_KEY], clock: owner.clock });
  expect(await numberEvents(databases.au1)).toBeGreaterThan(0);
  expect((await maintainPartitions(databases.au1, Date.now() + 40 * 86_400_000)).dropped).toBeGreaterThan(0);
  await createCompactionJob(databases).run('au1');
  await createPurgeJob(databases).run('au1');
  await rebuildTotals(databases.au1);
  const context = { database: databases.au1, storage: storages.au1, clock: owner.clock, source: OPERATOR };
  const user = owner.findDemoUser(({ regionId }) => regionId === 'au1').id;
  expect(await erasePerson(context, [user])).toMatchObject({ pseudonym: expect.stringMatching(/^Erased person /) });
  await createErasureJob(databases, storages, owner.clock).run('au1');
});

it('a role cannot run code as the owner of the tables by names of its temporary schema (ACC-20)', async () => {
  const client = new pg.Client({ connectionString: databases.au1.url });
  await client.connect();
  try {
    await client.query(`create table pg_temp.caller (name text);
      create function pg_temp.note(value pg_catalog.text) returns boolean language plpgsql as
        $$ begin insert into pg_temp.caller values (current_user); return true; end $$;
      create domain pg_temp.text as pg_catalog.text check (pg_temp.note(value));
      create view pg_temp.pg_class as select pg_temp.note('') as noted, * from pg_catalog.pg_class`);
    const erasure = { id: 'era_a', kind: 'PERSON', subject_ids: ['user_a'], pseudonym: 'Somebody' };
    await expect(client.query('select public.record_erasure($1, null)', [erasure])).rejects.toThrow('not a pseudonym');
    await client.query(`select public.create_event_partition('2030-01-01'), public.drop_event_partition('2030-01-01')`);
    const { rows } = await client.query('select name from pg_temp.caller');
    expect(rows.filter(({ name }) => name !== ROLE)).toEqual([]);
  } finally {
    await client.end();
  }
  const definers = `select proname from pg_proc where prosecdef and pronamespace = 'public'::regnamespace
    and not coalesce(proconfig @> '{"search_path=pg_catalog, pg_temp"}', false)`;
  expect(await owner.databases.au1.fork().execute(definers)).toEqual([]);
});
