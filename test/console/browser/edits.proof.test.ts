import type { Page, Request, Response } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { executablePath } from '../../oauth/chromium.ts';
import { type DemoConsole, startDemoConsole } from './demo-console.ts';

let staffConsole: DemoConsole;
let page: Page;
/** A page in another staff user's session. */
let otherPage: Page;

beforeAll(async () => {
  if (!executablePath) return;
  staffConsole = await startDemoConsole();
  page = await staffConsole.signIn('ADMIN');
  otherPage = await staffConsole.signIn('OPERATOR');
});
afterAll(() => staffConsole?.close());

/** Rows of a statement in `au1`. */
const select = <Row = unknown>(sql: string, values: unknown[] = []) =>
  staffConsole.databases.au1.fork().execute<Row[]>(sql, values);

interface Version {
  id: string;
  updatedAt: string;
}

/** Column `updatedAt` as GraphQL returns it. */
const UPDATED_AT = `to_char(updated_at, 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updatedAt"`;

/** Sends a mutation as the other staff user. */
async function changeAsOther(mutation: string): Promise<void> {
  const headers = { 'Content-Type': 'application/json', 'X-Console-CSRF': '1', 'X-Service-Region-Id': 'au1' };
  const request = { method: 'POST', headers, body: JSON.stringify({ query: `mutation { ${mutation} }` }) };
  const result = await otherPage.evaluate(async (init) => (await fetch('/console/graphql', init)).json(), request);
  expect((result as { errors?: unknown }).errors).toBeUndefined();
}

const isResponseOf = (operation: string) => (response: Response) =>
  (response.request().postData() ?? '').includes(`${operation}(`);

const openIntegrator = async () => {
  await page.goto(`${staffConsole.baseUrl}/console/integrations`);
  await page.getByRole('link', { name: 'SnapSite Photos' }).click();
};
const openFirst = async (table: string) => {
  await page.getByRole('table', { name: table, exact: true }).locator('[data-row]').first().click();
  await page.getByRole('dialog').waitFor();
};

const now = () => new Date(staffConsole.clock.now()).toISOString();

describe.skipIf(!executablePath)('a staff user whose record another one changes', () => {
  it('sees a new secret of a client after the client is read again', async () => {
    await openIntegrator();
    await openFirst('Clients');
    await page.getByRole('button', { name: 'New secret…' }).click();
    // A read that follows at once aborts the one before, which never finishes.
    const isReread = (request: Request) => (request.postData() ?? '').includes('query OneIntegrator(');
    await Promise.all([
      page.waitForEvent('requestfinished', isReread),
      page.getByRole('button', { name: 'New secret', exact: true }).click(),
    ]);
    await page.getByText('It is shown once').waitFor();
    // Waits until the page has rendered the response.
    await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
    expect(await page.getByText('It is shown once').count()).toBe(1);
  });

  it('keeps what was typed about a client, sees what is stored, and decides again (CON-6)', async () => {
    await openIntegrator();
    await openFirst('Clients');
    const id = new URL(page.url()).searchParams.get('client')!;
    await page.getByLabel('Name', { exact: true }).fill('Typed name');
    const [seen] = await select<Version>(`select ${UPDATED_AT} from oauth_client where id = ?`, [id]);
    await changeAsOther(
      `updateClient(id: "${id}", name: "Name of Jordan", expectedUpdatedAt: "${seen!.updatedAt}") { id }`,
    );
    const save = page.getByRole('button', { name: 'Save', exact: true });
    await Promise.all([page.waitForResponse(isResponseOf('query OneIntegrator')), save.click()]);
    await page.getByText(/decide again\. Now: Name of Jordan\./).waitFor();
    expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('Typed name');
    await Promise.all([page.waitForResponse(isResponseOf('mutation UpdateClient')), save.click()]);
    await page.getByText('decide again').waitFor({ state: 'detached' });
    expect(await select('select name from oauth_client where id = ?', [id])).toEqual([{ name: 'Typed name' }]);
  });

  it('decides again about a connection (CON-6)', async () => {
    await openIntegrator();
    await openFirst('Connections');
    const builderId = new URL(page.url()).searchParams.get('connection')!;
    const integratorId = new URL(page.url()).pathname.split('/').at(-1)!;
    const key = [builderId, integratorId];
    const where = 'where builder_id = ? and integrator_id = ?';
    const [seen] = await select<Version>(`select ${UPDATED_AT} from connection ${where}`, key);
    await page.getByRole('checkbox', { name: /read:photos/ }).check();
    await changeAsOther(
      `updateConnection(integratorId: "${integratorId}", builderId: "${builderId}", scopes: ["read:builders"],
        expectedUpdatedAt: "${seen!.updatedAt}") { builderId }`,
    );
    const save = page.getByRole('button', { name: 'Save the scopes' });
    await Promise.all([page.waitForResponse(isResponseOf('query OneIntegrator')), save.click()]);
    await page.getByText(/decide again\. Now: read:builders\./).waitFor();
    expect(await page.getByRole('checkbox', { name: /read:photos/ }).isChecked()).toBe(true);
    await save.click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    const allowed = await select(`select 'read:photos' = any(scopes) as photos from connection ${where}`, key);
    expect(allowed).toEqual([{ photos: true }]);
  });

  it('keeps what was typed about a person, and decides again (CON-6)', async () => {
    const [seen] = await select<Version>(`select id, ${UPDATED_AT} from app_user where staff_role is null limit 1`);
    const { id, updatedAt } = seen!;
    await page.goto(`${staffConsole.baseUrl}/console/people?person=${id}`);
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name', { exact: true }).fill('Typed name');
    await changeAsOther(
      `updateUser(id: "${id}", email: "changed.by.jordan@example.com", expectedUpdatedAt: "${updatedAt}") { id }`,
    );
    const save = dialog.getByRole('button', { name: 'Save', exact: true });
    await Promise.all([page.waitForResponse(isResponseOf('query OnePerson')), save.click()]);
    await dialog.getByText(/decide again/).waitFor();
    await dialog.getByText(/Jordan Ellis changed it at/).waitFor();
    await expect.poll(() => dialog.getByLabel('E-mail').inputValue()).toBe('changed.by.jordan@example.com');
    expect(await dialog.getByLabel('Name', { exact: true }).inputValue()).toBe('Typed name');
    await save.click();
    await dialog.getByText(/decide again/).waitFor({ state: 'detached' });
    expect(await select('select name, email from app_user where id = ?', [id])).toEqual([
      { name: 'Typed name', email: 'changed.by.jordan@example.com' },
    ]);
  });

  it('keeps what was typed about a visit, and decides again (CON-6)', async () => {
    await page.goto(`${staffConsole.baseUrl}/console/attendance`);
    await page
      .getByRole('button', { name: /on site since/ })
      .first()
      .click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Reason').fill('Typed reason of the visit');
    const id = new URL(page.url()).searchParams.get('visit')!;
    await select('update sign_on_visit set updated_at = ? where id = ?', [now(), id]);
    const end = dialog.getByRole('button', { name: 'End the visit' });
    await Promise.all([page.waitForResponse(isResponseOf('query Board')), end.click()]);
    await dialog.getByText('decide again').waitFor();
    expect(await dialog.getByLabel('Reason').inputValue()).toBe('Typed reason of the visit');
    await end.click();
    await dialog.waitFor({ state: 'detached' });
    expect(await select('select closing_reason as reason from sign_on_visit where id = ?', [id])).toEqual([
      { reason: 'Typed reason of the visit' },
    ]);
  });

  it('decides again about a conflict whose visit has changed (CON-9)', async () => {
    const [conflict] = await select<{ id: string; builderId: string; visitId: string }>(
      `select conflict.id, conflict.builder_id as "builderId", event.visit_id as "visitId"
        from sign_on_conflict conflict join sign_on_event event on event.integrator_id = conflict.integrator_id
            and event.source_event_id in (conflict.source_event_id, conflict.source_sign_on_event_id)
        where conflict.resolved_at is null and event.visit_id is not null limit 1`,
    );
    const { id, builderId, visitId } = conflict!;
    const query = new URLSearchParams({ show: 'conflicts', builder: builderId, conflict: id });
    await page.goto(`${staffConsole.baseUrl}/console/attendance?${query}`);
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Reason').fill('Typed reason');
    await select('update sign_on_visit set updated_at = ? where id = ?', [now(), visitId]);
    const decide = dialog.getByRole('button', { name: 'Resolve the conflict' });
    await Promise.all([page.waitForResponse(isResponseOf('query OneConflict')), decide.click()]);
    await dialog.getByText('Somebody else changed this in the meantime.').waitFor();
    expect(await dialog.getByLabel('Reason').inputValue()).toBe('Typed reason');
    await decide.click();
    await dialog.getByText('Resolved', { exact: true }).waitFor();
    expect(await select('select resolution_reason as reason from sign_on_conflict where id = ?', [id])).toEqual([
      { reason: 'Typed reason' },
    ]);
  });
});
