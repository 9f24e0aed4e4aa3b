import { setTimeout as sleep } from 'node:timers/promises';
import { AccessTokens } from '../../src/auth/access-tokens.ts';
import { createExcessiveRequests, findUnexpectedResponses } from './excessive-requests.ts';
import { Instance } from './instance.ts';
import { readResidentMib } from './process-memory.ts';
import { type Log, ProofEnvironment } from './proof-environment.ts';
import { type Budget, findBurstProblems, sendBurst } from './request-burst.ts';
import { openIdleConnections, SlowClients } from './slow-clients.ts';
import { percentile } from './statistics.ts';

interface LimitsOptions {
  /** Number of idle connections. */
  connections: number;
  /** Uses windows of three seconds and omits slow and idle clients, which take minutes. */
  short: boolean;
  log: Log;
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
/** Milliseconds by which the clock of one instance is ahead: less than the lifetime of tokens, more than a window. */
const AHEAD_MS = 600_000;
const CLOCK = new URL('./moved-clock.js', import.meta.url).href;
const REQUEST_SECONDS = 15;
/** Maximum milliseconds until a slow client is disconnected. Node checks for late requests every 30 seconds. */
const MAX_CONNECTION_MS = (2 * REQUEST_SECONDS + 35) * 1000;
/** More than the buffers of a connection. */
export const LARGE_FILE_BYTES = 40 * 1_048_576;
/** Milliseconds within which a normal request must have a response, whatever the number of slow clients. */
const MAX_RESPONSE_MS = 1_000;

/** Proves the limits of clients: rate limits, request sizes, slow and idle connections. */
export async function limits({ connections, short, log }: LimitsOptions) {
  const environment = await ProofEnvironment.start();
  const problems: string[] = [];
  try {
    const budgets = short ? SHORT_BUDGETS : BUDGETS;
    const format = ({ requests, seconds }: Budget) => (short ? `${requests}/${seconds}` : '');
    const limited = {
      ...{ RATE_LIMIT_API: format(budgets.api), RATE_LIMIT_SYNC: format(budgets.sync) },
      RATE_LIMIT_TOKEN: format(budgets.token),
    };
    const ahead = await startInstanceAhead(environment, limited, problems);
    await Promise.all(Array.from({ length: INSTANCES }, () => environment.addInstance(limited)));
    const allowedRequests = await exhaustBudgets(environment, budgets, ahead, problems);
    await ahead.kill();
    log(`rate limits over ${INSTANCES} instances, and another one whose clock is wrong: ${allowedRequests}`);
    for (const instance of environment.instances.splice(0)) await instance.kill();

    const instance = await environment.addInstance({ REQUEST_SECONDS: String(REQUEST_SECONDS) });
    const { origin } = instance;
    const [token, builderId] = [await tokenOf(environment, 'A'), clientOf(environment, 'A').builderIds[0]!];
    const list = createExcessiveRequests(builderId);
    problems.push(...(await findUnexpectedResponses(origin, token, list)));
    log(`${list.length} requests that pass a limit were refused`);
    if (short) return { problems, figures: `${allowedRequests}; ${list.length} excesses refused` };
    const ordinary = await tokenOf(environment, 'B');
    const slow = await measureSlowClients(instance, { slow: token, ordinary }, builderId, problems);
    log(slow);
    const idle = await measureIdleConnections(instance, ordinary, connections, problems);
    log(idle);
    if (!instance.isRunning) problems.push(`the instance has ended: ${instance.output.slice(-500)}`);
    return { problems, figures: `${allowedRequests}; ${list.length} excesses refused; ${slow}; ${idle}` };
  } finally {
    await environment.close(log);
  }
}

export const clientOf = (environment: ProofEnvironment, name: string) =>
  environment.demo.clients.find((client) => client.name === name)!;

export async function tokenOf(environment: ProofEnvironment, name: string): Promise<string> {
  const { clientId, scopes } = clientOf(environment, name);
  const tokens = new AccessTokens({
    keys: [environment.settings.TOKEN_KEY!],
    issuer: environment.settings.BASE_URL!,
    clock: Date,
  });
  return (await tokens.sign('au1', { sub: clientId, client_id: clientId, scope: scopes.join(' ') })).token;
}

/**
 * Starts an instance whose clock is ahead, and waits until it has purged expired rows. Rows that expire before the time of its clock, but
 * after the true time, must remain.
 */
async function startInstanceAhead(
  environment: ProofEnvironment,
  settings: Record<string, string>,
  problems: string[],
): Promise<Instance> {
  const em = environment.database().fork();
  await em.execute(`insert into oauth_revoked_token (jti, expires_at)
    values ('proof-past', now() - interval '1 day'), ('proof-future', now() + interval '5 minutes')`);
  const instance = await Instance.start({ ...environment.settings, ...settings, MOVED_CLOCK_MS: String(AHEAD_MS) }, [
    '--import',
    CLOCK,
  ]);
  environment.onClose(() => instance.kill());
  const read = async () => {
    const rows = await em.execute<{ jti: string }[]>(`select jti from oauth_revoked_token where jti like 'proof-%'`);
    return rows.map(({ jti }) => jti);
  };
  for (const begun = Date.now(); (await read()).includes('proof-past') && Date.now() - begun < 20_000; )
    await sleep(50);
  const remaining = await read();
  if (remaining.join() !== 'proof-future')
    problems.push(`an instance whose clock is ahead has left ${remaining.join() || 'nothing'}`);
  return instance;
}

/** Exceeds each budget over several instances, while the one whose clock is ahead purges windows. Returns the allowed requests as text. */
async function exhaustBudgets(
  environment: ProofEnvironment,
  { api: API, sync: SYNC, token: TOKEN }: typeof BUDGETS,
  ahead: Instance,
  problems: string[],
): Promise<string> {
  const at = (number: number) => environment.instances[number % INSTANCES]!.origin;
  const headers = async (name: string) => ({ authorization: `Bearer ${await tokenOf(environment, name)}` });
  const [api, sync] = [await headers('A'), await headers('B')];
  const builderId = clientOf(environment, 'B').builderIds[0]!;
  const requests = await sendBurst(API, async (number) => {
    if (number === API.requests >> 1) await fetch(`${ahead.origin}/builders?limit=1`, { headers: sync });
    return fetch(`${at(number)}/builders?limit=1`, { headers: api });
  });
  const syncs = await sendBurst(SYNC, (number) =>
    fetch(`${at(number)}/builders/${builderId}/photo-reports/sync`, {
      ...{ method: 'POST', headers: { ...sync, 'content-type': 'application/json' }, body: '{}' },
    }),
  );
  const tokens = await sendBurst(TOKEN, (number) =>
    fetch(`${at(number)}/oauth/token`, {
      method: 'POST',
      body: new URLSearchParams({ grant_type: 'client_credentials' }),
    }),
  );
  problems.push(
    ...findBurstProblems('requests of a client', API, requests, INSTANCES),
    ...findBurstProblems('syncs of a client', SYNC, syncs, INSTANCES),
    ...findBurstProblems('token requests of an address', TOKEN, tokens, INSTANCES),
  );
  const allowed = [requests[200], syncs[400], tokens[401]];
  const [most, mostSyncs, mostTokens] = [API, SYNC, TOKEN].map((budget) => budget.requests);
  return `${allowed[0]} of ${most} requests, ${allowed[1]} of ${mostSyncs} syncs, ${allowed[2]} of ${mostTokens} token requests allowed`;
}

/** Measures ordinary requests, one every 20 ms, while the work runs. Returns their milliseconds. */
export async function measureRequests(
  origin: string,
  token: string,
  work: Promise<unknown>,
  problems: string[],
): Promise<number[]> {
  const times: number[] = [];
  let over = false;
  const end = work.finally(() => {
    over = true;
  });
  while (!over) {
    const begun = performance.now();
    const response = await fetch(`${origin}/builders?limit=1`, { headers: { authorization: `Bearer ${token}` } });
    await response.arrayBuffer();
    if (response.status !== 200) problems.push(`an ordinary request was answered ${response.status}`);
    times.push(performance.now() - begun);
    await sleep(20);
  }
  await end;
  const slowest = percentile(times, 99);
  if (slowest > MAX_RESPONSE_MS) problems.push(`ordinary requests took ${slowest} ms (p99)`);
  return times;
}

/**
 * Opens connections that send headers or a body, or receive a response, very slowly. Returns the result as text.
 *
 * @param tokens The token of the slow clients, which use up the share of their integrator, and that of another integrator.
 */
async function measureSlowClients(
  { origin }: Instance,
  tokens: { slow: string; ordinary: string },
  builderId: string,
  problems: string[],
) {
  const download = await uploadLargeFile(origin, tokens.slow, builderId);
  const bearer = `Host: localhost\r\nAuthorization: Bearer ${tokens.slow}`;
  const post = `POST /builders/${builderId}/meetings HTTP/1.1\r\n${bearer}\r\nContent-Type: application/json`;
  const kinds = {
    headers: new SlowClients(origin, 300, 'GET /builders HTTP/1.1\r\nHost: localhost\r\n', (at) => `X-A${at}: b\r\n`),
    body: new SlowClients(origin, 300, `${post}\r\nContent-Length: 1000000\r\n\r\n[`, () => ' '),
    'chunked body': new SlowClients(origin, 100, `${post}\r\nTransfer-Encoding: chunked\r\n\r\n`, () => '1\r\n \r\n'),
    answer: new SlowClients(origin, 100, `GET ${download} HTTP/1.1\r\nHost: localhost\r\n\r\n`, null),
  };
  const all = Object.entries(kinds);
  const times = await measureRequests(
    origin,
    tokens.ordinary,
    Promise.all(all.map(([, one]) => one.waitUntilClosed(MAX_CONNECTION_MS))),
    problems,
  );
  for (const [kind, { durations, count }] of all) {
    if (durations.length < count) problems.push(`${count - durations.length} clients with a slow ${kind} were not cut`);
  }
  const cut = all.map(([kind, { durations }]) => `${kind} ${Math.round(Math.max(...durations) / 1000)} s`).join(', ');
  return `800 slow clients cut (longest: ${cut}; limit ${REQUEST_SECONDS} s), ordinary p99 ${percentile(times, 99)} ms`;
}

/** Uploads 40 MiB of zeros. Returns the path and query of their signed URL. */
export async function uploadLargeFile(origin: string, token: string, builderId: string): Promise<string> {
  const form = new FormData();
  form.set('type', 'attachment');
  form.set('file', new Blob([new Uint8Array(LARGE_FILE_BYTES)], { type: 'image/jpeg' }), 'site.jpg');
  const url = `${origin}/builders/${builderId}/attachments/upload`;
  const response = await fetch(url, { method: 'POST', headers: { authorization: `Bearer ${token}` }, body: form });
  const { imageUrl } = (await response.json()) as { imageUrl: string };
  const { pathname, search } = new URL(imageUrl);
  return `${pathname}${search}`;
}

/** Opens idle connections and measures ordinary requests beside them. Returns the result as text. */
async function measureIdleConnections(
  { origin, pid }: Instance,
  token: string,
  count: number,
  problems: string[],
): Promise<string> {
  const before = await readResidentMib(pid);
  const { sockets, failed } = await openIdleConnections(origin, count);
  const open = () => sockets.filter(({ destroyed }) => !destroyed).length;
  if (failed > 0) problems.push(`${failed} of ${count} connections were not taken`);
  const openConnections = open();
  const times = await measureRequests(origin, token, sleep(5_000), problems);
  const during = await readResidentMib(pid);
  for (const socket of sockets) socket.destroy();
  const memory = `${before} MiB before, ${during} MiB with them`;
  return `${openConnections} idle connections, ${memory}, ordinary p99 ${percentile(times, 99)} ms`;
}
