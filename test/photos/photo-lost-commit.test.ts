import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildApp } from '../../src/app.ts';
import { Database } from '../../src/database/database.ts';
import { useBuilderClient } from '../support/builder-client.ts';
import { CommitLossProxy } from '../support/commit-loss-proxy.ts';
import { definition } from '../support/definition.ts';
import { TOKEN_KEY, testConfig, useService } from '../support/harness.ts';
import { addProject } from '../support/rows.ts';

const service = useService();
const client = useBuilderClient(service, 'A');
let proxy: CommitLossProxy;
let au1: Database;
let app: FastifyInstance;

beforeAll(async () => {
  proxy = await CommitLossProxy.start(service.databases.au1.url);
  au1 = new Database('au1', proxy.url);
  const databases = { au1, us1: service.databases.us1 };
  app = await buildApp(testConfig({ DATA_DIR: service.dataDir }), {
    databases,
    clock: service.clock,
    tokenKeys: [TOKEN_KEY],
    definition,
  });
});

afterAll(async () => {
  await app.close();
  await au1.close();
});

const photoNamed = async (fileName: string) => {
  const rows = await service.databases.au1.fork().execute('select id from photo where file_name = ?', [fileName]);
  return rows[0] as { id: string } | undefined;
};

describe('a photo whose commit succeeds and whose response is lost', () => {
  const requests: [string, string, (fileName: string) => Promise<object>][] = [
    ['created alone', '/photos', async (fileName) => ({ fileName, imageAttachment: await client.upload() })],
    [
      'of a bulk upsert',
      '/photo-gallery/bulk-upsert',
      async (fileName) => ({
        ...{ externalSourceId: 'lost', sourceApp: 'app', folderName: 'Lost' },
        projectId: await addProject(service, client.builderId),
        photos: [{ externalSourceId: '1', fileName, imageAttachment: await client.upload() }],
      }),
    ],
  ];

  it.each(requests)('%s keeps its bytes (PHO-14)', async (name, path, payloadOf) => {
    const fileName = `${name.replaceAll(' ', '-')}.jpg`;
    const payload = await payloadOf(fileName);
    const headers = { authorization: `Bearer ${client.token}` };
    const url = `/builders/${client.builderId}${path}`;
    proxy.loseCommitAfter(/insert into "?photo\b/i);
    expect((await app.inject({ method: 'POST', url, headers, payload })).statusCode).toBe(503);
    const photo = await photoNamed(fileName);
    const { imageUrl } = await client.sendOk('GET', `/photos/${photo!.id}`);
    expect((await client.download(imageUrl)).statusCode).toBe(200);
  });
});
