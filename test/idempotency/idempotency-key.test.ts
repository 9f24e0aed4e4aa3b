import { randomUUID } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { beforeAll, describe, expect, it } from 'vitest';
import { purgeExpired } from '../../src/domain/retention/purge.job.ts';
import { useBuilderClient } from '../support/builder-client.ts';
import { useService } from '../support/harness.ts';

const service = useService();
const client = useBuilderClient(service, 'A');
let other: FastifyInstance;

beforeAll(async () => {
  other = await service.startInstance();
});

const DAY = 24 * 3_600_000;

interface SentRequest {
  key?: string;
  body: object;
  builderId?: string;
  token?: string;
  query?: string;
  app?: FastifyInstance;
}

interface CreatingOperation {
  name: string;
  path: string;
  table: string;
  /** The field that changes rename a record by. */
  nameField: string;
  mutation: string;
  variables: string;
  createBody: (name: string) => Promise<Record<string, unknown>>;
}

const OPERATIONS: CreatingOperation[] = [
  {
    name: 'POST /builders/{builderId}/meetings',
    path: '/meetings',
    table: 'meeting',
    nameField: 'title',
    mutation: 'createMeeting',
    variables: '$title: MeetingTitle!',
    createBody: async (title) => ({ title }),
  },
  {
    name: 'POST /builders/{builderId}/photos',
    path: '/photos',
    table: 'photo',
    nameField: 'fileName',
    mutation: 'createPhoto',
    variables: '$fileName: FileName!, $imageAttachment: AttachmentReference!',
    createBody: async (fileName) => ({ fileName, imageAttachment: await client.upload() }),
  },
  {
    name: 'POST /builders/{builderId}/photo-folders',
    path: '/photo-folders',
    table: 'photo_folder',
    nameField: 'name',
    mutation: 'createPhotoFolder',
    variables: '$name: FolderName!',
    createBody: async (name) => ({ name }),
  },
];

async function countRows(table: string): Promise<number> {
  const [row] = (await service.databases.au1.fork().execute(`select count(*)::int as count from ${table}`)) as {
    count: number;
  }[];
  return row!.count;
}

describe.each(OPERATIONS)('$name', ({ path, table, nameField, mutation, variables, createBody }) => {
  const send = async ({ key, body, query = '', ...as }: SentRequest) => {
    const { builderId = client.builderId, token = client.token, app = service.app } = as;
    const response = await app.inject({
      method: 'POST',
      url: `/builders/${builderId}${path}${query}`,
      headers: { authorization: `Bearer ${token}`, ...(key !== undefined && { 'idempotency-key': key }) },
      payload: body,
    });
    const { imageUrl: _, ...record } = response.json();
    return { status: response.statusCode, replayed: response.headers['idempotency-replayed'], record };
  };

  const sendGraphql = async (values: Record<string, unknown>, as = client.token) => {
    const names = Object.keys(values).filter((name) => name !== 'idempotencyKey');
    const response = await service.request({
      method: 'POST',
      url: '/graphql',
      headers: { authorization: `Bearer ${as}` },
      payload: {
        query: `mutation ($builderId: BuilderId!, $idempotencyKey: IdempotencyKey, ${variables}) {
          ${mutation}(builderId: $builderId, idempotencyKey: $idempotencyKey, ${names.map((name) => `${name}: $${name}`)}) { id }
        }`,
        variables: { builderId: client.builderId, ...values },
      },
    });
    const { data, errors } = response.json();
    const { code, http, errors: fields } = errors?.[0]?.extensions ?? {};
    return { id: data?.[mutation]?.id, code, status: http?.status, fields, headers: response.headers };
  };

  describe('200', () => {
    it('a repeated request returns the record that the first one created (HDR-18)', async () => {
      const sent = { key: randomUUID(), body: await createBody('Weekly') };
      const first = await send(sent);
      expect(first).toMatchObject({ status: 201, replayed: undefined });
      const count = await countRows(table);
      expect(await send(sent)).toEqual({ ...first, status: 200, replayed: 'true' });
      expect(await countRows(table)).toBe(count);
    });

    it('a repeated request returns the record as it is now (HDR-20)', async () => {
      const sent = { key: randomUUID(), body: await createBody('Weekly') };
      const { record } = await send(sent);
      if (table !== 'meeting') await client.sendOk('PATCH', `${path}/${record.id}`, { [nameField]: 'Renamed' });
      else await client.sendOk('POST', `${path}/${record.id}/start`, {});
      const change = table === 'meeting' ? { status: 'RUNNING' } : { [nameField]: 'Renamed' };
      expect(await send(sent)).toMatchObject({ status: 200, record: { id: record.id, ...change } });
    });

    it('a request is equal whatever the order of its fields and the notation of its key (HDR-18, HDR-20)', async () => {
      const body = { agenda: 'x', ...(await createBody('Weekly')) };
      const { record } = await send({ key: 'as-"text"\\', body });
      const reversed = Object.fromEntries(Object.entries(body).reverse());
      expect(await send({ key: '"as-\\"text\\"\\\\"', body: reversed })).toMatchObject({ status: 200, record });
    });

    it('a key is valid with other credentials of the integrator (HDR-19)', async () => {
      const sent = { key: randomUUID(), body: await createBody('Weekly') };
      const { record } = await send(sent);
      const token = await service.tokenOf('A without read:timesheets');
      expect(await send({ ...sent, token })).toMatchObject({ status: 200, record });
    });

    it('concurrent requests of two instances create one record (HDR-21)', async () => {
      const sent = { key: randomUUID(), body: await createBody('Weekly') };
      const count = await countRows(table);
      const apps = [service.app, other, service.app, other, service.app, other];
      const answers = await Promise.all(apps.map((app) => send({ ...sent, app })));
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 200, 200, 200, 201]);
      expect(new Set(answers.map(({ record }) => JSON.stringify(record))).size).toBe(1);
      expect(await countRows(table)).toBe(count + 1);
    });

    it('GraphQL takes the key as an argument, and shares it with REST (HDR-18)', async () => {
      const key = randomUUID();
      const body = await createBody('Weekly');
      const first = await sendGraphql({ ...body, idempotencyKey: key });
      expect(first.headers).not.toHaveProperty('idempotency-replayed');
      const again = await sendGraphql({ ...body, idempotencyKey: key });
      expect(again).toMatchObject({ id: first.id, headers: { 'idempotency-replayed': 'true' } });
      expect(await send({ key, body })).toMatchObject({ status: 200, record: { id: first.id } });
    });
  });

  describe('201', () => {
    it('a key belongs to the integrator, or to the user of its client (HDR-19)', async () => {
      const key = randomUUID();
      const { builderId } = client;
      const { clientId, scopes } = service.findDemoClient('A public');
      const user = service.findDemoUser(({ builderIds }) => builderIds.includes(builderId));
      const ofUser = await service.createToken({ clientId, scope: scopes, userId: user.id, builderId });
      for (const token of [client.token, ofUser])
        expect(await send({ key, token, body: await createBody('Weekly') })).toMatchObject({ status: 201 });
      const ofOther = { key, token: await service.tokenOf('C'), body: { title: 'a', name: 'a' } };
      if (table !== 'photo') expect(await send(ofOther)).toMatchObject({ status: 201 });
    });

    it('a key that has created nothing can be used again (HDR-21)', async () => {
      const key = randomUUID();
      const body = await createBody('Weekly');
      expect(await send({ key, body: { ...body, projectId: 'proj_anobody' } })).toMatchObject({ status: 404 });
      expect(await send({ key, body: { ...body, [nameField]: '' } })).toMatchObject({ status: 400 });
      expect(await send({ key, body })).toMatchObject({ status: 201 });
    });

    it('a key is valid for 24 hours, and then deleted (HDR-19)', async () => {
      const key = randomUUID();
      const { record } = await send({ key, body: await createBody('Weekly') });
      const age = (milliseconds: number) =>
        service.databases.au1
          .fork()
          .execute('update idempotency_key set created_at = ? where record_id = ?', [
            new Date(service.clock.now() - milliseconds).toISOString(),
            record.id,
          ]);
      const body = await createBody('Monthly');
      await age(DAY);
      expect(await send({ key, body })).toMatchObject({ status: 422 });
      await age(DAY + 1);
      expect(await send({ key, body })).toMatchObject({ status: 201 });
      expect(await send({ key, body })).toMatchObject({ status: 200 });
      const { now } = service.clock;
      expect(await purgeExpired(service.databases.au1, now() + DAY)).toMatchObject({ idempotencyKeys: 0 });
      await purgeExpired(service.databases.au1, now() + DAY + 1);
      expect(await countRows('idempotency_key')).toBe(0);
    });
  });

  describe('400', () => {
    it.each(['', ' ', 'a b', 'é', '""', '"a', '"a"b"', '"a b"', 'x'.repeat(256)])(
      'a malformed key is an error of its header: %j (HDR-18)',
      async (key) => {
        const errors = [{ fieldName: 'Idempotency-Key', message: expect.stringContaining('1 to 255') }];
        const unconnected = await service.tokenOf('B');
        expect(await send({ key, body: {}, token: unconnected })).toMatchObject({ status: 400, record: { errors } });
        expect(await sendGraphql({ ...(await createBody('a')), idempotencyKey: key })).toMatchObject({
          status: 400,
          fields: [{ ...errors[0], fieldName: 'idempotencyKey' }],
        });
      },
    );

    it('the scope is checked before the key, and the builder after it (ERR-23)', async () => {
      const token = await service.tokenOf('A', ['read:photos']);
      expect(await send({ key: 'a b', body: {}, token })).toMatchObject({ status: 403 });
      expect(await send({ key: 'a', body: {}, token: await service.tokenOf('B') })).toMatchObject({ status: 403 });
    });
  });

  describe('410', () => {
    it('the record is deleted (HDR-20)', async () => {
      const sent = { key: randomUUID(), body: await createBody('Weekly') };
      const { record } = await send(sent);
      await service.databases.au1.fork().execute(`delete from ${table} where id = ?`, [record.id]);
      expect(await send(sent)).toMatchObject({ status: 410, record: { code: 'IDEMPOTENT_RECORD_GONE' } });
      expect(await sendGraphql({ ...sent.body, idempotencyKey: sent.key })).toMatchObject({
        status: 410,
        code: 'IDEMPOTENT_RECORD_GONE',
      });
    });
  });

  describe('422', () => {
    it('the key was used for another body, query or builder (HDR-20)', async () => {
      const key = randomUUID();
      const body = await createBody('Weekly');
      await send({ key, body });
      const reused = { status: 422, record: { code: 'IDEMPOTENCY_KEY_REUSED' } };
      expect(await send({ key, body: { ...body, [nameField]: 'Monthly' } })).toMatchObject(reused);
      expect(await send({ key, body, query: '?a=b' })).toMatchObject(reused);
      const [, builderId] = service.findDemoClient('A').builderIds;
      expect(await send({ key, body, builderId })).toMatchObject(reused);
      expect(await sendGraphql({ ...body, [nameField]: 'Monthly', idempotencyKey: key })).toMatchObject({
        status: 422,
        code: 'IDEMPOTENCY_KEY_REUSED',
      });
    });
  });
});

describe('a key', () => {
  it('returns an archived photo as archived (HDR-20)', async () => {
    const headers = { authorization: `Bearer ${client.token}`, 'idempotency-key': randomUUID() };
    const payload = { fileName: 'site.jpg', imageAttachment: await client.upload() };
    const url = `/builders/${client.builderId}/photos`;
    const { id } = (await service.request({ method: 'POST', url, headers, payload })).json();
    await client.sendOk('DELETE', `/photos/${id}`);
    const again = await service.request({ method: 'POST', url, headers, payload });
    expect(again.statusCode).toBe(200);
    expect(again.json()).toMatchObject({ id, archivedAt: expect.any(String) });
  });

  it('is 410 after the folder was deleted by the API (HDR-20)', async () => {
    const headers = { authorization: `Bearer ${client.token}`, 'idempotency-key': randomUUID() };
    const url = `/builders/${client.builderId}/photo-folders`;
    const payload = { name: 'Level 3' };
    const { id } = (await service.request({ method: 'POST', url, headers, payload })).json();
    await client.sendOk('DELETE', `/photo-folders/${id}`);
    expect((await service.request({ method: 'POST', url, headers, payload })).statusCode).toBe(410);
  });

  it('is of one operation (HDR-19)', async () => {
    const headers = { authorization: `Bearer ${client.token}`, 'idempotency-key': randomUUID() };
    const payload = { name: 'a', title: 'a' };
    for (const path of ['meetings', 'photo-folders']) {
      const url = `/builders/${client.builderId}/${path}`;
      expect((await service.request({ method: 'POST', url, headers, payload })).statusCode).toBe(201);
    }
  });

  it('is ignored where externalSourceId identifies the record (HDR-18)', async () => {
    const headers = { authorization: `Bearer ${client.token}`, 'idempotency-key': randomUUID() };
    const url = `/builders/${client.builderId}/meetings`;
    const bodies = [1, 2, 1].map((at) => ({ title: 'a', sourceApp: 'notes', externalSourceId: `m-${at}` }));
    const answers = [];
    for (const payload of bodies) answers.push(await service.request({ method: 'POST', url, headers, payload }));
    expect(answers.map(({ statusCode }) => statusCode)).toEqual([201, 201, 200]);
    expect(answers[2]!.headers).not.toHaveProperty('idempotency-replayed');
  });

  it('is ignored by other writes, also when it is malformed (HDR-18)', async () => {
    const { id } = await client.sendOk('POST', '/meetings', { title: 'a' }, 201);
    const headers = { authorization: `Bearer ${client.token}`, 'idempotency-key': 'a b' };
    const url = `/builders/${client.builderId}/meetings/${id}`;
    expect((await service.request({ method: 'PATCH', url, headers, payload: { title: 'b' } })).statusCode).toBe(200);
  });

  it('is stored as a digest alone', async () => {
    const key = `robin.murray-${randomUUID()}`;
    const headers = { authorization: `Bearer ${client.token}`, 'idempotency-key': key };
    const url = `/builders/${client.builderId}/meetings`;
    const { id } = (await service.request({ method: 'POST', url, headers, payload: { title: 'a' } })).json();
    const rows = await service.databases.au1.fork().execute('select * from idempotency_key where record_id = ?', [id]);
    expect(rows).toHaveLength(1);
    expect(JSON.stringify(rows)).not.toContain('robin');
  });
});
