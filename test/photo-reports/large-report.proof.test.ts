import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import type { Browser as Chromium } from 'playwright-core';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Photo } from '../../entities/photo.entity.ts';
import { loadConfig } from '../../src/config.ts';
import { toRenditionKey } from '../../src/domain/photos/renditions.ts';
import { RENDITION_SIZES, renderImage } from '../../src/images/render.ts';
import { systemClock } from '../../src/shared/clock.ts';
import { openStorages } from '../../src/storage/storage.ts';
import { DESKTOP, executablePath, launchChromium, PHONE } from '../oauth/chromium.ts';
import type { TestDeployment } from '../oauth/deployment.ts';
import { PASSWORD } from '../oauth/fixtures.ts';
import type { BuilderClient } from '../support/builder-client.ts';
import { createSitePhoto } from '../support/site-photo.ts';
import { blocks, page, request } from './documents.ts';
import { startReportDeployment } from './report-deployment.ts';

const PHOTOS = 500;
const LIMIT_BYTES = 2_000_000;

let folder: string;
let deployment: TestDeployment;
let chromium: Chromium;
let client: BuilderClient;
let reportId: string;

beforeAll(async () => {
  if (!executablePath) return;
  folder = await mkdtemp(join(tmpdir(), 'builder-api-report-'));
  ({ deployment, client } = await startReportDeployment({ settings: { DATA_DIR: folder } }));
  const bytes = await sharp(await createSitePhoto(4032, 3024))
    .jpeg({ quality: 90 })
    .toBuffer();
  const first = await client.createPhoto({ imageAttachment: await client.upload(bytes) });
  const ids = await addCopies(first.id, bytes);
  const content = page(ids.map((id, index) => blocks.image(`i${index}`, id)));
  ({ photoReportId: reportId } = await client.sendOk('POST', '/photo-reports/sync', request({ page: content })));
  chromium = await launchChromium();
});

afterAll(async () => {
  await chromium?.close();
  await deployment?.close();
  await rm(folder, { recursive: true, force: true });
});

/** Adds photos with the bytes of one, and stores their renditions as the jobs do, which would take minutes. */
async function addCopies(id: string, bytes: Buffer): Promise<string[]> {
  const em = deployment.databases.au1.fork();
  const original = await em.findOneOrFail(Photo, { id });
  const photos = Array.from({ length: PHOTOS }, (_, index) => ({
    ...original,
    id: `att_copy${index}`,
    externalSourceId: null,
  }));
  await em.insertMany(Photo, photos as never);
  const file = join(folder, 'photo.jpg');
  await writeFile(file, bytes);
  const { files, width, height } = await renderImage(file);
  const config = loadConfig({ DATA_DIR: folder, BASE_URL: deployment.baseUrl });
  const { au1 } = openStorages(config, { secrets: ['c2VjcmV0'], clock: systemClock });
  for (const photo of photos) {
    for (const size of RENDITION_SIZES) {
      await au1.store(toRenditionKey(photo, size), Readable.from([files[size]]), 'image/webp', 10_000_000);
    }
  }
  await em.execute(`update photo_rendition set status = 'READY', width = ?, height = ?`, [width, height]);
  // The page does not know the dimensions of every third one, which a job has not rendered yet.
  await em.execute(`update photo_rendition set status = 'PENDING' where right(photo_id, 1) in ('3', '6', '9')`);
  return photos.map((photo) => photo.id);
}

const VIEWS = [
  { name: 'phone', viewport: PHONE, deviceScaleFactor: 3 },
  { name: 'desktop', viewport: DESKTOP, deviceScaleFactor: 1 },
  { name: 'desktop of high density', viewport: DESKTOP, deviceScaleFactor: 2 },
];

describe.skipIf(!executablePath)(`a report of ${PHOTOS} photos`, () => {
  it.each(VIEWS)(
    'shows its first screen on a $name after at most 2 MB, and nothing moves',
    async ({ name, ...view }) => {
      const context = await chromium.newContext(view);
      const tab = await context.newPage();
      await tab.addInitScript(`window.layoutShift = 0;
      new PerformanceObserver((list) => { for (const { value } of list.getEntries()) window.layoutShift += value; })
        .observe({ type: 'layout-shift', buffered: true });`);
      await tab.goto(`${deployment.baseUrl}/reports/${reportId}`);
      await tab.getByLabel('E-mail').fill('user_kim@example.com');
      await tab.getByLabel('Password').fill(PASSWORD);
      await tab.getByRole('button', { name: 'Sign in' }).click();
      await tab.locator('figure img').first().waitFor();
      await tab.goto('about:blank');
      const network = await context.newCDPSession(tab);
      await network.send('Network.enable');
      await network.send('Network.setCacheDisabled', { cacheDisabled: true });
      let received = 0;
      network.on('Network.dataReceived', ({ encodedDataLength }) => {
        received += encodedDataLength;
      });
      const startedAt = performance.now();
      await tab.goto(`${deployment.baseUrl}/reports/${reportId}`, { waitUntil: 'commit' });
      const isShown = `(() => {
      const images = [...document.images].filter((image) => {
        const { top, bottom } = image.getBoundingClientRect();
        return bottom > 0 && top < innerHeight;
      });
      return document.readyState !== 'loading' && images.length > 1 && images.every((image) => image.complete && image.naturalWidth > 0);
    })()`;
      await expect.poll(() => tab.evaluate(isShown), { timeout: 30_000, interval: 20 }).toBe(true);
      const milliseconds = Math.round(performance.now() - startedAt);
      const atFirstScreen = received;
      await tab.waitForLoadState('networkidle');
      console.log(
        `${name}: first screen after ${milliseconds} ms and ${atFirstScreen} bytes; ${received} bytes without scrolling`,
      );
      expect(atFirstScreen).toBeGreaterThan(10_000);
      expect(received).toBeLessThanOrEqual(LIMIT_BYTES);
      for (let screen = 0; screen < 6; screen++) {
        await tab.evaluate('scrollBy(0, innerHeight)');
        await expect.poll(() => tab.evaluate(isShown), { timeout: 30_000, interval: 20 }).toBe(true);
      }
      const [shift, images] = (await tab.evaluate(
        `[window.layoutShift, document.querySelectorAll('figure img').length]`,
      )) as [number, number];
      expect(images).toBe(PHOTOS);
      expect(shift).toBeLessThan(0.01);
      await context.close();
    },
  );
});
