import { setTimeout as sleep } from 'node:timers/promises';
import { AccessTokens } from '../../src/auth/access-tokens.ts';
import { loadConfig } from '../../src/config.ts';
import { Database } from '../../src/database/database.ts';
import { migrations } from '../../src/database/migrations/index.ts';
import { openStorages } from '../../src/storage/storage.ts';
import { Balancer } from './balancer.ts';
import { type Budget, burst, wrongBurst } from './burst.ts';
import { countBy } from './exchange.ts';
import { Instance } from './instance.ts';
import { MixedLoad } from './load.ts';
import { race } from './races.ts';
import { restartInstances } from './rolling-restart.ts';
import { BASE_URL, ProofSite, type Say } from './site.ts';

export interface ClusterOptions {
  /** Rounds in which every instance is replaced. */
  rounds: number;
  /** Whether no instance is replaced, which takes most of the time. */
  short: boolean;
  say: Say;
}

const INSTANCES = 3;
const STARTERS = { short: 3, full: 5 };
/** Expired rows that a job deletes. */
const OVER = 300;
/** A small budget, so that a burst takes less time than a window. */
const LIMITS = { short: { requests: 300, seconds: 5 }, full: { requests: 400, seconds: 10 } };
/** Milliseconds within which every instance rejects a revoked token. */
const REVOKED_MS = 1_000;

/** Three instances behind a load balancer, on one database and store: rules of one instance apply to all of them together. */
export async function cluster({ rounds, short, say }: ClusterOptions) {
  const form = short ? 'short' : 'full';
  const [starters, limit] = [STARTERS[form], LIMITS[form]];
  const site = await ProofSite.start({
    ...{ RATE_LIMIT_API: `${limit.requests}/${limit.seconds}`, TRUST_PROXY: '1' },
  });
  const wrong: string[] = [];
  try {
    const migrated = await migrateTogether(site, starters, wrong);
    say(`${starters} instances started at once on empty databases; migrations applied: ${migrated}`);
    await layJob(site);
    await Promise.all(Array.from({ length: INSTANCES }, () => site.addInstance()));
    const balancer = await Balancer.start();
    site.afterwards(() => balancer.close());
    for (const { origin } of site.instances) await balancer.add(origin);
    const runs = await jobRuns(site, wrong);
    say(`${INSTANCES} instances started at once did the job ${runs} times, never two at a time`);

    const options = { origins: () => [balancer.origin], run: 'cluster', atATime: 1, pause: 250, readsPerSecond: 0 };
    const load = await MixedLoad.start(site, options);
    const revoked = await revocations(site, wrong);
    say(`what is revoked is refused everywhere after at most ${revoked} ms`);
    const allowed = await spendBudget(site, balancer, limit, wrong);
    say(`of a budget of ${limit.requests}, three instances together gave ${allowed}`);
    const raced = await race(site, short ? 6 : 20, wrong);
    say(raced);
    const replaced = short ? 'no instance replaced' : await replaceInstances(site, balancer, rounds, wrong, say);
    await load.end();

    const { all } = load.exchanges;
    for (const { operation, status, problem } of all.filter(({ status }) => status < 200 || status > 299)) {
      wrong.push(`${operation}: ${status} ${problem}`);
    }
    const storage = openStorages(loadConfig(site.env), { secrets: [site.env.TOKEN_KEY!], clock: Date }).au1;
    wrong.push(...(await load.differences(site.database(), storage)));
    const statuses = JSON.stringify(countBy(all, ({ status }) => status));
    return {
      wrong,
      figures: `${all.length} requests ${statuses}, ${load.acknowledged} acknowledged writes, ${replaced}, ${allowed} of ${limit.requests} requests allowed, revoked after ${revoked} ms, a job done ${runs} times, never twice at once, migrations once by ${starters} starters, ${raced}`,
    };
  } finally {
    await site.close(say);
  }
}

/** Replaces every instance in each round, before and after the next release has added its columns. */
async function replaceInstances(
  site: ProofSite,
  balancer: Balancer,
  rounds: number,
  wrong: string[],
  say: Say,
): Promise<string> {
  const stops = [await restartInstances(site, balancer, {}, wrong, say)];
  await addColumns(site, wrong);
  say('a column was added to each table');
  await sleep(3_000);
  for (let round = 1; round < Math.max(2, rounds); round++) {
    stops.push(await restartInstances(site, balancer, {}, wrong, say));
  }
  return `${INSTANCES * stops.length} instances replaced (longest stop ${Math.max(...stops)} ms)`;
}

/** Many instances that start at once on empty databases. */
async function migrateTogether(site: ProofSite, starters: number, wrong: string[]): Promise<number> {
  const [au1, us1] = [await site.postgres.createDatabase('fresh_au1'), await site.postgres.createDatabase('fresh_us1')];
  const env = { ...site.env, DATABASE_URL_AU1: au1, DATABASE_URL_US1: us1, MIGRATE: 'auto', LOG_LEVEL: 'warn' };
  const started = await Promise.all(Array.from({ length: starters }, () => Instance.start(env)));
  for (const instance of started) {
    if (instance.attempts > 1) wrong.push(`an instance started only at attempt ${instance.attempts}`);
    await instance.kill();
  }
  const database = new Database('au1', au1);
  const rows = await database.fork().execute('select name from mikro_orm_migrations');
  await database.close();
  if (rows.length !== migrations.length) wrong.push(`${rows.length} migrations were applied, not ${migrations.length}`);
  return rows.length;
}

/** Inserts expired tokens, and a trigger that records from when to when a process deletes them, which it makes last half a second. */
async function layJob(site: ProofSite): Promise<void> {
  const em = site.database().fork();
  await em.execute(`insert into oauth_revoked_token (jti, expires_at)
    select 'proof-' || n, now() - interval '1 day' from generate_series(1, ${OVER}) n`);
  await em.execute('create table proof_job (pid int, begun timestamptz, ended timestamptz)');
  await em.execute(`create function keep_job() returns trigger language plpgsql as $$ begin
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
      for each statement execute function keep_job()`);
  }
}

/** Returns how often the job ran. It must not run on two instances at a time, and must delete every expired row. */
async function jobRuns(site: ProofSite, wrong: string[]): Promise<number> {
  const em = site.database().fork();
  const count = async (sql: string) => Number(((await em.execute(sql)) as { count: string }[])[0]!.count);
  const left = () => count(`select count(*) from oauth_revoked_token where jti like 'proof-%'`);
  for (const begun = Date.now(); (await left()) > 0 && Date.now() - begun < 10_000; ) await sleep(50);
  if ((await left()) > 0) wrong.push(`${await left()} of ${OVER} tokens that are over are still there`);
  const together = await count(`select count(*) from proof_job one join proof_job other
    on one.begun < other.begun and other.begun < coalesce(one.ended, 'infinity')`);
  if (together > 0) wrong.push('two instances were at the same job');
  return count('select count(*) from proof_job');
}

/** Milliseconds until a revoked token, connection and client are refused by every instance. */
async function revocations(site: ProofSite, wrong: string[]): Promise<number> {
  const client = site.demo.clients.find(({ name }) => name === 'A without read:timesheets')!;
  const sql = (text: string, id: string) => site.database().fork().execute(text, [id]);
  const bearer = async () => {
    const tokens = new AccessTokens({ keys: [site.env.TOKEN_KEY!], issuer: BASE_URL, clock: Date });
    const claims = { sub: client.clientId, client_id: client.clientId, scope: client.scopes.join(' ') };
    return (await tokens.sign(claims)).token;
  };
  const statusAt = async ({ origin }: Instance, token: string, path: string) => {
    const response = await fetch(`${origin}${path}`, { headers: { authorization: `Bearer ${token}` } });
    await response.arrayBuffer();
    return response.status;
  };
  let longest = 0;
  const measure = async (what: string, path: string, refused: number, revoke: (token: string) => Promise<unknown>) => {
    const token = await bearer();
    // Each instance has just accepted it.
    const before = await Promise.all(site.instances.map((instance) => statusAt(instance, token, path)));
    if (before.some((status) => status !== 200)) wrong.push(`${what}: ${before} before it was revoked`);
    await revoke(token);
    const begun = performance.now();
    const times = site.instances.map(async (instance) => {
      while ((await statusAt(instance, token, path)) !== refused) {
        if (performance.now() - begun > 5_000) break;
        await sleep(10);
      }
      return performance.now() - begun;
    });
    const last = Math.round(Math.max(...(await Promise.all(times))));
    if (last > REVOKED_MS) wrong.push(`${what} was refused everywhere only after ${last} ms`);
    longest = Math.max(longest, last);
  };
  const builder = `/builders/${client.builderIds[0]}`;
  await measure('a revoked token', '/builders', 401, (token) =>
    fetch(`${site.instances[0]!.origin}/oauth/revoke`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ token, client_id: client.clientId, client_secret: client.clientSecret }),
    }),
  );
  const set = (status: string) =>
    sql(
      `update connection set status = '${status}' where builder_id = '${client.builderIds[0]}'
        and integrator_id = (select integrator_id from oauth_client where id = ?)`,
      client.clientId,
    );
  await measure('a revoked connection', builder, 403, () => set('REVOKED'));
  await set('ACTIVE');
  await sleep(REVOKED_MS);
  await measure('a disabled client', builder, 401, () =>
    sql('update oauth_client set disabled_at = now() where id = ?', client.clientId),
  );
  await sql('update oauth_client set disabled_at = null where id = ?', client.clientId);
  await sleep(REVOKED_MS);
  return longest;
}

async function spendBudget(site: ProofSite, balancer: Balancer, limit: Budget, wrong: string[]): Promise<number> {
  const client = site.demo.clients.find(({ name }) => name === 'A without read:timesheets')!;
  const tokens = new AccessTokens({ keys: [site.env.TOKEN_KEY!], issuer: BASE_URL, clock: Date });
  const claims = { sub: client.clientId, client_id: client.clientId, scope: client.scopes.join(' ') };
  const { token } = await tokens.sign(claims);
  const headers = { authorization: `Bearer ${token}` };
  const statuses = await burst(limit, () => fetch(`${balancer.origin}/builders?limit=1`, { headers }));
  wrong.push(...wrongBurst('requests of a client', limit, statuses, INSTANCES));
  return statuses[200] ?? 0;
}

/** Adds columns like a migration of the next release, while this release runs. */
async function addColumns(site: ProofSite, wrong: string[]): Promise<void> {
  const em = site.database().fork();
  const tables = (await em.execute(
    `select table_name as name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE'
      and table_name <> 'mikro_orm_migrations' order by 1`,
  )) as { name: string }[];
  for (const { name } of tables) {
    try {
      await em.execute(`alter table "${name}" add column added_by_the_next_release text`);
    } catch (error) {
      wrong.push(`a column cannot be added to ${name}: ${(error as Error).message}`);
    }
  }
  await em.execute(`insert into mikro_orm_migrations (name) values ('20991231000000-of-the-next-release')`);
}
