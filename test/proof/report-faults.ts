import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { AccessTokens } from '../../src/auth/access-tokens.ts';
import { Database, type Databases } from '../../src/database/database.ts';
import { runPendingMigrations } from '../../src/database/run-migrations.ts';
import { canonicalJson, createFingerprint } from '../../src/domain/canonical-json.ts';
import { REGIONS } from '../../src/shared/regions.ts';
import { blocks, type Json, page, request } from '../photo-reports/documents.ts';
import { loadDemoInto } from '../support/load-demo.ts';
import { createRandom } from '../support/random.ts';
import { Instance } from './instance.ts';
import { KillLoop } from './kill-loop.ts';
import { KillablePostgres } from './killable-postgres.ts';

interface ReportFaultsOptions {
  /** Reports that are synced at the same time. */
  reports: number;
  /** Revisions of each. */
  revisions: number;
  /** Milliseconds between one fault and the next. */
  pause: number;
  log?: (line: string) => void;
}

const BASE_URL = 'http://localhost:4000';

/** State of a report in the application that syncs it. */
interface SyncedReport {
  sourceExternalId: string;
  /** The newest acknowledged request. */
  acknowledged: ReturnType<typeof request> | null;
  ids: string | null;
}

/**
 * Applications sync revision after revision of their reports to two instances, while PostgreSQL and the instances are killed and
 * restarted. Each request is repeated unchanged until it is acknowledged. Every acknowledged revision must be stored completely.
 */
export async function reportFaults(options: ReportFaultsOptions) {
  const { reports, revisions, pause, log = () => {} } = options;
  const undo: (() => Promise<unknown>)[] = [];
  const problems: string[] = [];
  try {
    const postgres = await KillablePostgres.start();
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
    const { token } = await tokens.sign('au1', { sub: clientId, client_id: clientId, scope: 'write:photos' });

    let sent = 0;
    const send = async (at: number, body: object): Promise<{ idempotent: boolean; ids: string }> => {
      for (;;) {
        sent++;
        try {
          const url = `${instances[at % instances.length]!.origin}/builders/${builderIds[0]}/photo-reports/sync`;
          const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
          const signal = AbortSignal.timeout(10_000);
          const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body), signal });
          const { idempotent, photoReportId, pageId, code } = (await response.json()) as Json;
          if (response.status === 200) return { idempotent, ids: `${photoReportId} ${pageId}` };
          if (response.status < 500) problems.push(`a retry was answered ${response.status} ${code}`);
        } catch {
          // The connection failed; the request is repeated.
        }
        await sleep(50);
      }
    };
    const syncedReports = Array.from({ length: reports }, (_, at): SyncedReport => {
      return { sourceExternalId: `walk-${at}`, acknowledged: null, ids: null };
    });
    const begun = Date.now();
    const faults = new KillLoop(postgres, instances, pause, log);
    const work = syncedReports.map(async (report, at) => {
      const random = createRandom(at + 1);
      for (let revision = 1; revision <= revisions; revision++) {
        const body = request({ ...identity(report), sourceRevision: revision, page: createPage(revision, random) });
        const { ids } = await send(at + revision, body);
        if (report.ids !== null && report.ids !== ids) problems.push(`${report.sourceExternalId} has other ids`);
        Object.assign(report, { acknowledged: body, ids });
        // A client that lost the response repeats the request, at the other instance.
        const repeated = await send(at + revision + 1, body);
        if (!repeated.idempotent || repeated.ids !== ids)
          problems.push(`${report.sourceExternalId} lost revision ${revision}`);
      }
    });
    await Promise.all(work).finally(() => faults.end());
    const seconds = (Date.now() - begun) / 1000;
    const after = new Database('au1', postgres.url('au1'));
    undo.push(() => after.close());
    problems.push(...(await verifyReports(after, syncedReports)));
    const { databaseKills, instanceKills } = faults;
    return { sent, reports, revisions, databaseKills, instanceKills, seconds, problems };
  } finally {
    for (const step of undo.reverse()) await step().catch((error) => log(String(error)));
  }
}

const identity = ({ sourceExternalId }: SyncedReport) => ({ sourceApp: 'proof', sourceExternalId });

/** Returns a page with one nested page that every revision has, and others that change with the revision. */
function createPage(revision: number, random: () => number) {
  const text = 'slab edge '.repeat(1 + Math.floor(random() * 1_500));
  const areas = Array.from({ length: Math.floor(random() * 6) }, (_, at) => blocks.page(`r${revision}-${at}`));
  return page([blocks.text('text', [{ text }]), blocks.page('stays', page([blocks.text('text')])), ...areas]);
}

/** Returns the reports whose stored state differs from the acknowledged one. */
async function verifyReports(database: Database, syncedReports: SyncedReport[]): Promise<string[]> {
  const sql = `select r.source_external_id as id, r.source_revision as revision, r.fingerprint, r.content,
      (select json_agg(array_to_string(p.path, '/') order by p.path) from photo_report_page p where p.report_id = r.id) as paths
    from photo_report r where r.source_app = 'proof'`;
  const rows = (await database.fork().execute(sql)) as Json[];
  const stored = new Map<string, Json>(rows.map((row) => [row.id, row]));
  const problems =
    stored.size === syncedReports.length ? [] : [`${stored.size} reports are stored, not ${syncedReports.length}`];
  for (const { sourceExternalId, acknowledged } of syncedReports) {
    const { sourceRevision, ...content } = acknowledged!;
    const row = stored.get(sourceExternalId);
    const paths = content.page.blocks.filter(({ type }: { type: string }) => type === 'PAGE');
    const expected = ['', ...paths.map((block: { sourceBlockId: string }) => block.sourceBlockId)].toSorted();
    const isExact =
      row?.revision === sourceRevision &&
      row?.fingerprint === createFingerprint(canonicalJson(content)) &&
      canonicalJson(row?.content) === canonicalJson(content) &&
      JSON.stringify(row?.paths) === JSON.stringify(expected);
    if (!isExact) problems.push(`${sourceExternalId} is not revision ${sourceRevision} as it was acknowledged`);
  }
  return problems;
}
