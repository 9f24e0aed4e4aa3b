import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { purgeExpired } from '../../src/domain/retention/purge.job.ts';
import { reencryptSecrets } from '../../src/domain/webhooks/reencrypt-secrets.job.ts';
import { SecretBox } from '../../src/domain/webhooks/secret-box.ts';
import { newWebhookSecret } from '../../src/domain/webhooks/signature.ts';
import { createDispatcher } from '../support/dispatcher.ts';
import { numberPendingEvents } from '../support/events.ts';
import { type Service, startService, TOKEN_KEY } from '../support/harness.ts';
import { addProject } from '../support/rows.ts';
import { WebhookReceiver } from '../support/webhook-receiver.ts';

const ENDPOINTS = 1_000;
const HANGING = 100;
const NEXT_KEY = Buffer.alloc(32, 8).toString('base64url');

let service: Service;
let receiver: WebhookReceiver;

beforeAll(async () => {
  service = await startService();
  receiver = await WebhookReceiver.start();
});
afterAll(async () => {
  await service.stop();
  await receiver.close();
});

const execute = (sql: string, values: unknown[] = []) => service.databases.au1.fork().execute(sql, values);
/** Inserts endpoints of integrator A's client, of which the first hang. */
async function insertEndpoints(): Promise<void> {
  const secrets = new SecretBox([TOKEN_KEY]);
  const { clientId } = service.findDemoClient('A');
  const rows = Array.from({ length: ENDPOINTS }, (_, index) => {
    const id = `whe_a${String(index).padStart(4, '0')}`;
    const url = `${receiver.url}/${index < HANGING ? 'hangs' : 'answers'}/${index}`;
    return { id, client_id: clientId, url, secret: secrets.encrypt(newWebhookSecret(), id) };
  });
  await execute(
    `insert into webhook_endpoint (id, integrator_id, client_id, url, types, status, secret, created_at, updated_at)
      select row.id, client.integrator_id, client.id, row.url, '{project.updated}', 'ACTIVE', row.secret, now(), now()
      from json_to_recordset(?) as row (id text, client_id text, url text, secret text) join oauth_client client on client.id = row.client_id`,
    [JSON.stringify(rows)],
  );
  await execute(`insert into webhook_progress (endpoint_id, day, number)
    select endpoint.id, log.last_day, log.last_number from webhook_endpoint endpoint, event_log log`);
}

describe('a thousand endpoints, of which a hundred hang', () => {
  it('deliver to all others while the hanging ones have not responded (WHK-13)', async () => {
    const projectId = await addProject(service, service.findDemoClient('A').builderIds[0]!);
    await numberPendingEvents(service.databases.au1);
    await insertEndpoints();
    receiver.respond = ({ path }, response) => {
      if (path.includes('/answers/')) response.writeHead(204).end();
    };
    const dispatcher = createDispatcher(service);
    for (let round = 0; round < 3; round++)
      await execute('update project set updated_at = now() where id = ?', [projectId]);
    await numberPendingEvents(service.databases.au1);
    const answered = () => receiver.received.filter(({ path }) => path.includes('/answers/'));
    const countDeliveries = () => new Set(answered().map(({ path, event }) => `${path} ${event.id}`)).size;
    while (countDeliveries() < 3 * (ENDPOINTS - HANGING)) await dispatcher.poll();
    expect(answered()).toHaveLength(3 * (ENDPOINTS - HANGING));
    // Requests to the hanging receivers are repeated where this takes longer than their time limit.
    expect(new Set(receiver.received.map(({ path }) => path)).size).toBe(ENDPOINTS);
    await dispatcher.stop(0);
  }, 240_000);
});

describe('the jobs', () => {
  it('encrypt secrets anew behind any number that no key decrypts, and count those (WHK-4)', async () => {
    const now = service.clock.now();
    const [second] = (await execute(`select secret from webhook_endpoint where id = 'whe_a0998'`)) as {
      secret: string;
    }[];
    await execute(`update webhook_endpoint set secret = 'v1.00000000.x' where id < 'whe_a0998'`);
    await execute(`update webhook_endpoint set previous_secrets = ?::jsonb where id = 'whe_a0998'`, [
      JSON.stringify([{ secret: 'v1.00000000.x', until: new Date(now + 60_000).toISOString() }]),
    ]);
    const secrets = new SecretBox([NEXT_KEY, TOKEN_KEY]);
    const found = await reencryptSecrets(service.databases.au1, secrets, now);
    expect(found).toEqual({ secrets: 2, unknownKeys: ENDPOINTS - 1 });
    const [renewed] = (await execute(`select secret from webhook_endpoint where id = 'whe_a0998'`)) as {
      secret: string;
    }[];
    expect(renewed).not.toEqual(second);
    // The secret before the rotation does not sign any longer.
    const later = await reencryptSecrets(service.databases.au1, secrets, now + 60_000);
    expect(later).toEqual({ secrets: 0, unknownKeys: ENDPOINTS - 2 });
  });

  it('remove finished deliveries after 30 days and deleted endpoints, and encrypt secrets with the first key (WHK-12)', async () => {
    const now = service.clock.now();
    const first = Buffer.alloc(32, 9).toString('base64url');
    const secrets = new SecretBox([first, NEXT_KEY]);
    await execute(`update webhook_endpoint set deleted_at = now() where id <> 'whe_a0999'`);
    const kept = (
      await execute(`select count(*)::int as count from webhook_delivery where endpoint_id = 'whe_a0999'`)
    )[0];
    expect(kept).toEqual({ count: 3 });
    expect(await purgeExpired(service.databases.au1, now + 86_400_000)).toMatchObject({ endpoints: ENDPOINTS - 1 });
    expect(await reencryptSecrets(service.databases.au1, secrets, now + 86_400_000)).toMatchObject({ secrets: 1 });
    const [endpoint] = (await execute('select id, secret from webhook_endpoint')) as { id: string; secret: string }[];
    expect(new SecretBox([first]).decrypt(endpoint!.secret, 'whe_a0999')).toMatch(/^whsec_/);
    expect(await purgeExpired(service.databases.au1, now + 31 * 86_400_000)).toMatchObject({
      deliveries: 3,
      deletedDeliveries: 0,
      endpoints: 0,
    });
  });
});
