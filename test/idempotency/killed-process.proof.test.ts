import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AccessTokens } from '../../src/auth/access-tokens.ts';
import { systemClock } from '../../src/shared/clock.ts';
import { Instance } from '../proof/instance.ts';
import { CommitLossProxy } from '../support/commit-loss-proxy.ts';
import { BASE_URL, TOKEN_KEY, useService } from '../support/harness.ts';
import { createPicture } from '../support/images.ts';

const service = useService();
let proxy: CommitLossProxy;
let killed: Instance;
let remaining: Instance;
let headers: Record<string, string>;
let builderPath: string;

beforeAll(async () => {
  const { au1, us1 } = service.databases;
  proxy = await CommitLossProxy.start(au1.url);
  const env = {
    ...{ DATA_DIR: service.dataDir, LOG_LEVEL: 'silent', TOKEN_KEY, BASE_URL },
    ...{ DATABASE_URL_AU1: au1.url, DATABASE_URL_US1: us1.url },
  };
  remaining = await Instance.start(env);
  killed = await Instance.start({ ...env, DATABASE_URL_AU1: proxy.url });
  const { clientId, scopes, builderIds } = service.findDemoClient('A');
  const tokens = new AccessTokens({ keys: [TOKEN_KEY], issuer: BASE_URL, clock: systemClock });
  const { token } = await tokens.sign('au1', { sub: clientId, client_id: clientId, scope: scopes.join(' ') });
  headers = { authorization: `Bearer ${token}` };
  builderPath = `/builders/${builderIds[0]}`;
});

afterAll(async () => {
  await Promise.all([killed?.kill(), remaining?.stop()]);
});

const post = (instance: Instance, path: string, body: object, key?: string) =>
  fetch(`${instance.origin}${builderPath}${path}`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json', ...(key && { 'idempotency-key': key }) },
    body: JSON.stringify(body),
  });

async function upload(): Promise<object> {
  const form = new FormData();
  form.set('type', 'attachment');
  form.set('file', new Blob([new Uint8Array(await createPicture())], { type: 'image/jpeg' }), 'a.jpg');
  const url = `${remaining.origin}${builderPath}/attachments/upload`;
  const { key, regionId, type } = (await (await fetch(url, { method: 'POST', headers, body: form })).json()) as {
    [name: string]: string;
  };
  return { key, regionId, type };
}

const OPERATIONS: [path: string, table: string, createBody: () => Promise<object>][] = [
  ['/meetings', 'meeting', async () => ({ title: 'Weekly' })],
  ['/photos', 'photo', async () => ({ fileName: 'a.jpg', imageAttachment: await upload() })],
  ['/photo-folders', 'photo_folder', async () => ({ name: 'Level 3' })],
];

describe('a process that is killed between the commit and its response', () => {
  it.each(OPERATIONS)(
    'has created one record, which repeated requests return: %s (HDR-21)',
    async (path, table, createBody) => {
      const count = async () => {
        const [row] = await service.databases.au1.fork().execute(`select count(*)::int as count from ${table}`);
        return (row as { count: number }).count;
      };
      const before = await count();
      const body = await createBody();
      const key = randomUUID();
      const committed = proxy.holdCommitAfter(/insert into idempotency_key/);
      const lost = post(killed, path, body, key).then(
        () => 'answered',
        () => 'lost',
      );
      await committed;
      await killed.kill();
      expect(await lost).toBe('lost');
      await killed.start();
      const answers = await Promise.all([remaining, killed, remaining].map((one) => post(one, path, body, key)));
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
      expect(answers.map((answer) => answer.headers.get('idempotency-replayed'))).toEqual(['true', 'true', 'true']);
      const ids = await Promise.all(answers.map(async (answer) => ((await answer.json()) as { id: string }).id));
      expect(new Set(ids).size).toBe(1);
      expect(await count()).toBe(before + 1);
    },
  );
});
