import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { executablePath } from '../../oauth/chromium.ts';
import { type DemoConsole, startDemoConsole, submitSignIn } from './demo-console.ts';

let staffConsole: DemoConsole;

beforeAll(async () => {
  if (executablePath) staffConsole = await startDemoConsole();
}, 180_000);
afterAll(() => staffConsole?.close());

/** Rows of a statement in `au1`. */
const select = (text: string, values: unknown[] = []) =>
  staffConsole.databases.au1.runner.run({ name: `test ${text}`, text }, values) as Promise<unknown[][]>;

const openFirst = async (page: Page, table: string) => {
  await page.getByRole('table', { name: table, exact: true }).getByRole('button').first().click();
  await page.getByRole('dialog').waitFor();
};

const resolve = async (page: Page, reason: string) => {
  await page.getByLabel('Reason').fill(reason);
  await page.getByRole('button', { name: 'Resolve the conflict' }).click();
};

describe.skipIf(!executablePath)('the console in Chromium', { timeout: 120_000 }, () => {
  it('resolves a conflict once, and shows the second person who was faster', async () => {
    // One after the other: an address has one attempt to sign in at a time.
    const first = await staffConsole.signIn('OPERATOR', '/console/attendance?show=conflicts');
    const second = await staffConsole.signIn('ADMIN', '/console/attendance?show=conflicts');
    await openFirst(first, 'Conflicts');
    await openFirst(second, 'Conflicts');
    // The second tab reads nothing more, as when its network is slow.
    await second.route('**/console/graphql', async (route) => {
      const { query } = route.request().postDataJSON() as { query: string };
      return /changes\(|conflict\(/.test(query) && !query.includes('resolveConflict')
        ? route.abort()
        : route.continue();
    });
    await resolve(first, 'The gate was offline.');
    await first.getByText('The gate was offline.').waitFor();
    await resolve(second, 'I think it was right.');
    await second.getByText(/Jordan Ellis resolved it/).waitFor();
    // What was typed remains.
    expect(await second.getByLabel('Reason').inputValue()).toBe('I think it was right.');
    const rows = await select(`select resolution_reason from sign_on_conflict where resolved_at is not null`);
    expect(rows).toEqual([['The gate was offline.']]);
    await Promise.all([first.context().close(), second.context().close()]);
  });

  it('ends a visit, which the board and the database show', async () => {
    const page = await staffConsole.signIn('OPERATOR', '/console/attendance');
    await page
      .getByRole('button', { name: /on site since/ })
      .first()
      .click();
    const dialog = page.getByRole('dialog');
    const name = await dialog.getByRole('heading', { level: 2 }).innerText();
    await dialog.getByLabel('Reason').fill('Left by the back gate.');
    await dialog.getByRole('button', { name: 'End the visit' }).click();
    await dialog.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: new RegExp(`${name}.*closed by Jordan Ellis`) }).waitFor();
    const rows = await select(`select closed_by from sign_on_visit where closing_reason = 'Left by the back gate.'`);
    expect(rows).toEqual([['Jordan Ellis']]);
    await page.context().close();
  });

  it('shows a sign-on within two seconds, with one poll a second', async () => {
    const page = await staffConsole.signIn('OPERATOR', '/console/attendance');
    await page.getByRole('region', { name: 'Board' }).waitFor();
    let polls = 0;
    page.on('request', (request) => {
      if (request.postData()?.includes('changes(')) polls++;
    });
    const before = await page.getByRole('button', { name: /on site since/ }).count();
    await postSignOn(await page.getByLabel('Project').inputValue());
    await expect.poll(() => page.locator('.bar.open').count(), { timeout: 5000 }).toBe(before + 1);
    expect(polls).toBeLessThanOrEqual(6);
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

  it('adds the scope that a connection lacks', async () => {
    const page = await staffConsole.signIn('ADMIN', '/console/integrations');
    await page.getByRole('link', { name: 'SnapSite Photos' }).click();
    await openFirst(page, 'Connections');
    await page.getByText(/have scopes that this connection does not allow/).waitFor();
    await page.getByRole('checkbox', { name: /read:photos/ }).check();
    await page.getByRole('button', { name: 'Save the scopes' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    const rows = await select(
      `select 'read:photos' = any(scopes) from connection join integrator on integrator.id = integrator_id where name = $1`,
      ['SnapSite Photos'],
    );
    expect(rows).toEqual([['t']]);
    await page.context().close();
  });

  it('rotates the secret of a client, and shows it once', async () => {
    const page = await staffConsole.signIn('ADMIN', '/console/integrations');
    await page.getByRole('link', { name: 'SnapSite Photos' }).click();
    await openFirst(page, 'Clients');
    await page.getByRole('button', { name: 'New secret…' }).click();
    await page.getByRole('button', { name: 'New secret', exact: true }).click();
    await page.getByText('It is shown once').waitFor();
    expect(await select(`select 1 from audit_entry where action = 'client_secret.rotated'`)).not.toEqual([]);
    await page.context().close();
  });

  it('invites a person', async () => {
    const page = await staffConsole.signIn('ADMIN', '/console/people');
    await page.getByRole('button', { name: 'Invite a person' }).click();
    await page.getByLabel('Name').fill('Robin Lee');
    await page.getByRole('dialog').getByLabel('E-mail').fill('robin.lee@example.com');
    await page.getByRole('button', { name: 'Invite', exact: true }).click();
    await page
      .getByRole('dialog')
      .getByText(/Link for choosing a password/)
      .waitFor();
    expect(await select(`select name from app_user where email = 'robin.lee@example.com'`)).toEqual([['Robin Lee']]);
    await page.context().close();
  });

  it('exports what the filters show', async () => {
    const page = await staffConsole.signIn('VIEWER', '/console/insurances');
    await page.getByRole('table', { name: 'Insurances', exact: true }).waitFor();
    const total = Number((await page.getByText(/^1–.* of /).innerText()).replace(/.* of |,/g, ''));
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Export CSV' }).click(),
    ]);
    const lines = (await readFile(await download.path(), 'utf8')).trimEnd().split('\r\n');
    expect(lines).toHaveLength(total + 1);
    expect(lines[0]).toBe('\uFEFFId,Name,Subcontractor,Type,Own type,Status,Expiry');
    await page.context().close();
  });

  it('keeps filters in the address, which the back button undoes', async () => {
    const page = await staffConsole.signIn('VIEWER', '/console/timesheets');
    const status = page.getByRole('combobox', { name: 'Status', exact: true });
    await status.selectOption('WAITING_REVIEW');
    await page.waitForURL(/status=WAITING_REVIEW/);
    await page.goBack();
    await page.waitForURL((url) => !url.searchParams.has('status'));
    await expect.poll(() => status.inputValue()).toBe('');
    await page.context().close();
  });

  it('shows the menu with a page that fails, from which other pages open', async () => {
    const page = await staffConsole.signIn('OPERATOR', '/console/attendance?date=9999-99-99');
    await page.getByRole('alert').getByText('This page cannot be shown').waitFor();
    await page.getByRole('link', { name: 'Attendance' }).click();
    await page.getByRole('region', { name: 'Board' }).waitFor();
    expect(await page.getByRole('alert').count()).toBe(0);
    await page.context().close();
  });

  it('shows photos by the keyboard', async () => {
    const page = await staffConsole.signIn('VIEWER', '/console/photos');
    const tiles = page.getByRole('region', { name: 'Photos' }).getByRole('listitem').getByRole('button');
    await tiles.first().press('Enter');
    const viewer = page.getByRole('dialog');
    await viewer.getByText(/^1 of /).waitFor();
    await page.keyboard.press('ArrowRight');
    await viewer.getByText(/^2 of /).waitFor();
    await page.keyboard.press('Escape');
    await viewer.waitFor({ state: 'detached' });
    expect(await page.evaluate('document.activeElement.className')).toBe('tile');
    await page.context().close();
  });

  it('gives a viewer neither attendance nor people, and no changes', async () => {
    const page = await staffConsole.signIn('VIEWER', '/console/attendance');
    await page.getByText('Your role does not read attendance').waitFor();
    await page.goto(`${staffConsole.baseUrl}/console/people`);
    await page.getByRole('alert').getByText('Not allowed').waitFor();
    expect(await page.getByRole('link', { name: 'People' }).count()).toBe(0);
    expect(await page.getByRole('button', { name: 'Invite a person' }).count()).toBe(0);
    await page.getByRole('link', { name: 'Integrations' }).click();
    await page.getByRole('link', { name: 'SnapSite Photos' }).click();
    await openFirst(page, 'Connections');
    await page.getByRole('dialog').getByRole('checkbox').first().waitFor();
    expect(await page.getByRole('checkbox', { disabled: false }).count()).toBe(0);
    expect(await page.getByRole('button', { name: /Save|Revoke|New client|New endpoint|Connect a/ }).count()).toBe(0);
    await page.context().close();
  });

  it("lets neither a builder's member nor an integrator's user in", async () => {
    const page = await staffConsole.chromium.newPage();
    for (const { email, password } of staffConsole.demo.users) {
      await page.goto(`${staffConsole.baseUrl}/console/integrations`);
      await page.getByLabel('E-mail').fill(email);
      await page.getByLabel('Password').fill(password);
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.getByRole('alert').waitFor();
      expect(new URL(page.url()).pathname).toBe('/console/sign-in');
    }
    await page.close();
  });

  it('runs a query of the documentation in the explorer', async () => {
    const page = await staffConsole.signIn('OPERATOR');
    await page.goto(`${staffConsole.baseUrl}/console/explorer`);
    await page.getByLabel('Example').selectOption({ index: 2 });
    await page.getByText(/Cost: at most 3,931/).waitFor();
    await page.getByRole('button', { name: /Execute query/ }).click();
    await page.getByText('totalCount').last().waitFor();
    expect(await page.getByText('totalCount').count()).toBeGreaterThan(0);
    await page.context().close();
  });
});

/** Posts a sign-on of a worker with access to the project, who is not on the board, as a gate does. */
async function postSignOn(projectId: string): Promise<void> {
  const { baseUrl, demo } = staffConsole;
  const [[builderId, workerId]] = (await select(
    `select project.builder_id, access.worker_id from site_access access join project on project.id = access.project_id
      where project.id = $1 and access.revoked_at is null and not exists (select from sign_on_visit visit
        where visit.worker_id = access.worker_id and visit.signed_on_at > now() - interval '2 days') limit 1`,
    [projectId],
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
      occurredAt: new Date(Date.now() - 60_000).toISOString(),
    }),
  });
  expect(response.status).toBe(201);
}
