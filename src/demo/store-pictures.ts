import { Readable } from 'node:stream';
import { drawLogo, drawSitePicture, SITE_PICTURE } from '../images/drawings.ts';
import { REGIONS, type RegionId } from '../shared/regions.ts';
import { MAX_ATTACHMENT_BYTES, type Storage, type Storages } from '../storage/storage.ts';
import { BUILDERS } from './accounts.ts';
import { generateBuilder, hasLogo, toLogoKey } from './generator-context.ts';
import { type DemoPicture, toPictureKey } from './photos.ts';

const PICTURES = 6;

/** Stores the demo's pictures and logos. Returns the size of each picture. */
export async function storeDemoPictures(storages: Storages): Promise<DemoPicture[]> {
  const drawings = await Promise.all(Array.from({ length: PICTURES }, (_, number) => drawSitePicture(number)));
  for (const region of REGIONS) await storeInRegion(storages, region, drawings);
  return drawings.map(({ length }) => ({ size: length, ...SITE_PICTURE }));
}

async function storeInRegion(storages: Storages, region: RegionId, drawings: Buffer[]): Promise<void> {
  const storage = storages[region];
  for (let builder = 0; builder < BUILDERS[region]; builder++) {
    const { id } = generateBuilder(region, builder);
    for (const [index, bytes] of drawings.entries())
      await storeIfMissing(storage, toPictureKey(id, index), bytes, 'image/jpeg');
    if (hasLogo(builder)) await storeIfMissing(storage, toLogoKey(id), await drawLogo(builder), 'image/png');
  }
}

async function storeIfMissing(storage: Storage, key: string, bytes: Buffer, contentType: string): Promise<void> {
  if (await storage.byteStore.stat(key)) return;
  await storage.store(key, Readable.from([bytes]), contentType, MAX_ATTACHMENT_BYTES);
}
