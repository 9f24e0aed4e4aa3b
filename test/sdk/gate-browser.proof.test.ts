import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser, Page } from 'playwright-core';
import { build } from 'rolldown';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { OAuthClient } from '../../entities/oauth-client.entity.ts';
import type { GateQueue } from '../../sdk/src/gate/queue.ts';
import type { Roster } from '../../sdk/src/gate/roster.ts';
import { executablePath, launchChromium } from '../oauth/chromium.ts';
import { addApplication } from '../oauth/fixtures.ts';
import { createGateFixture, readAttendance } from '../support/attendance.ts';
import { BASE_URL, type Service, startService } from '../support/harness.ts';
import { FaultyNetwork } from './faulty-network.ts';

const { builderId, projectId, workers } = createGateFixture();
const [worker, colleague] = workers.active as [string, string];

let service: Service;
let network: FaultyNetwork;
let application: Server;
let chromium: Browser;
let page: Page;
/** Ids of the events for which the gate was opened. */
let opened: string[];

declare const gate: GateQueue;
declare const roster: Roster;
declare const record: (workerId: string, times: string[]) => Promise<void>;

beforeAll(async () => {
  if (!executablePath) return;
  service = await startService();
  network = await FaultyNetwork.start(service, 'POST /oauth/token');
  const { output } = await build({ input: 'test/sdk/browser-gate.ts', platform: 'browser', write: false });
  const { clientId, clientSecret } = service.findDemoClient('A');
  const options = { baseUrl: network.url, audience: BASE_URL, clientId, clientSecret, retryDelayMs: 1 };
  const settings = JSON.stringify({ ...options, scopes: ['write:sign_on_events'], builderId, projectId });
  const html = `<!doctype html><script>settings = ${settings}</script><script type="module">${output[0].code}</script>`;
  application = createServer((_request, response) => void response.setHeader('content-type', 'text/html').end(html));
  await new Promise<void>((done) => application.listen(0, '127.0.0.1', done));
  const origin = `http://127.0.0.1:${(application.address() as AddressInfo).port}`;
  const { integratorId } = await service.databases.au1.fork().findOneOrFail(OAuthClient, { id: clientId });
  await addApplication(service, 'cli_tablet', { integratorId, origins: [origin] });
  chromium = await launchChromium();
});

afterAll(async () => {
  await chromium?.close();
  application?.close();
  network?.close();
  await service?.stop();
});

beforeEach(async () => {
  if (!executablePath) return;
  network.reset();
  opened = [];
  // A context of its own has an empty database.
  page = await (await chromium.newContext()).newPage();
  await page.exposeFunction('open', (id: string) => void opened.push(id));
  await load(() => page.goto(`http://127.0.0.1:${(application.address() as AddressInfo).port}`));
});

/** Loads the page, until its gate is open. */
async function load(navigate: () => Promise<unknown>): Promise<void> {
  await navigate();
  await page.waitForFunction(() => 'gate' in globalThis);
}

const readPending = () => page.evaluate(() => gate.pending.map(({ sourceEventId }) => sourceEventId));
const readResults = () => page.evaluate(() => gate.results.map(({ status }) => status));

describe.skipIf(!executablePath)('the queue of a gate in a browser', () => {
  it('loses and doubles nothing when the page is loaded again while it records and sends', async () => {
    const days = Array.from({ length: 20 }, (_, day) => new Date(Date.UTC(2026, 3, 1 + day, 20, 30)).toISOString());
    for (let reload = 0; reload < 3; reload++) {
      network.faults = ['lost', 'refused', 503, 'cut'];
      const morning = days.slice(reload * 5, reload * 5 + 5);
      const before = [opened.length, network.requests.length] as const;
      void page.evaluate(([workerId, times]) => record(workerId, times), [worker, morning] as const).catch(() => {});
      await expect.poll(() => opened.length).toBeGreaterThan(before[0] + 3);
      await expect.poll(() => network.requests.length).toBeGreaterThan(before[1] + 3);
      await load(() => page.reload());
    }
    await page.evaluate(() => gate.deliver());
    expect(await readPending()).toEqual([]);
    expect(new Set(await readResults())).toEqual(new Set(['APPLIED']));
    const { events, visits } = await readAttendance(service);
    const received = events.filter(({ deviceId }) => deviceId === 'tablet-1').map(({ sourceEventId }) => sourceEventId);
    expect(new Set(received).size).toBe(received.length);
    expect(received).toEqual(expect.arrayContaining(opened));
    expect(visits.length).toBe(events.filter(({ type }) => type === 'SIGN_ON').length);
  });

  it('keeps an event that is ahead of the clock of the service, over a new load, and sends it later', async () => {
    const [ahead, past] = [service.clock.now() + 300_000, service.clock.now() - 3_600_000];
    await page.evaluate(([workerId, at]) => gate.signOn(workerId, new Date(at)), [worker, ahead] as const);
    await page.evaluate(([workerId, at]) => gate.signOn(workerId, new Date(at)), [colleague, past] as const);
    void page.evaluate(() => gate.deliver()).catch(() => {});
    await expect.poll(readResults).toEqual(['APPLIED']);
    await expect.poll(() => network.requests.length).toBeGreaterThan(5);
    await load(() => page.reload());
    expect(await readPending()).toHaveLength(1);
    service.clock.advance(300_000);
    await page.evaluate(() => gate.deliver());
    expect(await readResults()).toEqual(['APPLIED']);
  });

  it('has the roster without a network, over a new load', async () => {
    const entries = await page.evaluate(() => roster.refresh());
    expect(entries.length).toBeGreaterThan(2);
    await load(() => page.reload());
    expect(await page.evaluate(() => roster.entries)).toEqual(entries);
    expect(await page.evaluate(() => roster.refresh())).toEqual([]);
  });
});
