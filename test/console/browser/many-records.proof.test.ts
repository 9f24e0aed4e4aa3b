import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { executablePath, expectUsable } from '../../oauth/chromium.ts';
import { type DemoConsole, startDemoConsole } from './demo-console.ts';

let staffConsole: DemoConsole;
let page: Page;
/** Rows of the first builder by name, which the console opens. */
let builderId: string;
/** Paths and messages of GraphQL responses with errors, such as exceeded cost. */
const rejected: string[] = [];

const select = <Row>(sql: string, values: unknown[] = []) =>
  staffConsole.databases.au1.fork().execute<Row[]>(sql, values);

beforeAll(async () => {
  if (!executablePath) return;
  staffConsole = await startDemoConsole();
  const [builder] = await select<{ id: string }>('select id from builder order by name, id limit 1');
  builderId = builder!.id;
  await addRecords();
  page = await staffConsole.signIn('OPERATOR');
  page.on('response', async (response) => {
    if (!response.url().endsWith('/console/graphql')) return;
    const { errors } = (await response.json().catch(() => ({}))) as { errors?: { message: string }[] };
    for (const { message } of errors ?? []) rejected.push(`${new URL(page.url()).pathname}: ${message}`);
  });
});
afterAll(() => staffConsole?.close());
afterEach(() => expect(rejected.splice(0)).toEqual([]));

/** Adds 500 integrators with a month of usage, and one integrator with 500 clients and 1,000 connections; 300 projects of a builder. */
async function addRecords(): Promise<void> {
  await select(
    `insert into integrator (id, created_at, updated_at, name, deep_link_schemes)
      select 'intg_many' || n, now(), now(), 'Vendor number ' || n, '{}' from generate_series(1, 500) n`,
  );
  await select(
    `insert into usage_day (date, integrator_id, client_id, operation, requests, rejections, failures)
      select ?::date - day, 'intg_many' || n, (select id from oauth_client limit 1), 'GET /builders', 1000 + n, 5, 2
      from generate_series(1, 500) n, generate_series(0, 29) day`,
    [new Date(staffConsole.clock.now()).toISOString().slice(0, 10)],
  );
  await select(
    `insert into oauth_client select (jsonb_populate_record(client, jsonb_build_object('id', 'cli_many' || n,
        'integrator_id', 'intg_many1', 'name', 'Client number ' || n))).*
      from oauth_client client, generate_series(1, 500) n where client.id = (
        select id from oauth_client where type = 'CONFIDENTIAL' and integrator_id is not null and disabled_at is null limit 1)`,
  );
  await select(
    `insert into builder select (jsonb_populate_record(builder, jsonb_build_object('id', 'buil_many' || n,
        'name', 'Zone Homes number ' || n, 'logo_key', null))).* from builder, generate_series(1, 1000) n where builder.id = ?`,
    [builderId],
  );
  await select(
    `insert into connection (integrator_id, builder_id, status, scopes, created_at, updated_at)
      select 'intg_many1', 'buil_many' || n, 'ACTIVE', '{read:builders}', now(), now() from generate_series(1, 1000) n`,
  );
  await select(
    `insert into project select (jsonb_populate_record(project, jsonb_build_object('id', 'proj_zmany' || n,
        'status', 'IN_PROGRESS', 'name', 'Site number ' || n))).* from project, generate_series(1, 300) n
      where project.id = (select id from project where builder_id = ? limit 1)`,
    [builderId],
  );
}

const openPage = (path: string) => page.goto(`${staffConsole.baseUrl}/console/${path}`);
const table = (name: string) => page.getByRole('table', { name, exact: true });
const pager = (name: string) => page.getByRole('navigation', { name });

describe.skipIf(!executablePath)('the console with many records in Chromium', () => {
  it('lists 500 integrators with their usage page by page, and finds one by its name', async () => {
    await openPage('integrations');
    const rows = table('Integrators').getByRole('row');
    await rows.nth(50).waitFor();
    expect(await rows.count()).toBe(51);
    await expectUsable(page, 'many-integrators');
    await pager('Pages of integrators').getByRole('button', { name: 'Next page' }).press('Enter');
    await page.waitForURL(/after=/);
    await page.getByLabel('Name', { exact: true }).fill('number 437');
    const row = page.getByRole('row', { name: /Vendor number 437/ });
    await expect.poll(() => rows.count(), { timeout: 10_000 }).toBe(2);
    // 30 days of 1,437 requests.
    expect(await row.getByRole('cell').nth(4).innerText()).toBe('43,110');
  });

  it('shows 500 clients and 1,000 connections of an integrator page by page, and finds one of each', async () => {
    await openPage('integrations/intg_many1');
    await table('Clients').getByRole('row').nth(50).waitFor();
    await pager('Pages of connections').getByRole('button', { name: 'Next page' }).press('Enter');
    await table('Connections').getByRole('button', { name: 'Zone Homes number 950', exact: true }).waitFor();
    await pager('Pages of clients').getByRole('button', { name: 'Next page' }).press('Enter');
    await table('Clients').getByRole('button', { name: 'Client number 1', exact: true }).waitFor({ state: 'detached' });
    await expectUsable(page, 'many-connections');

    await page.getByLabel('Client', { exact: true }).fill('number 437');
    await table('Clients').getByRole('button', { name: 'Client number 437' }).waitFor();
    expect(await table('Clients').getByRole('row').count()).toBe(2);
    // The other list stays at its page.
    await table('Connections').getByRole('button', { name: 'Zone Homes number 950', exact: true }).waitFor();

    const builder = page.getByRole('main').getByRole('combobox', { name: 'Builder' });
    await builder.fill('number 876');
    await page.getByRole('option', { name: 'Zone Homes number 876' }).waitFor();
    await builder.press('Enter');
    await table('Connections').getByRole('button', { name: 'Zone Homes number 876' }).press('Enter');
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke the connection…' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(await table('Connections').getByRole('row').count()).toBe(2);
  });

  it('says that a form offers not all clients', async () => {
    await openPage('integrations/intg_many1');
    await page.getByRole('button', { name: 'New endpoint' }).click();
    await page.getByText('The first 200 clients are offered.').waitFor();
    await expectUsable(page, 'many-clients');
  });

  it.each(['attendance', 'attendance?show=open', 'timesheets', 'inductions', 'photos', 'reports'])(
    'offers each of 300 projects by name: %s',
    async (path) => {
      await openPage(path);
      const chosen = page.getByRole('combobox', { name: 'Project' });
      await chosen.locator('option[value=proj_zmany300]').waitFor({ state: 'attached' });
      const names = await chosen.locator('option:not([value=""])').allTextContents();
      const inProgress = await select<{ name: string }>(
        `select name from project where builder_id = ? and status = 'IN_PROGRESS'`,
        [builderId],
      );
      expect(names).toEqual(inProgress.map(({ name }) => name).sort((one, other) => one.localeCompare(other)));
      await chosen.selectOption({ label: 'Site number 287' });
      await page.waitForURL(/project=proj_zmany287/);
      await expect.poll(() => page.locator('.skeleton').count(), { timeout: 20_000 }).toBe(0);
      expect(await page.getByRole('alert').count()).toBe(0);
    },
  );

  it('shows all visits of a day, and says that there are more sign-offs', async () => {
    await openPage('attendance');
    const projectId = await page.getByRole('combobox', { name: 'Project' }).inputValue();
    await select(
      `insert into sign_on_visit select (jsonb_populate_record(visit, jsonb_build_object('id', 'visit_many' || n,
          'signed_on_at', timestamptz '2025-01-12T20:00:00Z' + n * interval '1 minute',
          'signed_off_at', timestamptz '2025-01-13T04:00:00Z' + n * interval '1 minute'))).*
        from sign_on_visit visit, generate_series(1, 130) n
        where visit.id = (select id from sign_on_visit where project_id = ? and signed_off_at is not null limit 1)`,
      [projectId],
    );
    await select(
      `insert into sign_on_event select (jsonb_populate_record(event, jsonb_build_object('id', 'event_many' || n,
          'received', 1000000000 + n, 'project_id', ?::text, 'source_event_id', 'many' || n,
          'source_sign_on_event_id', 'absent' || n, 'occurred_at', timestamptz '2025-01-12T20:00:00Z' + n * interval '1 minute'))).*
        from sign_on_event event, generate_series(1, 60) n
        where event.id = (select id from sign_on_event where builder_id = ? and status = 'PENDING_SIGN_ON' limit 1)`,
      [projectId, builderId],
    );
    await openPage(`attendance?project=${projectId}&date=2025-01-13`);
    await page.locator('.bar').nth(129).waitFor();
    await expectUsable(page, 'many-visits');
    await page.getByText('The day has more sign-offs without sign-on or conflicts than the board shows.').waitFor();
    await page.getByRole('link', { name: /^Sign-offs without sign-on/ }).press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Sign-offs without sign-on' }).waitFor();
  });
});
