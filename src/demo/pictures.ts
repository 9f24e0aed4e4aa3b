import { Readable } from 'node:stream';
import { drawLogo } from '../images/logo-picture.ts';
import { drawSitePicture, SITE_PICTURE } from '../images/site-picture.ts';
import { REGIONS, type RegionId } from '../shared/regions.ts';
import { MAX_ATTACHMENT_BYTES, type Storage, type Storages } from '../storage/storage.ts';
import { BUILDERS } from './accounts.ts';
import { hasLogo, logoKeyOf } from './logos.ts';
import { type DemoPicture, pictureKey } from './photos.ts';
import { builderOf } from './scene.ts';

const PICTURES = 6;

/** Puts the demo's pictures and logos where its photos and builders will look for them, and returns what the pictures are. */
export async function keepDemoPictures(storages: Storages): Promise<DemoPicture[]> {
  const drawings = await Promise.all(Array.from({ length: PICTURES }, (_, number) => drawSitePicture(number)));
  for (const region of REGIONS) await keepIn(storages, region, drawings);
  return drawings.map(({ length }) => ({ size: length, ...SITE_PICTURE }));
}

async function keepIn(storages: Storages, region: RegionId, drawings: Buffer[]): Promise<void> {
  const storage = storages[region];
  for (let builder = 0; builder < BUILDERS[region]; builder++) {
    const { id } = builderOf(region, builder);
    for (const [place, bytes] of drawings.entries())
      await keepOnce(storage, pictureKey(id, place), bytes, 'image/jpeg');
    if (hasLogo(builder)) await keepOnce(storage, logoKeyOf(id), await drawLogo(builder), 'image/png');
  }
}

async function keepOnce(storage: Storage, key: string, bytes: Buffer, contentType: string): Promise<void> {
  if (await storage.bytes.stat(key)) return;
  await storage.store(key, Readable.from([bytes]), contentType, MAX_ATTACHMENT_BYTES);
}
