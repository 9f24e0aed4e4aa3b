import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Database, type Databases } from '../../src/database/database.ts';
import { runPendingMigrations } from '../../src/database/run-migrations.ts';
import { systemClock } from '../../src/shared/clock.ts';
import { REGIONS } from '../../src/shared/regions.ts';
import { loadDemoInto } from '../support/load-demo.ts';
import { restoreSamples } from '../support/samples.ts';
import { fuzz } from './fuzz/fuzz.ts';
import { createFuzzFixture, createSignedUrls } from './fuzz/fuzz-fixture.ts';
import { Instance } from './instance.ts';
import { KillablePostgres } from './killable-postgres.ts';
import { readResidentMib } from './process-memory.ts';

interface FuzzServiceOptions {
  requests: number;
  seed: number;
  connections: number;
  log?: (line: string) => void;
}

const BASE_URL = 'http://localhost:4000';
/** Heap of the service. A leak of some kilobytes per request would exhaust it before the last one. */
const HEAP_MEGABYTES = 256;
/** Maximum growth of the process after a fifth of the requests. */
const GROWTH_MEGABYTES = 64;

/**
 * Sends generated requests to a process of the service. Every response must be as documented, the memory must not grow, and the log must
 * not contain secrets.
 */
export async function fuzzService({ requests, seed, connections, log = () => {} }: FuzzServiceOptions) {
  const undo: (() => Promise<unknown>)[] = [];
  try {
    const postgres = await KillablePostgres.start();
    undo.push(() => postgres.remove());
    const databases = {} as Databases;
    for (const region of REGIONS) {
      databases[region] = new Database(region, await postgres.createDatabase(region));
      undo.push(() => databases[region].close());
      await runPendingMigrations(databases[region], 'auto');
    }
    const demo = await loadDemoInto(databases, { baseUrl: BASE_URL, timesheets: 100 });
    const dataDir = await mkdtemp(join(tmpdir(), 'builder-api-fuzz-'));
    undo.push(() => rm(dataDir, { recursive: true, force: true }));
    const tokenKey = randomBytes(32).toString('base64url');
    const urls = { DATABASE_URL_AU1: postgres.url('au1'), DATABASE_URL_US1: postgres.url('us1') };
    const instance = await Instance.start(
      {
        ...{ NODE_ENV: 'production', BASE_URL, TOKEN_KEY: tokenKey, DATA_DIR: dataDir, ...urls },
        ...{ RATE_LIMIT_API: '0', RATE_LIMIT_SYNC: '0', RATE_LIMIT_TOKEN: '0' },
      },
      [`--max-old-space-size=${HEAP_MEGABYTES}`],
    );
    undo.push(() => instance.kill());
    const { origin, pid } = instance;
    const fixture = await createFuzzFixture({ origin, databases, demo, tokenKey, clock: systemClock });
    const begun = Date.now();
    let warm = 0;
    const pause = async (sent: number) => {
      await restoreSamples(databases.au1);
      fixture.signedUrls = await createSignedUrls(origin, fixture);
      if (warm === 0 && sent >= requests / 5) warm = await readResidentMib(pid);
      if (sent % 10_000 === 0) log(`${sent} requests, ${await readResidentMib(pid)} MB`);
    };
    const { problems, ...figures } = await fuzz(origin, fixture, { requests, seed, connections, pause });
    const end = await readResidentMib(pid);
    if (instance.pid !== pid) problems.push('the service ended and was started again');
    if (end - warm > GROWTH_MEGABYTES) problems.push(`the process grew from ${warm} to ${end} MB`);
    const secrets = [
      ...[tokenKey, ...Object.values(fixture.tokens)],
      ...demo.clients.flatMap(({ clientSecret }) => clientSecret ?? []),
      ...demo.users.map(({ password }) => password),
      ...Object.values(urls).map((url) => new URL(url).password),
    ];
    problems.push(...findSecrets(instance.output, secrets));
    const seconds = (Date.now() - begun) / 1000;
    const logLines = instance.output.split('\n').length;
    const line = `${figures.sent} requests in ${Math.round(seconds)} s, seed ${seed}; ${warm} to ${end} MB, ${logLines} lines of log`;
    return { seed, ...figures, seconds, warm, end, logLines, figures: line, problems };
  } finally {
    for (const step of undo.reverse()) await step().catch((error) => log(String(error)));
  }
}

/** Patterns of secrets: a token, the signature of a URL, a secret in a query or form. */
const SECRET =
  /eyJ[\w-]{10,}\.[\w-]{10,}\.|signature=|client_secret|access_token=|code_challenge|"authorization"|"cookie"/i;

/** Returns lines of the log with a secret, and those of requests that ended in an internal error. */
function findSecrets(log: string, secrets: string[]): string[] {
  const lines = log.split('\n');
  const hasSecret = (line: string) =>
    SECRET.test(line) || secrets.some((secret) => secret !== '' && line.includes(secret));
  const leaks = lines.filter(hasSecret).map((line) => `the log holds a secret: ${line.slice(0, 400)}`);
  const failed = lines
    .filter((line) => /"level":(50|60)/.test(line))
    .map((line) => `the log has an error: ${line.slice(0, 800)}`);
  return [...leaks, ...failed];
}
