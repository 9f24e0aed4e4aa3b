import { Database } from '../../src/database/database.ts';
import { hashSecret, newSecret } from '../../src/shared/secrets.ts';
import { median } from './against.ts';
import { confidenceOf } from './confidence.ts';
import { ConsoleDay } from './console-day.ts';
import type { LoadResult } from './load.ts';
import type { Options } from './options.ts';
import { TabsProcess } from './processes.ts';
import { publish } from './publish.ts';
import { type Stage, say } from './stage.ts';
import { markdown } from './table.ts';
import type { TabsResult } from './tabs.ts';
import { selectedWorks, type Work } from './works.ts';

const TABS = 20;
const TABS_PER_PERSON = 4;
const SIGN_ON = 'POST sign-on event';
const WORKS = ['GET /timesheets', SIGN_ON];
const WARM_UP_SECONDS = 1;
/** Different sign-ons, as many as of other works. */
const SIGN_ONS = 100;

/** Requests per second where the machine is not busy: those of a client that uses up its rate limit (LIM-1). */
const RATE = 100;
const RATE_CONNECTIONS = 8;

/** Requests on so many connections: as many as are answered, or so many in a second. */
interface Load {
  connections: number;
  rate?: number;
}

/** Measures integrators' requests with and without a console in use: tabs of Today and of the attendance board that poll. */
export async function consoleInUse(stage: Stage, options: Options): Promise<void> {
  await stage.prepare(options.timesheets);
  const { builderId, projectId } = stage.data;
  const day = await ConsoleDay.load(stage.urls.au1, builderId);
  stage.defer(() => day.close());
  const service = await stage.startOurs();
  const sessions = await createSessions(stage.urls.au1, Math.ceil(TABS / TABS_PER_PERSON));
  const tabs = new TabsProcess();
  stage.defer(() => tabs.stop());
  const generator = stage.generator();
  const works = selectedWorks(stage.data, stage.tokens, options).filter(
    ({ name }) => options.only || WORKS.includes(name),
  );
  const signOns = await day.signOns({ authorization: `Bearer ${stage.tokens.all}` }, SIGN_ONS);
  const opened: TabsResult[] = [];
  const rows = [];
  for (const work of works) {
    const requests = work.name === SIGN_ON ? signOns : work.requests;
    const loads: Load[] = options.connections.map((connections) => ({ connections }));
    for (const load of [...loads, { connections: RATE_CONNECTIONS, rate: RATE }]) {
      const run = async (seconds: number, withTabs: boolean) => {
        if (withTabs) await tabs.open({ origin: service.origin, tabs: TABS, sessions, builderId, projectId });
        const result = await generator.run({ origin: service.origin, requests, seconds, ...load });
        if (withTabs) opened.push(await tabs.close());
        if (work.commits) await day.reset();
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
      rows.push(rowOf(work, load, pairs));
      say(cellsOf(rows.at(-1)!).join('  '));
    }
  }
  await publish(options, rows, `\n${tableOf(rows, options, opened)}`);
}

/** Adds staff users who are signed in. Returns the cookie of each. */
async function createSessions(url: string, count: number): Promise<string[]> {
  const database = new Database('au1', url);
  const secrets = Array.from({ length: count }, () => newSecret());
  for (const [at, secret] of secrets.entries()) {
    const hash = newSecret();
    await database.fork().execute(
      `insert into app_user (id, created_at, updated_at, name, email, password_hash, staff_role)
        values (?, now(), now(), 'Kim', ?, ?, 'OPERATOR')`,
      [`user_bench${at}`, `bench${at}@operator.example`, hash],
    );
    await database.fork().execute(
      `insert into console_session (digest, user_id, password_digest, created_at, expires_at)
        values (?, ?, ?, now(), now() + interval '12 hours')`,
      [hashSecret(secret), `user_bench${at}`, hashSecret(hash)],
    );
  }
  await database.close();
  return secrets.map((secret) => `console-au1=${secret}`);
}

function rowOf({ name }: Work, { connections, rate }: Load, pairs: Record<'without' | 'with', LoadResult>[]) {
  const failures = pairs.reduce((sum, pair) => sum + pair.without.failures + pair.with.failures, 0);
  if (failures > 0) throw new Error(`${failures} requests of ${name} failed.`);
  const of = (side: 'without' | 'with', key: 'p50' | 'p99' | 'requestsPerSecond') =>
    median(pairs.map((pair) => pair[side][key]));
  return {
    ...{ operation: name, load: rate ? `${rate} per second` : `${connections} connections` },
    p50: [of('without', 'p50'), of('with', 'p50')],
    p99: [of('without', 'p99'), of('with', 'p99')],
    requestsPerSecond: [of('without', 'requestsPerSecond'), of('with', 'requestsPerSecond')],
    ...confidenceOf(
      pairs.map((pair) =>
        rate ? pair.without.p50 / pair.with.p50 : pair.with.requestsPerSecond / pair.without.requestsPerSecond,
      ),
    ),
  };
}

type Row = ReturnType<typeof rowOf>;

const cellsOf = ({ operation, load, p50, p99, requestsPerSecond, ratio, interval }: Row): string[] => [
  ...[operation, load, ...[p50, p99].map((pair) => pair.map((ms) => ms.toFixed(2)).join(' / '))],
  ...[requestsPerSecond.map((count) => count.toFixed(0)).join(' / '), ratio.toFixed(3)],
  interval.map((end) => end.toFixed(3)).join('–'),
];

const HEADER = ['operation', 'load', 'median, ms', 'p99, ms', 'requests/s', 'ratio', '95 % interval'];

function tableOf(rows: Row[], { rounds, seconds }: Options, opened: readonly TabsResult[]): string {
  const total = (key: keyof TabsResult) => opened.reduce((sum, result) => sum + result[key], 0);
  const [polls, reads] = [total('polls'), total('reads')];
  const interval = ((total('seconds') * TABS) / polls).toFixed(1);
  const cpu = (total('cpu') / (polls + reads)).toFixed(1);
  return `
${markdown(HEADER, rows.map(cellsOf))}

Without / with ${TABS} tabs of ${TABS / TABS_PER_PERSON} staff users, half of them on Today and half on the attendance board. Each polls when it is opened, within
the next second, and a second after each answer, here every ${interval} s on average, and reads its page again after a change: ${polls} polls and ${reads} reads
in all. ${rounds} interleaved rounds of ${seconds} s; medians, and the geometric mean of the rounds' ratios of requests per second, or of median
times at a given rate, below 1 where tabs slow them down. Service, load generator and PostgreSQL share the machine's cores. The tabs, which
run on other machines in reality, are a process of the lowest priority (nice 19), and take ${cpu} ms of CPU time for each of their requests. Each
worker with access to one of the builder's sites has visited it on each of 57 days. Sign-ons at these sites are added to the last day, and
removed after each round.
`;
}
