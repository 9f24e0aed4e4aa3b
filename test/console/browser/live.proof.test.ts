import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Page, Request, Response } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PAGES } from '../../../src/console/browser/layout/pages.ts';
import { executablePath } from '../../oauth/chromium.ts';
import { type DemoConsole, startDemoConsole, submitSignIn } from './demo-console.ts';

let staffConsole: DemoConsole;

beforeAll(async () => {
  if (executablePath) staffConsole = await startDemoConsole();
});
afterAll(() => staffConsole?.close());

/** Rows of a statement in `au1`. */
const select = (text: string, values: unknown[] = []) =>
  staffConsole.databases.au1.runner.run({ name: `test ${text}`, text }, values) as Promise<unknown[][]>;

describe.skipIf(!executablePath)('an open page of the console', () => {
  it('shows a sign-on within two seconds, with one poll a second', async () => {
    const page = await staffConsole.signIn('OPERATOR', '/console/attendance');
    await page.getByRole('region', { name: 'Board' }).waitFor();
    const polls = await stopClock(page);
    const before = await page.locator('.bar.open').count();
    await postSignOn(await page.getByLabel('Project').inputValue());
    const changed = [await polls.next(), await polls.next()];
    expect(changed.flat()).toHaveLength(1);
    await page.locator('.bar.open').nth(before).waitFor();
    expect(await page.locator('.bar.open').count()).toBe(before + 1);
    expect(polls.count()).toBe(2);
    let reads = 0;
    page.on('request', (request) => {
      if ((request.postData() ?? '').includes('query Board')) reads++;
    });
    // Once more, for figures that a standby has answered without the change.
    for (let second = 0; second < 12; second++) await polls.next();
    expect(reads).toBe(1);
    await page.context().close();
  });

  it('polls nothing while the tab is hidden, and at once when it is shown again', async () => {
    const page = await staffConsole.signIn('OPERATOR', '/console/today');
    await page.getByRole('heading', { name: 'On site now' }).waitFor();
    const polls = await stopClock(page);
    await setVisibility(page, 'hidden');
    let requests = 0;
    page.on('request', () => requests++);
    await page.clock.runFor(600_000);
    expect(requests).toBe(0);
    await Promise.all([page.waitForResponse(isPoll), setVisibility(page, 'visible')]);
    expect(polls.count()).toBe(1);
    await polls.next();
    expect(polls.count()).toBe(2);
    await page.context().close();
  });

  it('keeps what was typed when the session ends, and goes on after a sign-in', async () => {
    const page = await staffConsole.signIn('OPERATOR', '/console/attendance');
    await page
      .getByRole('button', { name: /on site since/ })
      .first()
      .click();
    await page.getByLabel('Reason').fill('Typed before the end');
    await select(`delete from console_session`);
    await page.getByRole('heading', { name: 'Your session has ended' }).waitFor();
    const [signIn] = await Promise.all([
      page.context().waitForEvent('page'),
      page.getByRole('link', { name: 'Sign in again' }).click(),
    ]);
    await submitSignIn(signIn, staffConsole.demo, 'OPERATOR');
    await signIn.close();
    await page.getByRole('button', { name: 'I have signed in' }).click();
    await page.getByRole('heading', { name: 'Your session has ended' }).waitFor({ state: 'detached' });
    expect(await page.getByLabel('Reason').inputValue()).toBe('Typed before the end');
    await page.getByRole('button', { name: 'End the visit' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(await select(`select 1 from sign_on_visit where closing_reason = 'Typed before the end'`)).toHaveLength(1);
    await page.context().close();
  });

  it('keeps what was typed when saving finds that the session has ended', async () => {
    const page = await staffConsole.signIn('OPERATOR', '/console/attendance');
    await page
      .getByRole('button', { name: /on site since/ })
      .first()
      .click();
    await page.getByLabel('Reason').fill('Saved after the end');
    const polls = new Set<Request>();
    page.on('request', (request) => isPoll(request) && polls.add(request));
    page.on('requestfinished', (request) => polls.delete(request));
    // A read of the board or a poll would find the end of the session before the person saves.
    await page.route('**/console/graphql', async (route) => {
      if (/changes\(|mutation /.test(route.request().postData() ?? '')) await route.continue();
    });
    await stopClock(page);
    await expect.poll(() => polls.size).toBe(0);
    await select(`delete from console_session`);
    await page.getByRole('button', { name: 'End the visit' }).click();
    await page.getByRole('heading', { name: 'Your session has ended' }).waitFor();
    expect(await page.getByLabel('Reason').inputValue()).toBe('Saved after the end');
    expect(await select(`select 1 from sign_on_visit where closing_reason = 'Saved after the end'`)).toEqual([]);
    await page.context().close();
  });
});

describe.skipIf(!executablePath)('an idle tab', () => {
  it('sends a poll a second, and each other request at most once, in a minute on every page', async () => {
    const page = await staffConsole.signIn('ADMIN');
    const context = page.context();
    const sent = new Map<string, number>();
    const running = new Set<Request>();
    context.on('request', (request) => {
      const body = request.postData();
      if (!body) return;
      running.add(request);
      const key = `${new URL(request.frame().url()).pathname} ${isPoll(request) ? 'poll' : body}`;
      sent.set(key, (sent.get(key) ?? 0) + 1);
    });
    const end = (request: Request) => void running.delete(request);
    context.on('requestfinished', end).on('requestfailed', end);
    for (const { path, title } of PAGES) {
      const tab = await context.newPage();
      await tab.goto(`${staffConsole.baseUrl}/console${path}`);
      await tab.getByRole('heading', { level: 1, name: title }).waitFor();
    }
    await page.close();
    running.clear();
    await expect.poll(() => [...sent.keys()].filter((key) => key.includes('IntrospectionQuery')).length).toBe(1);
    await context.clock.pauseAt(staffConsole.clock.now() + 60_000);
    const before = new Map(sent);
    for (let second = 0; second < 60; second++) {
      await context.clock.runFor(1000);
      // A loop of requests and renders needs no timer.
      await sleep(20);
      await expect.poll(() => running.size, { interval: 10 }).toBe(0);
    }
    const paths = PAGES.map(({ path }) => `/console${path}`);
    const polls = paths.map((path) => sent.get(`${path} poll`)! - before.get(`${path} poll`)!);
    for (const [index, count] of polls.entries()) {
      expect(count, paths[index]).toBeGreaterThan(30);
      expect(count, paths[index]).toBeLessThanOrEqual(60);
    }
    // Figures once more, because a standby may have answered without the latest changes.
    const others = [...sent].filter(([key, times]) => !key.endsWith(' poll') && times > (before.get(key) ?? 0) + 1);
    expect(others).toEqual([]);
    await context.close();
  });
});

const isPoll = (message: Request | Response) =>
  (('request' in message ? message.request() : message).postData() ?? '').includes('changes(');

/** Stops the clock of a page, so that its timers run only when a test moves it, and counts its polls from then on. */
async function stopClock(page: Page) {
  // A poll in progress schedules the next one.
  await Promise.all([page.waitForResponse(isPoll), page.clock.pauseAt(staffConsole.clock.now() + 5_000)]);
  let polls = 0;
  page.on('request', (request) => {
    if (isPoll(request)) polls++;
  });
  return {
    count: () => polls,
    /** Moves the clock by a second, and returns the builders whose records the poll says have changed. */
    async next(): Promise<string[]> {
      const [response] = await Promise.all([page.waitForResponse(isPoll), page.clock.runFor(1000)]);
      const { data } = (await response.json()) as { data: { changes: { builderIds: string[] } } };
      return data.changes.builderIds;
    },
  };
}

const setVisibility = (page: Page, state: 'visible' | 'hidden') =>
  page.evaluate((value) => {
    Object.defineProperty(document, 'visibilityState', { configurable: true, get: () => value });
    document.dispatchEvent(new Event('visibilitychange'));
  }, state);

/** Posts a sign-on of a worker with access to the project, who is not on the board, as a gate does. */
async function postSignOn(projectId: string): Promise<void> {
  const { baseUrl, demo } = staffConsole;
  const [[builderId, workerId]] = (await select(
    `select project.builder_id, access.worker_id from site_access access join project on project.id = access.project_id
      where project.id = $1 and access.revoked_at is null and not exists (select from sign_on_visit visit
        where visit.worker_id = access.worker_id and visit.signed_on_at > $2) limit 1`,
    [projectId, new Date(staffConsole.clock.now() - 2 * 86_400_000).toISOString()],
  )) as [[string, string]];
  const client = demo.clients.find(
    ({ scopes, builderIds, clientSecret }) =>
      clientSecret && scopes.includes('write:sign_on_events') && builderIds.includes(builderId!),
  )!;
  const form = { grant_type: 'client_credentials', audience: baseUrl, scope: 'write:sign_on_events' };
  const credentials = { client_id: client.clientId, client_secret: client.clientSecret! };
  const token = await fetch(`${baseUrl}/oauth/token`, {
    method: 'POST',
    body: new URLSearchParams({ ...form, ...credentials }),
  });
  const { access_token } = (await token.json()) as { access_token: string };
  const response = await fetch(`${baseUrl}/builders/${builderId}/projects/${projectId}/sign-on-events`, {
    method: 'POST',
    headers: {
      Authorization: `Bearer ${access_token}`,
      'Content-Type': 'application/json',
      'X-Service-Api-Version': 'v1',
    },
    body: JSON.stringify({
      ...{ sourceEventId: randomUUID(), workerId, type: 'SIGN_ON', deviceId: 'gate-test' },
      occurredAt: new Date(staffConsole.clock.now() - 60_000).toISOString(),
    }),
  });
  expect(response.status).toBe(201);
}
