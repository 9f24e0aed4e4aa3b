import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { executablePath } from '../../oauth/chromium.ts';
import { PASSWORD } from '../../oauth/fixtures.ts';
import { addStaff } from '../../support/console.ts';
import { type DemoConsole, startDemoConsole, submitCredentials, submitSignIn } from './demo-console.ts';

let staffConsole: DemoConsole;

beforeAll(async () => {
  if (executablePath) staffConsole = await startDemoConsole();
});
afterAll(() => staffConsole?.close());

let statements = 0;

/** Rows of a statement in a region. */
const select = (text: string, values: unknown[] = [], region: 'au1' | 'us1' = 'au1') =>
  staffConsole.databases[region].runner.run({ name: `test ${++statements}`, text }, values) as Promise<unknown[][]>;

const parameterOf = (page: Page, name: string) => new URL(page.url()).searchParams.get(name);
const heading = (page: Page, name: string | RegExp) => page.getByRole('heading', { level: 1, name }).waitFor();
/** Number of rows of the list that the page shows. */
const countListed = async (page: Page) =>
  Number((await page.getByText(/^\d+–.* of /).innerText()).replace(/.* of |,/g, ''));
const table = (page: Page, name: string) => page.getByRole('table', { name, exact: true });

describe.skipIf(!executablePath)('a staff user of us1 alone', () => {
  let page: Page;

  beforeAll(async () => {
    if (!executablePath) return;
    const email = await addStaff(staffConsole, 'OPERATOR', { id: 'user_american', region: 'us1' });
    // The demo's builder has a time zone of its own.
    await select('update builder set time_zone = null', [], 'us1');
    page = await staffConsole.open('/console');
    await submitCredentials(page, { email, password: PASSWORD });
  });
  afterAll(() => page?.context().close());

  it('is shown the region in its time zone, and stays signed in where the address names no region (CON-1)', async () => {
    await heading(page, /^Today at /);
    expect(parameterOf(page, 'region')).toBe('us1');
    await page.getByText(/New York time/).waitFor();
    await page.goto(`${staffConsole.baseUrl}/console/insurances`);
    await heading(page, 'Insurances');
    expect([parameterOf(page, 'region'), parameterOf(page, 'builder')]).toEqual([
      'us1',
      expect.stringMatching(/^buil_/),
    ]);
    await page.goto(`${staffConsole.baseUrl}/console/explorer`);
    await page.locator('.monaco-editor .view-line').first().waitFor();
  });

  it('sees the visits of a day of 25 hours', async () => {
    const [[projectId, workerId]] = (await select(
      `insert into sign_on_visit (id, created_at, updated_at, builder_id, project_id, worker_id, signed_on_at, signed_off_at)
        select 'signon_dst' || n, now(), now(), project.builder_id, project.id, worker.id, at, at + interval '20 minutes'
        from (select * from project where status = 'IN_PROGRESS' order by created_at, id limit 1) project
          cross join lateral (select id from worker where worker.builder_id = project.builder_id limit 1) worker,
          unnest(array['2026-11-01T04:30:00Z', '2026-11-02T04:30:00Z', '2026-11-02T05:30:00Z']::timestamptz[]) with ordinality day(at, n)
        returning project_id, worker_id`,
      [],
      'us1',
    )) as [[string, string]];
    expect(workerId).toMatch(/^wkr_/);
    const timesOn = async (date: string) => {
      await page.goto(`${staffConsole.baseUrl}/console/attendance?project=${projectId}&date=${date}`);
      await page.locator('.bar').first().waitFor();
      const labels = await page
        .locator('.bar')
        .evaluateAll((bars) => bars.map((bar) => bar.getAttribute('aria-label')));
      return labels.map((label) => label!.replace(/^.*: /, ''));
    };
    expect(await timesOn('2026-11-01')).toEqual(['00:30 to 00:50, 20 min', '23:30 to 23:50, 20 min']);
    expect(await timesOn('2026-11-02')).toEqual(['00:30 to 00:50, 20 min']);
  });
});

describe.skipIf(!executablePath)('a staff user of both regions', () => {
  it('has the role of each (CON-4)', async () => {
    await addStaff(staffConsole, 'OPERATOR', { id: 'user_both' });
    const email = await addStaff(staffConsole, 'ADMIN', { id: 'user_both', region: 'us1' });
    const page = await staffConsole.open('/console/people');
    await submitCredentials(page, { email, password: PASSWORD });
    const invite = async () => {
      await page.getByRole('button', { name: 'Invite a person' }).click();
      const offersStaff = (await page.getByLabel('Works for').count()) === 1;
      await page.keyboard.press('Escape');
      return offersStaff;
    };
    expect(await invite()).toBe(false);
    await page.getByLabel('Region').selectOption('us1');
    await page.waitForURL(/region=us1/);
    await page.locator('.sidebar-foot').getByText('Kim ADMIN').waitFor();
    expect(await invite()).toBe(true);
    await page.context().close();
  });

  it('is signed out of both, also where the session of the region that the page shows has ended (CON-2)', async () => {
    await addStaff(staffConsole, 'OPERATOR', { id: 'user_leaving' });
    const email = await addStaff(staffConsole, 'OPERATOR', { id: 'user_leaving', region: 'us1' });
    const page = await staffConsole.open('/console/insurances');
    await submitCredentials(page, { email, password: PASSWORD });
    await heading(page, 'Insurances');
    await select(`delete from console_session where user_id = 'user_leaving'`);
    const findSessions = () => select(`select from console_session where user_id = 'user_leaving'`, [], 'us1');
    expect(await findSessions()).toHaveLength(1);
    // Also behind the dialog that the next request of the page opens.
    await page.locator('.sidebar-foot button').dispatchEvent('click');
    await page.waitForURL(/\/console\/sign-in/, { timeout: 5_000 });
    expect(await findSessions()).toHaveLength(0);
    await page.context().close();
  });

  it('is signed out of a region that another tab has signed in to alone (CON-2)', async () => {
    const email = await addStaff(staffConsole, 'OPERATOR', { id: 'user_moving' });
    const page = await staffConsole.open('/console/insurances');
    await submitCredentials(page, { email, password: PASSWORD });
    await heading(page, 'Insurances');
    await addStaff(staffConsole, 'OPERATOR', { id: 'user_moving', region: 'us1' });
    await select(`update app_user set disabled_at = now() where id = 'user_moving'`);
    const other = await page.context().newPage();
    await other.goto(`${staffConsole.baseUrl}/console/sign-in`);
    await submitCredentials(other, { email, password: PASSWORD });
    await heading(other, /^Today at /);
    await other.close();
    await page.bringToFront();
    await page.getByRole('dialog').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.waitForURL(/\/console\/sign-in/, { timeout: 5_000 });
    expect(await select(`select from console_session where user_id = 'user_moving'`, [], 'us1')).toHaveLength(0);
    await page.context().close();
  });
});

describe.skipIf(!executablePath)('two people who use one browser', () => {
  it('each see who is signed in, also in an open tab', async () => {
    const page = await staffConsole.signIn('ADMIN');
    await heading(page, /^Today at /);
    const other = await page.context().newPage();
    await other.goto(`${staffConsole.baseUrl}/console/sign-in`);
    await submitSignIn(other, staffConsole.demo, 'VIEWER');
    await page.bringToFront();
    await page.evaluate(`window.dispatchEvent(new Event('focus'))`);
    await page.locator('.sidebar-foot').getByText('Morgan Reid').waitFor();
    expect(await page.getByRole('link', { name: 'People' }).count()).toBe(0);
    await page.context().close();
  });

  it('leave no query of the explorer to the next one', async () => {
    const page = await staffConsole.signIn('ADMIN', '/console/explorer');
    await page.locator('.explorer .view-lines').first().click();
    await page.keyboard.type('# Priya');
    const readStored = () => page.evaluate(`JSON.stringify({ ...localStorage })`);
    await expect.poll(readStored).toContain('Priya');
    await page.context().clearCookies();
    await page.goto(`${staffConsole.baseUrl}/console/sign-in`);
    await submitSignIn(page, staffConsole.demo, 'VIEWER');
    await heading(page, /^Today at /);
    await page.goto(`${staffConsole.baseUrl}/console/explorer`);
    await page.locator('.explorer .view-lines').first().waitFor();
    expect(await readStored()).not.toContain('Priya');
    await page.context().close();
  });
});

describe.skipIf(!executablePath)('the numbers of today', () => {
  it('lead to visits that began on earlier days, which are ended there', async () => {
    const [[project]] = (await select(
      `insert into sign_on_visit (id, created_at, updated_at, builder_id, project_id, worker_id, signed_on_at)
        select 'signon_forgotten', $1, $1, builder_id, project_id, worker_id, $1 from sign_on_visit
        where signed_off_at is null and closed_at is null and archived_at is null and anomaly is null
          and builder_id = $2
        order by signed_on_at desc, id limit 1 returning (select name from project where project.id = project_id)`,
      [new Date(staffConsole.clock.now() - 3 * 86_400_000).toISOString(), staffConsole.demo.attendance!.builderId],
    )) as [[string]];
    const page = await staffConsole.signIn('OPERATOR');
    const site = page.getByRole('listitem').filter({ hasText: project });
    await site.getByRole('link', { name: /from earlier days/ }).click();
    await heading(page, 'Open visits');
    const row = table(page, 'Open visits').getByRole('row').filter({ hasText: 'longer than 14 hours' });
    await row.getByRole('button').click();
    // The proposed end is read when the drawer opens.
    await expect.poll(() => page.getByRole('dialog').getByLabel('Left at').inputValue()).not.toBe('');
    await page.getByRole('dialog').getByLabel('Reason').fill('Went home on Friday.');
    await page.getByRole('button', { name: 'End the visit' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await row.waitFor({ state: 'detached' });
    const ended = await select(`select closing_reason from sign_on_visit where id = 'signon_forgotten'`);
    expect(ended).toEqual([['Went home on Friday.']]);
    await page.context().close();
  });

  it('are those of the lists that they link to', async () => {
    await select(
      `insert into timesheet select (jsonb_populate_record(sheet, jsonb_build_object('id', 'ts_future', 'status', 'WAITING_REVIEW',
          'date', $1::timestamptz))).* from timesheet sheet where builder_id = (select id from builder order by created_at, id limit 1) limit 1`,
      [new Date(staffConsole.clock.now() + 60 * 86_400_000).toISOString()],
    );
    const page = await staffConsole.signIn('OPERATOR');
    for (const [label, title] of [
      ['timesheets to review', 'Timesheets'],
      ['insurances ending within 30 days', 'Insurances'],
      ['sign-offs without sign-on', 'Sign-offs without sign-on'],
    ] as const) {
      const link = page.getByRole('link', { name: label });
      const number = Number((await link.locator('b').innerText()).replace(',', ''));
      await link.click();
      await heading(page, title);
      expect([label, await countListed(page)]).toEqual([label, number]);
      expect(await page.getByRole('alert').count()).toBe(0);
      await page.goBack();
    }
    await page.context().close();
  });

  it('lead to the webhook endpoints that fail', async () => {
    const page = await staffConsole.signIn('ADMIN');
    await heading(page, /^Today at /);
    const [[clientId, integratorId]] = (await select(
      `select client.id, client.integrator_id from oauth_client client join connection on connection.integrator_id = client.integrator_id
        where connection.builder_id = $1 and connection.status = 'ACTIVE' and client.disabled_at is null
          and 'client_credentials' = any(client.grants) limit 1`,
      [parameterOf(page, 'builder')],
    )) as [[string, string]];
    await select(
      `insert into webhook_endpoint (id, created_at, updated_at, integrator_id, client_id, url, status, secret)
        values ('whe_failing', now(), now(), $1, $2, 'https://failing.example.com/hook', 'PAUSED', 'x')`,
      [integratorId, clientId],
    );
    await select(
      `insert into webhook_progress (endpoint_id, day, number, failures, failing_since) values ('whe_failing', current_date, 0, 3, now())`,
    );
    await page.reload();
    await page.getByRole('link', { name: 'failing webhooks' }).click();
    await heading(page, 'Failing webhooks');
    await page.getByRole('link', { name: 'https://failing.example.com/hook' }).click();
    await page.getByRole('dialog').getByText('https://failing.example.com/hook').waitFor();
    expect(new URL(page.url()).pathname).toBe(`/console/integrations/${integratorId}`);
    await page.context().close();
  });
});

describe.skipIf(!executablePath)('an address', () => {
  it('names the region and the builder, so that a link shows others the same', async () => {
    const page = await staffConsole.signIn('OPERATOR');
    await heading(page, /^Today at /);
    expect([parameterOf(page, 'region'), parameterOf(page, 'builder')]).toEqual([
      'au1',
      expect.stringMatching(/^buil_/),
    ]);
    await page.goto(`${staffConsole.baseUrl}/console/today?region=au1&builder=buil_none`);
    await page.getByText('There is no such builder').waitFor();
    expect(await page.getByRole('combobox', { name: 'Builder' }).inputValue()).toBe('');
    await page.context().close();
  });

  it.each(['attendance', 'photos'])('of the %s shows the project that it names, or none', async (path) => {
    const page = await staffConsole.signIn('ADMIN');
    await heading(page, /^Today at /);
    const [[id, name]] = (await select(
      `update project set status = 'COMPLETE' where id = (select id from project where builder_id = $1 order by id desc limit 1) returning id, name`,
      [parameterOf(page, 'builder')],
    )) as [[string, string]];
    await page.goto(`${staffConsole.baseUrl}/console/${path}?project=${id}`);
    const chosen = page.getByRole('combobox', { name: 'Project' });
    await expect.poll(() => chosen.locator('option:checked').textContent(), { timeout: 10_000 }).toBe(name);
    await page.goto(`${staffConsole.baseUrl}/console/${path}?project=proj_none`);
    await page.getByText('There is no such project').waitFor();
    await page.context().close();
  });
});

describe.skipIf(!executablePath)('administrators', () => {
  it('add and remove the membership of a person, which the audit log shows', async () => {
    await select(
      `insert into app_user (id, created_at, updated_at, name, email) values ('user_lee', now(), now(), 'Lee Park', 'lee.park@example.com')`,
    );
    const page = await staffConsole.signIn('ADMIN', '/console/people?search=lee.park');
    await table(page, 'People').getByRole('button', { name: 'Lee Park' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('combobox', { name: 'Builder' }).click();
    const option = dialog.getByRole('listbox').getByRole('option').first();
    const builder = await option.innerText();
    await option.click();
    await dialog.getByRole('combobox', { name: 'Role', exact: true }).selectOption('FOREMAN');
    await dialog.getByRole('button', { name: 'Add' }).click();
    const member = dialog.getByRole('listitem').filter({ hasText: builder });
    await expect.poll(() => member.getByRole('combobox').inputValue()).toBe('FOREMAN');
    const memberships = () => select(`select role from membership where user_id = 'user_lee'`);
    expect(await memberships()).toEqual([['FOREMAN']]);
    await member.getByRole('button', { name: 'Remove…' }).click();
    await member.getByRole('button', { name: 'Remove', exact: true }).click();
    await member.waitFor({ state: 'detached' });
    expect(await memberships()).toEqual([]);

    await page.goto(`${staffConsole.baseUrl}/console/audit`);
    await table(page, 'Audit log').waitFor();
    await page.getByRole('combobox', { name: 'Action' }).selectOption('membership.created');
    await page.waitForURL(/action=membership.created/);
    const entries = table(page, 'Audit log').getByRole('button');
    await entries.filter({ hasText: 'was removed from' }).waitFor({ state: 'detached' });
    await entries.filter({ hasText: 'was added to' }).first().click();
    const changed = table(page, 'Changed properties');
    const role = changed.getByRole('row').filter({ hasText: 'Role' });
    expect((await role.innerText()).split(/\s+/)).toEqual(['Role', '–', 'FOREMAN']);
    // Names in place of ids, which lead to their pages.
    await changed
      .getByRole('row', { name: /^User id/ })
      .getByRole('link', { name: 'Lee Park' })
      .waitFor();
    await changed
      .getByRole('row', { name: /^Builder id/ })
      .getByRole('link', { name: builder })
      .waitFor();
    await dialog.getByRole('link', { name: 'Taylor Quinn' }).waitFor();
    await page.keyboard.press('Escape');
    await page.waitForURL((url) => !url.searchParams.has('entry'));
    await page.context().close();
  });

  it('see who changed the scopes of a client, and apart from that who read whose data', async () => {
    const page = await staffConsole.signIn('ADMIN', '/console/integrations');
    await page.getByRole('link', { name: 'SnapSite Photos' }).click();
    await table(page, 'Clients').getByRole('button', { name: 'SnapSite sync' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('checkbox', { name: /read:photos/ }).uncheck();
    await dialog.getByRole('button', { name: 'Save', exact: true }).click();
    const changes = () => select(`select 1 from audit_entry where action = 'client.updated'`);
    await expect.poll(async () => (await changes()).length).toBe(1);
    await dialog.getByRole('link', { name: 'Who changed it' }).click();
    const log = table(page, 'Audit log');
    await log
      .getByRole('row', { name: /SnapSite sync.*Taylor Quinn/ })
      .first()
      .waitFor();
    await log
      .getByRole('button', { name: /scopes or grants of a client changed/ })
      .first()
      .click();
    const scopes = table(page, 'Changed properties').getByRole('row', { name: /^Scopes/ });
    await scopes.getByRole('cell', { name: 'read:photos' }).waitFor();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });

    await page.goto(`${staffConsole.baseUrl}/console/people`);
    await table(page, 'People').waitFor();
    await page.goto(`${staffConsole.baseUrl}/console/audit`);
    await log.waitFor();
    expect(await log.getByText('read personal data').count()).toBe(0);
    await page.getByRole('link', { name: 'Reads of personal data' }).click();
    const group = log.getByRole('link', { name: /^\d+ records$/ }).first();
    const count = Number.parseInt(await group.innerText(), 10);
    await group.click();
    await page.getByRole('button', { name: 'All entries' }).waitFor();
    await expect.poll(() => log.locator('tbody tr').count()).toBe(Math.min(count, 50));
    await log
      .getByRole('link', { name: /^[A-Z]\w+ [A-Z]\w+$/ })
      .first()
      .waitFor();
    await page.context().close();
  });

  it('archive a visit, which leaves the board', async () => {
    const page = await staffConsole.signIn('ADMIN', '/console/attendance');
    await page.getByRole('region', { name: 'Board' }).waitFor();
    const bar = page.locator('.bar').first();
    const label = (await bar.getAttribute('aria-label'))!;
    const archived = () => select(`select count(*) from sign_on_visit where archived_at is not null`);
    const [[before]] = (await archived()) as [[string]];
    await bar.click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Archive the visit…' }).click();
    await dialog.getByText('The visit leaves attendance and its figures.').waitFor();
    await dialog.getByRole('button', { name: 'Archive the visit', exact: true }).click();
    await dialog.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: label, exact: true }).waitFor({ state: 'detached' });
    expect(await archived()).toEqual([[String(Number(before) + 1)]]);
    const entries = await select(`select actor_type from audit_entry where action = 'visit.archived'`);
    expect(entries).toEqual([['STAFF']]);
    await page.context().close();
  });
});
