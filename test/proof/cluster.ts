import { setTimeout as sleep } from 'node:timers/promises';
import { AccessTokens } from '../../src/auth/access-tokens.ts';
import { Database } from '../../src/database/database.ts';
import { migrations } from '../../src/database/migrations/index.ts';
import { Balancer } from './balancer.ts';
import { Instance } from './instance.ts';
import { MixedLoad } from './mixed-load.ts';
import { BASE_URL, type Log, ProofEnvironment } from './proof-environment.ts';
import { runRaces } from './races.ts';
import { type Budget, findBurstProblems, sendBurst } from './request-burst.ts';
import { restartInstances } from './rolling-restart.ts';
import { countBy } from './statistics.ts';

export interface ClusterOptions {
  /** Rounds in which every instance is replaced. */
  rounds: number;
  /** Skips the replacement of instances, which takes most of the time. */
  short: boolean;
  log: Log;
}

const INSTANCES = 3;
const STARTING_INSTANCES = { short: 3, full: 5 };
/** Number of expired tokens that a job deletes. */
const EXPIRED_ROWS = 300;
/** A small budget, so that a burst takes less time than a window. */
const LIMITS = { short: { requests: 300, seconds: 5 }, full: { requests: 400, seconds: 10 } };
/** Milliseconds within which every instance rejects a revoked token. */
const REVOKED_MS = 1_000;

/** Runs three instances behind a load balancer, on one database and store. Limits, revocations and jobs must apply across instances. */
export async function cluster({ rounds, short, log }: ClusterOptions) {
  const variant = short ? 'short' : 'full';
  const [starters, limit] = [STARTING_INSTANCES[variant], LIMITS[variant]];
  const environment = await ProofEnvironment.start({
    ...{ RATE_LIMIT_API: `${limit.requests}/${limit.seconds}`, TRUST_PROXY: '1' },
  });
  const problems: string[] = [];
  try {
    const appliedMigrations = await startOnEmptyDatabases(environment, starters, problems);
    log(`${starters} instances started at once on empty databases; migrations applied: ${appliedMigrations}`);
    await prepareJob(environment);
    await Promise.all(Array.from({ length: INSTANCES }, () => environment.addInstance()));
    const balancer = await Balancer.start();
    environment.onClose(() => balancer.close());
    for (const { origin } of environment.instances) await balancer.add(origin);
    const runs = await countJobRuns(environment, problems);
    log(`${INSTANCES} instances started at once did the job ${runs} times, never two at a time`);

    const options = { origins: () => [balancer.origin], run: 'cluster', concurrency: 1, pause: 250, readsPerSecond: 0 };
    const load = await MixedLoad.start(environment, options);
    const revoked = await measureRevocations(environment, problems);
    log(`what is revoked is refused everywhere after at most ${revoked} ms`);
    const allowed = await exhaustBudget(environment, balancer, limit, problems);
    log(`of a budget of ${limit.requests}, three instances together gave ${allowed}`);
    const races = await runRaces(environment, short ? 6 : 20, problems);
    log(races);
    const replaced = short
      ? 'no instance replaced'
      : await replaceInstances(environment, balancer, rounds, problems, log);
    await load.end();

    const { requests } = load.recorder;
    for (const { operation, status, problem } of requests.filter(({ status }) => status < 200 || status > 299)) {
      problems.push(`${operation}: ${status} ${problem}`);
    }
    const storage = environment.openStorage();
    problems.push(...(await load.verifyWrites(environment.database(), storage)));
    const statuses = JSON.stringify(countBy(requests, ({ status }) => status));
    return {
      problems,
      figures: `${requests.length} requests ${statuses}, ${load.acknowledged} acknowledged writes, ${replaced}, ${allowed} of ${limit.requests} requests allowed, revoked after ${revoked} ms, a job done ${runs} times, never twice at once, migrations once by ${starters} starters, ${races}`,
    };
  } finally {
    await environment.close(log);
  }
}

/** Replaces every instance in each round, before and after the next release has added its columns. */
async function replaceInstances(
  environment: ProofEnvironment,
  balancer: Balancer,
  rounds: number,
  problems: string[],
  log: Log,
): Promise<string> {
  const stops = [await restartInstances(environment, balancer, {}, problems, log)];
  await addColumns(environment, problems);
  log('a column was added to each table');
  await sleep(3_000);
  for (let round = 1; round < Math.max(2, rounds); round++) {
    stops.push(await restartInstances(environment, balancer, {}, problems, log));
  }
  return `${INSTANCES * stops.length} instances replaced (longest stop ${Math.max(...stops)} ms)`;
}

/** Starts instances at the same time on empty databases, where one must apply each migration. Returns the number of migrations. */
async function startOnEmptyDatabases(
  environment: ProofEnvironment,
  starters: number,
  problems: string[],
): Promise<number> {
  const [au1, us1] = [
    await environment.postgres.createDatabase('fresh_au1'),
    await environment.postgres.createDatabase('fresh_us1'),
  ];
  const env = {
    ...environment.settings,
    DATABASE_URL_AU1: au1,
    DATABASE_URL_US1: us1,
    MIGRATE: 'auto',
    LOG_LEVEL: 'warn',
  };
  const started = await Promise.all(Array.from({ length: starters }, () => Instance.start(env)));
  for (const instance of started) {
    if (instance.attempts > 1) problems.push(`an instance started only at attempt ${instance.attempts}`);
    await instance.kill();
  }
  const database = new Database('au1', au1);
  const rows = await database.fork().execute('select name from mikro_orm_migrations');
  await database.close();
  if (rows.length !== migrations.length)
    problems.push(`${rows.length} migrations were applied, not ${migrations.length}`);
  return rows.length;
}

/** Inserts expired tokens, and triggers that record when a process deletes them and delay it by half a second. */
async function prepareJob(environment: ProofEnvironment): Promise<void> {
  const em = environment.database().fork();
  await em.execute(`insert into oauth_revoked_token (jti, expires_at)
    select 'proof-' || n, now() - interval '1 day' from generate_series(1, ${EXPIRED_ROWS}) n`);
  await em.execute('create table proof_job (pid int, begun timestamptz, ended timestamptz)');
  await em.execute(`create function record_job() returns trigger language plpgsql as $$ begin
    if tg_when = 'BEFORE' then
      insert into proof_job values (pg_backend_pid(), clock_timestamp(), null);
      perform pg_sleep(0.5);
    else
      update proof_job set ended = clock_timestamp() where pid = pg_backend_pid() and ended is null;
    end if;
    return null;
  end $$`);
  for (const when of ['before', 'after']) {
    await em.execute(`create trigger job_${when} ${when} delete on oauth_revoked_token
      for each statement execute function record_job()`);
  }
}

/** Waits until the job has deleted every expired token. Returns how often it ran; it must not run on two instances at a time. */
async function countJobRuns(environment: ProofEnvironment, problems: string[]): Promise<number> {
  const em = environment.database().fork();
  const count = async (sql: string) => Number(((await em.execute(sql)) as { count: string }[])[0]!.count);
  const countRemaining = () => count(`select count(*) from oauth_revoked_token where jti like 'proof-%'`);
  for (const begun = Date.now(); (await countRemaining()) > 0 && Date.now() - begun < 10_000; ) await sleep(50);
  if ((await countRemaining()) > 0)
    problems.push(`${await countRemaining()} of ${EXPIRED_ROWS} tokens that are over are still there`);
  const overlapping = await count(`select count(*) from proof_job one join proof_job other
    on one.begun < other.begun and other.begun < coalesce(one.ended, 'infinity')`);
  if (overlapping > 0) problems.push('two instances were at the same job');
  return count('select count(*) from proof_job');
}

/** Returns the milliseconds until every instance rejects a revoked token, connection and client. */
async function measureRevocations(environment: ProofEnvironment, problems: string[]): Promise<number> {
  const client = environment.demo.clients.find(({ name }) => name === 'A without read:timesheets')!;
  const sql = (text: string, id: string) => environment.database().fork().execute(text, [id]);
  const bearer = async () => {
    const tokens = new AccessTokens({ keys: [environment.settings.TOKEN_KEY!], issuer: BASE_URL, clock: Date });
    const claims = { sub: client.clientId, client_id: client.clientId, scope: client.scopes.join(' ') };
    return (await tokens.sign('au1', claims)).token;
  };
  const statusAt = async ({ origin }: Instance, token: string, path: string) => {
    const response = await fetch(`${origin}${path}`, { headers: { authorization: `Bearer ${token}` } });
    await response.arrayBuffer();
    return response.status;
  };
  let longest = 0;
  const measure = async (
    what: string,
    path: string,
    rejectedStatus: number,
    revoke: (token: string) => Promise<unknown>,
  ) => {
    const token = await bearer();
    // Each instance has just accepted it.
    const before = await Promise.all(environment.instances.map((instance) => statusAt(instance, token, path)));
    if (before.some((status) => status !== 200)) problems.push(`${what}: ${before} before it was revoked`);
    await revoke(token);
    const begun = performance.now();
    const times = environment.instances.map(async (instance) => {
      while ((await statusAt(instance, token, path)) !== rejectedStatus) {
        if (performance.now() - begun > 5_000) break;
        await sleep(10);
      }
      return performance.now() - begun;
    });
    const last = Math.round(Math.max(...(await Promise.all(times))));
    if (last > REVOKED_MS) problems.push(`${what} was refused everywhere only after ${last} ms`);
    longest = Math.max(longest, last);
  };
  const builder = `/builders/${client.builderIds[0]}`;
  await measure('a revoked token', '/builders', 401, (token) =>
    fetch(`${environment.instances[0]!.origin}/oauth/revoke`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ token, client_id: client.clientId, client_secret: client.clientSecret }),
    }),
  );
  const setStatus = (status: string) =>
    sql(
      `update connection set status = '${status}' where builder_id = '${client.builderIds[0]}'
        and integrator_id = (select integrator_id from oauth_client where id = ?)`,
      client.clientId,
    );
  await measure('a revoked connection', builder, 403, () => setStatus('REVOKED'));
  await setStatus('ACTIVE');
  await sleep(REVOKED_MS);
  await measure('a disabled client', builder, 401, () =>
    sql('update oauth_client set disabled_at = now() where id = ?', client.clientId),
  );
  await sql('update oauth_client set disabled_at = null where id = ?', client.clientId);
  await sleep(REVOKED_MS);
  return longest;
}

async function exhaustBudget(
  environment: ProofEnvironment,
  balancer: Balancer,
  limit: Budget,
  problems: string[],
): Promise<number> {
  const client = environment.demo.clients.find(({ name }) => name === 'A without read:timesheets')!;
  const tokens = new AccessTokens({ keys: [environment.settings.TOKEN_KEY!], issuer: BASE_URL, clock: Date });
  const claims = { sub: client.clientId, client_id: client.clientId, scope: client.scopes.join(' ') };
  const { token } = await tokens.sign('au1', claims);
  const headers = { authorization: `Bearer ${token}` };
  const statuses = await sendBurst(limit, () => fetch(`${balancer.origin}/builders?limit=1`, { headers }));
  problems.push(...findBurstProblems('requests of a client', limit, statuses, INSTANCES));
  return statuses[200] ?? 0;
}

/** Adds columns like a migration of the next release, while this release runs. */
async function addColumns(environment: ProofEnvironment, problems: string[]): Promise<void> {
  const em = environment.database().fork();
  const tables = (await em.execute(
    `select table_name as name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE'
      and table_name <> 'mikro_orm_migrations' order by 1`,
  )) as { name: string }[];
  for (const { name } of tables) {
    try {
      await em.execute(`alter table "${name}" add column added_by_the_next_release text`);
    } catch (error) {
      problems.push(`a column cannot be added to ${name}: ${(error as Error).message}`);
    }
  }
  await em.execute(`insert into mikro_orm_migrations (name) values ('20991231000000-of-the-next-release')`);
}
