import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addStaff, type ConsoleBrowser, signInToConsole } from '../../support/console.ts';
import { type Service, startService } from '../../support/harness.ts';
import { WebhookReceiver } from '../../support/webhook-receiver.ts';

let service: Service;
let receiver: WebhookReceiver;
let viewer: ConsoleBrowser;
let operator: ConsoleBrowser;
let endpointId: string;

beforeAll(async () => {
  service = await startService();
  receiver = await WebhookReceiver.start();
  viewer = await signInToConsole(service.app, await addStaff(service, 'VIEWER'));
  operator = await signInToConsole(service.app, await addStaff(service, 'OPERATOR'));
  const { data } = await operator.query(
    'mutation($id: ID!, $url: WebhookUrl!) { createWebhookEndpoint(clientId: $id, url: $url) { id } }',
    { id: service.findDemoClient('A').clientId, url: receiver.url },
  );
  endpointId = data.createWebhookEndpoint.id;
});
afterAll(async () => {
  await service.stop();
  await receiver.close();
});

describe('a delivery', () => {
  it('shows what the receiver answered to operators, and the rest to viewers (CON-16)', async () => {
    const builderId = service.findDemoClient('A').builderIds[0]!;
    await service.databases.au1.fork().execute(
      `insert into webhook_delivery (id, endpoint_id, event_id, type, builder_id, number, record_id, occurred_at, status, attempts,
          created_at, response_status, response_body)
        values ('whd_1', ?, 'evt_1', 'project.updated', ?, 1, 'proj_1', now(), 'DELIVERED', 1, now(), 200, 'the token is abc')`,
      [endpointId, builderId],
    );
    const query = `{ webhookEndpoint(endpointId: "${endpointId}") { url deliveries { data { status responseStatus responseBody } } } }`;
    const shown = async (who: ConsoleBrowser) => (await who.query(query)).data.webhookEndpoint;
    expect(await shown(viewer)).toEqual({
      url: new URL(receiver.url).origin,
      deliveries: { data: [{ status: 'DELIVERED', responseStatus: 200, responseBody: null }] },
    });
    expect(await shown(operator)).toEqual({
      url: receiver.url,
      deliveries: { data: [{ status: 'DELIVERED', responseStatus: 200, responseBody: 'the token is abc' }] },
    });
  });
});

describe('testWebhookEndpoint', () => {
  it('is 429 beyond four at a time of a staff user, which do not delay those of an integrator (CON-16)', async () => {
    const send = () => operator.query(`mutation { testWebhookEndpoint(endpointId: "${endpointId}") { succeeded } }`);
    const held: (() => void)[] = [];
    receiver.respond = (_received, response) => void held.push(() => response.writeHead(204).end());
    const tests = Array.from({ length: 4 }, send);
    await receiver.waitFor(4);
    expect((await send()).errors![0]!.extensions.http.status).toBe(429);
    receiver.respond = (_received, response) => void response.writeHead(204).end();
    const own = await service.request({
      ...{ method: 'POST', url: `/webhook-endpoints/${endpointId}/test` },
      headers: { authorization: `Bearer ${await service.tokenOf('A')}` },
    });
    expect(own.json()).toMatchObject({ succeeded: true });
    for (const respond of held) respond();
    expect((await Promise.all(tests)).map(({ data }) => data.testWebhookEndpoint.succeeded)).toEqual(
      Array(4).fill(true),
    );
  });
});
