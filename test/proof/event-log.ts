import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { DemoClient } from '../../src/demo/demo-file.ts';
import { REGIONS } from '../../src/shared/regions.ts';
import { loadDemoInto } from '../support/load-demo.ts';
import { createSettings, startInstancePair } from './instance-pair.ts';
import { KillLoop } from './kill-loop.ts';
import { KillablePostgres } from './killable-postgres.ts';

interface EventLogOptions {
  writers: number;
  readers: number;
  records: number;
  /** Seconds of writing. */
  seconds: number;
  /** Milliseconds between one fault and the next. */
  pause: number;
  log: (line: string) => void;
}

interface ReadEvent {
  id: string;
  type: string;
  record: string;
}

const BASE_URL = 'http://localhost:4000';
const ROLLBACKS = 0.2;

/**
 * Writers archive and restore shared records, with pauses and rollbacks, while readers page through the feed and PostgreSQL and two
 * instances are killed. Each committed change must be read exactly once, in the order of the record's commits.
 */
export async function eventLog({ writers, readers, records, seconds, pause, log }: EventLogOptions) {
  const undo: (() => Promise<unknown>)[] = [];
  try {
    const postgres = await KillablePostgres.start();
    undo.push(() => postgres.remove());
    const databases = await postgres.createRegionDatabases();
    const demo = await loadDemoInto(databases, { baseUrl: BASE_URL, timesheets: 0 });
    for (const region of REGIONS) await databases[region].close();
    const client = demo.clients.find(({ name }) => name === 'A')!;
    const ids = await addRecords(postgres.url('au1'), client.builderIds[0]!, records);
    const instances = await startInstancePair(createSettings(postgres, BASE_URL), undo);

    const token = await requestToken(instances[0]!.origin, client);
    const first = await readPage(instances[0]!.origin, token, '');
    let isWriting = true;
    /** Number of events that each reader must read; infinite while events are written. */
    let expected = Number.POSITIVE_INFINITY;
    const reading = Array.from({ length: readers }, async (_, index) => {
      const seen: ReadEvent[] = [];
      for (let cursor = first.meta.nextCursor; seen.length < expected; ) {
        const { origin } = instances[index % instances.length]!;
        const limit = 1 + Math.floor(Math.random() * 100);
        const page = await readPage(origin, token, `after=${cursor}&limit=${limit}&wait=${index % 3}`).catch(
          () => null,
        );
        if (page) {
          seen.push(...page.data.map(({ id, type, resource }) => ({ id, type, record: resource.id })));
          cursor = page.meta.nextCursor;
        } else await sleep(50);
        if (page?.data.length === 0 && expected !== Number.POSITIVE_INFINITY && !page.meta.hasMore) break;
      }
      return seen;
    });
    const faults = new KillLoop(postgres, instances, pause, log);
    const until = Date.now() + seconds * 1000;
    const writing = Array.from({ length: writers }, () => write(postgres.url('au1'), ids, () => Date.now() < until));
    await Promise.all(writing);
    isWriting = false;
    await faults.end();
    const changes = await countCommittedChanges(postgres.url('au1'));
    await waitForNumbers(postgres.url('au1'));
    expected = changes.size === 0 ? 0 : [...changes.values()].reduce((sum, count) => sum + count, 0);
    const seenByReaders = await Promise.all(reading);
    const problems = [
      ...seenByReaders.flatMap((seen, index) =>
        findReaderProblems(seen, changes).map((line) => `reader ${index}: ${line}`),
      ),
      ...(await findGaps(postgres.url('au1'))),
    ];
    if (isWriting || expected === 0) problems.push('nothing was written');
    const { databaseKills, instanceKills } = faults;
    return { writers, readers, changes: expected, databaseKills, instanceKills, seconds, problems };
  } finally {
    for (const step of undo.reverse()) await step().catch((error) => log(String(error)));
  }
}

async function query<T extends object>(url: string, sql: string, values: unknown[] = []): Promise<T[]> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query<T>(sql, values)).rows;
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** Adds photos, and the table in which each transaction records its changes. Returns the ids of the photos. */
async function addRecords(url: string, builderId: string, count: number): Promise<string[]> {
  await query(url, 'create table proof_change (record_id text not null)');
  const rows = await query<{ id: string }>(
    url,
    `insert into photo (id, created_at, updated_at, builder_id, source, file_name, content_type, key, file_size, sort_date)
     select 'att_proof' || n, now(), now(), $1, 'GALLERY', 'a.jpg', 'image/jpeg', 'photos/' || $1 || '/proof' || n, 1, now()
     from generate_series(1, $2::int) n returning id`,
    [builderId, count],
  );
  while ((await query<{ n: number }>(url, 'select number_events(1000) as n'))[0]!.n > 0);
  return rows.map(({ id }) => id);
}

/** Runs transactions while `isRunning`. It reconnects after a lost connection, whose transaction may have been committed. */
async function write(url: string, ids: string[], isRunning: () => boolean): Promise<void> {
  while (isRunning()) {
    const client = new pg.Client({ connectionString: url });
    client.on('error', () => undefined);
    try {
      await client.connect();
      while (isRunning()) await writeOnce(client, ids);
    } catch {
      await sleep(50);
    } finally {
      await client.end().catch(() => undefined);
    }
  }
}

async function writeOnce(client: pg.Client, ids: string[]): Promise<void> {
  // In the order of the ids, so that writers do not deadlock.
  const chosen = [...new Set(Array.from({ length: 3 }, () => ids[Math.floor(Math.random() * ids.length)]!))].sort();
  await client.query('begin');
  for (const id of chosen) {
    const toggle = 'update photo set archived_at = case when archived_at is null then now() end where id = $1';
    await client.query(toggle, [id]);
    if (Math.random() < 0.3)
      await client.query('update photo set description = md5(random()::text) where id = $1', [id]);
    await client.query('insert into proof_change (record_id) values ($1)', [id]);
    if (Math.random() < 0.5) await sleep(Math.random() * 30);
  }
  await client.query(Math.random() < ROLLBACKS ? 'rollback' : 'commit');
}

async function requestToken(origin: string, { clientId, clientSecret }: DemoClient): Promise<string> {
  const response = await fetch(`${origin}/oauth/token`, {
    method: 'POST',
    body: new URLSearchParams({
      ...{ grant_type: 'client_credentials', client_id: clientId, client_secret: clientSecret! },
      ...{ audience: BASE_URL, scope: 'read:photos' },
    }),
  });
  return ((await response.json()) as { access_token: string }).access_token;
}

interface Page {
  data: { id: string; type: string; resource: { id: string } }[];
  meta: { nextCursor: string; hasMore: boolean };
}

async function readPage(origin: string, token: string, search: string): Promise<Page> {
  const headers = { authorization: `Bearer ${token}` };
  const response = await fetch(`${origin}/events?${search}`, { headers, signal: AbortSignal.timeout(10_000) });
  if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`);
  return (await response.json()) as Page;
}

/** Returns the number of committed changes by record. */
async function countCommittedChanges(url: string): Promise<Map<string, number>> {
  const rows = await query<{ id: string; count: number }>(
    url,
    'select record_id as id, count(*)::int as count from proof_change group by 1',
  );
  return new Map(rows.map(({ id, count }) => [id, count]));
}

async function waitForNumbers(url: string): Promise<void> {
  while ((await query(url, 'select from event_pending limit 1')).length > 0) await sleep(50);
}

/** Returns the events that a reader missed, read twice, or read in another order than that of the record's commits. */
function findReaderProblems(seen: ReadEvent[], changes: Map<string, number>): string[] {
  const problems: string[] = [];
  if (new Set(seen.map(({ id }) => id)).size !== seen.length) problems.push('an event was read twice');
  for (const [record, count] of changes) {
    const types = seen.filter((event) => event.record === record).map(({ type }) => type);
    if (types.length !== count) problems.push(`${record} changed ${count} times, and has ${types.length} events`);
    const isAlternating = types.every(
      (type, index) => type === (index % 2 === 0 ? 'photo.archived' : 'photo.restored'),
    );
    if (!isAlternating) problems.push(`the events of ${record} are not in the order of its commits`);
  }
  if (seen.some(({ record }) => !changes.has(record))) problems.push('there are events of no committed change');
  return problems;
}

/** Returns problems for missing numbers, and for records whose events are numbered in another order than they were written in. */
async function findGaps(url: string): Promise<string[]> {
  const gaps = await query(
    url,
    `select from (select number, lag(number) over (order by number) as before from event) numbers where before <> number - 1`,
  );
  const reversed = await query(
    url,
    `select from (select occurred_at, lag(occurred_at) over (partition by record_id order by number) as before from event) times
     where before > occurred_at`,
  );
  return [...gaps.map(() => 'numbers have a gap'), ...reversed.map(() => 'the events of a record are not in order')];
}
