import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { AccessTokens } from '../../src/auth/access-tokens.ts';
import { Database, type Databases } from '../../src/database/database.ts';
import { runPendingMigrations } from '../../src/database/run-migrations.ts';
import { loadDemoInto } from '../../src/demo/load.ts';
import { canonicalJson, createFingerprint } from '../../src/shared/canonical-json.ts';
import { REGIONS } from '../../src/shared/regions.ts';
import { blocks, type Json, page, request } from '../photo-reports/documents.ts';
import { randomOf } from '../support/shuffle.ts';
import { Instance } from './instance.ts';
import { MortalPostgres } from './postgres.ts';

interface ReportFaultsOptions {
  /** Reports that are synced at the same time. */
  reports: number;
  /** Revisions of each. */
  revisions: number;
  /** Milliseconds between one fault and the next. */
  pause: number;
  say?: (line: string) => void;
}

const BASE_URL = 'http://localhost:4000';

/** A report as its application knows it. */
interface Walk {
  sourceExternalId: string;
  /** What was acknowledged last. */
  acknowledged: ReturnType<typeof request> | null;
  ids: string | null;
}

/**
 * Applications sync revision after revision of their reports to two instances, while PostgreSQL is killed and restarted and instances
 * are killed. Each goes on with the identical request until it is acknowledged. What was acknowledged must be there, whole.
 */
export async function reportFaults(options: ReportFaultsOptions) {
  const { reports, revisions, pause, say = () => {} } = options;
  const undo: (() => Promise<unknown>)[] = [];
  const wrong: string[] = [];
  try {
    const postgres = await MortalPostgres.start();
    undo.push(() => postgres.remove());
    const databases = {} as Databases;
    for (const region of REGIONS) {
      databases[region] = new Database(region, await postgres.createDatabase(region));
      await runPendingMigrations(databases[region], 'auto');
    }
    const demo = await loadDemoInto(databases, { baseUrl: BASE_URL, timesheets: 0 });
    for (const region of REGIONS) await databases[region].close();
    const { clientId, builderIds } = demo.clients.find(({ name }) => name === 'A')!;
    const env = {
      ...{ NODE_ENV: 'production', BASE_URL, TOKEN_KEY: randomBytes(32).toString('base64url'), LOG_LEVEL: 'silent' },
      ...{ DATABASE_URL_AU1: postgres.url('au1'), DATABASE_URL_US1: postgres.url('us1') },
      ...{ RATE_LIMIT_API: '0', RATE_LIMIT_SYNC: '0', RATE_LIMIT_TOKEN: '0' },
      DATA_DIR: join(tmpdir(), `builder-api-proof-${process.pid}`),
    };
    undo.push(() => rm(env.DATA_DIR, { recursive: true, force: true }));
    const instances = [await Instance.start(env), await Instance.start(env)];
    for (const instance of instances) undo.push(() => instance.kill());
    const tokens = new AccessTokens({ keys: [env.TOKEN_KEY], issuer: BASE_URL, clock: { now: () => Date.now() } });
    const { token } = await tokens.sign({ sub: clientId, client_id: clientId, scope: 'write:photos' });

    let sent = 0;
    const send = async (at: number, body: object): Promise<{ idempotent: boolean; ids: string }> => {
      for (;;) {
        sent++;
        try {
          const url = `${instances[at % instances.length]!.origin}/builders/${builderIds[0]}/photo-reports/sync`;
          const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
          const signal = AbortSignal.timeout(10_000);
          const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body), signal });
          const { idempotent, photoReportId, pageId, code } = (await answer.json()) as Json;
          if (answer.status === 200) return { idempotent, ids: `${photoReportId} ${pageId}` };
          if (answer.status < 500) wrong.push(`a retry was answered ${answer.status} ${code}`);
        } catch {
          // The answer was lost, or nobody was there.
        }
        await sleep(50);
      }
    };
    const walks = Array.from({ length: reports }, (_, at): Walk => {
      return { sourceExternalId: `walk-${at}`, acknowledged: null, ids: null };
    });
    const begun = Date.now();
    const faults = startFaults(postgres, instances, pause, say);
    const work = walks.map(async (walk, at) => {
      const random = randomOf(at + 1);
      for (let revision = 1; revision <= revisions; revision++) {
        const body = request({ ...identity(walk), sourceRevision: revision, page: treeOf(revision, random) });
        const { ids } = await send(at + revision, body);
        if (walk.ids !== null && walk.ids !== ids) wrong.push(`${walk.sourceExternalId} has other ids`);
        Object.assign(walk, { acknowledged: body, ids });
        // A client that lost the answer sends the same again, perhaps elsewhere.
        const again = await send(at + revision + 1, body);
        if (!again.idempotent || again.ids !== ids) wrong.push(`${walk.sourceExternalId} lost revision ${revision}`);
      }
    });
    await Promise.all(work).finally(() => faults.end());
    const seconds = (Date.now() - begun) / 1000;
    const after = new Database('au1', postgres.url('au1'));
    undo.push(() => after.close());
    wrong.push(...(await compare(after, walks)));
    return { sent, reports, revisions, ...faults.counts, seconds, wrong };
  } finally {
    for (const step of undo.reverse()) await step().catch((error) => say(String(error)));
  }
}

const identity = ({ sourceExternalId }: Walk) => ({ sourceApp: 'proof', sourceExternalId });

/** Pages that come and go with the revisions, beside one that stays. */
function treeOf(revision: number, random: () => number) {
  const text = 'slab edge '.repeat(1 + Math.floor(random() * 1_500));
  const areas = Array.from({ length: Math.floor(random() * 6) }, (_, at) => blocks.page(`r${revision}-${at}`));
  return page([blocks.text('text', [{ text }]), blocks.page('stays', page([blocks.text('text')])), ...areas]);
}

/** What the database holds of each report that its application does not know as acknowledged. */
async function compare(database: Database, walks: Walk[]): Promise<string[]> {
  const sql = `select r.source_external_id as id, r.source_revision as revision, r.fingerprint, r.content,
      (select json_agg(array_to_string(p.path, '/') order by p.path) from photo_report_page p where p.report_id = r.id) as paths
    from photo_report r where r.source_app = 'proof'`;
  const rows = (await database.fork().execute(sql)) as Json[];
  const stored = new Map<string, Json>(rows.map((row) => [row.id, row]));
  const wrong = stored.size === walks.length ? [] : [`${stored.size} reports are stored, not ${walks.length}`];
  for (const { sourceExternalId, acknowledged } of walks) {
    const { sourceRevision, ...content } = acknowledged!;
    const row = stored.get(sourceExternalId);
    const paths = content.page.blocks.filter(({ type }: { type: string }) => type === 'PAGE');
    const expected = ['', ...paths.map((block: { sourceBlockId: string }) => block.sourceBlockId)].toSorted();
    const isWhole =
      row?.revision === sourceRevision &&
      row?.fingerprint === createFingerprint(canonicalJson(content)) &&
      canonicalJson(row?.content) === canonicalJson(content) &&
      JSON.stringify(row?.paths) === JSON.stringify(expected);
    if (!isWhole) wrong.push(`${sourceExternalId} is not revision ${sourceRevision} as it was acknowledged`);
  }
  return wrong;
}

/** Kills the database and the instances in turn until told to end; all of them run afterwards. */
function startFaults(postgres: MortalPostgres, instances: Instance[], pause: number, say: (line: string) => void) {
  const counts = { databaseKills: 0, instanceKills: 0 };
  let over = false;
  const work = async () => {
    for (let turn = 0; ; turn++) {
      await sleep(pause);
      if (over) return;
      if (turn % 2 === 0) {
        say(`kill -9 of PostgreSQL (${++counts.databaseKills})`);
        await postgres.kill();
        await postgres.restart();
      } else {
        const instance = instances[counts.instanceKills % instances.length]!;
        say(`kill -9 of an instance (${++counts.instanceKills})`);
        await instance.kill();
        await instance.start();
      }
    }
  };
  const working = work();
  const end = () => {
    over = true;
    return working;
  };
  return { counts, end };
}
