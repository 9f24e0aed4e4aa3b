import { setTimeout as sleep } from 'node:timers/promises';
import { AccessTokens } from '../../src/auth/access-tokens.ts';
import { type Budget, burst, wrongBurst } from './burst.ts';
import { percentile } from './exchange.ts';
import { Instance } from './instance.ts';
import { residentOf } from './memory.ts';
import { createExcessiveRequests, findWrongResponses } from './refusals.ts';
import { BASE_URL, ProofSite, type Say } from './site.ts';
import { Dawdlers, idleConnections } from './slow.ts';

interface LimitsOptions {
  /** Number of idle connections. */
  connections: number;
  /** Whether windows have three seconds, and slow and idle clients are left out, which take minutes. */
  short: boolean;
  say: Say;
}

const INSTANCES = 3;
/** The default limits. */
const BUDGETS = {
  api: { requests: 1_000, seconds: 10 },
  sync: { requests: 200, seconds: 10 },
  token: { requests: 120, seconds: 60 },
};
const SHORT_BUDGETS: typeof BUDGETS = {
  api: { requests: 250, seconds: 3 },
  sync: { requests: 80, seconds: 3 },
  token: { requests: 80, seconds: 3 },
};
/** Milliseconds by which the clock of one instance is ahead: less than tokens are valid, more than windows last. */
const AHEAD_MS = 600_000;
const CLOCK = new URL('./moved-clock.js', import.meta.url).href;
const REQUEST_SECONDS = 15;
/** Node checks for late requests every 30 seconds. */
const CUT_MS = (2 * REQUEST_SECONDS + 35) * 1000;
/** Milliseconds within which a normal request must have a response, whatever the number of slow clients. */
const PROMPT_MS = 1_000;

/** Limits that no client may exceed: too many requests, too large requests, and slow connections. */
export async function limits({ connections, short, say }: LimitsOptions) {
  const site = await ProofSite.start();
  const wrong: string[] = [];
  try {
    const budgets = short ? SHORT_BUDGETS : BUDGETS;
    const format = ({ requests, seconds }: Budget) => (short ? `${requests}/${seconds}` : '');
    const limited = {
      ...{ RATE_LIMIT_API: format(budgets.api), RATE_LIMIT_SYNC: format(budgets.sync) },
      RATE_LIMIT_TOKEN: format(budgets.token),
    };
    const ahead = await startAhead(site, limited, wrong);
    await Promise.all(Array.from({ length: INSTANCES }, () => site.addInstance(limited)));
    const spent = await spendBudgets(site, budgets, ahead, wrong);
    await ahead.kill();
    say(`rate limits over ${INSTANCES} instances, and another one whose clock is wrong: ${spent}`);
    for (const instance of site.instances.splice(0)) await instance.kill();

    const instance = await site.addInstance({ REQUEST_SECONDS: String(REQUEST_SECONDS) });
    const { origin } = instance;
    const [token, builderId] = [await tokenOf(site, 'A'), clientOf(site, 'A').builderIds[0]!];
    const list = createExcessiveRequests(builderId);
    wrong.push(...(await findWrongResponses(origin, token, list)));
    say(`${list.length} requests that pass a limit were refused`);
    if (short) return { wrong, figures: `${spent}; ${list.length} excesses refused` };
    const ordinary = await tokenOf(site, 'B');
    const slow = await dawdle(instance, { slow: token, ordinary }, builderId, wrong);
    say(slow);
    const idle = await beStill(instance, ordinary, connections, wrong);
    say(idle);
    if (!instance.isRunning) wrong.push(`the instance has ended: ${instance.output.slice(-500)}`);
    return { wrong, figures: `${spent}; ${list.length} excesses refused; ${slow}; ${idle}` };
  } finally {
    await site.close(say);
  }
}

const clientOf = (site: ProofSite, name: string) => site.demo.clients.find((client) => client.name === name)!;

async function tokenOf(site: ProofSite, name: string): Promise<string> {
  const { clientId, scopes } = clientOf(site, name);
  const tokens = new AccessTokens({ keys: [site.env.TOKEN_KEY!], issuer: BASE_URL, clock: Date });
  return (await tokens.sign({ sub: clientId, client_id: clientId, scope: scopes.join(' ') })).token;
}

/**
 * Starts an instance whose clock is ahead, and waits until it has purged the database: what has expired is gone, and what expires later,
 * though before the time of its clock, is there.
 */
async function startAhead(site: ProofSite, settings: Record<string, string>, wrong: string[]): Promise<Instance> {
  const em = site.database().fork();
  await em.execute(`insert into oauth_revoked_token (jti, expires_at)
    values ('proof-past', now() - interval '1 day'), ('proof-future', now() + interval '5 minutes')`);
  const instance = await Instance.start({ ...site.env, ...settings, MOVED_CLOCK_MS: String(AHEAD_MS) }, [
    '--import',
    CLOCK,
  ]);
  site.afterwards(() => instance.kill());
  const read = async () => {
    const rows = await em.execute<{ jti: string }[]>(`select jti from oauth_revoked_token where jti like 'proof-%'`);
    return rows.map(({ jti }) => jti);
  };
  for (const begun = Date.now(); (await read()).includes('proof-past') && Date.now() - begun < 20_000; )
    await sleep(50);
  const left = await read();
  if (left.join() !== 'proof-future')
    wrong.push(`an instance whose clock is ahead has left ${left.join() || 'nothing'}`);
  return instance;
}

/** Each budget, from several instances at the same time, while the one whose clock is ahead removes the windows that it takes for over. */
async function spendBudgets(
  site: ProofSite,
  { api: API, sync: SYNC, token: TOKEN }: typeof BUDGETS,
  ahead: Instance,
  wrong: string[],
): Promise<string> {
  const at = (number: number) => site.instances[number % INSTANCES]!.origin;
  const headers = async (name: string) => ({ authorization: `Bearer ${await tokenOf(site, name)}` });
  const [api, sync] = [await headers('A'), await headers('B')];
  const builderId = clientOf(site, 'B').builderIds[0]!;
  const requests = await burst(API, async (number) => {
    if (number === API.requests >> 1) await fetch(`${ahead.origin}/builders?limit=1`, { headers: sync });
    return fetch(`${at(number)}/builders?limit=1`, { headers: api });
  });
  const syncs = await burst(SYNC, (number) =>
    fetch(`${at(number)}/builders/${builderId}/photo-reports/sync`, {
      ...{ method: 'POST', headers: { ...sync, 'content-type': 'application/json' }, body: '{}' },
    }),
  );
  const tokens = await burst(TOKEN, (number) =>
    fetch(`${at(number)}/oauth/token`, {
      method: 'POST',
      body: new URLSearchParams({ grant_type: 'client_credentials' }),
    }),
  );
  wrong.push(
    ...wrongBurst('requests of a client', API, requests, INSTANCES),
    ...wrongBurst('syncs of a client', SYNC, syncs, INSTANCES),
    ...wrongBurst('token requests of an address', TOKEN, tokens, INSTANCES),
  );
  const allowed = [requests[200], syncs[400], tokens[401]];
  const [most, mostSyncs, mostTokens] = [API, SYNC, TOKEN].map((budget) => budget.requests);
  return `${allowed[0]} of ${most} requests, ${allowed[1]} of ${mostSyncs} syncs, ${allowed[2]} of ${mostTokens} token requests allowed`;
}

/** Measures normal requests, one every 20 ms, while the work runs. */
async function promptness(origin: string, token: string, work: Promise<unknown>, wrong: string[]): Promise<number[]> {
  const times: number[] = [];
  let over = false;
  const end = work.finally(() => {
    over = true;
  });
  while (!over) {
    const begun = performance.now();
    const response = await fetch(`${origin}/builders?limit=1`, { headers: { authorization: `Bearer ${token}` } });
    await response.arrayBuffer();
    if (response.status !== 200) wrong.push(`an ordinary request was answered ${response.status}`);
    times.push(performance.now() - begun);
    await sleep(20);
  }
  await end;
  const slowest = percentile(times, 99);
  if (slowest > PROMPT_MS) wrong.push(`ordinary requests took ${slowest} ms (p99)`);
  return times;
}

/**
 * Clients that send headers or a body, or receive a response, very slowly.
 *
 * @param tokens of the slow clients, which fill the share of their integrator, and of the ordinary requests of another one.
 */
async function dawdle(
  { origin }: Instance,
  tokens: { slow: string; ordinary: string },
  builderId: string,
  wrong: string[],
) {
  const download = await largeDownload(origin, tokens.slow, builderId);
  const bearer = `Host: localhost\r\nAuthorization: Bearer ${tokens.slow}`;
  const post = `POST /builders/${builderId}/meetings HTTP/1.1\r\n${bearer}\r\nContent-Type: application/json`;
  const kinds = {
    headers: new Dawdlers(origin, 300, 'GET /builders HTTP/1.1\r\nHost: localhost\r\n', (at) => `X-A${at}: b\r\n`),
    body: new Dawdlers(origin, 300, `${post}\r\nContent-Length: 1000000\r\n\r\n[`, () => ' '),
    'chunked body': new Dawdlers(origin, 100, `${post}\r\nTransfer-Encoding: chunked\r\n\r\n`, () => '1\r\n \r\n'),
    answer: new Dawdlers(origin, 100, `GET ${download} HTTP/1.1\r\nHost: localhost\r\n\r\n`, null),
  };
  const all = Object.entries(kinds);
  const times = await promptness(origin, tokens.ordinary, Promise.all(all.map(([, one]) => one.gone(CUT_MS))), wrong);
  for (const [kind, { lives, count }] of all) {
    if (lives.length < count) wrong.push(`${count - lives.length} clients with a slow ${kind} were not cut`);
  }
  const cut = all.map(([kind, { lives }]) => `${kind} ${Math.round(Math.max(...lives) / 1000)} s`).join(', ');
  return `800 slow clients cut (longest: ${cut}; limit ${REQUEST_SECONDS} s), ordinary p99 ${percentile(times, 99)} ms`;
}

/** Path and query of a signed URL of 40 MiB, which is more than the buffers of a connection. */
async function largeDownload(origin: string, token: string, builderId: string): Promise<string> {
  const form = new FormData();
  form.set('type', 'attachment');
  form.set('file', new Blob([new Uint8Array(40 * 1_048_576)], { type: 'image/jpeg' }), 'site.jpg');
  const url = `${origin}/builders/${builderId}/attachments/upload`;
  const answer = await fetch(url, { method: 'POST', headers: { authorization: `Bearer ${token}` }, body: form });
  const { imageUrl } = (await answer.json()) as { imageUrl: string };
  const { pathname, search } = new URL(imageUrl);
  return `${pathname}${search}`;
}

/** Opens that many idle connections. */
async function beStill({ origin, pid }: Instance, token: string, count: number, wrong: string[]): Promise<string> {
  const before = await residentOf(pid);
  const { sockets, failed } = await idleConnections(origin, count);
  const open = () => sockets.filter(({ destroyed }) => !destroyed).length;
  if (failed > 0) wrong.push(`${failed} of ${count} connections were not taken`);
  const held = open();
  const times = await promptness(origin, token, sleep(5_000), wrong);
  const during = await residentOf(pid);
  for (const socket of sockets) socket.destroy();
  const memory = `${before} MiB before, ${during} MiB with them`;
  return `${held} idle connections, ${memory}, ordinary p99 ${percentile(times, 99)} ms`;
}
