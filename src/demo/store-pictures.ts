import { Readable } from 'node:stream';
import { drawLogo, drawSitePicture, SITE_PICTURE } from '../images/drawings.ts';
import { REGIONS } from '../shared/regions.ts';
import { MAX_ATTACHMENT_BYTES, type Storage, type Storages } from '../storage/storage.ts';
import { listBuilderIds } from './accounts.ts';
import { type DemoPicture, toPictureKey } from './photos.ts';

const PICTURES = 6;

/** Returns the storage key of a builder's logo. */
export const toLogoKey = (builderId: string) => `logos/${builderId}/demo.png`;

/** Every fourth builder has no logo. */
export const hasLogo = (index: number) => index % 4 !== 3;

/** Stores the demo's pictures and logos. Returns the size of each picture. */
export async function storeDemoPictures(storages: Storages): Promise<DemoPicture[]> {
  const drawings = await Promise.all(Array.from({ length: PICTURES }, (_, number) => drawSitePicture(number)));
  for (const region of REGIONS) {
    for (const [builder, id] of listBuilderIds(region).entries()) {
      for (const [index, bytes] of drawings.entries())
        await storeIfMissing(storages[region], toPictureKey(id, index), bytes, 'image/jpeg');
      if (hasLogo(builder)) await storeIfMissing(storages[region], toLogoKey(id), await drawLogo(builder), 'image/png');
    }
  }
  return drawings.map(({ length }) => ({ size: length, ...SITE_PICTURE }));
}

async function storeIfMissing(storage: Storage, key: string, bytes: Buffer, contentType: string): Promise<void> {
  if (await storage.byteStore.stat(key)) return;
  await storage.store(key, Readable.from([bytes]), contentType, MAX_ATTACHMENT_BYTES);
}
