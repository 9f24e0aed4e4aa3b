import { readFile } from 'node:fs/promises';
import type { Browser as Chromium, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { executablePath, launchChromium, PHONE } from '../oauth/chromium.ts';
import type { TestDeployment } from '../oauth/deployment.ts';
import { PASSWORD } from '../oauth/fixtures.ts';
import type { BuilderClient } from '../support/builder-client.ts';
import { createHeic } from '../support/images.ts';
import {
  COLOUR_TOLERANCE,
  createQuadrantPicture,
  findColourDifference,
  QUADRANT_COLOURS,
} from '../support/quadrant-picture.ts';
import { type Swift, startSwift, swiftUnavailableReason } from '../support/swift.ts';
import { blocks, page, request } from './documents.ts';
import { startReportDeployment } from './report-deployment.ts';

/** Colours that Chromium shows in the middle of each quadrant of the image with that description. */
const coloursIn = (tab: Page, description: string): Promise<number[][]> =>
  tab.evaluate(`(async () => {
    const image = document.querySelector('img[alt="${description}"]');
    image.scrollIntoView();
    await image.decode();
    const [width, height] = [image.naturalWidth, image.naturalHeight];
    const canvas = Object.assign(document.createElement('canvas'), { width, height });
    const context = canvas.getContext('2d', { colorSpace: 'srgb', willReadFrequently: true });
    context.drawImage(image, 0, 0, width, height);
    return [1, 3].flatMap((y) => [1, 3].map((x) =>
      [...context.getImageData(Math.floor(x * width / 4), Math.floor(y * height / 4), 1, 1).data].slice(0, 3)));
  })()`);

/** Returns the text, link and attributes of an image on the page. */
const describeImage = (tab: Page, description: string): Promise<Record<string, string>> =>
  tab.evaluate(`(() => {
    const image = document.querySelector('img[alt="${description}"]');
    const [width, height] = ['width', 'height'].map((name) => image.getAttribute(name));
    return { width, height, loading: image.loading, original: image.closest('a').href };
  })()`);

describe.skipIf(!executablePath).each(['local', 's3'] as const)(
  'the photos of a report in Chromium, %s store',
  (store) => {
    describe.skipIf(store === 's3' && swiftUnavailableReason !== null)('with renditions', { retry: 1 }, () => {
      let swift: Swift | null = null;
      let deployment: TestDeployment;
      let chromium: Chromium;
      let client: BuilderClient;

      beforeAll(async () => {
        swift = store === 's3' ? await startSwift() : null;
        // Swift checks by its own clock when a URL was signed.
        ({ deployment, client } = await startReportDeployment({ settings: swift?.settings, now: Date.now() }));
        chromium = await launchChromium();
      });

      afterAll(async () => {
        await chromium?.close();
        await deployment?.close();
        await swift?.stop();
      });

      const createPhoto = async (description: string, bytes: Buffer, type = 'image/jpeg') => {
        const { uploadUrl, key, regionId } = await client.presign(bytes, type);
        const answer = await fetch(uploadUrl, {
          method: 'PUT',
          headers: { 'content-type': type },
          body: Uint8Array.from(bytes),
        });
        expect(answer.status).toBe(200);
        return client.createPhoto({ imageAttachment: { key, regionId, type: 'attachment' }, description });
      };

      it('are upright, in their colours, of known dimensions, and lead to the originals', async () => {
        const turned = await createQuadrantPicture(960, 640)
          .withMetadata({ orientation: 6 })
          .jpeg({ quality: 95 })
          .toBuffer();
        const wide = await readFile('test/fixtures/heic/display-p3.heic');
        const photos = [
          await createPhoto('turned', turned),
          await createPhoto('iPhone', wide, 'image/heic'),
          await createPhoto('broken', createHeic(), 'image/heic'),
        ];
        const content = page(photos.map(({ id }, index) => blocks.image(`i${index}`, id)));
        const { photoReportId } = await client.sendOk('POST', '/photo-reports/sync', request({ page: content }));
        const context = await chromium.newContext({ viewport: PHONE });
        const tab = await context.newPage();
        const messages: string[] = [];
        tab.on('console', (message) => messages.push(message.text()));
        await tab.goto(`${deployment.baseUrl}/reports/${photoReportId}`);
        await tab.getByLabel('E-mail').fill('user_kim@example.com');
        await tab.getByLabel('Password').fill(PASSWORD);
        await tab.getByRole('button', { name: 'Sign in' }).click();
        await tab.getByRole('img', { name: 'turned' }).waitFor();
        const [red, green, blue, white] = QUADRANT_COLOURS;
        expect(findColourDifference(await coloursIn(tab, 'turned'), [blue!, red!, white!, green!])).toBeLessThanOrEqual(
          COLOUR_TOLERANCE,
        );
        expect(findColourDifference(await coloursIn(tab, 'iPhone'), QUADRANT_COLOURS)).toBeLessThanOrEqual(
          COLOUR_TOLERANCE,
        );
        const [first, second] = await coloursIn(tab, 'broken');
        expect(first).toEqual(second);
        await tab.reload();
        const { original, ...attributes } = await describeImage(tab, 'turned');
        expect(attributes).toEqual({ width: '427', height: '640', loading: 'lazy' });
        const answer = await fetch(original!);
        expect([answer.status, turned.equals(Buffer.from(await answer.arrayBuffer()))]).toEqual([200, true]);
        expect(messages).toEqual([]);
        await context.close();
      });
    });
  },
);
