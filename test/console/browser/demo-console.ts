import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pino } from 'pino';
import type { Browser, Page } from 'playwright-core';
import { buildApp } from '../../../src/app.ts';
import { loadConfig } from '../../../src/config.ts';
import { Database, type Databases } from '../../../src/database/database.ts';
import type { DemoFile } from '../../../src/demo/demo-file.ts';
import { loadDemo } from '../../../src/demo/load.ts';
import { storeDemoPictures } from '../../../src/demo/store-pictures.ts';
import { startSequencer } from '../../../src/domain/events/sequencer.ts';
import type { Clock } from '../../../src/shared/clock.ts';
import type { RegionId } from '../../../src/shared/regions.ts';
import { newSecret } from '../../../src/shared/secrets.ts';
import { openStorages } from '../../../src/storage/storage.ts';
import { launchChromium } from '../../oauth/chromium.ts';
import { createDatabase } from '../../setup/database.ts';
import { DEMO_KEY } from '../../setup/template-names.ts';
import { freePort } from '../../support/ports.ts';

/**
 * When the demo is loaded: a Wednesday at 11:30 in Sydney, when workers are on site, and 00:30 UTC. The generated records depend on
 * it; on some days, a list that a test opens would be empty.
 */
const LOADED_AT = Date.parse('2026-03-11T11:30:00+11:00');

/** The service over the demo company, on a fixed working day, and a browser with the same clock. */
export interface DemoConsole {
  clock: Clock;
  baseUrl: string;
  databases: Databases;
  demo: DemoFile;
  chromium: Browser;
  /** Opens a page of the console in a browser session of its own, signed in as a staff user of the role. */
  signIn(role: 'VIEWER' | 'OPERATOR' | 'ADMIN', path?: string): Promise<Page>;
  /** Opens a path of the console in a browser session of its own, which shows the sign-in page. */
  open(path: string): Promise<Page>;
  close(): Promise<void>;
}

/** Returns a clock that began at `LOADED_AT` and advances in real time, because the pages poll. */
function createDemoClock(): Clock {
  const offset = LOADED_AT - Date.now();
  return { now: () => Date.now() + offset };
}

interface LoadedDemo {
  demo: DemoFile;
  /** Names of the databases. */
  templates: Record<RegionId, string>;
  /** Pictures by their paths in the data folder. */
  pictures: Map<string, Buffer>;
}

/** The demo, which is loaded once for all files of a test worker. */
let loadedDemo: Promise<LoadedDemo> | undefined;

async function loadDemoOnce(): Promise<LoadedDemo> {
  const folder = await mkdtemp(join(tmpdir(), 'builder-api-demo-'));
  const [au1, us1] = await Promise.all([createDatabase(), createDatabase()]);
  const databases: Databases = { au1: new Database('au1', au1.url), us1: new Database('us1', us1.url) };
  const config = loadConfig({ DATA_DIR: folder, LOG_LEVEL: 'silent', TOKEN_KEY: newSecret() });
  const clock = { now: () => LOADED_AT };
  const storages = openStorages(config, { secrets: config.tokenKeys!, clock });
  const loaded = await loadDemo(databases, config, DEMO_KEY, clock, () => storeDemoPictures(storages));
  const demo = JSON.parse(await readFile(loaded!.file, 'utf8')) as DemoFile;
  await Promise.all(Object.values(databases).map((database) => database.close()));
  const pictures = new Map<string, Buffer>();
  for (const path of await readdir(folder, { recursive: true })) {
    if ((await stat(join(folder, path))).isFile()) pictures.set(path, await readFile(join(folder, path)));
  }
  await rm(folder, { recursive: true });
  const nameOf = ({ url }: { url: string }) => new URL(url).pathname.slice(1);
  return { demo, templates: { au1: nameOf(au1), us1: nameOf(us1) }, pictures };
}

export async function startDemoConsole(): Promise<DemoConsole> {
  loadedDemo ??= loadDemoOnce();
  const { templates, pictures, demo: loaded } = await loadedDemo;
  const clock = createDemoClock();
  const folder = await mkdtemp(join(tmpdir(), 'builder-api-console-'));
  for (const [path, bytes] of pictures) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), bytes);
  }
  const [au1, us1] = await Promise.all([createDatabase(templates.au1), createDatabase(templates.us1)]);
  const databases: Databases = { au1: new Database('au1', au1.url), us1: new Database('us1', us1.url) };
  const port = await freePort();
  const baseUrl = `http://127.0.0.1:${port}`;
  const demo = { ...loaded, baseUrl };
  const limits = { RATE_LIMIT_API: '0', RATE_LIMIT_SYNC: '0', RATE_LIMIT_TOKEN: '0' };
  const env = { PORT: String(port), BASE_URL: baseUrl, DATA_DIR: folder, LOG_LEVEL: 'silent', TOKEN_KEY: newSecret() };
  const config = loadConfig({ ...env, ...limits });
  const app = await buildApp(config, { databases, clock, tokenKeys: config.tokenKeys! });
  await app.listen({ host: '127.0.0.1', port });
  const stopSequencer = startSequencer(databases, pino({ level: 'silent' }));
  const chromium = await launchChromium();
  const open = async (path: string) => {
    const context = await chromium.newContext({
      // A browser of another time zone than the builder's, which no page depends on.
      ...{ locale: 'en-AU', timezoneId: 'Europe/Berlin' },
      ...{ reducedMotion: 'reduce', acceptDownloads: true },
    });
    context.setDefaultTimeout(30_000);
    await context.clock.install({ time: clock.now() });
    const page = await context.newPage();
    await page.goto(`${baseUrl}${path}`);
    return page;
  };
  return {
    ...{ clock, baseUrl, databases, demo, chromium },
    open,
    async signIn(role, path = '/console/today') {
      const page = await open(path);
      await submitSignIn(page, demo, role);
      return page;
    },
    async close() {
      await chromium.close();
      await stopSequencer();
      await app.close();
      await Promise.all(Object.values(databases).map((database) => database.close()));
      await Promise.all([au1.drop(), us1.drop()]);
      // A rendition that no request waits for any longer can still be stored.
      await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/** Fills in the sign-in page that the browser shows, with the demo's staff user of the role. */
export async function submitSignIn(page: Page, demo: DemoFile, role: string): Promise<void> {
  await submitCredentials(page, demo.staff.find((staff) => staff.role === role)!);
}

/** Fills in the sign-in page that the browser shows. */
export async function submitCredentials(page: Page, { email, password }: { email: string; password: string }) {
  await page.getByLabel('E-mail').fill(email);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('navigation', { name: 'Pages of the console' }).waitFor({ state: 'attached' });
}
