import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { executablePath } from '../../oauth/chromium.ts';
import { type DemoConsole, startDemoConsole } from './demo-console.ts';

let staffConsole: DemoConsole;
let page: Page;
let viewer: Page;

beforeAll(async () => {
  if (!executablePath) return;
  staffConsole = await startDemoConsole();
  page = await staffConsole.signIn('OPERATOR');
  viewer = await staffConsole.signIn('VIEWER');
});
afterAll(() => staffConsole?.close());

const select = <Row>(sql: string, values: unknown[] = []) =>
  staffConsole.databases.au1.fork().execute<Row[]>(sql, values);
const open = (path: string) => page.goto(`${staffConsole.baseUrl}/console/${path}`);
const builderOf = (shown: Page) => new URL(shown.url()).searchParams.get('builder')!;
const table = (name: string) => page.getByRole('table', { name, exact: true });
const dialog = () => page.getByRole('dialog');
const cells = (name: string, label: string) => table(name).locator(`tbody td[data-label="${label}"]`).allInnerTexts();

describe.skipIf(!executablePath)('finding and sorting in Chromium', () => {
  it('finds a worker by the words of the name in another order, by the keyboard alone', async () => {
    await page.getByRole('heading', { level: 1, name: /^Today/ }).waitFor();
    const [worker] = await select<{ id: string; full_name: string }>(
      'select id, full_name from worker where builder_id = ? order by id limit 1',
      [builderOf(page)],
    );
    await select('update worker set full_name = ? where id = ?', ['Zoë Ørsted', worker!.id]);
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'Search' }).fill('orsted zoe');
    await page.getByRole('option', { name: /Zoë Ørsted/ }).waitFor();
    await page.keyboard.press('Enter');
    await dialog().getByRole('heading', { name: 'Zoë Ørsted' }).waitFor();
    await dialog().getByText('Company').waitFor();
    expect(new URL(page.url()).pathname).toBe('/console/workers');
  });

  it('shows timesheets newest first, sorts them by their days, and finds those of a person', async () => {
    await open('timesheets');
    await table('Timesheets').waitFor();
    const days = async () => (await cells('Timesheets', 'Date')).map((text) => Date.parse(text));
    const newest = await days();
    expect(newest).toEqual([...newest].sort((one, other) => other - one));
    await page.getByRole('columnheader', { name: 'Date' }).getByRole('button').press('Enter');
    await page.waitForURL(/order=asc/);
    await expect.poll(async () => (await days())[0]).toBeLessThan(newest.at(-1)!);
    // Columns without an index have no button.
    expect(await table('Timesheets').locator('thead').getByRole('button').count()).toBe(1);
    const [person] = await cells('Timesheets', 'Person');
    await page.getByLabel('Person').fill(person!.split(' ').reverse().join(' '));
    await expect.poll(async () => [...new Set(await cells('Timesheets', 'Person'))]).toEqual([person]);
  });

  it('shows the insurances that end next first, and opens one by a click anywhere on its row', async () => {
    await open('insurances');
    const row = table('Insurances').locator('tbody tr').first();
    await row.waitFor();
    const name = await row.locator('td').nth(1).innerText();
    const days = (await cells('Insurances', 'Ends')).map((text) => Date.parse(text.split(/\s(?=in|today)/)[0]!));
    expect(days).toEqual([...days].sort((one, other) => one - other));
    await row.locator('td').nth(3).click();
    await dialog().getByText(name).first().waitFor();
    await page.keyboard.press('Escape');
    await dialog().waitFor({ state: 'detached' });
  });

  it('keeps the columns where they are while rows load', async () => {
    await open('inductions');
    const widths = () =>
      page
        .locator('table.data th')
        .evaluateAll((headers) => headers.map((each) => Math.round(each.getBoundingClientRect().width)));
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    await page.route('**/console/graphql', async (route) => {
      if (/findInductions/.test(route.request().postData() ?? '')) await released;
      await route.continue();
    });
    await page.reload();
    await page.locator('.table-scroll[aria-hidden="true"] th').first().waitFor();
    const loading = await widths();
    release();
    await table('Inductions').waitFor();
    expect(loading).toHaveLength(7);
    expect(await widths()).toEqual(loading);
    await page.unrouteAll({ behavior: 'wait' });
  });

  it('changes the role of a membership', async () => {
    const [member] = await select<{ user_id: string; role: string }>(
      `select user_id, role from membership where role <> 'FOREMAN' order by id limit 1`,
    );
    await open(`people?person=${member!.user_id}`);
    await dialog()
      .getByLabel(/^Role at/)
      .first()
      .selectOption('FOREMAN');
    await dialog().getByRole('button', { name: 'Change the role' }).click();
    await dialog().getByRole('button', { name: 'Change the role' }).waitFor({ state: 'detached' });
    const [changed] = await select<{ role: string }>(
      'select role from membership where user_id = ? order by id limit 1',
      [member!.user_id],
    );
    expect(changed!.role).toBe('FOREMAN');
  });

  it('offers a viewer nothing that the role forbids', async () => {
    await viewer.getByRole('region', { name: 'Awaiting action' }).waitFor();
    await viewer.getByRole('heading', { name: 'End of cover by month' }).waitFor();
    const links = await viewer
      .getByRole('main')
      .getByRole('link')
      .evaluateAll((all) => all.map((each) => new URL((each as unknown as { href: string }).href).pathname));
    expect(links).toContain('/console/insurances');
    expect(links.filter((path) => /timesheets|inductions|attendance|workers|people/.test(path))).toEqual([]);
    await viewer.keyboard.press('Control+k');
    await viewer.getByRole('combobox', { name: 'Search' }).fill('orsted');
    await viewer.getByText('Nothing has this name or id.').waitFor();
  });
});
