import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { executablePath, launchChromium } from '../oauth/chromium.ts';
import { type BuilderClient, createBuilderClient } from '../support/builder-client.ts';
import { type Service, startService } from '../support/harness.ts';
import { createPicture } from '../support/images.ts';
import { freePort } from '../support/ports.ts';

/** A page of an application that uploads the chosen file to the signed URL that its server has requested. */
const PAGE = `<!doctype html><title>Site notes</title><input type="file" id="file"><output id="done"></output>
<script>
  document.querySelector('#file').addEventListener('change', async (event) => {
    const [file] = event.target.files;
    const done = document.querySelector('#done');
    try {
      const { uploadUrl, contentType } = await window.intentFor({ type: file.type, size: file.size, name: file.name });
      const answer = await fetch(uploadUrl, { method: 'PUT', headers: { 'Content-Type': contentType }, body: file });
      done.textContent = String(answer.status);
    } catch (error) {
      done.textContent = String(error);
    }
  });
</script>`;

let service: Service;
let client: BuilderClient;
let application: Server;
let chromium: Browser;

beforeAll(async () => {
  if (!executablePath) return;
  const port = await freePort();
  service = await startService({ BASE_URL: `http://127.0.0.1:${port}` });
  await service.app.listen({ port, host: '127.0.0.1' });
  client = await createBuilderClient(service, 'A');
  application = createServer((_request, response) => void response.setHeader('content-type', 'text/html').end(PAGE));
  await new Promise<void>((done) => application.listen(0, '127.0.0.1', done));
  chromium = await launchChromium();
});

afterAll(async () => {
  await chromium?.close();
  application?.close();
  await service?.stop();
});

describe.skipIf(!executablePath)('a page of another origin', () => {
  /** Chooses the file in the page and returns the response of the upload. */
  async function choose(file: { name: string; mimeType: string; buffer: Buffer }, change = (url: string) => url) {
    const page = await chromium.newPage();
    // biome-ignore lint/suspicious/noExplicitAny: the intent is walked by name.
    let intent: any;
    await page.exposeFunction(
      'intentFor',
      async ({ type, size, name }: { type: string; size: number; name: string }) => {
        const body = { contentType: type, fileName: name, size, type: 'attachment' };
        intent = await client.sendOk('POST', '/attachments/presign', body);
        return { uploadUrl: change(intent.uploadUrl), contentType: intent.uploadHeaders['Content-Type'] };
      },
    );
    await page.goto(`http://127.0.0.1:${(application.address() as AddressInfo).port}`);
    await page.setInputFiles('#file', file);
    await page.waitForFunction('document.querySelector("#done").textContent !== ""');
    const answer = await page.textContent('#done');
    await page.close();
    return { answer, reference: { key: intent.key, regionId: intent.regionId, type: intent.type } };
  }

  test('uploads the file that its user has chosen, and a photo is made of it', async () => {
    const buffer = await createPicture('jpeg', { width: 1200, height: 900 });
    const { answer, reference } = await choose({ name: 'front.jpg', mimeType: 'image/jpeg', buffer });
    expect(answer).toBe('200');
    const photo = await client.createPhoto({ imageAttachment: reference });
    expect(photo).toMatchObject({ contentType: 'image/jpeg', fileSize: String(buffer.length) });
    expect((await client.download(photo.imageUrl)).rawPayload.equals(buffer)).toBe(true);
  });

  test('can read why an upload was refused (UPL-8)', async () => {
    const buffer = await createPicture('png');
    const later = (url: string) => url.replace(/expires=\d+/, 'expires=9999999999');
    expect((await choose({ name: 'a.png', mimeType: 'image/png', buffer }, later)).answer).toBe('403');
  });
});
