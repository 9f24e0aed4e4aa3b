import { cpus } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { AccessTokens } from '../../src/auth/access-tokens.ts';
import { REGIONS } from '../../src/shared/regions.ts';
import { blocks, page, request } from '../photo-reports/documents.ts';
import { createPicture } from '../support/images.ts';
import { addIntegrators, type FleetIntegrator } from './fleet-integrators.ts';
import { FleetReceiver } from './fleet-receivers.ts';
import { findSaturation, measureIdle, ResourceMonitor, waitForIdleProcessors } from './fleet-resources.ts';
import { BASE_URL, type Log, ProofEnvironment } from './proof-environment.ts';
import { ReplicatedPostgres } from './replicated-postgres.ts';
import { type RecordedRequest, RequestRecorder } from './request-recorder.ts';
import { countBy, percentile } from './statistics.ts';

interface FleetOptions {
  instances: number;
  integrators: number;
  /** Seconds of each of the three parts of the Monday. */
  seconds: number;
  log: Log;
}

/** An hour of the Monday, with the requests that each integrator repeats. */
interface Hour {
  name: string;
  /** Whether every request counts against the rate limit: uploads under signed URLs do not. */
  isLimited: boolean;
  sendNext(integrator: FleetIntegrator, send: Send, number: number, photo: Buffer): Promise<unknown>;
}

/** Sends an object as JSON and a buffer as a JPEG image. */
type Send = (method: string, path: string, body?: object | Buffer) => ReturnType<RequestRecorder['send']>;

/** Integrators whose changes are delivered to an endpoint. */
const ENDPOINTS = 20;

/** Loops without a pause in which the greedy integrator sends. Every other one has a loop with pauses. */
const GREEDY_LOOPS = 20;

/** Small, so that the greedy integrator exceeds it and the others do not. */
const LIMIT = { requests: 300, seconds: 10 };

/** Pauses of an integrator between two requests, in milliseconds, at the beginning and end of each hour. */
const FIRST_PAUSE_MS = 4_000;
const LAST_PAUSE_MS = 400;

const WARM_UP_SECONDS = 10;
const METRICS_TOKEN = 'metrics-token-of-the-fleet';
const FIRST_EVENT_AT = Date.parse('2026-04-06T06:00:00.000Z');

const HOURS: Hour[] = [
  {
    name: 'gates, 6 to 7',
    isLimited: true,
    sendNext: ({ builderId, projectId, workers, name }, send, number) =>
      send('POST', `/builders/${builderId}/projects/${projectId}/sign-on-events`, {
        ...{
          sourceEventId: `${name}-${number}`,
          workerId: workers[(number >> 1) % workers.length],
          type: number % 2 ? 'SIGN_OFF' : 'SIGN_ON',
        },
        ...(number % 2 && { sourceSignOnEventId: `${name}-${number - 1}` }),
        occurredAt: new Date(FIRST_EVENT_AT + number * 30_000).toISOString(),
      }),
  },
  {
    name: 'photos, noon',
    isLimited: false,
    sendNext: (integrator, send, number, photo) => {
      const { builderId, name } = integrator;
      if (number % 3 === 0) return addPhoto(integrator, send, `${name}-${number}`, photo);
      if (number % 3 === 1) return send('GET', `/builders/${builderId}/photos?limit=25`);
      return send('POST', `/builders/${builderId}/photo-reports/sync`, {
        ...request({ page: page([blocks.text('text', [{ text: `Walk ${number}. `.repeat(100) }])]) }),
        ...{ sourceApp: 'fleet', sourceExternalId: `walk-${name}`, sourceRevision: number + 1 },
      });
    },
  },
  {
    name: 'timesheets, 17 to 18',
    isLimited: true,
    sendNext: ({ projectId }, send, number) =>
      send('GET', number % 4 === 3 ? '/subcontractors?limit=25' : `/timesheets?limit=25&projectId=${projectId}`),
  },
];

/** Uploads a photo with a signed URL and adds it to the gallery, unless a step is rejected. */
async function addPhoto({ builderId, projectId }: FleetIntegrator, send: Send, name: string, photo: Buffer) {
  const prefix = `/builders/${builderId}`;
  const intent = { contentType: 'image/jpeg', fileName: `${name}.jpg`, size: photo.length, type: 'attachment' };
  const presigned = await send('POST', `${prefix}/attachments/presign`, intent);
  if (presigned.status >= 300) return;
  const { uploadUrl, key, regionId, type } = presigned.body;
  const put = await send('PUT', uploadUrl.replace(BASE_URL, ''), photo);
  if (put.status >= 300) return;
  await send('POST', `${prefix}/photo-gallery/bulk-upsert`, {
    ...{ externalSourceId: name, sourceApp: 'fleet', projectId, folderName: 'Noon' },
    photos: [{ externalSourceId: name, imageAttachment: { key, regionId, type } }],
  });
}

/**
 * Measures which resource saturates first when many integrators send the traffic of a Monday, compressed into seconds, to many instances on
 * one database. One integrator always has 20 requests in flight; the rate limit and the shares must protect the others from it.
 */
export async function fleet({ instances, integrators: count, seconds, log }: FleetOptions) {
  const environment = await ProofEnvironment.start(
    {
      ...{ LOG_LEVEL: 'warn', METRICS_TOKEN, DATABASE_CONNECTIONS: '24', TRUST_PROXY: '1' },
      // Production delivers webhooks to https: only.
      NODE_ENV: 'development',
      RATE_LIMIT_API: `${LIMIT.requests}/${LIMIT.seconds}`,
      RATE_LIMIT_SYNC: '200/10',
    },
    null,
    { timesheets: 2_000 },
  );
  const problems: string[] = [];
  try {
    await environment.postgres.stop();
    const servers = await ReplicatedPostgres.start(environment.postgres.dataDir);
    environment.onClose(() => servers.stop());
    for (const region of REGIONS)
      environment.settings[`DATABASE_URL_${region.toUpperCase()}`] = servers.primaryUrl(region);
    const client = environment.demo.clients.find(({ name }) => name === 'A')!;
    const added = await addIntegrators(environment.database(), client.clientId, count);
    const fleetIntegrators = added.map((integrator, index) => toLoops(integrator, index === 0 ? GREEDY_LOOPS : 1));
    // A start takes some seconds of processor time, so that only two run at a time.
    for (let begun = 0; begun < instances; begun += 2) {
      await Promise.all(Array.from({ length: Math.min(2, instances - begun) }, () => environment.addInstance()));
    }
    log(`${instances} instances and ${count} integrators`);
    const tokens = new AccessTokens({ keys: [environment.settings.TOKEN_KEY!], issuer: BASE_URL, clock: Date });
    const signed = await Promise.all(
      added.map(async ({ clientId }) => {
        const claims = { sub: clientId, client_id: clientId, scope: client.scopes.join(' ') };
        return (await tokens.sign('au1', claims)).token;
      }),
    );
    const receivers = await FleetReceiver.start();
    environment.onClose(() => receivers.close());
    for (const token of signed.slice(0, ENDPOINTS)) await receivers.register(environment.instances[0]!.origin, token);
    const monitor = new ResourceMonitor(environment.instances, METRICS_TOKEN, servers);
    const hours: Awaited<ReturnType<typeof runHour>>[] = [];
    const photo = await createPicture('jpeg', { width: 1_600, height: 1_200 });
    const run = { environment, integrators: fleetIntegrators, tokens: signed, monitor, photo };
    const finishWork = async () => {
      await waitForRenditions(servers);
      await receivers.settle();
    };
    // Each process compiles the code of its first requests, which is not measured.
    for (const hour of HOURS) await runHour(hour, { ...run, seconds: WARM_UP_SECONDS });
    await finishWork();
    const idle = await measureIdle(environment.instances, environment.postgres.dataDir);
    log(idle.text);
    for (const hour of HOURS) {
      await finishWork();
      await waitForIdleProcessors(idle);
      const measured = await runHour(hour, { ...run, seconds });
      problems.push(...measured.problems);
      log(measured.text);
      hours.push(measured);
    }
    await receivers.settle();
    if (receivers.received === 0) problems.push('no event was delivered to an endpoint');
    const requests = hours.reduce((sum, hour) => sum + hour.requests, 0);
    return {
      idle: idle.text,
      hours: hours.map(({ text }) => text),
      problems,
      figures: `${instances} instances, ${count} integrators, ${requests} requests, ${receivers.received} deliveries on ${cpus().length} processors; ${idle.text}:\n${hours.map(({ text }) => `\n- ${text}`).join('')}`,
    };
  } finally {
    await environment.close(log);
  }
}

/** Returns the loops of an integrator. Each has its own external ids, because sign-offs follow their sign-ons and revisions each other. */
const toLoops = (integrator: FleetIntegrator, count: number): FleetIntegrator[] =>
  Array.from({ length: count }, (_, loop) => ({ ...integrator, name: `${integrator.name}-${loop}` }));

/** Waits until all photos are rendered, so that this work is not measured in the next hour. */
async function waitForRenditions(servers: ReplicatedPostgres): Promise<void> {
  const sql = `select exists (select from photo_rendition where status = 'PENDING') as pending`;
  const isPending = () => servers.executeOnPrimary('au1', async (client) => (await client.query(sql)).rows[0].pending);
  while (await isPending()) await sleep(1_000);
}

interface Run {
  environment: ProofEnvironment;
  /** Loops of each integrator. The first integrator is the greedy one. */
  integrators: FleetIntegrator[][];
  tokens: string[];
  monitor: ResourceMonitor;
  photo: Buffer;
  seconds: number;
}

/** Runs an hour in which every integrator sends requests at a rising rate. */
async function runHour(
  { name, isLimited, sendNext }: Hour,
  { environment, integrators, tokens, monitor, photo, seconds }: Run,
) {
  const began = Date.now();
  const until = began + seconds * 1_000;
  const origins = environment.instances.map(({ origin }) => origin);
  const samples = monitor.sampleUntil(until);
  const all = await Promise.all(
    integrators.map(async (loops, index) => {
      const recorder = new RequestRecorder();
      const isGreedy = index === 0;
      const { builderId } = loops[0]!;
      const send: Send = (method, path, body) => {
        const origin = origins[(index + recorder.requests.length + recorder.inFlight) % origins.length]!;
        const forwarded = { 'x-forwarded-for': `10.1.${index >> 8}.${index & 255}` };
        // A signed URL needs no token.
        if (Buffer.isBuffer(body)) {
          const headers = { ...forwarded, 'content-type': 'image/jpeg' };
          return recorder.send(name, `${origin}${path}`, { method, headers, body: new Uint8Array(body) });
        }
        const headers = {
          ...forwarded,
          authorization: `Bearer ${tokens[index]}`,
          'x-service-builder-id': builderId,
          ...(body && { 'content-type': 'application/json' }),
        };
        return recorder.send(name, `${origin}${path}`, { method, headers, body: body && JSON.stringify(body) });
      };
      const work = async (loop: FleetIntegrator) => {
        if (!isGreedy) await sleep(Math.random() * FIRST_PAUSE_MS);
        while (Date.now() < until) {
          const progress = (Date.now() - began) / (until - began);
          const pause = FIRST_PAUSE_MS * (LAST_PAUSE_MS / FIRST_PAUSE_MS) ** progress;
          await sendNext(loop, send, loop.sent++, photo);
          if (!isGreedy) await sleep(pause * (0.5 + Math.random()));
        }
      };
      await Promise.all(loops.map(work));
      return recorder.requests;
    }),
  );
  const problems = all.flatMap((requests, index) => findUnexpectedResponses(name, requests, index));
  const successes = all.slice(1).map((requests) => requests.filter(({ status }) => status < 300).length);
  const [least, median] = [Math.min(...successes), percentile(successes, 50)];
  if (least * 3 < median)
    problems.push(`${name}: an integrator had ${least} successful requests, and half of them ${median}`);
  if (isLimited) problems.push(...findRateLimitProblems(name, all[0]!, seconds));
  const requests = all.flat();
  const others = all.slice(1).flat();
  const times = others.map(({ milliseconds }) => milliseconds);
  const saturation = findSaturation(await samples, requests);
  const count = (list: readonly RecordedRequest[]) => JSON.stringify(countBy(list, ({ status }) => status));
  const text =
    `${name}: ${others.length} requests ${count(others)} beside ${all[0]!.length} of the greedy integrator ${count(all[0]!)}, ` +
    `p50 ${percentile(times, 50)} ms, p99 ${percentile(times, 99)} ms, least ${least} and median ${median} requests of an integrator, ${saturation}`;
  return { problems, text, requests: requests.length };
}

/** Returns problems if the greedy integrator exceeded the rate limit of all instances together, or was never rejected. */
function findRateLimitProblems(hour: string, requests: readonly RecordedRequest[], seconds: number): string[] {
  const problems: string[] = [];
  const served = requests.filter(({ status }) => status < 300).length;
  // The budgets of the windows that the hour touches.
  const most = LIMIT.requests * (Math.ceil(seconds / LIMIT.seconds) + 1);
  if (served > most)
    problems.push(`${hour}: the greedy integrator had ${served} successful requests, and at most ${most} were allowed`);
  if (!requests.some(({ status }) => status === 429)) problems.push(`${hour}: the greedy integrator was never 429`);
  return problems;
}

/** Returns the unexpected responses. Only the greedy integrator may be rate limited; an overloaded service is 503 with Retry-After. */
function findUnexpectedResponses(hour: string, requests: readonly RecordedRequest[], index: number): string[] {
  return requests
    .filter(({ status, retryAfter }) => {
      if (status >= 200 && status < 300) return false;
      if (status === 429) return index > 0 || retryAfter === null;
      return status !== 503 || retryAfter === null;
    })
    .slice(0, 2)
    .map(({ status, problem }) => `${hour}, integrator ${index}: ${status} ${problem}`);
}
