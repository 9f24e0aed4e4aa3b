import { Database } from '../../src/database/database.ts';
import { hashSecret, newSecret } from '../../src/shared/secrets.ts';
import { type BenchEnvironment, logProgress } from './bench-environment.ts';
import type { BenchOptions } from './bench-options.ts';
import { ConsoleAttendance } from './console-attendance.ts';
import type { TabsResult } from './console-tabs-program.ts';
import type { LoadResult } from './load-generator-program.ts';
import { toMarkdownTable } from './markdown-table.ts';
import { TabsProcess } from './processes.ts';
import { publishFigures } from './publish-figures.ts';
import { computeRatioConfidence, median } from './statistics.ts';
import { selectWorkloads, type Workload } from './workloads.ts';

const TABS = 20;
const TABS_PER_USER = 4;
const SIGN_ON = 'POST sign-on event';
const DEFAULT_WORKLOADS = ['GET /timesheets', SIGN_ON];
const WARM_UP_SECONDS = 1;
/** Number of different sign-on requests; equal to that of other workloads. */
const SIGN_ON_VARIANTS = 100;

/** Requests per second of the load that does not saturate the machine: a client at its rate limit (LIM-1). */
const RATE = 100;
const RATE_CONNECTIONS = 8;

/** A load: unlimited, or with a rate in requests per second. */
interface Load {
  connections: number;
  rate?: number;
}

/** Measures requests of integrators with and without polling tabs of the console. */
export async function measureConsole(environment: BenchEnvironment, options: BenchOptions): Promise<void> {
  await environment.prepare(options.timesheets);
  const { builderId, projectId } = environment.data;
  const attendance = await ConsoleAttendance.load(environment.urls.au1, builderId);
  environment.onClose(() => attendance.close());
  const service = await environment.startService();
  const sessions = await createSessions(environment.urls.au1, Math.ceil(TABS / TABS_PER_USER));
  const tabs = new TabsProcess();
  environment.onClose(() => tabs.stop());
  const generator = environment.createLoadGenerator();
  const workloads = selectWorkloads(environment.data, environment.tokens, options).filter(
    ({ name }) => options.only || DEFAULT_WORKLOADS.includes(name),
  );
  const signOnRequests = await attendance.createSignOnRequests(
    { authorization: `Bearer ${environment.tokens.all}` },
    SIGN_ON_VARIANTS,
  );
  const tabsResults: TabsResult[] = [];
  const rows = [];
  for (const workload of workloads) {
    const requests = workload.name === SIGN_ON ? signOnRequests : workload.requests;
    const loads: Load[] = options.connections.map((connections) => ({ connections }));
    for (const load of [...loads, { connections: RATE_CONNECTIONS, rate: RATE }]) {
      const run = async (seconds: number, hasTabs: boolean) => {
        if (hasTabs) await tabs.open({ origin: service.origin, tabs: TABS, sessions, builderId, projectId });
        const result = await generator.run({ origin: service.origin, requests, seconds, ...load });
        if (hasTabs) tabsResults.push(await tabs.close());
        if (workload.commits) await attendance.reset();
        return result;
      };
      await run(WARM_UP_SECONDS, true);
      const pairs: Record<'without' | 'with', LoadResult>[] = [];
      for (let round = 0; round < options.rounds; round++) {
        const pair = {} as (typeof pairs)[number];
        for (const side of round % 2 ? (['with', 'without'] as const) : (['without', 'with'] as const)) {
          pair[side] = await run(options.seconds, side === 'with');
        }
        pairs.push(pair);
      }
      rows.push(toRow(workload, load, pairs));
      logProgress(toCells(rows.at(-1)!).join('  '));
    }
  }
  await publishFigures(options, rows, `\n${toTable(rows, options, tabsResults)}`);
}

/** Creates staff users with sessions and returns the cookies of the sessions. */
async function createSessions(url: string, count: number): Promise<string[]> {
  const database = new Database('au1', url);
  const secrets = Array.from({ length: count }, () => newSecret());
  for (const [index, secret] of secrets.entries()) {
    const hash = newSecret();
    await database.fork().execute(
      `insert into app_user (id, created_at, updated_at, name, email, password_hash, staff_role)
        values (?, now(), now(), 'Kim', ?, ?, 'OPERATOR')`,
      [`user_bench${index}`, `bench${index}@operator.example`, hash],
    );
    await database.fork().execute(
      `insert into console_session (digest, user_id, credential_digest, created_at, expires_at)
        values (?, ?, ?, now(), now() + interval '12 hours')`,
      [hashSecret(secret), `user_bench${index}`, hashSecret(hash)],
    );
  }
  await database.close();
  return secrets.map((secret) => `console-au1=${secret}`);
}

/** Returns a row of the table. The keys are those of `--json`. */
function toRow({ name }: Workload, { connections, rate }: Load, pairs: Record<'without' | 'with', LoadResult>[]) {
  const failures = pairs.reduce((sum, pair) => sum + pair.without.failures + pair.with.failures, 0);
  if (failures > 0) throw new Error(`${failures} requests of ${name} failed.`);
  const computeMedian = (side: 'without' | 'with', key: 'p50' | 'p99' | 'requestsPerSecond') =>
    median(pairs.map((pair) => pair[side][key]));
  return {
    ...{ operation: name, load: rate ? `${rate} per second` : `${connections} connections` },
    p50: [computeMedian('without', 'p50'), computeMedian('with', 'p50')],
    p99: [computeMedian('without', 'p99'), computeMedian('with', 'p99')],
    requestsPerSecond: [computeMedian('without', 'requestsPerSecond'), computeMedian('with', 'requestsPerSecond')],
    ...computeRatioConfidence(
      pairs.map((pair) =>
        rate ? pair.without.p50 / pair.with.p50 : pair.with.requestsPerSecond / pair.without.requestsPerSecond,
      ),
    ),
  };
}

type Row = ReturnType<typeof toRow>;

const toCells = ({ operation, load, p50, p99, requestsPerSecond, ratio, interval }: Row): string[] => [
  ...[operation, load, ...[p50, p99].map((pair) => pair.map((ms) => ms.toFixed(2)).join(' / '))],
  ...[requestsPerSecond.map((count) => count.toFixed(0)).join(' / '), ratio.toFixed(3)],
  interval.map((end) => end.toFixed(3)).join('–'),
];

const HEADER = ['operation', 'load', 'median, ms', 'p99, ms', 'requests/s', 'ratio', '95 % interval'];

function toTable(rows: Row[], { rounds, seconds }: BenchOptions, tabsResults: readonly TabsResult[]): string {
  const total = (key: keyof TabsResult) => tabsResults.reduce((sum, result) => sum + result[key], 0);
  const [polls, reads] = [total('polls'), total('reads')];
  const interval = ((total('seconds') * TABS) / polls).toFixed(1);
  const cpu = (total('cpu') / (polls + reads)).toFixed(1);
  return `
${toMarkdownTable(HEADER, rows.map(toCells))}

Without / with ${TABS} tabs of ${TABS / TABS_PER_USER} staff users, half of them on Today and half on the attendance board. Each polls when it is opened, within
the next second, and a second after each answer, here every ${interval} s on average, and reads its page again after a change: ${polls} polls and ${reads} reads
in all. ${rounds} interleaved rounds of ${seconds} s; medians, and the geometric mean of the rounds' ratios of requests per second, or of median
times at a given rate, below 1 where tabs slow them down. Service, load generator and PostgreSQL share the machine's cores. The tabs, which
run on other machines in reality, are a process of the lowest priority (nice 19), and take ${cpu} ms of CPU time for each of their requests. Each
worker with access to one of the builder's sites has visited it on each of 57 days. Sign-ons at these sites are added to the last day, and
removed after each round.
`;
}
