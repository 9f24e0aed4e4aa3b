import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { parse } from 'yaml';
import { REGIONS } from '../../src/shared/regions.ts';
import { freePort } from '../support/ports.ts';
import { readBlock } from '../support/printed-blocks.ts';
import { startSwift, swiftUnavailableReason } from '../support/swift.ts';
import { TLS_SETTINGS } from '../support/tls-certificate.ts';
import { findMissingProgram, startHaproxy } from './debian-program.ts';
import { clientOf, LARGE_FILE_BYTES, measureRequests, tokenOf, uploadLargeFile } from './limits.ts';
import { MixedLoad } from './mixed-load.ts';
import { findPgbouncerProblem, findPgbouncerVersion, startPgbouncer } from './pgbouncer.ts';
import { type Log, ProofEnvironment } from './proof-environment.ts';
import { readPeerPorts, SlowClients } from './slow-clients.ts';
import { countBy, percentile } from './statistics.ts';

const run = promisify(execFile);
const PROGRAM = join(process.cwd(), 'dist/src/bin.cjs');
const FLOOD = fileURLToPath(new URL('./handshake-flood.js', import.meta.url));
const POLLS = 40;
const SLOW_CLIENTS = 300;
/** `timeout http-request` of deploy/haproxy.cfg, and the time until HAProxy closes all. */
const SLOW_CLIENT_MS = 20_000;

/** Returns the reason why the proof cannot run; null if it can. */
export const findCompositionProblem = (): string | null =>
  findMissingProgram(['haproxy', process.env.PGBOUNCER ?? 'pgbouncer']) ?? swiftUnavailableReason;

/**
 * Runs the set of deploy/compose.yaml as processes, with the files of deploy/: HAProxy, two instances, PgBouncer, PostgreSQL with a role of the
 * service that owns nothing, and an S3 server. Clients use the addresses of the proxy alone.
 */
export async function composition({ short, log }: { short: boolean; log: Log }) {
  const [apiPort, storePort, first, second] = [await freePort(), await freePort(), await freePort(), await freePort()];
  const origin = `https://localhost:${apiPort}`;
  const environment = await ProofEnvironment.start({ BASE_URL: origin, TRUST_PROXY: '1', DRAIN_SECONDS: '5' });
  const problems: string[] = [];
  try {
    await useServiceRole(environment, problems);
    const swift = await startSwift();
    environment.onClose(() => swift.stop());
    const certificate = await createCertificate(environment);
    const ends = { API_ADDRESS: `127.0.0.1:${apiPort}`, STORE_ADDRESS: `127.0.0.1:${storePort}` };
    const servers = { API_1: `127.0.0.1:${first}`, API_2: `127.0.0.1:${second}` };
    const store = new URL(swift.settings.S3_ENDPOINT!).host;
    const proxied = { ...ends, ...servers, STORE: store, CERTIFICATE: certificate };
    await startHaproxy(environment, 'haproxy.cfg', proxied, [apiPort, storePort]);
    const mode = findPgbouncerProblem() ? 'session' : 'transaction';
    const settings = {
      ...swift.settings,
      ...(await startPgbouncer(environment, mode)),
      S3_ENDPOINT: `https://localhost:${storePort}`,
      NODE_EXTRA_CA_CERTS: certificate,
      // Pooling by session needs a connection of PgBouncer for each of an instance.
      DATABASE_CONNECTIONS: '36',
    };
    for (const port of [first, second]) await environment.addInstance({ ...settings, PORT: String(port) });
    await waitUntilReady(origin);
    log(`the composition is ready, with ${findPgbouncerVersion()}, pooling by ${mode}`);

    await runReadme(environment, certificate);
    const upload = await uploadAndCompare(environment, origin);
    const polls = await measurePolls(environment, origin, short ? 4 : 20, problems);
    log(`the commands of the README; ${upload}; ${polls}`);
    const restarts = await restartUnderLoad(environment, origin, swift.settings, short, problems);
    log(restarts);
    const direct = await environment.addInstance({ ...settings, ...TLS_SETTINGS });
    const seconds = short ? 3 : 8;
    const alone = await measureAttacks(environment, direct.origin, [Number(new URL(direct.origin).port)], seconds, []);
    await alone.slowClients.waitUntilClosed(0);
    await direct.kill();
    const behind = await measureAttacks(environment, origin, [first, second], seconds, problems);
    const attacks = `${formatAttacks(alone)} without a proxy, ${formatAttacks(behind)} behind it`;
    // A few connections of ordinary requests may be new.
    if (behind.slowAtInstances > 5) problems.push(`${behind.slowAtInstances} slow clients reached an instance`);
    if (!short) await behind.slowClients.waitUntilClosed(SLOW_CLIENT_MS);
    const { open } = behind.slowClients;
    if (!short && open > 0) problems.push(`${open} slow clients were not disconnected`);
    log(attacks);
    return { problems, figures: `PgBouncer by ${mode}; ${upload}; ${polls}; ${restarts}; ${attacks}` };
  } finally {
    await environment.close(log);
  }
}

/** Makes the databases of the environment those of a role that owns nothing, by the statements of deploy/compose.yaml and `migrate up`. */
async function useServiceRole(environment: ProofEnvironment, problems: string[]): Promise<void> {
  const admin = environment.database().fork();
  const password = randomBytes(16).toString('hex');
  const { configs } = parse(await readFile('deploy/compose.yaml', 'utf8'));
  await admin.execute(configs['service-role'].content.replace(/\$\{SERVICE_PASSWORD:\?\}/, password));
  const owners: Record<string, string> = {};
  for (const region of REGIONS) {
    const name = `DATABASE_URL_${region.toUpperCase()}`;
    owners[`${name}_OWNER`] = environment.settings[name]!;
    const url = Object.assign(new URL(environment.settings[name]!), { username: 'builder_api', password });
    environment.settings[name] = url.href;
  }
  const env = { PATH: process.env.PATH!, ...environment.settings, ...owners };
  await run(process.execPath, [PROGRAM, 'migrate', 'up'], { env });
  const sql = `select rolsuper or exists (select from pg_class where relowner = r.oid) as wrong
    from pg_roles r where rolname = 'builder_api'`;
  const [role] = await admin.execute<{ wrong: boolean }[]>(sql);
  if (role!.wrong) problems.push('the role of the service is a superuser or owns a table');
}

/** Copies the certificate of the tests to where HAProxy finds its key, and trusts it in this process. Returns its path. */
async function createCertificate({ dataDir }: ProofEnvironment): Promise<string> {
  const path = join(dataDir, 'certificate.pem');
  await copyFile(TLS_SETTINGS.TLS_CERT, path);
  await copyFile(TLS_SETTINGS.TLS_KEY, `${path}.key`);
  setDefaultCACertificates([...getCACertificates('default'), await readFile(path, 'utf8')]);
  return path;
}

async function waitUntilReady(origin: string): Promise<void> {
  while ((await fetch(`${origin}/health/ready`)).status !== 200) await sleep(100);
}

/** Runs the commands of the README at the address of the proxy. Throws where they fail or the responses of REST and GraphQL differ. */
async function runReadme({ dataDir, demo, settings }: ProofEnvironment, certificate: string): Promise<void> {
  await mkdir(join(dataDir, '.data'));
  await writeFile(join(dataDir, '.data', 'demo.json'), JSON.stringify(demo));
  const blocks = ['token', 'rest', 'graphql'].map((name) => readBlock('README.md', `commands:${name}`));
  const script = blocks.join('\n').replaceAll(/(http:\/\/)?localhost:4000/g, settings.BASE_URL!);
  const env = { PATH: process.env.PATH!, CURL_CA_BUNDLE: certificate };
  const { stdout } = await run('bash', ['-eu', '-o', 'pipefail', '-c', script], { cwd: dataDir, env });
  const [rest, graphql] = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  const names = (projects: { name: string }[]) => projects.map(({ name }) => name).join();
  if (rest.data.length === 0 || names(rest.data) !== names(graphql.data.projects.data))
    throw new Error(`The commands of the README print ${stdout}`);
}

/** Uploads 40 MiB through the service and to the store's own address, and compares what the service then sends. Returns the result as text. */
async function uploadAndCompare(environment: ProofEnvironment, origin: string): Promise<string> {
  const [token, builderId] = [await tokenOf(environment, 'A'), clientOf(environment, 'A').builderIds[0]!];
  const begun = performance.now();
  const download = await uploadLargeFile(origin, token, builderId);
  const response = await fetch(`${origin}${download}`);
  const received = Buffer.from(await response.arrayBuffer());
  if (!received.equals(Buffer.alloc(LARGE_FILE_BYTES)))
    throw new Error(`The uploaded file has other bytes: ${response.status}`);
  const through = Math.round(performance.now() - begun);
  const intent = { contentType: 'image/jpeg', fileName: 'site.jpg', size: LARGE_FILE_BYTES, type: 'attachment' };
  const presigned = await fetch(`${origin}/builders/${builderId}/attachments/presign`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(intent),
  });
  const { uploadUrl, uploadHeaders } = (await presigned.json()) as {
    uploadUrl: string;
    uploadHeaders: Record<string, string>;
  };
  const headers = { 'content-type': uploadHeaders['Content-Type']! };
  const put = await fetch(uploadUrl, { method: 'PUT', headers, body: randomBytes(LARGE_FILE_BYTES) });
  if (put.status !== 200) throw new Error(`The upload to ${new URL(uploadUrl).origin} failed: ${put.status}`);
  return `40 MiB uploaded and downloaded in ${through} ms, and uploaded to the store's own address`;
}

/** Lets requests wait for an event that happens a second before their time is over. Returns the result as text. */
async function measurePolls(environment: ProofEnvironment, origin: string, seconds: number, problems: string[]) {
  const headers = { authorization: `Bearer ${await tokenOf(environment, 'A')}`, 'content-type': 'application/json' };
  const builderId = clientOf(environment, 'A').builderIds.at(-1)!;
  const url = `${origin}/events?builderId=${builderId}&types=meeting.created`;
  const { meta } = (await (await fetch(url, { headers })).json()) as { meta: { nextCursor: string } };
  let endedAt = 0;
  const polls = Array.from({ length: POLLS }, async () => {
    const response = await fetch(`${url}&after=${meta.nextCursor}&wait=${seconds}`, { headers });
    const { data } = (await response.json()) as { data?: unknown[] };
    endedAt = performance.now();
    if (data?.length !== 1) problems.push(`a poll ended with ${response.status} and ${data?.length} events`);
  });
  await sleep((seconds - 1) * 1000);
  const body = JSON.stringify({ sourceApp: 'proof', externalSourceId: 'polled', title: 'Polled' });
  const created = await fetch(`${origin}/builders/${builderId}/meetings`, { method: 'POST', headers, body });
  const createdAt = performance.now();
  if (!created.ok) problems.push(`the meeting of the polls is ${created.status}`);
  await Promise.all(polls);
  return `${POLLS} polls of ${seconds} s received an event after at most ${Math.round(endedAt - createdAt)} ms`;
}

/** Restarts the instances one after the other, at the same addresses, under load. Returns the result as text. */
async function restartUnderLoad(
  environment: ProofEnvironment,
  origin: string,
  storeSettings: Record<string, string>,
  short: boolean,
  problems: string[],
): Promise<string> {
  const options = { origins: () => [origin], run: 'composition', concurrency: 2, pause: 50, readsPerSecond: 20 };
  const load = await MixedLoad.start(environment, options);
  await sleep(3_000);
  const restarted = short ? environment.instances.slice(0, 1) : [...environment.instances, ...environment.instances];
  for (const instance of restarted) {
    const code = await instance.stop();
    if (code !== 0) problems.push(`a stopped instance ended with ${code}: ${instance.output.slice(-300)}`);
    await instance.start();
    // HAProxy checks it every second.
    await sleep(3_000);
  }
  await load.end();
  const { requests } = load.recorder;
  for (const { operation, status, problem } of requests.filter(({ status }) => status < 200 || status > 299))
    problems.push(`${operation}: ${status} ${problem}`);
  problems.push(...(await load.verifyWrites(environment.database(), environment.openStorage(storeSettings))));
  const statuses = JSON.stringify(countBy(requests, ({ status }) => status));
  return `${restarted.length} restarts under ${requests.length} requests ${statuses}, ${load.acknowledged} acknowledged writes`;
}

/** Floods an address with handshakes, and then with slow clients, beside ordinary requests, and counts what reaches the instances. */
async function measureAttacks(
  environment: ProofEnvironment,
  origin: string,
  instancePorts: readonly number[],
  seconds: number,
  problems: string[],
) {
  const token = await tokenOf(environment, 'B');
  const flood = run(process.execPath, [FLOOD, new URL(origin).port, String(seconds)]);
  const times = await measureRequests(origin, token, flood, problems);
  const countConnections = async () => {
    const peers = await Promise.all(instancePorts.map(readPeerPorts));
    return peers.reduce((sum, { size }) => sum + size, 0);
  };
  const before = await countConnections();
  const head =
    'POST /oauth/token HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{';
  const slowClients = new SlowClients(origin.replace('localhost', '127.0.0.1'), SLOW_CLIENTS, head, () => ' ');
  const slowTimes = await measureRequests(origin, token, sleep(seconds * 1000), problems);
  const slowAtInstances = Math.max(0, (await countConnections()) - before);
  return { handshakes: Number((await flood).stdout), times, slowTimes, slowClients, slowAtInstances };
}

const formatAttacks = ({ handshakes, times, slowTimes, slowAtInstances }: Awaited<ReturnType<typeof measureAttacks>>) =>
  `${handshakes} handshakes of a flood (ordinary p99 ${percentile(times, 99)} ms) and ${slowAtInstances} of ${SLOW_CLIENTS} slow clients at an instance (p99 ${percentile(slowTimes, 99)} ms)`;
