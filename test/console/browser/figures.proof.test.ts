import type { Locator, Page, Response } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DESKTOP, executablePath, expectAccessible, PHONE } from '../../oauth/chromium.ts';
import { type DemoConsole, startDemoConsole } from './demo-console.ts';

/* Figures that obey the filters and lead to their rows, the tasks of attendance, and pages without a connection. */

let staffConsole: DemoConsole;
let page: Page;

beforeAll(async () => {
  if (!executablePath) return;
  staffConsole = await startDemoConsole();
  page = await staffConsole.signIn('OPERATOR');
});
afterAll(() => staffConsole?.close());

let statements = 0;
const select = (text: string, values: unknown[] = []) =>
  staffConsole.databases.au1.runner.run({ name: `test ${++statements}`, text }, values) as Promise<unknown[][]>;

const open = (path: string) => page.goto(`${staffConsole.baseUrl}/console/${path}`);
const toNumber = (text: string | null) => Number(text!.replaceAll(/[^\d.]/g, ''));
const table = (name: string) => page.getByRole('table', { name, exact: true });
const backgroundOf = (locator: Locator) =>
  locator.evaluate((element) => {
    const { getComputedStyle } = globalThis as unknown as {
      getComputedStyle(of: unknown): { backgroundColor: string };
    };
    return getComputedStyle(element).backgroundColor;
  });
const countListed = async () => toNumber((await page.getByText(/^\d+–.* of /).innerText()).replace(/.* of /, ''));

describe.skipIf(!executablePath)('figures', () => {
  it('of timesheets obey the status, in each division, and lead to their rows', async () => {
    await open('timesheets?status=WAITING_REVIEW');
    const summary = await page.getByText(/hours in .* timesheets/).innerText();
    const [hours, sheets] = summary.split(' hours in ').map(toNumber) as [number, number];
    expect(sheets).toBe(await countListed());
    expect(sheets).toBeGreaterThan(0);
    for (const division of ['By project', 'By cost code']) {
      const rows = page.locator('.panel').filter({ has: page.getByRole('heading', { name: division }) });
      const values = await rows.getByText(/ h$/).allInnerTexts();
      expect(values.map(toNumber).reduce((sum, value) => sum + value, 0)).toBeCloseTo(hours, 1);
    }
    const first = page.locator('.top-list a').first();
    const name = await first.innerText();
    await first.click();
    await page.waitForURL(/status=WAITING_REVIEW.*project=/);
    const cells = table('Timesheets').locator('td[data-label="Project"]');
    await expect.poll(async () => [...new Set(await cells.allInnerTexts())]).toEqual([name]);
    const week = page.locator('.plot a').first();
    const count = toNumber((await page.getByText(/hours in .* timesheets/).innerText()).split(' in ')[1]!);
    await week.click();
    await page.waitForURL(/from=.*until=/);
    await expect.poll(countListed).toBeLessThan(count);
  });

  it('of insurances obey type and status, and a month leads to its insurances', async () => {
    await open('insurances?type=PUBLIC_LIABILITY');
    await page.getByText('Figures as a table').click();
    const rows = page.locator('.figures-table tbody tr');
    const row = rows.filter({ hasNot: page.getByText('0', { exact: true }) }).first();
    const [month, count] = await row.locator('td').allInnerTexts();
    await row.getByRole('link').press('Enter');
    await page
      .getByRole('combobox', { name: 'End of cover' })
      .getByText(`Ends in ${month}`)
      .waitFor({ state: 'attached' });
    await expect.poll(countListed).toBe(toNumber(count!));
    expect([...new Set(await table('Insurances').locator('td[data-label="Type"]').allInnerTexts())]).toEqual([
      'Public liability',
    ]);
  });

  it('of inductions obey the status', async () => {
    await open('inductions?status=REVIEWED');
    const stats = page.getByRole('region', { name: 'Inductions by status' });
    await stats.getByText('Reviewed').waitFor();
    expect(toNumber(await stats.innerText())).toBe(await countListed());
  });

  it('of today lead to the visits that they count, of all projects', async () => {
    const cells = (label: string) => table('Visits').locator(`td[data-label="${label}"]`).allInnerTexts();
    /** Opens the first bar of a chart that counts anything. */
    const openBar = async (title: RegExp) => {
      await open('today');
      const chart = page.getByRole('figure').filter({ has: page.locator('section', { hasText: title }) });
      await chart.getByText('Figures as a table').click();
      const rows = chart.locator('.figures-table tbody tr');
      const row = rows.filter({ hasNot: page.locator('td:nth-child(2)', { hasText: /^0$/ }) }).first();
      const [label, count] = (await row.locator('td').allInnerTexts()) as [string, string];
      await row.getByRole('link').press('Enter');
      await page.getByRole('heading', { level: 1, name: 'Visits' }).waitFor();
      await table('Visits').locator('tbody tr').first().waitFor();
      return { label, count: toNumber(count) };
    };
    const hour = await openBar(/^Sign-ons by hour/);
    const signOns = await cells('Signed on');
    expect(signOns).toHaveLength(hour.count);
    for (const signedOn of signOns) expect(signedOn).toContain(`, ${hour.label.slice(0, 3)}`);
    const day = await openBar(/^Workers on site by day/);
    const ofDay = await cells('Signed on');
    for (const signedOn of ofDay) expect(signedOn).toContain(`${day.label} `);
    const [[visits, workers]] = (await select(
      `select count(*), count(distinct worker_id) from sign_on_visit where builder_id = $1 and archived_at is null
        and (signed_on_at at time zone 'Australia/Sydney')::date = to_date($2, 'DD Mon YYYY')`,
      [staffConsole.demo.attendance!.builderId, `${day.label} 2026`],
    )) as [[unknown, unknown]];
    expect([ofDay.length, day.count]).toEqual([Number(visits), Number(workers)]);
    expect(new Set(await cells('Project')).size).toBeGreaterThan(1);
  });

  it('of requests lead to those of the day that failed', async () => {
    await open('integrations');
    const isOfDay = (response: Response) => (response.request().postData() ?? '').includes('"day":"2026-03-11"');
    const [response] = await Promise.all([page.waitForResponse(isOfDay), page.locator('.plot a').last().click()]);
    const { requestLog } = ((await response.json()) as { data: { requestLog: { at: string }[] } }).data;
    expect([...new Set(requestLog.map(({ at }) => at.slice(0, 10)))]).toEqual(['2026-03-11']);
    // Until the response is shown, the page has the requests of all days.
    const title = page.getByRole('heading', { name: /^Failed requests of 11 Mar/ });
    await title.getByText(`${requestLog.length} rejections, equal ones in one row`, { exact: true }).waitFor();
    const times = table('Failed requests').locator('td[data-label="Times"]');
    const total = (await times.allInnerTexts()).map(toNumber).reduce((sum, each) => sum + each, 0);
    expect(total).toBe(requestLog.length);
  });

  it('have one colour for a meaning, in badges and charts', async () => {
    await open('integrations');
    await page.getByRole('heading', { name: 'Requests by day' }).waitFor();
    const failed = page.locator('.legend span').filter({ hasText: 'Failed' }).locator('i');
    const colour = await backgroundOf(failed);
    await open('timesheets');
    const rejected = page.locator('.legend span').filter({ hasText: 'Rejected' }).locator('i');
    expect(await backgroundOf(rejected)).toBe(colour);
    const [red, green] = colour.match(/\d+/g)!.map(Number) as [number, number];
    expect(red).toBeGreaterThan(2 * green);
  });

  it.each(['today', 'timesheets?from=2025-06-01&until=2026-03-11', 'insurances', 'integrations'])(
    'of %s have labels that do not overlap',
    async (path) => {
      await open(path);
      await page.locator('.plot').first().waitFor();
      for (const viewport of [PHONE, DESKTOP]) {
        await page.setViewportSize(viewport);
        for (const plot of await page.locator('.plot').all()) {
          const labels = await plot.locator('.label:visible').all();
          expect(labels.length).toBeGreaterThan(2);
          const boxes = (await Promise.all(labels.map((label) => label.boundingBox()))).map((box) => box!);
          for (const [index, box] of boxes.entries()) {
            expect(box.x + box.width).toBeLessThanOrEqual(boxes[index + 1]?.x ?? viewport.width);
          }
        }
      }
    },
  );
});

describe.skipIf(!executablePath)('attendance', () => {
  const tabs = () => page.getByRole('navigation', { name: 'Attendance' });
  const countOf = async (tab: string) =>
    toNumber(await tabs().getByRole('link', { name: tab }).locator('.count').innerText());

  it('has tabs with counts, of all projects or of one', async () => {
    await open('attendance?show=pending');
    await tabs().locator('.count').first().waitFor();
    const all = await countOf('Sign-offs without sign-on');
    expect(all).toBe(await countListed());
    await tabs().getByRole('link', { name: 'Open visits' }).click();
    await page.getByRole('heading', { level: 1, name: 'Open visits' }).waitFor();
    await page.getByRole('combobox', { name: 'Project' }).selectOption({ index: 1 });
    await page.waitForURL(/project=/);
    await expect.poll(async () => (await countOf('Open visits')) === (await countListed())).toBe(true);
    await tabs().getByRole('link', { name: 'Board' }).click();
    await page.getByRole('region', { name: 'Board' }).waitFor();
    expect(page.url()).toContain('project=');
  });

  it('marks a visit that is too long, and proposes the usual end of the project', async () => {
    const builderId = staffConsole.demo.attendance!.builderId;
    const at = new Date(staffConsole.clock.now() - 28 * 3_600_000).toISOString();
    await select(
      `insert into sign_on_visit (id, created_at, updated_at, builder_id, project_id, worker_id, signed_on_at)
        select 'signon_long', $1, $1, builder_id, project_id, worker_id, $1 from sign_on_visit
        where builder_id = $2 and signed_off_at is not null order by signed_on_at desc, id limit 1`,
      [at, builderId],
    );
    const [[usual]] = (await select(
      `select to_char((percentile_disc(0.5) within group (order by (signed_off_at at time zone 'Australia/Sydney')::time)), 'HH24:MI')
        from sign_on_visit where project_id = (select project_id from sign_on_visit where id = 'signon_long')
          and archived_at is null and signed_off_at is not null
          and signed_on_at >= '2026-02-10'::timestamp at time zone 'Australia/Sydney'
          and signed_on_at < '2026-03-10'::timestamp at time zone 'Australia/Sydney'`,
    )) as [[string]];
    await open('attendance?show=open');
    const row = table('Open visits').getByRole('row').filter({ hasText: '28 h' });
    await row.getByText('longer than 14 hours').waitFor();
    await row.getByRole('button').click();
    const dialog = page.getByRole('dialog');
    const left = dialog.getByLabel(/^Left at/);
    await expect.poll(() => left.inputValue()).toBe(`2026-03-10T${usual}`);
    await dialog.getByLabel('Reason').fill('Left by the back gate.');
    await dialog.getByRole('button', { name: 'End the visit' }).click();
    await dialog.waitFor({ state: 'detached' });
    const rows = await select(
      `select to_char(closed_at at time zone 'Australia/Sydney', 'HH24:MI') from sign_on_visit where id = 'signon_long'`,
    );
    expect(rows).toEqual([[usual]]);
  });

  it('makes a visit of a sign-off without sign-on, or dismisses it with a reason', async () => {
    await open('attendance?show=pending');
    const dialog = page.getByRole('dialog');
    const openFirst = async () => {
      await table('Sign-offs without sign-on').getByRole('button').first().click();
      return new URL(page.url()).searchParams.get('pending')!;
    };
    const before = await countListed();
    const made = await openFirst();
    await dialog.getByLabel(/^Signed on at/).fill('2026-03-11T06:30');
    await dialog.getByLabel('Reason').fill('On the paper list.');
    await dialog.getByRole('button', { name: 'Settle the sign-off' }).click();
    await dialog.waitFor({ state: 'detached' });
    await expect.poll(() => countOf('Sign-offs without sign-on')).toBe(before - 1);
    const dismissed = await openFirst();
    await dialog.getByRole('radio', { name: /Dismiss/ }).check();
    await dialog.getByLabel('Reason').fill('A test of the gate.');
    await dialog.getByRole('button', { name: 'Settle the sign-off' }).click();
    await dialog.waitFor({ state: 'detached' });
    const events = await select(
      `select status, visit_id is not null from sign_on_event where id in ($1, $2) order by status`,
      [made, dismissed],
    );
    expect(events).toEqual([
      ['APPLIED', 't'],
      ['REJECTED', 'f'],
    ]);
    const reasons = await select(
      `select values_after ->> 'reason' from audit_entry where action = 'sign_off.dismissed' and object_id = $1`,
      [dismissed],
    );
    expect(reasons).toEqual([['A test of the gate.']]);
  });

  it('shows the seconds of a conflict, keeps the decision in view on a phone, and leads to the next one', async () => {
    await page.setViewportSize(PHONE);
    await open('attendance?show=conflicts');
    await table('Conflicts').getByRole('button').first().click();
    const dialog = page.getByRole('dialog');
    await dialog
      .getByText(/\d\d:\d\d:\d\d/)
      .first()
      .waitFor();
    const submit = dialog.getByRole('button', { name: 'Resolve the conflict' });
    const box = (await submit.boundingBox())!;
    expect(box.y + box.height).toBeLessThanOrEqual(PHONE.height);
    expect(await dialog.evaluate((element) => (element as unknown as { scrollTop: number }).scrollTop)).toBe(0);
    const first = new URL(page.url()).searchParams.get('conflict');
    await dialog.getByLabel('Reason').fill('The gate was offline.');
    await submit.click();
    await dialog.getByText('The gate was offline.').waitFor();
    await dialog.getByRole('button', { name: /^Next conflict/ }).click();
    await page.waitForURL((url) => url.searchParams.get('conflict') !== first);
    await dialog.getByRole('button', { name: 'Resolve the conflict' }).waitFor();
    expect(await dialog.getByLabel('Reason').inputValue()).toBe('');
    await page.setViewportSize(DESKTOP);
  });
});

describe.skipIf(!executablePath)('without a connection', () => {
  it('a page that was never loaded is shown once the service can be reached again', async () => {
    const fresh = await staffConsole.signIn('OPERATOR');
    await fresh.getByRole('heading', { name: 'On site now' }).waitFor();
    await fresh.context().setOffline(true);
    await fresh.getByRole('link', { name: 'Insurances', exact: true }).click();
    await fresh.getByText('No connection. The page').waitFor();
    await fresh.context().setOffline(false);
    await fresh.getByRole('table', { name: 'Insurances', exact: true }).waitFor();
    expect(await fresh.getByRole('alert').count()).toBe(0);
    // A page that was loaded, and whose records were not.
    await fresh.context().setOffline(true);
    await fresh.getByRole('link', { name: 'Today', exact: true }).click();
    await fresh.getByRole('link', { name: 'Insurances', exact: true }).click();
    await fresh.getByRole('combobox', { name: 'Type' }).selectOption('WORK_COVER');
    await fresh.getByRole('button', { name: 'Try again' }).first().waitFor();
    await fresh.context().setOffline(false);
    await fresh.getByRole('alert').first().waitFor({ state: 'detached' });
    await fresh.getByRole('table', { name: 'Insurances', exact: true }).waitFor();
    await fresh.context().close();
  });
});

describe.skipIf(!executablePath)('words and themes', () => {
  it('name the country of a region, and the days until an end in words', async () => {
    await open('insurances?ends=30');
    await page
      .getByText(/^in \d+ days$/)
      .first()
      .waitFor();
    expect(await page.getByText('Australia (au1)').count()).toBe(1);
  });

  it('of the sign-in page follow the dark theme of the system', async () => {
    const context = await staffConsole.chromium.newContext({ colorScheme: 'dark' });
    const signIn = await context.newPage();
    await signIn.goto(`${staffConsole.baseUrl}/console/sign-in`);
    const background = await signIn.evaluate('getComputedStyle(document.body).backgroundColor');
    expect(background).toBe('rgb(14, 19, 24)');
    await expectAccessible(signIn, 'sign-in, dark');
    await context.close();
  });
});
