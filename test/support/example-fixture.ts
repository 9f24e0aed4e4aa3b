import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { ClientSecret } from '../../entities/client-secret.entity.ts';
import { Connection } from '../../entities/connection.entity.ts';
import { Integrator } from '../../entities/integrator.entity.ts';
import { type Grant, OAuthClient } from '../../entities/oauth-client.entity.ts';
import { Snapshot } from '../../entities/snapshot.entity.ts';
import { User } from '../../entities/user.entity.ts';
import { WebhookDelivery } from '../../entities/webhook-delivery.entity.ts';
import { WebhookEndpoint } from '../../entities/webhook-endpoint.entity.ts';
import { SCOPES, type Scope } from '../../schema/scopes.ts';
import { buildApp } from '../../src/app.ts';
import { importFolder } from '../../src/data-transfer/import.ts';
import { Database, type Databases } from '../../src/database/database.ts';
import { SecretBox } from '../../src/domain/webhooks/secret-box.ts';
import { newWebhookSecret } from '../../src/domain/webhooks/signature.ts';
import { mapRegions, REGIONS } from '../../src/shared/regions.ts';
import { hashSecret } from '../../src/shared/secrets.ts';
import { CHEAP_HASH } from '../oauth/fixtures.ts';
import { createDatabase } from '../setup/database.ts';
import { definition } from './definition.ts';
import { numberPendingEvents } from './events.ts';
import { insertGeneratedRows } from './generated-rows.ts';
import { type Service, startService, TOKEN_KEY, testConfig } from './harness.ts';

/** Records with the identifiers of the document's examples. */
const RECORDS = join(import.meta.dirname, '../samples/examples');

/** What follows the prefix of every identifier in the examples. */
export const ID_BODY = 'a0mkq3v8t2n4c7x1p9r5w6yzb';
export const BUILDER_ID = `buil_${ID_BODY}`;
export const CLIENT_ID = `cli_${ID_BODY}`;
export const CLIENT_SECRET = 'B2w0kqF1vZr8yXc5nQ7tLh3mJd9sGpUe';
export const REDIRECT_URI = 'https://app.example.com/callback';
export const OTHER_CLIENT_ID = 'cli_a0other';
export const CODE_CLIENT_ID = 'cli_a0code';
export const EMAIL = 'jack.nguyen@harbour-and-stone.example';

const stamps = { createdAt: '2026-02-02T22:16:00.000Z', updatedAt: '2026-02-02T22:16:00.000Z' };

/** The service in the states that its documented responses need. */
export interface ExampleFixture {
  service: Service;
  /** Instances without faults, with rate limits of one request a day, with unreachable databases, and with databases without tables. */
  apps: Record<'normal' | 'limited' | 'unavailable' | 'broken', FastifyInstance>;
  /** Restores every record. */
  reset(): Promise<void>;
  sql(statement: string, values?: unknown[]): Promise<unknown>;
  stop(): Promise<void>;
}

/** Tables with rows that calls create, children first. */
const CLEARED_TABLES = [
  ...['sign_on_conflict', 'sign_on_event', 'sign_on_visit', 'photo_report', 'meeting_note', 'meeting'],
  ...['photo', 'photo_folder', 'upload'],
];

/** Tables whose rows are restored, parents first, and the condition of these rows. */
const RESTORED_ROWS: Record<string, string> = {
  ...Object.fromEntries(
    ['photo_folder', 'photo', 'meeting', 'meeting_note'].map((table) => [table, `builder_id = '${BUILDER_ID}'`]),
  ),
  webhook_endpoint: 'true',
  webhook_delivery: 'true',
  snapshot: 'true',
};

/** Restores every record. The endpoint has no undelivered events. */
const RESET = [
  `delete from photo_report_page where report_id in (select id from photo_report where builder_id = '${BUILDER_ID}')`,
  ...CLEARED_TABLES.map((table) => `delete from ${table} where builder_id = '${BUILDER_ID}'`),
  ...['idempotency_key', 'webhook_endpoint', 'snapshot'].map((table) => `delete from ${table}`),
  ...Object.keys(RESTORED_ROWS).map((table) => `insert into ${table} select * from kept_${table}`),
  `insert into webhook_progress (endpoint_id, day, number)
    select endpoint.id, last_day, last_number from event_log, webhook_endpoint endpoint`,
].join(';\n');

export async function startExampleFixture(): Promise<ExampleFixture> {
  const service = await startService();
  const database = service.databases.au1;
  const cleanups: (() => Promise<unknown>)[] = [];
  const buildAppOver = async (databases: Databases, settings: Record<string, string> = {}) => {
    const config = testConfig({ DATA_DIR: service.dataDir, ...settings });
    const app = await buildApp(config, {
      databases,
      clock: service.clock,
      tokenKeys: [TOKEN_KEY],
      definition,
    });
    cleanups.push(() => app.close());
    return app;
  };
  const buildAppOverUrl = (url: string) => {
    const databases = mapRegions((region) => new Database(region, url));
    cleanups.push(() => Promise.all(REGIONS.map((region) => databases[region].close())));
    return buildAppOver(databases);
  };
  const empty = await createDatabase('template1');
  const limits = { RATE_LIMIT_API: '1/86400', RATE_LIMIT_SYNC: '1/86400', RATE_LIMIT_TOKEN: '1/86400' };
  const apps = {
    normal: service.app,
    limited: await buildAppOver(service.databases, limits),
    unavailable: await buildAppOverUrl('postgresql://nobody:x@127.0.0.1:1/none'),
    broken: await buildAppOverUrl(empty.url),
  };
  const sql = (statement: string, values: unknown[] = []) => database.fork().execute(statement, values);
  const reset = async () => void (await sql(RESET));
  const stop = async () => {
    for (const end of cleanups.toReversed()) await end();
    await service.stop();
    await empty.drop();
  };
  const problems: unknown[] = [];
  await importFolder(database, RECORDS, { onProblem: (problem) => void problems.push(problem) });
  if (problems.length > 0) throw new Error(`Bad records: ${JSON.stringify(problems)}`);
  await insertGeneratedRows(database, BUILDER_ID, ID_BODY);
  await addClients(service);
  await addEndpoint(service);
  await addSnapshot(service);
  for (const [table, rows] of Object.entries(RESTORED_ROWS)) {
    await sql(`create table kept_${table} as select * from ${table} where ${rows}`);
  }
  await addRequests(sql);
  await numberPendingEvents(database);
  return { service, apps, reset, sql, stop };
}

/** A webhook endpoint with one delivery. */
async function addEndpoint({ databases: { au1: database } }: Service): Promise<void> {
  const id = `whe_${ID_BODY}`;
  const em = database.fork();
  await em.insert(WebhookEndpoint, {
    ...{ id, integratorId: `intg_${ID_BODY}`, clientId: CLIENT_ID, url: 'https://app.example.com/hooks/timesheets' },
    ...{ types: ['timesheet.created', 'timesheet.updated'], builderIds: null, status: 'ACTIVE' as const, ...stamps },
    secret: new SecretBox([TOKEN_KEY]).encrypt(newWebhookSecret(), id),
  } as WebhookEndpoint);
  await em.insert(WebhookDelivery, {
    ...{
      id: `whd_${ID_BODY}`,
      endpointId: id,
      eventId: `evt_${ID_BODY}`,
      type: 'timesheet.updated',
      builderId: BUILDER_ID,
    },
    ...{
      number: '1',
      recordId: `ts_${ID_BODY}`,
      projectId: `proj_${ID_BODY}`,
      parentId: null,
      status: 'PENDING' as const,
    },
    ...{ attempts: 1, createdAt: stamps.createdAt, lastAttemptAt: stamps.createdAt, occurredAt: stamps.createdAt },
    nextAttemptAt: '2026-02-02T22:16:05.000Z',
    ...{ responseStatus: 503, responseBody: 'The queue is full.', error: null },
  } as WebhookDelivery);
}

/** A complete snapshot with one file. */
async function addSnapshot({ databases: { au1: database } }: Service): Promise<void> {
  const em = database.fork();
  const id = `snap_${ID_BODY}`;
  const file = {
    resource: 'projects',
    records: 12,
    bytes: 1_876,
    sha256: 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
  };
  await em.insert(Snapshot, {
    ...{ id, integratorId: `intg_${ID_BODY}`, clientId: CLIENT_ID, builderId: BUILDER_ID, status: 'READY' as const },
    ...{ resources: ['projects'], scopes: ['read:projects'], progress: { done: 12, total: 12 }, erasures: null },
    ...{
      eventCursor: '3q2-7wABcf1Wb2T0mY9uJx5k1oQ3vHk8Zr0',
      createdAt: stamps.createdAt,
      finishedAt: stamps.createdAt,
    },
    files: [{ ...file, key: `snapshots/${BUILDER_ID}/${id}/1/projects.ndjson.gz` }],
    expiresAt: '2099-02-03T22:16:00.000Z',
  } as never);
}

/** A failed request and its counts, to which the requests of the fixture itself, which depend on time, are not added. */
async function addRequests(sql: ExampleFixture['sql']): Promise<void> {
  const client = [`intg_${ID_BODY}`, CLIENT_ID];
  await sql(
    `insert into usage_day (integrator_id, client_id, date, operation, requests, rejections, failures)
      values (?, ?, '2026-06-01', 'GET /timesheets', 4210, 1, 0), (?, ?, '2026-06-01', 'graphql SitesToday', 96, 0, 0)`,
    [...client, ...client],
  );
  await sql(
    `insert into request_log (integrator_id, client_id, request_id, at, method, path, status, code, errors, builder_id, duration_ms)
      values (?, ?, '8c1f0d9e-6f0b-4a53-9d54-0f4f6d2a7b11', '2026-05-31T22:16:05.120Z', 'GET', '/timesheets', 400, 'BAD_USER_INPUT',
        '[{"fieldName":"limit","message":"must be an integer from 1 to 25"}]', ?, 3)`,
    [...client, BUILDER_ID],
  );
  await sql('create function discard_row() returns trigger language plpgsql as $$ begin return null; end $$');
  for (const table of ['usage_day', 'request_log'])
    await sql(`create trigger discard before insert on ${table} for each row execute function discard_row()`);
}

/** The client of the examples, one of another integrator with fewer scopes, and one with the code flow only. */
async function addClients({ databases }: Service): Promise<void> {
  const em = databases.au1.fork();
  const other = 'intg_a0other';
  await em.insert(Integrator, { id: other, name: 'Other', deepLinkSchemes: [], ...stamps });
  const connect = (integratorId: string, scopes: readonly Scope[]) =>
    em.insert(Connection, { integratorId, builderId: BUILDER_ID, status: 'ACTIVE', scopes: [...scopes], ...stamps });
  await connect(`intg_${ID_BODY}`, SCOPES);
  await connect(other, ['write:photos']);
  const add = async (id: string, integratorId: string, grants: Grant[], scopes: readonly Scope[]) => {
    await em.insert(OAuthClient, {
      ...{ id, integratorId, name: 'Site Notes production', type: 'CONFIDENTIAL', internal: false, grants },
      ...{ scopes: [...scopes], redirectUris: [REDIRECT_URI], origins: [], ...stamps },
    });
    await em.insert(ClientSecret, { clientId: id, digest: hashSecret(CLIENT_SECRET), createdAt: stamps.createdAt });
  };
  await add(CLIENT_ID, `intg_${ID_BODY}`, ['client_credentials', 'authorization_code', 'refresh_token'], SCOPES);
  await add(OTHER_CLIENT_ID, other, ['client_credentials'], ['read:projects', 'write:photos']);
  await add(CODE_CLIENT_ID, other, ['authorization_code'], ['read:projects']);
  await em.nativeUpdate(User, { email: EMAIL }, { passwordHash: CHEAP_HASH });
}
