import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { executablePath, expectFits, PHONE } from '../../oauth/chromium.ts';
import { type DemoConsole, startDemoConsole } from './demo-console.ts';

let staffConsole: DemoConsole;

beforeAll(async () => {
  if (executablePath) staffConsole = await startDemoConsole();
});
afterAll(() => staffConsole?.close());

/** Rows of a statement in `au1`. */
const select = (text: string, values: unknown[] = []) =>
  staffConsole.databases.au1.runner.run({ name: `test ${text}`, text }, values) as Promise<unknown[][]>;

const openFirst = async (page: Page, table: string) => {
  await page.getByRole('table', { name: table, exact: true }).locator('[data-row]').first().click();
  await page.getByRole('dialog').waitFor();
};

const resolveConflict = async (page: Page, reason: string) => {
  await page.getByLabel('Reason').fill(reason);
  await page.getByRole('button', { name: 'Resolve the conflict' }).click();
};

describe.skipIf(!executablePath)('the console in Chromium', () => {
  it('resolves a conflict once, and shows the second person who was faster', async () => {
    // One after the other: an address has one attempt to sign in at a time.
    const first = await staffConsole.signIn('OPERATOR', '/console/attendance?show=conflicts');
    const second = await staffConsole.signIn('ADMIN', '/console/attendance?show=conflicts');
    await openFirst(first, 'Conflicts');
    await openFirst(second, 'Conflicts');
    // The second tab receives no further response, as with a slow network.
    await second.route('**/console/graphql', async (route) => {
      const { query } = route.request().postDataJSON() as { query: string };
      return /changes\(|conflict\(/.test(query) && !query.includes('resolveConflict')
        ? route.abort()
        : route.continue();
    });
    await resolveConflict(first, 'The gate was offline.');
    await first.getByText('The gate was offline.').waitFor();
    await resolveConflict(second, 'I think it was right.');
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

  it('shows all visits of a day with more than a hundred', async () => {
    const page = await staffConsole.signIn('OPERATOR', '/console/attendance');
    const projectId = await page.getByLabel('Project').inputValue();
    await select(
      `insert into sign_on_visit select (jsonb_populate_record(visit, jsonb_build_object('id', 'visit_many' || n,
          'signed_on_at', timestamptz '2025-01-12T20:00:00Z' + n * interval '1 minute',
          'signed_off_at', timestamptz '2025-01-13T04:00:00Z' + n * interval '1 minute'))).*
        from sign_on_visit visit, generate_series(1, 130) n
        where visit.id = (select id from sign_on_visit where project_id = $1 and signed_off_at is not null limit 1)`,
      [projectId],
    );
    await page.goto(`${staffConsole.baseUrl}/console/attendance?project=${projectId}&date=2025-01-13`);
    await page.locator('.bar').nth(129).waitFor();
    expect(await page.locator('.bar').count()).toBe(130);
    await page.getByText('The others are loading').waitFor({ state: 'detached' });
    await page.context().close();
  });

  it('finds one of many builders by a part of its name, by the keyboard', async () => {
    await select(
      `insert into builder select (jsonb_populate_record(builder, jsonb_build_object('id', 'buil_many' || n,
        'name', 'Builder number ' || n, 'logo_key', null))).* from builder, generate_series(1, 40) n
        where builder.id = (select id from builder limit 1)`,
    );
    const page = await staffConsole.signIn('VIEWER', '/console/insurances');
    const picker = page.getByRole('combobox', { name: 'Builder' });
    await picker.click();
    await page.getByText(/more: type a part of the name/).waitFor();
    await picker.fill('number 37');
    await page.getByRole('option', { name: 'Builder number 37' }).waitFor();
    await picker.press('Enter');
    await page.waitForURL(/builder=buil_many37/);
    await page.getByText('No insurances match').waitFor();
    expect(await picker.inputValue()).toBe('Builder number 37');
    await page.context().close();
  });

  it('lists the timesheets of a cost code, with its hours', async () => {
    const page = await staffConsole.signIn('OPERATOR', '/console/timesheets');
    const chosen = page.getByRole('combobox', { name: 'Cost code' });
    await chosen.selectOption({ index: 2 });
    const [code] = (await chosen.locator('option').nth(2).textContent())!.split(' ');
    await page.waitForURL(/code=/);
    const cells = page.getByRole('table', { name: 'Timesheets', exact: true }).locator('td[data-label="Cost code"]');
    await expect
      .poll(async () => [...new Set((await cells.allInnerTexts()).map((text) => text.split(' ')[0]))])
      .toEqual([code]);
    const total = Number((await page.getByText(/^1–.* of /).innerText()).replace(/.* of |,/g, ''));
    await page.getByText(new RegExp(`hours in ${total} timesheets`)).waitFor();
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
    await page.getByRole('dialog').getByLabel('Name').fill('Robin Lee');
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

  it('tries again where the service is busy during an export, which ends with its page', async () => {
    const page = await staffConsole.signIn('OPERATOR', '/console/timesheets');
    await page.getByRole('table', { name: 'Timesheets', exact: true }).waitFor();
    let pages = 0;
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    await page.route('**/console/graphql', async (route) => {
      const { variables } = route.request().postDataJSON() as { variables: { cursor?: string } };
      if (variables.cursor === undefined) return route.continue();
      pages++;
      if (pages === 1) return route.fulfill({ status: 503, headers: { 'Retry-After': '0' }, json: {} });
      if (pages === 3) await released;
      return route.continue();
    });
    await page.getByRole('button', { name: 'Export CSV' }).click();
    await page.getByRole('button', { name: 'Cancel the export (25 rows)' }).waitFor();
    await page.getByRole('link', { name: 'Insurances' }).click();
    await page.getByRole('table', { name: 'Insurances', exact: true }).waitFor();
    const isPoll = (text: string | null) => (text ?? '').includes('changes(');
    release();
    for (let poll = 0; poll < 2; poll++) await page.waitForResponse((each) => isPoll(each.request().postData()));
    expect(pages).toBe(3);
    await page.context().close();
  });

  it('keeps filters in the address, which the back button undoes', async () => {
    const page = await staffConsole.signIn('OPERATOR', '/console/timesheets');
    const status = page.getByRole('combobox', { name: 'Status', exact: true });
    await status.selectOption('WAITING_REVIEW');
    await page.waitForURL(/status=WAITING_REVIEW/);
    await page.goBack();
    await page.waitForURL((url) => !url.searchParams.has('status'));
    await expect.poll(() => status.inputValue()).toBe('');
    await page.context().close();
  });

  it('shows the menu with a page that fails, from which other pages open', async () => {
    const page = await staffConsole.signIn('OPERATOR', '/console/audit?at=none');
    await page.getByRole('alert').getByText('This page cannot be shown').waitFor();
    await page.getByRole('link', { name: 'Attendance' }).click();
    await page.getByRole('region', { name: 'Board' }).waitFor();
    expect(await page.getByRole('alert').count()).toBe(0);
    await page.context().close();
  });

  it('breaks a title that is wider than a phone', async () => {
    const row = `jsonb_build_object('id', 'intg_wide', 'name', repeat('W', 500))`;
    await select(`insert into integrator select (jsonb_populate_record(integrator, ${row})).* from integrator limit 1`);
    const page = await staffConsole.signIn('VIEWER', '/console/integrations/intg_wide');
    await page.getByRole('heading', { level: 1, name: 'WWW' }).waitFor();
    await expectFits(page, 'a wide title', PHONE);
    await page.context().close();
  });

  it('says that a gallery has more folders than it shows', async () => {
    const page = await staffConsole.signIn('VIEWER', '/console/photos');
    const projectId = await page.getByRole('combobox', { name: 'Project' }).inputValue();
    await select(
      `insert into photo_folder select (jsonb_populate_record(folder, jsonb_build_object('id', 'fold_many' || n, 'project_id', $1::text,
          'parent_id', null, 'name', 'Folder number ' || n))).*
        from photo_folder folder, generate_series(1, 120) n
        where folder.id = (select id from photo_folder where project_id = $1 order by id limit 1)`,
      [projectId],
    );
    await page.reload();
    const total = (await select('select count(*) from photo_folder where project_id = $1', [projectId]))[0]![0];
    await page.getByText(`The first 100 of ${total} folders are shown.`).waitFor();
    expect(Number(total)).toBeGreaterThan(120);
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

  it('shows a tile until a photo is prepared, and never the photo itself', async () => {
    const page = await staffConsole.signIn('VIEWER', '/console/reports');
    await page.route('**/console/graphql', async (route) => {
      const response = await route.fetch();
      const body = await response.json();
      for (const photo of body.data?.photos?.data ?? [])
        Object.assign(photo, { small: null, medium: null, large: null });
      await route.fulfill({ response, json: body });
    });
    await page.goto(`${staffConsole.baseUrl}/console/photos`);
    const tiles = page.getByRole('region', { name: 'Photos' }).locator('img');
    const waiting = page.getByRole('img', { name: 'The photo is being prepared.' });
    await waiting.first().waitFor();
    expect(await tiles.first().getAttribute('src')).toMatch(/^data:/);
    await expect.poll(() => waiting.count(), { timeout: 30_000 }).toBe(0);
    const sources = await Promise.all((await tiles.all()).map((tile) => tile.getAttribute('src')));
    expect(sources.length).toBeGreaterThan(0);
    for (const source of sources) expect(source).toContain('/renditions/');
    await page.unrouteAll({ behavior: 'wait' });
    await page.context().close();
  });

  it('gives a viewer neither attendance nor people, and no changes', async () => {
    const page = await staffConsole.signIn('VIEWER', '/console/attendance');
    await page.getByText('Only operators and administrators can see it.').waitFor();
    await page.goto(`${staffConsole.baseUrl}/console/people`);
    await page.getByText('Only operators and administrators can see it.').waitFor();
    expect(await page.getByRole('link', { name: 'People' }).count()).toBe(0);
    expect(await page.getByRole('button', { name: 'Invite a person' }).count()).toBe(0);
    await page.getByRole('link', { name: 'Integrations' }).click();
    await page.getByRole('link', { name: 'SnapSite Photos' }).click();
    await openFirst(page, 'Connections');
    await page.getByRole('dialog').getByRole('checkbox').first().waitFor();
    await page.getByText('Only operators and administrators can change or revoke connections.').waitFor();
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

  it('opens the explorer from the menu with examples, runs one by the keyboard, and returns', async () => {
    const page = await staffConsole.signIn('OPERATOR');
    let introspections = 0;
    page.on('request', (request) => {
      if ((request.postData() ?? '').includes('IntrospectionQuery')) introspections++;
    });
    const openExplorer = async () => {
      await page.getByRole('link', { name: 'Explorer' }).click();
      await page.getByText('The first projects of the builder.').waitFor();
    };
    const runQuery = async () => {
      const isQuery = (body: string | null) => (body ?? '').includes('"operationName":"Projects"');
      const [response] = await Promise.all([
        page.waitForResponse((each) => isQuery(each.request().postData())),
        page
          .getByRole('textbox', { name: /Editor content/ })
          .first()
          .press('Control+Enter'),
      ]);
      return response.json();
    };
    await openExplorer();
    const { data, extensions } = await runQuery();
    expect(data.projects.data.length).toBeGreaterThan(0);
    await page.getByText(`The last query cost ${extensions.cost} of 500,000`).waitFor();
    await page.getByRole('link', { name: 'Today' }).click();
    await page.getByRole('heading', { name: 'On site now' }).waitFor();
    await openExplorer();
    expect((await runQuery()).errors).toBeUndefined();
    expect(introspections).toBe(1);
    await page.context().close();
  });
});
