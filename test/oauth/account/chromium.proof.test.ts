import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { resetPassword } from '../../../src/domain/access/password-links.ts';
import { OPERATOR } from '../../support/audit.ts';
import { type MailServer, startMailServer } from '../../support/mail-server.ts';
import { executablePath, expectUsable, launchChromium } from '../chromium.ts';
import { obtainTokens } from '../code-flow.ts';
import { startDeployment, startListening, type TestDeployment } from '../deployment.ts';
import { addApplication, addBuilder, addUser, PASSWORD } from '../fixtures.ts';

let deployment: TestDeployment;
let mail: MailServer;
let chromium: Browser;
let page: Page;

beforeAll(async () => {
  if (!executablePath) return;
  mail = await startMailServer();
  deployment = await startDeployment({ SMTP_URL: mail.url, MAIL_FROM: 'no-reply@example.com' });
  const instance = await startListening(deployment);
  await addBuilder(deployment, 'buil_a', { name: 'Harbour Constructions' });
  await addBuilder(deployment, 'buil_b', { name: 'Bay & Sons Building Group of New South Wales and Victoria' });
  await addUser(deployment, 'user_a', ['buil_a', 'buil_b'], { name: 'Kim Nguyen' });
  await addUser(deployment, 'user_p', ['buil_a'], { name: 'Sam Whitfield' });
  await addApplication(deployment, 'cli_app', { name: 'SnapSite Reports' });
  for (const builder_id of ['buil_a', 'buil_b'])
    await obtainTokens(instance, { clientId: 'cli_app', email: 'user_a@example.com', changes: { builder_id } });
  chromium = await launchChromium();
  page = await chromium.newPage();
});
afterAll(async () => {
  await chromium?.close();
  await deployment?.close();
  await mail?.close();
});

const expectHeading = (name: string) => page.getByRole('heading', { level: 1, name }).waitFor({ timeout: 30_000 });

describe.skipIf(!executablePath)('the account pages in Chromium', () => {
  it('are accessible from sign-in to the removal of an application (OAU-46, OAU-47)', async () => {
    await page.goto(`${deployment.baseUrl}/account/applications`);
    await expectUsable(page, 'account-sign-in');
    await page.getByLabel('E-mail').fill('user_a@example.com');
    await page.getByLabel('Password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await expectHeading('Applications that use your data');
    await page.getByText('What it can do').first().click();
    await expectUsable(page, 'account-applications');
    await page.getByRole('button', { name: 'Remove access of SnapSite Reports to Harbour Constructions' }).click();
    await page.getByText('SnapSite Reports no longer has access.').waitFor();
    expect(await page.getByRole('button', { name: /Remove access/ }).count()).toBe(1);
    await expectUsable(page, 'account-removed');
    await page.getByRole('button', { name: /Remove access/ }).click();
    await page.getByText('No application has access.').waitFor();
    await expectUsable(page, 'account-no-applications');
  });

  it('are accessible from a forgotten password to a new one (OAU-44, OAU-45)', async () => {
    await page.goto(`${deployment.baseUrl}/account/forgot-password`);
    await expectUsable(page, 'forgot-password');
    await page.getByLabel('E-mail').fill('nobody@example.com');
    await page.getByRole('button', { name: 'Send the link' }).click();
    await expectHeading('Look in your mailbox');
    await expectUsable(page, 'link-requested');
    const context = { database: deployment.databases.au1, clock: deployment.clock, source: OPERATOR };
    const { path } = await resetPassword(context, 'user_p', false);
    await page.goto(`${deployment.baseUrl}${path}`);
    await expectUsable(page, 'choose-password');
    await page.getByLabel('New password').fill('short');
    await page.getByLabel('Repeat it').fill('short');
    await page.getByRole('button', { name: 'Save the password' }).click();
    await page.getByRole('alert').waitFor();
    await expectUsable(page, 'choose-password-problem');
    await page.getByLabel('New password').fill('long enough now');
    await page.getByLabel('Repeat it').fill('long enough now');
    await page.getByRole('button', { name: 'Save the password' }).click();
    await expectHeading('Your password is saved');
    await expectUsable(page, 'password-saved');
    await page.goto(`${deployment.baseUrl}${path}`);
    await expectHeading('This link does not work');
    await expectUsable(page, 'link-used');
  });
});
