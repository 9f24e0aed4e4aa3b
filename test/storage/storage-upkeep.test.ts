import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { setBuilderLogo, setUserPicture } from '../../src/cli/services/images.ts';
import { loadConfig } from '../../src/config.ts';
import {
  claimBucket,
  ForeignBucketError,
  readBucketOwner,
  requireOwnBucket,
} from '../../src/domain/uploads/bucket-owner.ts';
import { createSweepJob, sweep } from '../../src/domain/uploads/sweep.ts';
import { OperatorError } from '../../src/shared/operator-error.ts';
import { createObjectKey, createUploadKey } from '../../src/storage/keys.ts';
import { openStorages, Storage } from '../../src/storage/storage.ts';
import { OPERATOR } from '../support/audit.ts';
import { type BuilderClient, createBuilderClient } from '../support/builder-client.ts';
import { ConcurrentTransaction } from '../support/concurrent-transaction.ts';
import { BASE_URL, TOKEN_KEY, useService } from '../support/harness.ts';
import { createHeic, createPicture } from '../support/images.ts';
import { addProject } from '../support/rows.ts';
import { withWrongClock } from '../support/wrong-clock.ts';

const DAY = 86_400_000;

const service = useService();
let client: BuilderClient;
let storage: Storage;

beforeAll(async () => {
  // Files are as old as the machine's clock says.
  service.clock.advance(Date.now() - service.clock.now());
  client = await createBuilderClient(service, 'A');
  const config = loadConfig({ DATA_DIR: service.dataDir, BASE_URL });
  storage = openStorages(config, { secrets: [TOKEN_KEY], clock: service.clock }).au1;
});

// A token is valid for an hour, and the tests advance the clock by days.
const renewClient = async () => {
  client = await createBuilderClient(service, 'A');
};
beforeEach(renewClient);

const runSweep = () => sweep(service.databases.au1, storage, service.clock.now());
/** Returns the storage with a `list` that runs the work before it lists objects. */
const createStorageListingAfter = (work: () => Promise<unknown>): Storage => {
  const { byteStore, spool, signer, downloader } = storage;
  const list = async function* (prefix: string) {
    await work();
    yield* byteStore.list(prefix);
  };
  const remove = (keys: string[]) => byteStore.remove(keys);
  return new Storage('au1', { ...byteStore, list, remove } as never, spool, signer, downloader);
};
const exists = async (key: string) => (await storage.byteStore.stat(key)) !== null;
const storeObject = async (key: string) => {
  await storage.store(key, Readable.from(['bytes']), 'image/png', 1_000);
  return key;
};

describe('the sweep', () => {
  it('keeps recent objects, and removes bytes without a row after a day (UPL-30)', async () => {
    const builder = client.builderId;
    const orphans = await Promise.all([
      storeObject(createUploadKey(builder)),
      ...(['photos', 'logos', 'pictures', 'documents'] as const).map((kind) =>
        storeObject(createObjectKey(kind, builder, 'image/png')),
      ),
    ]);
    const left = await storage.spool.createPath();
    await writeFile(left, 'half of an upload');
    const photo = await client.createPhoto();
    const waiting = await client.upload();
    const job = createSweepJob(service.databases, { au1: storage, us1: storage });
    const nothing = { uploads: 0, released: 0, objects: 0, files: 0 };
    expect(await withWrongClock(1_000 * DAY, () => job.run('au1'))).toEqual(nothing);
    // The fake clock does not advance while the files are written, so the grace period of a day begins now.
    service.clock.advance(Date.now() - service.clock.now());
    service.clock.advance(DAY - 60_000);
    expect(await runSweep()).toEqual(nothing);
    service.clock.advance(120_000);
    // Five orphans, and the upload that its photo has used.
    expect(await runSweep()).toEqual({ uploads: 0, released: 0, objects: 6, files: 1 });
    for (const key of orphans) expect(await exists(key)).toBe(false);
    expect(await readdir(join(service.dataDir, 'storage', 'spool'))).toEqual([]);
    expect(await exists(photo.key)).toBe(true);
    expect(await exists(waiting.key)).toBe(true);
    await renewClient();
    await client.createPhoto({ imageAttachment: waiting });
  });

  it('removes uploads that were not used within 7 days, with their bytes (UPL-29)', async () => {
    const kept = await client.upload();
    service.clock.advance(7 * DAY);
    expect(await runSweep()).toMatchObject({ uploads: 0 });
    expect(await exists(kept.key)).toBe(true);
    service.clock.advance(1);
    expect(await runSweep()).toMatchObject({ uploads: 1 });
    expect(await exists(kept.key)).toBe(false);
    await renewClient();
    const answer = await client.send('POST', '/photos', { fileName: 'a', imageAttachment: kept });
    expect(answer.statusCode).toBe(400);
  });

  it('keeps an upload of more than 7 days that a photo uses while the sweep waits for it (UPL-29)', async () => {
    const { key } = await client.upload();
    service.clock.advance(8 * DAY);
    const other = await ConcurrentTransaction.open(service.databases.au1.url);
    try {
      let swept: ReturnType<typeof runSweep> | undefined;
      await other.whileOpen('update upload set consumed_at = now() where key = $1', [key], async () => {
        swept = runSweep();
        await other.untilWaiting(1);
      });
      await swept;
    } finally {
      await other.close();
    }
    expect(await service.databases.au1.fork().execute('select key from upload where key = ?', [key])).toEqual([
      { key },
    ]);
  });

  it('never removes the bytes of an archived photo, nor of copies that share them (UPL-30)', async () => {
    const photo = await client.createPhoto();
    await client.sendOk('DELETE', `/photos/${photo.id}`);
    const page = { externalSourceId: 'moves', sourceApp: 'app', folderName: 'Moves' };
    const photos = [{ externalSourceId: '1', imageAttachment: await client.upload() }];
    const [here, there] = [await addProject(service, client.builderId), await addProject(service, client.builderId)];
    await client.sendOk('POST', '/photo-gallery/bulk-upsert', { ...page, photos, projectId: here });
    const moved = await client.sendOk('POST', '/photo-gallery/bulk-upsert', { ...page, photos, projectId: there });
    service.clock.advance(30 * DAY);
    await runSweep();
    await renewClient();
    expect(await exists(photo.key)).toBe(true);
    const { imageUrl } = await client.sendOk('GET', `/photos/${moved.createdAttachmentIds[0]}`);
    expect((await client.download(imageUrl)).statusCode).toBe(200);
  });

  it('removes and counts each of many objects once (UPL-30)', async () => {
    service.clock.advance(Date.now() - service.clock.now());
    await Promise.all(Array.from({ length: 501 }, () => storeObject(createUploadKey(client.builderId))));
    service.clock.advance(DAY + 60_000);
    expect(await runSweep()).toMatchObject({ objects: 501 });
    expect(await runSweep()).toMatchObject({ objects: 0 });
  });

  it.each([
    ['address', { baseUrl: 'https://other.example' }],
    ['database', { database: '1/00000001/other' }],
  ])('deletes nothing in the store of a deployment with another %s (UPL-34)', async (_, changes) => {
    await claimBucket(service.databases.au1, storage);
    const owner = await readBucketOwner(storage);
    expect(owner).toEqual({
      baseUrl: BASE_URL,
      database: expect.stringMatching(new RegExp(`^\\d+/[0-9A-F]{8}${new URL(service.databases.au1.url).pathname}$`)),
    });
    const other = Readable.from([JSON.stringify({ ...owner, ...changes })]);
    await storage.store('deployment.json', other, 'application/json', 1_000);
    const removed = await storeObject(createUploadKey(client.builderId));
    service.clock.advance(2 * DAY);
    await expect(runSweep()).rejects.toBeInstanceOf(ForeignBucketError);
    expect(await exists(removed)).toBe(true);
    await claimBucket(service.databases.au1, storage);
    await runSweep();
    expect(await exists(removed)).toBe(false);
  });

  it('deletes nothing where the owner of the store cannot be read, and names the object (UPL-34)', async () => {
    await storage.store('deployment.json', Readable.from(['no JSON']), 'application/json', 1_000);
    await expect(runSweep()).rejects.toThrow(new OperatorError('deployment.json in the store is no JSON.'));
    await storage.byteStore.remove(['deployment.json']);
  });

  it('runs on one instance at a time (UPL-30)', async () => {
    const results = await Promise.all(Array.from({ length: 8 }, runSweep));
    expect(results.filter((result) => result === null).length).toBeGreaterThan(0);
    expect(results.some((result) => result !== null)).toBe(true);
    expect(await runSweep()).not.toBeNull();
  });

  it('ends, and the process does not, when its connection is lost', async () => {
    const sql = `select pg_terminate_backend(l.pid) from pg_locks l join pg_database d on d.oid = l.database
      where l.locktype = 'advisory' and d.datname = current_database()`;
    const key = createUploadKey(client.builderId);
    await storeObject(key);
    const held = `select 1 from pg_locks where locktype = 'advisory'
      and database = (select oid from pg_database where datname = current_database())`;
    const execute = (text: string) => service.databases.au1.fork().execute(text);
    const cut = createStorageListingAfter(async () => {
      await execute(sql);
      // PostgreSQL ends the session asynchronously.
      await expect.poll(() => execute(held)).toEqual([]);
    });
    await expect(sweep(service.databases.au1, cut, service.clock.now() + 2 * DAY)).rejects.toThrow(
      /connection|terminat/i,
    );
    // The first sweep may have deleted the object before it noticed the loss; otherwise the next one does.
    expect(await sweep(service.databases.au1, storage, service.clock.now() + 2 * DAY)).not.toBeNull();
    expect(await exists(key)).toBe(false);
  });
});

describe('a check of a store that belongs to the deployment', () => {
  it('does not store its owner again (UPL-34)', async () => {
    await claimBucket(service.databases.au1, storage);
    const stored: string[] = [];
    const { byteStore, spool, signer, downloader } = storage;
    const put: typeof byteStore.put = async (key) => void stored.push(key);
    const recording = new Storage('au1', Object.assign(Object.create(byteStore), { put }), spool, signer, downloader);
    await requireOwnBucket(service.databases.au1, recording);
    expect(stored).toEqual([]);
  });
});

describe('files of our own storage', () => {
  const place = () => ({ database: service.databases.au1, clock: service.clock, source: OPERATOR });
  const fileOf = async (name: string, bytes: Buffer) => {
    const path = join(service.dataDir, name);
    await writeFile(path, bytes);
    return path;
  };

  it("are a builder's logo, in its own answers and in the caller's memberships (RED-3)", async () => {
    const bytes = await createPicture('png');
    const request = { builder: client.builderId, file: await fileOf('logo.png', bytes) };
    expect(await setBuilderLogo(place(), storage, request)).toMatchObject({ contentType: 'image/png' });
    const builder = await service.get(`/builders/${client.builderId}`, client.token);
    const me = await service.get('/me', client.token);
    const membership = me
      .json()
      .memberships.find(({ builderId }: { builderId: string }) => builderId === client.builderId);
    for (const url of [builder.json().logoUrl, membership.builderLogoUrl]) {
      const answer = await client.download(url);
      expect([answer.statusCode, answer.headers['content-type']]).toEqual([200, 'image/png']);
      expect(answer.rawPayload.equals(bytes)).toBe(true);
    }
    expect(builder.json()).not.toHaveProperty('logoKey');
    service.clock.advance(2 * DAY);
    await runSweep();
    await renewClient();
    const later = await service.get(`/builders/${client.builderId}`, client.token);
    expect((await client.download(later.json().logoUrl)).statusCode).toBe(200);
  });

  it("are a user's picture (RED-1)", async () => {
    const { builderId } = client;
    const user = service.findDemoUser(({ builderIds }) => builderIds.includes(builderId));
    const bytes = await createPicture();
    const file = await fileOf('face.jpg', bytes);
    expect(await setUserPicture(place(), storage, { user: user.email, file })).toMatchObject({ userId: user.id });
    const { clientId } = service.findDemoClient('A');
    const token = await service.createToken({ clientId, scope: 'read:builders', userId: user.id, builderId });
    const me = (await service.get('/me', token)).json();
    expect((await client.download(me.profilePictureUrl)).rawPayload.equals(bytes)).toBe(true);
  });

  it('are refused as pictures when they are none', async () => {
    const text = await fileOf('logo.txt', Buffer.from('no image'));
    const wrong = { builder: client.builderId, file: text };
    await expect(setBuilderLogo(place(), storage, wrong)).rejects.toThrow('accepted type');
    const unseen = { builder: client.builderId, file: await fileOf('logo.heic', createHeic()) };
    await expect(setBuilderLogo(place(), storage, unseen)).rejects.toThrow('image/heic');
    await expect(setBuilderLogo(place(), storage, { ...wrong, builder: 'buil_anone' })).rejects.toThrow('no builder');
    await expect(setBuilderLogo(place(), storage, { ...wrong, file: '/nowhere' })).rejects.toThrow('ENOENT');
  });

  it('are SWMS and insurance documents, under signed URLs; a stored address stays what it is (RED-15)', async () => {
    const em = service.databases.au1.fork();
    for (const [table, path] of [
      ['swms_document', 'swms'],
      ['insurance', 'insurances'],
    ]) {
      const [row] = (await em.execute(
        `select d.id, d.subcontractor_id from ${table} d join subcontractor s on s.id = d.subcontractor_id
         where d.builder_id = ? and s.archived_at is null and not s.is_builder limit 1`,
        [client.builderId],
      )) as { id: string; subcontractor_id: string }[];
      const read = async () => {
        const answer = await service.get(`/subcontractors/${row!.subcontractor_id}/${path}/${row!.id}`, client.token);
        return answer.json().url;
      };
      await em.execute(`update ${table} set url = 'https://files.example/a.pdf', document_key = null where id = ?`, [
        row!.id,
      ]);
      expect(await read()).toBe('https://files.example/a.pdf');
      const key = await storeObject(createObjectKey('documents', client.builderId, 'application/pdf'));
      await em.execute(`update ${table} set document_key = ? where id = ?`, [key, row!.id]);
      const answer = await client.download(await read());
      expect([answer.statusCode, answer.headers['content-type'], answer.headers['content-security-policy']]).toEqual([
        200,
        'application/pdf',
        'sandbox',
      ]);
    }
  });
});
