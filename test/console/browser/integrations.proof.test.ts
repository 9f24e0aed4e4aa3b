import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { executablePath } from '../../oauth/chromium.ts';
import { WebhookReceiver } from '../../support/webhook-receiver.ts';
import { type DemoConsole, startDemoConsole } from './demo-console.ts';

let staffConsole: DemoConsole;
let receiver: WebhookReceiver;
let page: Page;

beforeAll(async () => {
  if (!executablePath) return;
  staffConsole = await startDemoConsole();
  receiver = await WebhookReceiver.start();
  page = await staffConsole.signIn('OPERATOR');
});
afterAll(async () => {
  await staffConsole?.close();
  await receiver?.close();
});

/** Rows of a statement in `au1`. */
const select = <Row>(sql: string, values: unknown[] = []) =>
  staffConsole.databases.au1.fork().execute<Row[]>(sql, values);

const openIntegrator = async () => {
  await page.goto(`${staffConsole.baseUrl}/console/integrations`);
  await page.getByRole('link', { name: 'SnapSite Photos' }).click();
  await page.getByRole('heading', { level: 1, name: 'SnapSite Photos' }).waitFor();
};
const click = (name: string) => page.getByRole('button', { name, exact: true }).click();
const openRow = async (table: string, name: string | RegExp) => {
  await page.getByRole('table', { name: table, exact: true }).getByRole('button', { name }).click();
  await page.getByRole('dialog').waitFor();
};
const close = async () => {
  await click('Close');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
};

describe.skipIf(!executablePath)('an operator in Chromium', () => {
  it('registers a webhook endpoint, tests, changes, pauses, activates and replays it', async () => {
    interface Row {
      id: string;
      url: string;
      types: string[] | null;
      builder_ids: string[] | null;
      status: string;
    }
    const find = async () =>
      (
        await select<Row>(
          `select id, url, types, builder_ids, status from webhook_endpoint where url like ? and deleted_at is null`,
          [`${receiver.url}%`],
        )
      )[0]!;
    const lastAction = async () =>
      (
        await select<{ action: string }>(
          `select action from audit_entry where object_id = ? order by at desc, id desc limit 1`,
          [(await find()).id],
        )
      )[0]!.action;
    await openIntegrator();
    await click('New endpoint');
    await page.getByLabel('Address').fill(receiver.url);
    for (const type of ['project.updated', 'timesheet.created'])
      await page.getByRole('checkbox', { name: type }).check();
    const [builder] = await select<{ name: string }>(
      `select builder.name from connection join builder on builder.id = builder_id join integrator on integrator.id = integrator_id
        where integrator.name = ? and connection.status = 'ACTIVE' limit 1`,
      ['SnapSite Photos'],
    );
    await page.getByRole('combobox', { name: 'Only for a builder' }).fill(builder!.name);
    await page.getByRole('listbox').getByRole('option', { name: builder!.name, exact: true }).click();
    await page.getByRole('button', { name: 'Remove' }).waitFor();
    await click('Register');
    await page.getByText(/whsec_/).waitFor();
    await click('Done');
    expect(await find()).toMatchObject({ types: ['project.updated', 'timesheet.created'], status: 'ACTIVE' });
    expect((await find()).builder_ids).toHaveLength(1);

    await openRow('Webhook endpoints', receiver.url);
    await click('Send a test event');
    await page.getByText('The receiver answered 204.').waitFor();
    expect(receiver.received).toHaveLength(1);

    await page.getByLabel('Address').fill(`${receiver.url}/changed`);
    for (const type of ['project.updated', 'timesheet.created']) {
      await page.getByRole('checkbox', { name: type }).uncheck();
    }
    await click('Remove');
    await click('Save');
    await page.getByText(`${receiver.url}/changed`).first().waitFor();
    expect(await find()).toMatchObject({ url: `${receiver.url}/changed`, types: null, builder_ids: null });

    await click('Pause');
    await page.getByRole('button', { name: 'Activate' }).waitFor();
    expect((await find()).status).toBe('PAUSED');
    await page.getByRole('button', { name: 'Start the replay', disabled: true }).waitFor();
    await click('Activate');
    await page.getByRole('button', { name: 'Pause' }).waitFor();
    expect((await find()).status).toBe('ACTIVE');

    await click('Start the replay');
    await expect.poll(lastAction).toBe('webhook_endpoint.replayed');
    // No dispatcher runs here, which would move the position.
    const { id } = await find();
    const setRemaining = (events: number | null) =>
      select(`update webhook_progress set replay_until = number + ?::int where endpoint_id = ?`, [events, id]);
    await setRemaining(300);
    await page.reload();
    await page.getByText('Replay: 300 events still to read').waitFor();
    await setRemaining(120);
    await page.getByText('Replay: 120 events still to read').waitFor();
    const [done, all] = await page
      .getByRole('progressbar')
      .evaluate((bar: HTMLProgressElement) => [bar.value, bar.max]);
    expect([done, all]).toEqual([180, 300]);
    await setRemaining(null);
    await page.getByText('The replay has ended.').waitFor();

    await page.getByRole('combobox', { name: 'State' }).selectOption('FAILED');
    await page.getByText('No deliveries').waitFor();
    await close();
    // Another endpoint shows all of its deliveries.
    expect(new URL(page.url()).search).not.toMatch(/delivery|endpoint/);
  });

  it('registers a client, changes its name and addresses, and disables it', async () => {
    await openIntegrator();
    await click('New client');
    await page.getByRole('combobox', { name: /^Type/ }).selectOption('PUBLIC');
    await page.getByLabel('Name', { exact: true }).fill('Site page');
    await page.getByRole('checkbox', { name: /read:photos/ }).check();
    await page.getByLabel('Redirect URIs, one a line').fill('https://site.example/back');
    await page.getByLabel('Browser origins, one a line').fill('https://site.example');
    await click('Register the client');
    await page.getByText('The client is registered.').waitFor();
    await click('Done');
    const find = async () =>
      (
        await select<object>(
          `select name, redirect_uris, origins, disabled_at is not null as disabled from oauth_client where name like 'Site page%'`,
        )
      )[0];
    expect(await find()).toEqual({
      ...{ name: 'Site page', redirect_uris: ['https://site.example/back'] },
      ...{ origins: ['https://site.example'], disabled: false },
    });

    await openRow('Clients', 'Site page');
    await page.getByLabel('Name', { exact: true }).fill('Site page two');
    await page.getByLabel('Redirect URIs, one a line').fill('https://two.example/back\nhttps://site.example/back');
    await page.getByLabel('Browser origins, one a line').fill('https://two.example');
    await click('Save');
    await page.getByRole('heading', { name: 'Site page two' }).waitFor();
    expect(await find()).toEqual({
      ...{ name: 'Site page two', redirect_uris: ['https://two.example/back', 'https://site.example/back'] },
      ...{ origins: ['https://two.example'], disabled: false },
    });

    await page.getByRole('button', { name: 'Disable the client…' }).click();
    await click('Disable the client');
    await page.getByRole('button', { name: 'Enable the client' }).waitFor();
    expect(await find()).toMatchObject({ disabled: true });
    await close();
  });

  it('keeps a secret that was not copied over Escape, and asks', async () => {
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await openIntegrator();
    await openRow('Clients', 'SnapSite sync');
    await click('New secret…');
    await click('New secret');
    const shown = page.locator('.secret code');
    const secret = await shown.innerText();
    const question = page.getByRole('alert').filter({ hasText: 'What was not copied cannot be shown again.' });
    for (let time = 0; time < 4; time++) {
      await page.keyboard.press('Escape');
      await question.waitFor();
    }
    await click('Keep it open');
    expect(await shown.innerText()).toBe(secret);
    await click('Copy');
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(secret);
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  });

  it('shows the endpoint of the address alone where the history leads from one to another', async () => {
    await openIntegrator();
    for (const path of ['/one', '/two']) {
      await click('New endpoint');
      await page.getByLabel('Address').fill(receiver.url + path);
      await click('Register');
      await page.getByText(/whsec_/).waitFor();
      await click('Done');
    }
    await openRow('Webhook endpoints', `${receiver.url}/one`);
    await close();
    await openRow('Webhook endpoints', `${receiver.url}/two`);
    await click('New secret…');
    await click('New secret');
    await page.getByText(/whsec_/).waitFor();
    await page.evaluate('history.go(-2)');
    await page.getByRole('dialog').getByText(`${receiver.url}/one`).waitFor();
    expect(await page.getByText(/whsec_/).count()).toBe(0);
  });

  it('finds a rejection by its request id, and opens the connection that lacks the scope', async () => {
    await page.goto(`${staffConsole.baseUrl}/console/integrations`);
    const rows = page.getByRole('table', { name: 'Failed requests' }).locator('tbody tr');
    const id = await rows.first().locator('.identifier code').innerText();
    await page.getByLabel('Request id').fill(id);
    await page.waitForURL(new RegExp(`request=${id}`));
    await expect.poll(() => rows.getByText(id).count()).toBe(1);
    await page.getByText('GET /builders/{builderId}/photos').waitFor();
    expect(await rows.count()).toBe(1);
    await rows.getByRole('button', { name: `Copy ${id}` }).click();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(id);
    await rows.getByRole('link', { name: 'Scopes of the connection' }).click();
    await page
      .getByRole('dialog')
      .getByText(/this connection does not allow: .*read:photos/)
      .waitFor();
    const transforms = await page
      .locator('code')
      .evaluateAll((codes) => codes.map((code) => getComputedStyle(code).textTransform));
    expect(new Set(transforms)).toEqual(new Set(['none']));
    await page.getByRole('dialog').getByRole('link', { name: 'Who changed it' }).waitFor();
    await close();
  });

  it('shows the rejection that a search leads to, without scrolling', async () => {
    await page.goto(`${staffConsole.baseUrl}/console/integrations`);
    const rows = page.getByRole('table', { name: 'Failed requests' }).locator('tbody tr');
    const id = await rows.first().locator('.identifier code').innerText();
    await page.goto(`${staffConsole.baseUrl}/console/timesheets`);
    await page.getByRole('heading', { level: 1, name: 'Timesheets' }).waitFor();
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'Search' }).fill(id);
    await page.getByRole('option', { name: id }).click();
    const isShown = () =>
      rows.getByText(id).evaluate((cell) => {
        const { top, bottom } = cell.getBoundingClientRect();
        return top > 0 && bottom < innerHeight;
      });
    await expect.poll(isShown).toBe(true);
  });

  it('reaches each connection of an integrator with many', async () => {
    await openIntegrator();
    const integratorId = new URL(page.url()).pathname.split('/').at(-1);
    await select(
      `insert into builder select (jsonb_populate_record(builder, jsonb_build_object('id', 'buil_page' || n,
        'name', 'Builder of page ' || n, 'logo_key', null))).* from builder, generate_series(1, 60) n
        where builder.id = (select id from builder limit 1)`,
    );
    await select(
      `insert into connection (integrator_id, builder_id, status, scopes, created_at, updated_at)
        select ?, 'buil_page' || n, 'ACTIVE', '{read:builders}', now(), now() from generate_series(60, 1, -1) n`,
      [integratorId],
    );
    await openIntegrator();
    const pages = page.getByRole('navigation', { name: 'Pages of connections' });
    await pages.getByRole('button', { name: 'Next page' }).click();
    await openRow('Connections', 'Builder of page 60');
    await close();
    // Opening and closing a panel keeps the page number.
    await page.getByRole('button', { name: 'Builder of page 60' }).waitFor();
    await pages.getByRole('button', { name: 'First page' }).click();
    await page.getByRole('button', { name: 'Builder of page 60' }).waitFor({ state: 'detached' });
    await page.goto(`${staffConsole.baseUrl}/console/integrations?name=SnapSite`);
    await page.getByRole('table', { name: 'Integrators' }).waitFor();
    const [{ count }] = (await select<{ count: number }>(
      `select count(*)::int as count from connection where integrator_id = ? and status = 'ACTIVE'`,
      [integratorId],
    )) as [{ count: number }];
    const row = page.getByRole('row', { name: /SnapSite Photos/ });
    expect(await row.getByRole('cell').nth(2).innerText()).toBe(String(count));
  });

  it('shows a viewer a client without the reference of its agreement (CON-5)', async () => {
    const [client] = await select<{ id: string; integrator: string }>(
      'select id, integrator_id as integrator from oauth_client where pilot_agreement is not null limit 1',
    );
    const path = `/console/integrations/${client!.integrator}?client=${client!.id}`;
    const shown = await Promise.all(
      (['OPERATOR', 'VIEWER'] as const).map(async (role) => {
        const opened = await staffConsole.signIn(role, path);
        await opened.getByRole('dialog').getByLabel('Name', { exact: true }).waitFor();
        return opened.getByLabel('Agreement of the pilot').count();
      }),
    );
    expect(shown).toEqual([1, 0]);
  });
});
