import { execFile, spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import pg from 'pg';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { waitForAdvisoryLock } from '../../src/database/write/advisory-lock.ts';
import type { Instance } from '../proof/instance.ts';
import { tokenOf } from '../proof/limits.ts';
import { ProofEnvironment } from '../proof/proof-environment.ts';

const RULES = join(process.cwd(), 'deploy/prometheus/alerts.yaml');
const METRICS_TOKEN = 'metrics-token-of-the-alerts';
const isPromtoolMissing = spawnSync('promtool', ['--version']).error !== undefined;

interface Rule {
  alert: string;
  expr: string;
  labels: Record<string, string>;
  annotations: Record<string, string>;
}

/** Values of a metric by series, as `/metrics` writes them. */
interface Scrape {
  types: Map<string, string>;
  values: Map<string, number>;
  /** Seconds since the epoch. */
  at: number;
}

/** Metrics before and after a condition was provoked. */
interface Observation {
  before: Scrape;
  after: Scrape;
}

let environment: ProofEnvironment;
let instance: Instance;
let folder: string;
let rules: Rule[];
/** Requests that a lock has delayed. */
let pending: Promise<unknown>;

async function scrape({ origin }: Instance): Promise<Scrape> {
  const response = await fetch(`${origin}/metrics`, { headers: { authorization: `Bearer ${METRICS_TOKEN}` } });
  const text = await response.text();
  const lines = [...text.matchAll(/^(\w+(?:\{.*\})?) (\S+)$/gm)];
  return {
    types: new Map([...text.matchAll(/^# TYPE (\w+) (\w+)$/gm)].map(([, name, type]) => [name!, type!])),
    values: new Map(lines.map(([, series, value]) => [series!, Number(value)])),
    at: Date.now() / 1000,
  };
}

async function observe(target: Instance, provoke: () => Promise<unknown>): Promise<Observation> {
  const before = await scrape(target);
  await provoke();
  return { before, after: await scrape(target) };
}

/** Minutes for which a condition lasts: longer than the longest rule. */
const MINUTES = 200;

/**
 * Returns series in the notation of promtool, a value a minute. Counters continue at the rate at which they have grown, gauges and their times
 * keep their last value.
 */
function toSeries({ before, after }: Observation, pattern: RegExp) {
  return [...after.values].flatMap(([series, value]) => {
    if (!pattern.test(series)) return [];
    const name = /^\w+/.exec(series)![0];
    const type = after.types.get(name) ?? after.types.get(name.replace(/_(bucket|sum|count)$/, ''));
    const rate = (value - (before.values.get(series) ?? 0)) / Math.max(1, after.at - before.at);
    // Promtool's time begins at 0.
    const last = /timestamp_seconds/.test(name) ? value - after.at : value;
    return [{ series, values: type === 'gauge' ? `${last}+0x${MINUTES}` : `0+${rate * 60}x${MINUTES}` }];
  });
}

/** Runs `promtool test rules`: the alert must fire with the labels at the end of the series, or with null not fire. */
async function checkAlert(alert: string, series: object[], labels: Record<string, string> | null): Promise<void> {
  const rule = rules.find((each) => each.alert === alert)!;
  const expected = { exp_labels: { ...rule.labels, ...labels }, exp_annotations: rule.annotations };
  const file = join(folder, `${alert}.yaml`);
  const test = { eval_time: `${MINUTES}m`, alertname: alert, exp_alerts: labels ? [expected] : [] };
  const tests = [{ interval: '1m', input_series: series, alert_rule_test: [test] }];
  await writeFile(file, stringify({ rule_files: [RULES], evaluation_interval: '1m', tests }));
  const { stdout, stderr } = await promisify(execFile)('promtool', ['test', 'rules', file]).catch((error) => error);
  expect(stdout + stderr).toContain('SUCCESS');
}

/** Fires for what was observed, and not where nothing has changed since the first scrape. */
async function expectToFire(alert: string, observation: Observation, pattern: RegExp, labels: Record<string, string>) {
  const series = toSeries(observation, pattern);
  expect(series.length).toBeGreaterThan(0);
  await checkAlert(alert, series, labels);
  await checkAlert(alert, toSeries({ before: observation.before, after: observation.before }, pattern), null);
}

beforeAll(async () => {
  if (isPromtoolMissing) return;
  folder = await mkdtemp(join(tmpdir(), 'alerts-'));
  rules = parse(await readFile(RULES, 'utf8')).groups[0].rules;
  environment = await ProofEnvironment.start({ METRICS_TOKEN, LOG_LEVEL: 'error' });
  instance = await environment.addInstance();
});

afterAll(async () => {
  if (isPromtoolMissing) return;
  await environment.close(() => undefined);
  await rm(folder, { recursive: true });
});

const clientOf = (name: string) => environment.demo.clients.find((client) => client.name === name)!;
const headersOf = async (name: string) => ({
  authorization: `Bearer ${await tokenOf(environment, name)}`,
  'content-type': 'application/json',
});

/** Sends a request, whose response may be an error. */
const send = async (path: string, init: RequestInit = {}, { origin } = instance) => {
  const response = await fetch(`${origin}${path}`, init);
  await response.arrayBuffer();
};

/** Runs the work while a transaction has locked a table, by default for longer than statements may wait. */
async function runLocked(
  lock: string,
  work: () => Promise<void>[],
  hold: () => Promise<unknown> = () => sleep(9_000),
): Promise<void> {
  const connection = new pg.Client({ connectionString: environment.settings.DATABASE_URL_AU1 });
  await connection.connect();
  await connection.query('begin');
  await connection.query(`lock table ${lock}`);
  const held = hold();
  pending = Promise.all(work());
  await held.finally(() => connection.end());
}

const repeat = (count: number, work: () => Promise<void>) => Array.from({ length: count }, work);

/** Lets an integrator send more requests than its share has room for to a locked table. */
async function requestLocked(): Promise<void> {
  const [headers, builderId] = [await headersOf('A'), clientOf('A').builderIds[0]];
  // Requests with a new token have limits of their own.
  await send('/builders', { headers });
  // Each selection is a statement of its own: they take both connections of reads.
  const operations = ['id', 'name'].map((field) => {
    const query = `query Projects($id: BuilderId!) { projects(builderId: $id) { data { ${field} } } }`;
    return JSON.stringify({ query, operationName: 'Projects', variables: { id: builderId } });
  });
  const requestAll = () => {
    const graphql = operations.map((body) => send('/graphql', { method: 'POST', headers, body }));
    // Lists on the same connections would wait for a lock twice, and might be served.
    const stalled = waitForStall(2);
    const list = () => stalled.then(() => send(`/builders/${builderId}/projects`, { headers }));
    return [...graphql, ...repeat(400, list)];
  };
  // Operations end late on a busy machine.
  const hold = () => Promise.all([sleep(12_000), waitForSeries('graphql_operations_total{operation="Projects"')]);
  await runLocked('project in access exclusive mode', requestAll, hold);
}

/** Waits until there is a series whose name and labels begin so. */
async function waitForSeries(begin: string): Promise<void> {
  while (![...(await scrape(instance)).values.keys()].some((series) => series.startsWith(begin))) await sleep(500);
}

/** Waits until so many connections of reads are stalled. */
async function waitForStall(connections: number): Promise<void> {
  const stalled = 'database_pipelined_connections{region="au1",pool="reads",state="stalled"}';
  while ((await scrape(instance)).values.get(stalled) !== connections) await sleep(20);
}

/** Lets more transactions wait for a lock than there are connections for them. */
async function revokeLocked(): Promise<void> {
  const { clientId, clientSecret } = clientOf('A');
  const token = await tokenOf(environment, 'A');
  const body = JSON.stringify({ token, client_id: clientId, client_secret: clientSecret });
  const request = { method: 'POST', headers: { 'content-type': 'application/json' }, body };
  await runLocked('oauth_revoked_token in share mode', () => repeat(60, () => send('/oauth/revoke', request)));
}

describe.skipIf(isPromtoolMissing)(
  "an alert of deploy/prometheus/alerts.yaml (skipped without Debian's prometheus)",
  () => {
    describe('of a service whose table is locked', () => {
      let observed: Observation;

      beforeAll(async () => {
        observed = await observe(instance, requestLocked);
        await pending;
      });

      it.each([
        ['ErrorRateHigh', /^http_request_duration_seconds_count/, {}],
        ['RequestsSlow', /^http_request_duration_seconds_bucket/, {}],
        ['ShareFull', /^share_rejections_total\{limit="requests"/, { limit: 'requests' }],
        ['GraphqlOperationFailing', /^graphql_operations_total\{operation="Projects"/, { operation: 'Projects' }],
        [
          'DatabaseReadsStalled',
          /^database_reserve_statements_total\{region="au1",pool="reads"/,
          { region: 'au1', pool: 'reads' },
        ],
      ])('%s fires', (alert, pattern, labels) => expectToFire(alert, observed, pattern, labels));

      it('responds 503 to what cannot be read, and never 500', () => {
        const statuses = [...observed.after.values.keys()].join('\n');
        expect(statuses).toContain('route="/builders/:id/projects",status_code="503"');
        expect(statuses).not.toContain('status_code="500"');
      });

      it('IntegratorFailing fires for the integrator', async () => {
        const sql = 'select integrator_id from oauth_client where id = ?';
        const [client] = await environment
          .database()
          .fork()
          .execute(sql, [clientOf('A').clientId]);
        const integrator = client!.integrator_id as string;
        const pattern = new RegExp(`^integrator_requests_total\\{integrator="${integrator}"`);
        await expectToFire('IntegratorFailing', observed, pattern, { integrator });
      });

      it('DatabaseStatementsFailing fires for the statement', async () => {
        const failed = [...observed.after.values.keys()].find((series) =>
          /^database_statements_total\{region="au1".*"error"/.test(series),
        );
        const [, statement] = /statement="([^"]+)"/.exec(failed!)!;
        const name = statement!.replace(/\W/g, '\\$&');
        const pattern = new RegExp(`^database_statements_total\\{region="au1",statement="${name}"`);
        await expectToFire('DatabaseStatementsFailing', observed, pattern, { region: 'au1', statement: statement! });
      });
    });

    it('DatabaseConnectionsExhausted fires when transactions wait for a connection', async () => {
      const observed = await observe(instance, revokeLocked);
      await pending;
      const pattern = /^database_pool_wait.*\{region="au1",pool="orm"/;
      await expectToFire('DatabaseConnectionsExhausted', observed, pattern, { region: 'au1', pool: 'orm' });
    });

    it('EventLoopDelayed fires when a process does not run', async () => {
      // Resets the percentiles.
      await scrape(instance);
      await sleep(1_000);
      const observed = await observe(instance, () => suspend(1_000));
      await expectToFire('EventLoopDelayed', observed, /^nodejs_eventloop_lag_p99_seconds/, {});
    });

    it('ServiceFull fires when others use the whole capacity', async () => {
      const small = await environment.addInstance({ DATABASE_CONNECTIONS: '24' });
      const clients = await Promise.all(
        ['A', 'B'].map(async (name) => [clientOf(name), await headersOf(name)] as const),
      );
      const write = () =>
        clients.flatMap(([{ builderIds }, headers]) =>
          Array.from({ length: 10 }, (_, index) => {
            const body = JSON.stringify({ sourceApp: 'alerts', externalSourceId: `full-${index}`, title: 'Full' });
            return send(`/builders/${builderIds.at(-1)}/meetings`, { method: 'POST', headers, body }, small);
          }),
        );
      const observed = await observe(small, () => runLocked('meeting in share mode', write, () => sleep(12_000)));
      await pending;
      const pattern = /^share_rejections_total\{limit="writes",reason="service"/;
      await expectToFire('ServiceFull', observed, pattern, { limit: 'writes' });
    });

    it('ImageChecksSlow fires when the check of an image does not end', async () => {
      const observed = await observe(instance, hangInCheck);
      await expectToFire('ImageChecksSlow', observed, /^image_decode.*size="large"/, { size: 'large' });
    });

    describe('of an instance with a low rate limit, without a store', () => {
      let limited: Instance;

      beforeAll(async () => {
        const store = { STORAGE: 's3', S3_BUCKET: 'none', S3_ENDPOINT: 'http://127.0.0.1:9' };
        const keys = { S3_ACCESS_KEY_ID: 'none', S3_SECRET_ACCESS_KEY: 'none' };
        limited = await environment.addInstance({ RATE_LIMIT_API: '5/10', ...store, ...keys });
      });

      it('RateLimitExceeded fires when a client keeps exceeding its budget', async () => {
        const headers = await headersOf('A');
        const observed = await observe(limited, async () => {
          for (let count = 0; count < 100; count++) await send('/builders', { headers }, limited);
        });
        await expectToFire('RateLimitExceeded', observed, /^rate_limit_rejections_total\{budget="api"/, {
          budget: 'api',
        });
      });

      it('StoreFailing fires when the store cannot be reached', async () => {
        const { authorization } = await headersOf('B');
        const path = `/builders/${clientOf('B').builderIds[0]}/attachments/upload`;
        const observed = await observe(limited, async () => {
          const form = new FormData();
          form.set('type', 'attachment');
          form.set('file', new File([new Uint8Array(100)], 'site.jpg', { type: 'image/jpeg' }));
          for (let count = 0; count < 3; count++)
            await send(path, { method: 'POST', headers: { authorization }, body: form }, limited);
        });
        const labels = { region: 'au1', operation: 'put' };
        await expectToFire('StoreFailing', observed, /^storage_operations_total\{region="au1",operation="put"/, labels);
      });
    });

    it('UploadsNotRemoved and CountersNotCompacted fire when work in the database waits', async () => {
      const headers = await headersOf('A');
      const body = JSON.stringify({ contentType: 'image/jpeg', fileName: 'a.jpg', size: 100, type: 'attachment' });
      await send(`/builders/${clientOf('A').builderIds[0]}/attachments/presign`, { method: 'POST', headers, body });
      const em = environment.database().fork();
      // The job compacts nothing while another instance does.
      const holder = new pg.Client({ connectionString: environment.settings.DATABASE_URL_AU1 });
      await holder.connect();
      await holder.query('begin');
      await waitForAdvisoryLock(holder, 'builder-integration-api counters');
      const observed = await observe(instance, async () => {
        await em.execute(`update upload set created_at = now() - interval '9 days' where consumed_at is null;
        insert into list_total (list, builder_id, project_id, parent_id, kind, added)
          select list, builder_id, project_id, parent_id, kind, 0 from (select * from list_total limit 1) total,
            generate_series(1, 100010)`);
        // The metrics of a backlog are those of the last five seconds.
        const counters = 'backlog_items{region="au1",backlog="list_counters"}';
        await expect.poll(async () => (await scrape(instance)).values.get(counters)).toBeGreaterThan(100_000);
      });
      await holder.end();
      for (const [alert, name, backlog] of [
        ['UploadsNotRemoved', 'backlog_oldest_seconds', 'unused_uploads'],
        ['CountersNotCompacted', 'backlog_items', 'list_counters'],
      ] as const) {
        const pattern = new RegExp(`^${name}\\{region="au1",backlog="${backlog}"`);
        await expectToFire(alert, observed, pattern, { region: 'au1' });
      }
    });

    it('JobOverdue fires when the last success of a job is two hours old', async () => {
      const pattern = /^job_last_success_timestamp_seconds\{region="au1",job="compact counters"/;
      await expect
        .poll(async () => toSeries({ before: await scrape(instance), after: await scrape(instance) }, pattern).length)
        .toBe(1);
      const after = await scrape(instance);
      const [series] = toSeries({ before: after, after }, pattern);
      await checkAlert('JobOverdue', [series!], { region: 'au1', job: 'compact counters' });
      // The job runs every minute.
      const running = { ...series, values: series!.values.replace('+0x', '+60x') };
      await checkAlert('JobOverdue', [running], null);
    });

    it('InstanceDown fires when an instance does not answer', async () => {
      const series = 'up{job="builder-api",instance="api-1:4000"}';
      const isUp = () =>
        scrape(instance).then(
          () => 1,
          () => 0,
        );
      const values = async () => `${await isUp()}+0x${MINUTES}`;
      await checkAlert('InstanceDown', [{ series, values: await values() }], null);
      await instance.kill();
      const labels = { job: 'builder-api', instance: 'api-1:4000' };
      await checkAlert('InstanceDown', [{ series, values: await values() }], labels);
      await instance.start();
    });

    it('is tested here by name', async () => {
      const text = await readFile(import.meta.filename, 'utf8');
      expect(rules.map(({ alert }) => alert).filter((alert) => !text.includes(alert))).toEqual([]);
    });
  },
);

/** Suspends the instance for eleven seconds while it checks a large image. */
async function hangInCheck(): Promise<void> {
  const builderId = clientOf('A').builderIds.at(-1)!;
  const url = `/builders/${builderId}`;
  const headers = await headersOf('A');
  const picture = await sharp({ create: { width: 13_000, height: 13_000, channels: 3, background: '#888' } })
    .jpeg()
    .toBuffer();
  const form = new FormData();
  form.set('type', 'attachment');
  form.set('file', new File([picture as never], 'site.jpg', { type: 'image/jpeg' }));
  const upload = { method: 'POST', headers: { authorization: headers.authorization }, body: form };
  const uploaded = await fetch(`${instance.origin}${url}/attachments/upload`, upload);
  const { key, regionId, type } = (await uploaded.json()) as Record<string, string>;
  const sql = 'select id from project where builder_id = ? order by id limit 1';
  const [project] = await environment.database().fork().execute<{ id: string }[]>(sql, [builderId]);
  const photos = [{ externalSourceId: 'photo', imageAttachment: { key, regionId, type } }];
  const page = { externalSourceId: 'page', sourceApp: 'alerts', folderName: 'Page', projectId: project!.id, photos };
  const used = send(`${url}/photo-gallery/bulk-upsert`, { method: 'POST', headers, body: JSON.stringify(page) });
  while (!(await scrape(instance)).values.get('share_used_ratio{limit="large images"}')) await sleep(5);
  await suspend(11_000);
  await used;
}

async function suspend(milliseconds: number): Promise<void> {
  process.kill(instance.pid, 'SIGSTOP');
  await sleep(milliseconds);
  process.kill(instance.pid, 'SIGCONT');
}
