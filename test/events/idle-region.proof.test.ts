import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { startSequencer } from '../../src/domain/events/sequencer.ts';
import { startDispatchers } from '../../src/domain/webhooks/delivery/start-dispatchers.ts';
import { createWebhookTools } from '../../src/domain/webhooks/webhook-context.ts';
import { numberPendingEvents } from '../support/events.ts';
import { TOKEN_KEY, useService } from '../support/harness.ts';

const log = { error: () => undefined, info: () => undefined };

const service = useService();
let token: string;

beforeAll(async () => {
  token = await service.tokenOf('A');
  await numberPendingEvents(service.databases.au1);
});

async function read(query: string) {
  const headers = { authorization: `Bearer ${token}` };
  return (await service.request({ url: `/events?${query}`, headers })).json();
}

const changeProject = () =>
  service.databases.au1
    .fork()
    .execute('update project set updated_at = now() where id = (select id from project where builder_id = ? limit 1)', [
      service.findDemoClient('A').builderIds[0],
    ]);

describe('a region without endpoints and changes', () => {
  it('runs at most one statement a second for the event log and deliveries, with two workers', {
    timeout: 40_000,
  }, async () => {
    const webhooks = createWebhookTools({ production: false }, [TOKEN_KEY]);
    const stopSequencer = startSequencer(service.databases, log);
    const workers = [1, 2].map(() =>
      startDispatchers(service.databases, { clock: service.clock, webhooks, processes: 2 }, log),
    );
    await sleep(12_500);
    const counts: Record<string, number> = {};
    const stopCounting = service.databases.au1.onStatement(({ name }) => {
      counts[name] = (counts[name] ?? 0) + 1;
    });
    await sleep(8_000);
    stopCounting();
    await Promise.all([stopSequencer(), ...workers.map(({ stop }) => stop())]);
    webhooks.receivers.close();
    expect(Object.keys(counts).sort()).toEqual(['events.number', 'webhooks.refresh']);
    const total = Object.values(counts).reduce((sum, count) => sum + count, 0);
    expect(total).toBeGreaterThan(0);
    // One more of each task may fall into the window.
    expect(total).toBeLessThanOrEqual(8 + 3);
  });

  it('shows a change to a reader at once, although nothing numbers it in the background', async () => {
    const { meta } = await read('');
    await changeProject();
    expect((await read(`after=${meta.nextCursor}`)).data).toHaveLength(1);
  });

  it('ends the wait of a reader within half a second of a change', async () => {
    const { meta } = await read('');
    const waiting = read(`after=${meta.nextCursor}&wait=10`);
    await sleep(300);
    await changeProject();
    const committedAt = performance.now();
    expect((await waiting).data).toHaveLength(1);
    expect(performance.now() - committedAt).toBeLessThan(500);
  });
});
