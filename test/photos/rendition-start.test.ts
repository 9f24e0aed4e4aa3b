import { describe, expect, it } from 'vitest';
import { buildApp } from '../../src/app.ts';
import { createBuilderClient } from '../support/builder-client.ts';
import { TOKEN_KEY, testConfig, useService } from '../support/harness.ts';

const service = useService();

describe('a process that serves', () => {
  it('renders photos from when it listens, and not before (PHO-41)', async () => {
    const client = await createBuilderClient(service, 'A');
    const photo = await client.createPhoto({ imageAttachment: await client.upload() });
    const claims: string[] = [];
    const stopCounting = service.databases.au1.onStatement(({ name }) => {
      if (name === 'renditions.claim-next') claims.push(name);
    });
    const { databases, clock, dataDir } = service;
    const config = testConfig({ DATA_DIR: dataDir });
    const app = await buildApp(config, { databases, clock, tokenKeys: [TOKEN_KEY], rendersPhotos: true });
    await app.ready();
    expect(claims).toEqual([]);
    await app.listen({ host: '127.0.0.1', port: 0 });
    const select = 'select status from photo_rendition where photo_id = ?';
    const statusOf = async () =>
      (await databases.au1.fork().execute<{ status: string }[]>(select, [photo.id]))[0]!.status;
    await expect.poll(statusOf, { timeout: 60_000 }).toBe('READY');
    expect(claims.length).toBeGreaterThan(0);
    stopCounting();
    await app.close();
  });
});
