import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import type { Browser, Page } from 'playwright-core';
import { buildApp } from '../../../src/app.ts';
import { loadConfig } from '../../../src/config.ts';
import { Database, type Databases } from '../../../src/database/database.ts';
import { runPendingMigrations } from '../../../src/database/run-migrations.ts';
import { type DemoFile, readDemoFile } from '../../../src/demo/demo-file.ts';
import { loadDemo } from '../../../src/demo/load.ts';
import { storeDemoPictures } from '../../../src/demo/store-pictures.ts';
import { startSequencer } from '../../../src/domain/events/sequencer.ts';
import { systemClock } from '../../../src/shared/clock.ts';
import { newSecret } from '../../../src/shared/secrets.ts';
import { openStorages } from '../../../src/storage/storage.ts';
import { launchChromium } from '../../oauth/chromium.ts';
import { createDatabase } from '../../setup/database.ts';
import { freePort } from '../../support/ports.ts';

/** The service over the demo company, with the system's clock, and a browser. */
export interface DemoConsole {
  baseUrl: string;
  databases: Databases;
  demo: DemoFile;
  chromium: Browser;
  /** Opens a page of the console in a browser session of its own, signed in as a staff user of the role. */
  signIn(role: 'VIEWER' | 'OPERATOR' | 'ADMIN', path?: string): Promise<Page>;
  close(): Promise<void>;
}

export async function startDemoConsole(): Promise<DemoConsole> {
  const folder = await mkdtemp(join(tmpdir(), 'builder-api-console-'));
  const [au1, us1] = await Promise.all([createDatabase('template1'), createDatabase('template1')]);
  const databases: Databases = { au1: new Database('au1', au1.url), us1: new Database('us1', us1.url) };
  for (const database of Object.values(databases)) await runPendingMigrations(database, 'auto');
  const port = await freePort();
  const baseUrl = `http://127.0.0.1:${port}`;
  const limits = { RATE_LIMIT_API: '0', RATE_LIMIT_SYNC: '0', RATE_LIMIT_TOKEN: '0' };
  const env = { PORT: String(port), BASE_URL: baseUrl, DATA_DIR: folder, LOG_LEVEL: 'silent', TOKEN_KEY: newSecret() };
  const config = loadConfig({ ...env, ...limits });
  const storages = openStorages(config, { secrets: config.tokenKeys!, clock: systemClock });
  const loaded = await loadDemo(databases, config, systemClock, () => storeDemoPictures(storages));
  const demo = (await readDemoFile(loaded!.file))!;
  const app = await buildApp(config, { databases, clock: systemClock, tokenKeys: config.tokenKeys! });
  await app.listen({ host: '127.0.0.1', port });
  const stopSequencer = startSequencer(databases, pino({ level: 'silent' }));
  const chromium = await launchChromium();
  return {
    ...{ baseUrl, databases, demo, chromium },
    async signIn(role, path = '/console/today') {
      const context = await chromium.newContext({ reducedMotion: 'reduce', acceptDownloads: true });
      context.setDefaultTimeout(10_000);
      const page = await context.newPage();
      await page.goto(`${baseUrl}${path}`);
      await submitSignIn(page, demo, role);
      return page;
    },
    async close() {
      await chromium.close();
      await stopSequencer();
      await app.close();
      await Promise.all(Object.values(databases).map((database) => database.close()));
      await Promise.all([au1.drop(), us1.drop()]);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Fills in the sign-in page that the browser shows, with the demo's staff user of the role. */
export async function submitSignIn(page: Page, demo: DemoFile, role: string): Promise<void> {
  const { email, password } = demo.staff.find((staff) => staff.role === role)!;
  await page.getByLabel('E-mail').fill(email);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('navigation', { name: 'Pages of the console' }).waitFor({ state: 'attached' });
}
