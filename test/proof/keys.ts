import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { decodeProtectedHeader } from 'jose';
import { Database } from '../../src/database/database.ts';
import type { DemoClient } from '../../src/demo/demo-file.ts';
import { SecretBox } from '../../src/domain/webhooks/secret-box.ts';
import { isVerified, Receiver } from '../support/receiver.ts';
import { Balancer } from './balancer.ts';
import { countBy } from './exchange.ts';
import { MixedLoad } from './load.ts';
import { restartInstances } from './rolling-restart.ts';
import { BASE_URL, ProofSite, type Say } from './site.ts';

/** A token and a signed URL, with the key that signed them. */
interface Issued {
  token: string;
  kid: string;
  url: string;
}

/** Rotates the token key by the steps of docs/operations.md while two instances serve requests. */
export async function rotateKeys({ say }: { say: Say }) {
  const [old, next] = [newKey(), newKey()];
  // Receivers of webhooks on loopback are allowed outside production only.
  const settings = { NODE_ENV: 'development', TOKEN_KEY: old, DRAIN_SECONDS: '1', TRUST_PROXY: '1' };
  const site = await ProofSite.start(settings);
  const wrong: string[] = [];
  try {
    await Promise.all([site.addInstance(), site.addInstance()]);
    const balancer = await Balancer.start();
    site.afterwards(() => balancer.close());
    for (const { origin } of site.instances) await balancer.add(origin);
    const client = site.demo.clients.find(({ name }) => name === 'A')!;
    const options = { origins: () => [balancer.origin], run: 'keys', atATime: 2, pause: 50, readsPerSecond: 40 };
    const load = await MixedLoad.start(site, options);
    const issued: Issued[] = [];
    const receiver = await Receiver.start();
    site.afterwards(() => receiver.close());
    const endpoint = await createEndpoint(balancer.origin, client, receiver.url);
    const restart = async (step: string, keys: string[]) => {
      issued.push(await issue(balancer.origin, client));
      await restartInstances(site, balancer, { TOKEN_KEY: keys.join(',') }, wrong, say);
      say(`${step}: both instances restarted`);
      const { token } = await issue(balancer.origin, client);
      for (const { origin } of site.instances) {
        const succeeded = await sendTestEvent(origin, token, endpoint.id);
        const isSigned = succeeded && isVerified(receiver.received.at(-1)!, endpoint.secret);
        if (!isSigned) wrong.push(`${step}: a webhook was not delivered with a signature of its secret`);
      }
    };
    /** Whether the endpoint's secret is encrypted with the new key, as `webhook list` shows it. */
    const secretIsRenewed = async () => {
      const database = new Database('au1', site.postgres.url('au1'));
      try {
        const [row] = await database
          .fork()
          .execute<{ secret: string }[]>('select secret from webhook_endpoint where id = ?', [endpoint.id]);
        return new SecretBox([next]).keyOf(row!.secret) === 'FIRST';
      } finally {
        await database.close();
      }
    };
    const requireValid = async (step: string) => {
      for (const { origin } of site.instances) {
        for (const statuses of await Promise.all(issued.map((each) => use(origin, each)))) {
          if (statuses.join() !== '200,200') wrong.push(`${step}: ${statuses} for what was issued before`);
        }
      }
    };
    await restart('the new key is appended', [old, next]);
    await requireValid('appended');
    await restart('the new key is moved first', [next, old]);
    await requireValid('moved first');
    const last = await issue(balancer.origin, client);
    if (issued[1]!.kid !== issued[0]!.kid) wrong.push('the appended key signed before it was first');
    if (last.kid === issued[0]!.kid) wrong.push('the old key still signs');
    // Stands for the hour in which the tokens of the old key expire.
    load.forgetTokens();
    for (let second = 0; second < 30 && !(await secretIsRenewed()); second++) await sleep(1_000);
    if (!(await secretIsRenewed())) wrong.push('the secret of the webhook endpoint still needs the old key');
    await restart('the old key is removed', [next]);
    await load.end();
    for (const { origin } of site.instances) {
      const [before, after] = [await use(origin, issued[0]!), await use(origin, last)];
      if (before.join() !== '401,403') wrong.push(`what the removed key signed is answered with ${before}`);
      if (after.join() !== '200,200') wrong.push(`what the new key signed is answered with ${after}`);
    }
    const { all } = load.exchanges;
    for (const { operation, status, problem } of all.filter(({ status }) => status < 200 || status > 299)) {
      wrong.push(`${operation}: ${status} ${problem}`);
    }
    const statuses = JSON.stringify(countBy(all, ({ status }) => status));
    return {
      wrong,
      figures: `${all.length} requests ${statuses} while two instances were restarted three times, ${load.acknowledged} acknowledged writes`,
    };
  } finally {
    await site.close(say);
  }
}

const newKey = () => randomBytes(32).toString('base64url');

interface CreatedEndpoint {
  id: string;
  secret: string;
}

async function createEndpoint(origin: string, client: DemoClient, url: string): Promise<CreatedEndpoint> {
  const { token } = await issue(origin, client);
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

/** Sends the same bytes to the URL each time, which the service accepts. */
const BYTES = 'bytes';

async function issue(origin: string, { clientId, clientSecret, builderIds }: DemoClient): Promise<Issued> {
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
async function use(origin: string, { token, url }: Issued): Promise<number[]> {
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
