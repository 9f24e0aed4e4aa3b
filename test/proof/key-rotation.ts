import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { decodeProtectedHeader } from 'jose';
import { Database } from '../../src/database/database.ts';
import type { DemoClient } from '../../src/demo/demo-file.ts';
import { SecretBox } from '../../src/domain/webhooks/secret-box.ts';
import { isVerified, WebhookReceiver } from '../support/webhook-receiver.ts';
import { Balancer } from './balancer.ts';
import { MixedLoad } from './mixed-load.ts';
import { BASE_URL, type Log, ProofEnvironment } from './proof-environment.ts';
import { restartInstances } from './rolling-restart.ts';
import { countBy } from './statistics.ts';

/** A token and a signed URL, with the key that signed them. */
interface IssuedCredentials {
  token: string;
  kid: string;
  url: string;
}

/** Rotates the token key by the steps of docs/operations.md while two instances serve requests. */
export async function rotateKeys({ log }: { log: Log }) {
  const [old, next] = [createKey(), createKey()];
  // Receivers of webhooks on loopback are allowed outside production only.
  const settings = { NODE_ENV: 'development', TOKEN_KEY: old, DRAIN_SECONDS: '1', TRUST_PROXY: '1' };
  const environment = await ProofEnvironment.start(settings);
  const problems: string[] = [];
  try {
    await Promise.all([environment.addInstance(), environment.addInstance()]);
    const balancer = await Balancer.start();
    environment.onClose(() => balancer.close());
    for (const { origin } of environment.instances) await balancer.add(origin);
    const client = environment.demo.clients.find(({ name }) => name === 'A')!;
    const options = { origins: () => [balancer.origin], run: 'keys', concurrency: 2, pause: 50, readsPerSecond: 40 };
    const load = await MixedLoad.start(environment, options);
    const issued: IssuedCredentials[] = [];
    const receiver = await WebhookReceiver.start();
    environment.onClose(() => receiver.close());
    const endpoint = await createEndpoint(balancer.origin, client, receiver.url);
    const restart = async (step: string, keys: string[]) => {
      issued.push(await issueCredentials(balancer.origin, client));
      await restartInstances(environment, balancer, { TOKEN_KEY: keys.join(',') }, problems, log);
      log(`${step}: both instances restarted`);
      const { token } = await issueCredentials(balancer.origin, client);
      for (const { origin } of environment.instances) {
        const succeeded = await sendTestEvent(origin, token, endpoint.id);
        const isSigned = succeeded && isVerified(receiver.received.at(-1)!, endpoint.secret);
        if (!isSigned) problems.push(`${step}: a webhook was not delivered with a signature of its secret`);
      }
    };
    /** Whether the endpoint's secret is encrypted with the new key, as `webhook list` shows it. */
    const isSecretRenewed = async () => {
      const database = new Database('au1', environment.postgres.url('au1'));
      try {
        const [row] = await database
          .fork()
          .execute<{ secret: string }[]>('select secret from webhook_endpoint where id = ?', [endpoint.id]);
        return new SecretBox([next]).keyOf(row!.secret) === 'FIRST';
      } finally {
        await database.close();
      }
    };
    const checkValid = async (step: string) => {
      for (const { origin } of environment.instances) {
        for (const statuses of await Promise.all(issued.map((each) => useCredentials(origin, each)))) {
          if (statuses.join() !== '200,200') problems.push(`${step}: ${statuses} for what was issued before`);
        }
      }
    };
    await restart('the new key is appended', [old, next]);
    await checkValid('appended');
    await restart('the new key is moved first', [next, old]);
    await checkValid('moved first');
    const last = await issueCredentials(balancer.origin, client);
    if (issued[1]!.kid !== issued[0]!.kid) problems.push('the appended key signed before it was first');
    if (last.kid === issued[0]!.kid) problems.push('the old key still signs');
    // In place of the hour in which the tokens of the old key expire.
    load.discardTokens();
    for (let second = 0; second < 30 && !(await isSecretRenewed()); second++) await sleep(1_000);
    if (!(await isSecretRenewed())) problems.push('the secret of the webhook endpoint still needs the old key');
    await restart('the old key is removed', [next]);
    await load.end();
    for (const { origin } of environment.instances) {
      const [before, after] = [await useCredentials(origin, issued[0]!), await useCredentials(origin, last)];
      if (before.join() !== '401,403') problems.push(`what the removed key signed is answered with ${before}`);
      if (after.join() !== '200,200') problems.push(`what the new key signed is answered with ${after}`);
    }
    const { requests } = load.recorder;
    for (const { operation, status, problem } of requests.filter(({ status }) => status < 200 || status > 299)) {
      problems.push(`${operation}: ${status} ${problem}`);
    }
    const statuses = JSON.stringify(countBy(requests, ({ status }) => status));
    return {
      problems,
      figures: `${requests.length} requests ${statuses} while two instances were restarted three times, ${load.acknowledged} acknowledged writes`,
    };
  } finally {
    await environment.close(log);
  }
}

const createKey = () => randomBytes(32).toString('base64url');

interface CreatedEndpoint {
  id: string;
  secret: string;
}

async function createEndpoint(origin: string, client: DemoClient, url: string): Promise<CreatedEndpoint> {
  const { token } = await issueCredentials(origin, client);
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const body = JSON.stringify({ url, types: ['timesheet.created'] });
  const response = await fetch(`${origin}/webhook-endpoints`, { method: 'POST', headers, body });
  if (response.status !== 201) throw new Error(await response.text());
  return (await response.json()) as CreatedEndpoint;
}

async function sendTestEvent(origin: string, token: string, id: string): Promise<boolean> {
  const headers = { authorization: `Bearer ${token}` };
  const response = await fetch(`${origin}/webhook-endpoints/${id}/test`, { method: 'POST', headers });
  return ((await response.json()) as { succeeded?: boolean }).succeeded === true;
}

/** The service accepts a repeated upload to a signed URL only with the same bytes. */
const BYTES = 'bytes';

async function issueCredentials(
  origin: string,
  { clientId, clientSecret, builderIds }: DemoClient,
): Promise<IssuedCredentials> {
  const send = async (path: string, body: object, headers: Record<string, string> = {}) => {
    const init = { method: 'POST', headers: { 'content-type': 'application/json', ...headers } };
    return (await fetch(`${origin}${path}`, { ...init, body: JSON.stringify(body) })).json();
  };
  const { access_token: token } = (await send('/oauth/token', {
    ...{ grant_type: 'client_credentials', client_id: clientId, client_secret: clientSecret },
    ...{ audience: BASE_URL, scope: 'read:builders' },
  })) as { access_token: string };
  const intent = { contentType: 'image/jpeg', fileName: 'site.jpg', size: BYTES.length, type: 'attachment' };
  const path = `/builders/${builderIds[0]}/attachments/presign`;
  const { uploadUrl } = (await send(path, intent, { authorization: `Bearer ${token}` })) as { uploadUrl: string };
  return { token, kid: decodeProtectedHeader(token).kid!, url: uploadUrl };
}

/** Returns the statuses of a request with the token and of an upload to the signed URL at one instance. */
async function useCredentials(origin: string, { token, url }: IssuedCredentials): Promise<number[]> {
  const statusOf = async (path: string, init: RequestInit) => {
    const response = await fetch(`${origin}${path}`, init);
    await response.arrayBuffer();
    return response.status;
  };
  const { pathname, search } = new URL(url);
  const upload = { method: 'PUT', body: BYTES, headers: { 'content-type': 'image/jpeg' } };
  return [
    await statusOf('/builders?limit=1', { headers: { authorization: `Bearer ${token}` } }),
    await statusOf(`${pathname}${search}`, upload),
  ];
}
