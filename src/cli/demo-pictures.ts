import { Readable } from 'node:stream';
import { REGIONS, type RegionId } from '../context.ts';
import { BUILDERS } from '../database/demo/accounts.ts';
import { type DemoPicture, pictureKey } from '../database/demo/photos.ts';
import { builderOf } from '../database/demo/scene.ts';
import { drawSitePicture, SITE_PICTURE } from '../images/site-picture.ts';
import { MAX_ATTACHMENT_BYTES, type Storages } from '../storage/storage.ts';

const PICTURES = 6;

/** Puts the demo's pictures where its photos will look for them, and tells what they are. */
export async function keepDemoPictures(storages: Storages): Promise<DemoPicture[]> {
  const drawings = await Promise.all(Array.from({ length: PICTURES }, (_, number) => drawSitePicture(number)));
  for (const region of REGIONS) await keepIn(storages, region, drawings);
  return drawings.map(({ length }) => ({ size: length, ...SITE_PICTURE }));
}

async function keepIn(storages: Storages, region: RegionId, drawings: Buffer[]): Promise<void> {
  const { bytes: store } = storages[region];
  for (let builder = 0; builder < BUILDERS[region]; builder++) {
    const { id } = builderOf(region, builder);
    for (const [place, bytes] of drawings.entries()) {
      const key = pictureKey(id, place);
      if (await store.stat(key)) continue;
      await storages[region].keep(key, Readable.from([bytes]), 'image/jpeg', MAX_ATTACHMENT_BYTES);
    }
  }
}
