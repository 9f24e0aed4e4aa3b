import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Upload } from '../../entities/upload.entity.ts';
import type { RequestContext } from '../../src/auth/request-context.ts';
import { loadConfig } from '../../src/config.ts';
import { prepareImages } from '../../src/domain/photos/gallery-images.ts';
import { prepareUpload } from '../../src/domain/uploads/prepare-image.ts';
import { acquireDecodeSlot } from '../../src/images/decode-slots.ts';
import type { ImageHeader } from '../../src/images/header.ts';
import { inspectImage } from '../../src/images/inspect.ts';
import type { FairSemaphore } from '../../src/limits/fair-semaphore.ts';
import { createFairShares, type FairShares } from '../../src/limits/fair-shares.ts';
import { openStorages } from '../../src/storage/storage.ts';
import { createScannedJpeg } from '../proof/noisy-neighbour/hostile-images.ts';
import { type BuilderClient, createBuilderClient, type UploadReference } from '../support/builder-client.ts';
import { BASE_URL, type Service, startService, TOKEN_KEY } from '../support/harness.ts';
import { createDecompressionBomb, createPicture } from '../support/images.ts';

const SMALL: ImageHeader = { width: 4_000, height: 3_000, frames: 1, needsFullImage: false, memory: 9_000_000 };
const LARGE: ImageHeader = { width: 20_000, height: 10_000, frames: 1, needsFullImage: false, memory: 46_000_000 };
const LARGE_IN_MEMORY: ImageHeader = {
  width: 7_000,
  height: 7_000,
  frames: 1,
  needsFullImage: true,
  memory: 196_000_000,
};

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'image-checks-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function aFile(bytes: Buffer): Promise<string> {
  const path = join(folder, 'file');
  await writeFile(path, bytes);
  return path;
}

/** Returns shares whose decode slots are all in use and never released. */
async function aFullService(shares = createFairShares()): Promise<FairShares> {
  await acquireDecodeSlot({ shares, shareKey: 'one' }, LARGE);
  await acquireDecodeSlot({ shares, shareKey: 'two' }, LARGE);
  for (const shareKey of ['three', 'four', 'five', 'six']) await acquireDecodeSlot({ shares, shareKey }, SMALL);
  return shares;
}

/** Fills the queue of a share, so that its next request is rejected immediately. */
async function fillQueue(semaphore: FairSemaphore, shareKey: string): Promise<() => void> {
  const end = new AbortController();
  const before = semaphore.stats().rejectedByShare;
  while (semaphore.stats().rejectedByShare === before) {
    semaphore.acquire(shareKey, 1, end.signal).catch(() => undefined);
    await Promise.resolve();
  }
  return () => end.abort();
}

describe('the check of an image', () => {
  it('compares the type before it reads the dimensions', async () => {
    const path = await aFile(createDecompressionBomb(60_000, 60_000));
    const requireType = () => {
      throw new Error('another type');
    };
    await expect(inspectImage(path, 1, { requireType })).rejects.toThrow('another type');
  });

  it('reads the dimensions before it waits for a slot', async () => {
    const share = { shares: await aFullService(), shareKey: 'mine' };
    const path = await aFile(createDecompressionBomb(60_000, 60_000));
    await expect(inspectImage(path, 1, { share })).rejects.toThrow('has more than 200000000 pixels');
  });

  it('refuses an image that is wider or higher than any camera makes (UPL-21)', async () => {
    await expect(inspectImage(await aFile(createDecompressionBomb(65_536, 10)), 1)).rejects.toThrow(
      '65535 pixels wide or high',
    );
    await expect(inspectImage(await aFile(createDecompressionBomb(10, 65_536)), 1)).rejects.toThrow(
      '65535 pixels wide or high',
    );
  });

  it('refuses an image that needs much memory for each pixel (UPL-21)', async () => {
    const interlaced = createDecompressionBomb(6_000, 6_000);
    // 16 bits for each of red, green, blue and alpha; interlaced.
    interlaced.set([16, 6, 0, 0, 1], 24);
    await expect(inspectImage(await aFile(interlaced), 1)).rejects.toThrow('needs more than 240 MiB of memory');
  });

  it('refuses an image with lines so long that the decoder would hold hundreds of MiB of them', async () => {
    const wide = createDecompressionBomb(65_535, 3_000);
    // 16 bits for each of red, green, blue and alpha.
    wide.set([16, 6], 24);
    await expect(inspectImage(await aFile(wide), 1)).rejects.toThrow('needs more than 240 MiB of memory');
  });

  it('refuses a progressive JPEG by the memory that its coefficients take', async () => {
    const bytes = await sharp(await createPicture())
      .jpeg({ progressive: true, chromaSubsampling: '4:4:4' })
      .toBuffer();
    const frame = bytes.indexOf(Buffer.from([0xff, 0xc2])) + 5;
    bytes.writeUInt16BE(7_000, frame);
    bytes.writeUInt16BE(7_000, frame + 2);
    await expect(inspectImage(await aFile(bytes), 1)).rejects.toThrow('needs more than 240 MiB of memory');
  });

  it('takes an animation of 1,000 frames, and refuses one of more (UPL-21)', async () => {
    const [header, frame] = ['47494638396101000100800000000000ffffff', '2c00000000010001000002024c0100'];
    const animated = (frames: number) => Buffer.from(`${header}${frame.repeat(frames)}3b`, 'hex');
    const longest = animated(1_000);
    expect(await inspectImage(await aFile(longest), longest.length)).toMatchObject({ width: 1, height: 1 });
    await expect(inspectImage(await aFile(animated(1_001)), 1)).rejects.toThrow('more than 1000 frames');
  });

  // UPL-21
  it('refuses a JPEG in more scans than encoders write, and takes one in as many as they do', async () => {
    const progressive = await sharp(await createPicture())
      .jpeg({ progressive: true })
      .toBuffer();
    expect((await inspectImage(await aFile(progressive), progressive.length)).contentType).toBe('image/jpeg');
    await expect(inspectImage(await aFile(createScannedJpeg(16, 16, 101)), 1)).rejects.toThrow('more than 100 scans');
  });

  it.each([
    ['JPEG', Buffer.concat([Buffer.from('ffd8', 'hex'), Buffer.alloc(4_000_000, Buffer.from('ffe10002', 'hex'))])],
    ['PNG', Buffer.concat([createDecompressionBomb(10, 10).subarray(0, 33), Buffer.alloc(4_000_000)])],
    [
      'WebP',
      Buffer.concat([Buffer.from('RIFF\xff\xff\xff\x7fWEBPVP8X\n\0\0\0\x02\0\0\0', 'latin1'), Buffer.alloc(900)]),
    ],
    ['GIF', Buffer.concat([Buffer.from('GIF89a\n\0\n\0\0\0\0!\xfe', 'latin1'), Buffer.alloc(4_000_000, 1)])],
  ])('refuses a %s whose header never ends', async (_name, bytes) => {
    await expect(inspectImage(await aFile(bytes), bytes.length)).rejects.toMatchObject({ name: 'BadImage' });
  });
});

describe('decode slots', () => {
  it('are never all held by one share, whatever the size of its images', async () => {
    const shares = createFairShares();
    for (const header of [LARGE, LARGE, LARGE_IN_MEMORY, SMALL, SMALL, SMALL]) {
      acquireDecodeSlot({ shares, shareKey: 'greedy' }, header).catch(() => undefined);
    }
    const release = await acquireDecodeSlot({ shares, shareKey: 'other' }, SMALL);
    release();
    await expect(acquireDecodeSlot({ shares, shareKey: 'other' }, LARGE)).resolves.toBeTypeOf('function');
  });

  it('are kept for small images, however many shares decode large ones', async () => {
    const shares = createFairShares();
    for (const shareKey of ['one', 'two', 'three']) {
      acquireDecodeSlot({ shares, shareKey }, LARGE).catch(() => undefined);
    }
    await expect(acquireDecodeSlot({ shares, shareKey: 'four' }, SMALL)).resolves.toBeTypeOf('function');
  });

  it('respond 503 when none is free before the timeout (LIM-21, UPL-24)', async () => {
    const shares = await aFullService();
    const waiting = acquireDecodeSlot({ shares, shareKey: 'mine' }, SMALL, { maxWaitMs: 1 });
    await expect(waiting).rejects.toMatchObject({ status: 503, code: 'UNAVAILABLE', headers: { 'Retry-After': '1' } });
  });

  it('respond 429 when a share already has the maximum of waiting images (UPL-24)', async () => {
    const shares = await aFullService();
    const end = await fillQueue(shares.threads, 'mine');
    await expect(acquireDecodeSlot({ shares, shareKey: 'mine' }, SMALL)).rejects.toMatchObject({ status: 429 });
    end();
  });
});

describe('an upload whose check has failed', () => {
  let service: Service;
  let client: BuilderClient;
  let context: RequestContext;

  beforeAll(async () => {
    service = await startService();
    client = await createBuilderClient(service, 'A');
  });
  afterAll(() => service.stop());
  beforeEach(async () => {
    context = await aContext();
  });

  /** Returns the dependencies of a resolver with separate limits. */
  async function aContext(): Promise<RequestContext> {
    const sql = 'select integrator_id from oauth_client where id = ?';
    const [row] = (await service.databases.au1.fork().execute(sql, [service.findDemoClient('A').clientId])) as object[];
    const { integrator_id: integratorId } = row as { integrator_id: string };
    const config = loadConfig({ DATA_DIR: service.dataDir, BASE_URL });
    const storage = openStorages(config, { secrets: [TOKEN_KEY], clock: service.clock }).au1;
    const limits = { shares: createFairShares(), shareKey: integratorId };
    const { clock, databases } = service;
    return { ...limits, database: databases.au1, clock, region: 'au1', storage, caller: { integratorId } } as never;
  }

  const stored = ({ key }: UploadReference) => service.databases.au1.fork().findOneOrFail(Upload, { key });
  const prepare = async (reference: UploadReference) =>
    prepareUpload(context, await stored(reference), { declared: null, timeZone: 'UTC' });

  it('is refused again without a decode, though no slot is free (UPL-23)', async () => {
    const image = await createPicture();
    const reference = await client.upload(image.subarray(0, image.length / 2));
    await expect(prepare(reference)).rejects.toMatchObject({ code: 'INVALID_IMAGE', message: 'is truncated' });
    await aFullService(context.shares);
    await expect(prepare(reference)).rejects.toMatchObject({ code: 'INVALID_IMAGE', message: 'is truncated' });
  });

  it('is checked again when its bytes are others (UPL-23)', async () => {
    const image = await createPicture();
    const reference = await client.upload(Buffer.concat([image.subarray(0, image.length / 2)]));
    await expect(prepare(reference)).rejects.toThrow('is truncated');
    const path = await context.storage.spool.createPath();
    await writeFile(path, Buffer.alloc((await stored(reference)).size));
    await context.storage.byteStore.put(reference.key, path, 'image/jpeg');
    await expect(prepare(reference)).rejects.toThrow('is not an image of an accepted type');
  });

  // UPL-19, UPL-23
  it('is refused for its type before it is decoded, in REST and in GraphQL, and the same way again', async () => {
    const image = await createPicture('webp');
    const reference = await client.upload(image, 'image/png');
    const message = 'is image/webp by its bytes, not image/png';
    const body = { fileName: 'a.png', imageAttachment: reference };
    for (let round = 0; round < 2; round++) {
      const answer = await client.send('POST', '/photos', body);
      expect(answer.statusCode).toBe(400);
      expect(answer.json()).toEqual({ errors: [{ fieldName: 'imageAttachment.key', message }] });
    }
    const { errors } = await service.graphql(
      client.token,
      `mutation ($builderId: BuilderId!, $reference: AttachmentReference!) {
        createPhoto(builderId: $builderId, fileName: "a.png", imageAttachment: $reference) { id }
      }`,
      { builderId: client.builderId, reference },
    );
    expect(errors?.[0]?.extensions.errors).toEqual([{ fieldName: 'imageAttachment.key', message }]);
    expect(await stored(reference)).toMatchObject({ failedCheck: { message } });
  });

  it('is not remembered for a type that only the request gave', async () => {
    const reference = await client.upload();
    const refused = await client.send('POST', '/photos', {
      ...{ fileName: 'a.png', contentType: 'image/png', imageAttachment: reference },
    });
    expect(refused.json().errors[0].fieldName).toBe('contentType');
    await client.createPhoto({ imageAttachment: reference });
  });

  describe('in a bulk call', () => {
    const aPage = () => ({
      ...{ builderId: client.builderId, integratorId: context.caller.integratorId },
      ...{ sourceApp: 'site-notes', pageExternalSourceId: 'page' },
    });

    it('fails alone with TIMEOUT where no slot becomes free (UPL-24)', async () => {
      const photo = { externalSourceId: 'a', imageAttachment: await client.upload() };
      await aFullService(context.shares);
      const end = await fillQueue(context.shares.threads, context.shareKey);
      const outcomes = await prepareImages(context, aPage(), [photo as never]);
      expect(outcomes.get('a')).toMatchObject({ code: 'TIMEOUT' });
      end();
    });
  });
});
