import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { RequestUsage } from '../../src/auth/request-usage.ts';
import { loadConfig } from '../../src/config.ts';
import { releaseUnsentUploads } from '../../src/domain/uploads/quota.ts';
import { sweep } from '../../src/domain/uploads/sweep.ts';
import type { Release } from '../../src/limits/fair-semaphore.ts';
import { createFairShares } from '../../src/limits/fair-shares.ts';
import { openStorages } from '../../src/storage/storage.ts';
import { type BuilderClient, createBuilderClient } from '../support/builder-client.ts';
import { ConcurrentTransaction } from '../support/concurrent-transaction.ts';
import { BASE_URL, TOKEN_KEY, useService } from '../support/harness.ts';
import { createPicture } from '../support/images.ts';
import { useLongerTimeLimits } from '../support/longer-time-limits.ts';

const MIB = 1024 * 1024;
const MINUTE = 60_000;
const DAY = 86_400_000;

const service = useService({ UPLOAD_QUOTA: '1' });
let client: BuilderClient;

useLongerTimeLimits();
beforeAll(async () => {
  // Ages of files are by the clock of the machine.
  service.clock.advance(Date.now() - service.clock.now());
});

beforeEach(async () => {
  await service.databases.au1.fork().execute('delete from upload');
  client = await createBuilderClient(service, 'A');
});

const openStorage = () =>
  openStorages(loadConfig({ DATA_DIR: service.dataDir, BASE_URL }), { secrets: [TOKEN_KEY], clock: service.clock }).au1;

/** Creates an image of exactly `bytes` bytes. */
async function aPicture(bytes: number): Promise<Buffer> {
  const image = await createPicture();
  return Buffer.concat([image, Buffer.alloc(bytes - image.length)]);
}

const presign = (size: number, by = client) =>
  by.send('POST', '/attachments/presign', { contentType: 'image/jpeg', fileName: 'a.jpg', size, type: 'attachment' });

function send(operation: 'upload' | 'bulk-upload', files: readonly Buffer[]) {
  const chunks = files.flatMap((file, index) => [
    `--b\r\nContent-Disposition: form-data; name="file${operation === 'upload' ? '' : `:${index}`}"; filename="a.jpg"\r\n`,
    'Content-Type: image/jpeg\r\n\r\n',
    file,
    '\r\n',
  ]);
  const type = '--b\r\nContent-Disposition: form-data; name="type"\r\n\r\nattachment\r\n--b--\r\n';
  return service.request({
    method: 'POST',
    url: `/builders/${client.builderId}/attachments/${operation}`,
    headers: { authorization: `Bearer ${client.token}`, 'content-type': 'multipart/form-data; boundary=b' },
    payload: Buffer.concat([...chunks, type].map((chunk) => Buffer.from(chunk))),
  });
}

const outcome = ({ statusCode, headers, json }: Awaited<ReturnType<typeof presign>>) => [
  statusCode,
  statusCode === 429 ? json().code : null,
  headers['retry-after'],
];
const QUOTA_EXCEEDED = [429, 'UPLOAD_QUOTA', '60'];

async function storedFiles(): Promise<number> {
  const entries = await readdir(join(service.dataDir, 'storage'), { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).length;
}

describe('POST /builders/{builderId}/attachments/presign', () => {
  it('answers 429 UPLOAD_QUOTA beyond the quota, only to this integrator (ERR-17, LIM-22, UPL-27)', async () => {
    expect((await presign(MIB)).statusCode).toBe(200);
    expect(outcome(await presign(1))).toEqual(QUOTA_EXCEEDED);
    expect((await presign(MIB, await createBuilderClient(service, 'B'))).statusCode).toBe(200);
  });

  it('answers the same through GraphQL (UPL-27)', async () => {
    await presign(MIB);
    const { errors } = await service.graphql(
      client.token,
      `mutation ($builderId: BuilderId!) {
        presignAttachment(builderId: $builderId, contentType: "image/jpeg", fileName: "a.jpg", size: 1, type: attachment) { key }
      }`,
      { builderId: client.builderId },
    );
    expect(errors?.[0]?.extensions).toMatchObject({ code: 'UPLOAD_QUOTA', http: { status: 429 } });
  });

  it('answers 200 to exactly as many concurrent requests as fit the quota, on two instances (UPL-27)', async () => {
    const other = await service.startInstance();
    const url = `/builders/${client.builderId}/attachments/presign`;
    const payload = { contentType: 'image/jpeg', fileName: 'a.jpg', size: MIB / 8, type: 'attachment' };
    const headers = { authorization: `Bearer ${client.token}` };
    const answers = await Promise.all(
      Array.from({ length: 30 }, (_, index) =>
        (index % 2 === 0 ? service.app : other).inject({ method: 'POST', url, headers, payload }),
      ),
    );
    expect(answers.filter(({ statusCode }) => statusCode === 200)).toHaveLength(8);
    expect(answers.filter(({ statusCode }) => statusCode === 429)).toHaveLength(22);
  });

  it('responds 429 to an upload that waits while another one uses the remaining quota (UPL-27)', async () => {
    const other = await ConcurrentTransaction.open(service.databases.au1.url);
    try {
      const holdUploads = 'lock table upload in share mode';
      const requests = [() => presign(MIB), () => presign(1)];
      const [first, second] = await other.respondWhileOpen(holdUploads, [], requests);
      expect([first!.statusCode, second!.statusCode]).toEqual([200, 429]);
    } finally {
      await other.close();
    }
  });

  it('does not count an upload that a photo uses (LIM-22, UPL-28)', async () => {
    const image = await aPicture(MIB);
    const imageAttachment = await client.upload(image);
    expect(outcome(await presign(1))).toEqual(QUOTA_EXCEEDED);
    await client.createPhoto({ imageAttachment });
    expect((await presign(MIB)).statusCode).toBe(200);
  });

  it('does not count an announced upload whose URL expired without stored bytes (LIM-22, UPL-28)', async () => {
    await presign(MIB);
    service.clock.advance(30 * MINUTE);
    expect(outcome(await presign(1))).toEqual(QUOTA_EXCEEDED);
    service.clock.advance(1);
    expect((await presign(MIB)).statusCode).toBe(200);
    expect(outcome(await presign(1))).toEqual(QUOTA_EXCEEDED);
  });

  it.each([
    [2_000, 200],
    [2_001, 429],
  ])('looks for the bytes of 2,000 expired ones at most, of %i: %i', async (expired, status) => {
    await presign(1);
    await service.databases.au1.fork().execute(
      `insert into upload select (jsonb_populate_record(upload, jsonb_build_object('key', key || number))).*
        from upload, generate_series(2, ?) number`,
      [expired],
    );
    service.clock.advance(31 * MINUTE);
    expect((await presign(MIB)).statusCode).toBe(status);
  });

  it('stops counting them with a permit of the share for writes (UPL-28)', async () => {
    await presign(1);
    service.clock.advance(31 * MINUTE);
    const database = service.databases.au1;
    const shares = createFairShares();
    const held: Release[] = [];
    for (let each = shares.writes.tryAcquire('share'); each; each = shares.writes.tryAcquire('share')) held.push(each);
    const limited = database.withLimits(new RequestUsage(shares, 'share'));
    const released = releaseUnsentUploads(limited, openStorage(), service.clock.now());
    await expect.poll(() => shares.writes.stats().queued).toBe(1);
    const countCounted = async () =>
      (await database.fork().execute('select from upload where released_at is null')).length;
    expect(await countCounted()).toBe(1);
    for (const release of held) release();
    expect(await released).toBe(1);
    expect(await countCounted()).toBe(0);
  });

  it('counts stored bytes after their URL expired, until the sweep deletes them (UPL-28)', async () => {
    await client.upload(await aPicture(MIB));
    service.clock.advance(40 * MINUTE);
    expect(outcome(await presign(1))).toEqual(QUOTA_EXCEEDED);
    // The bytes are not looked up again.
    const [upload] = await service.databases.au1.fork().execute('select expires_at, released_at from upload');
    expect(upload).toEqual({ expires_at: null, released_at: null });
    service.clock.advance(8 * DAY);
    client = await createBuilderClient(service, 'A');
    expect(await sweep(service.databases.au1, openStorage(), service.clock.now())).toMatchObject({ uploads: 1 });
    expect((await presign(MIB)).statusCode).toBe(200);
  });
});

describe.each(['upload', 'bulk-upload'] as const)('POST /builders/{builderId}/attachments/%s', (operation) => {
  it('answers 429 UPLOAD_QUOTA beyond the quota, and stores nothing (UPL-27)', async () => {
    const image = await aPicture(600_000);
    expect((await send(operation, [image])).statusCode).toBe(201);
    const before = await storedFiles();
    expect(outcome(await send(operation, [image]))).toEqual(QUOTA_EXCEEDED);
    expect(await storedFiles()).toBe(before);
  });

  it('answers 429 beyond the quota before it reads the form, here one without a file (UPL-27)', async () => {
    expect((await send(operation, [])).statusCode).toBe(400);
    await presign(MIB);
    expect(outcome(await send(operation, []))).toEqual(QUOTA_EXCEEDED);
  });

  // UPL-27
  it('answers 201 to exactly as many concurrent requests as fit the quota, and stores nothing of the others', async () => {
    const image = await aPicture(300_000);
    const before = await storedFiles();
    const answers = await Promise.all(Array.from({ length: 8 }, () => send(operation, [image])));
    expect(answers.filter(({ statusCode }) => statusCode === 201)).toHaveLength(3);
    expect(await storedFiles()).toBe(before + 3);
  });
});
