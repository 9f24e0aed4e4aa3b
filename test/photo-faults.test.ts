import { describe, expect, it } from 'vitest';
import { photoFaults } from './proof/photo-faults.ts';
import { swiftMissing } from './support/swift.ts';

if (swiftMissing) console.warn(`\n*** Photos in S3 are NOT tested under faults: ${swiftMissing} ***\n`);

describe.each(['local', 's3'] as const)('photos in the %s store', (store) => {
  it.skipIf(store === 's3' && swiftMissing)(
    'are never without bytes, doubled or lost while instances are killed, with clients that retry',
    async () => {
      const { wrong, ...report } = await photoFaults({
        ...{ store, pages: 8, photosPerPage: 4, workers: 8 },
        ...{ pause: 100, faults: 4 },
      });
      console.info(`photos in the ${store} store under faults:`, report);
      expect(wrong).toEqual([]);
      expect(report).toMatchObject({ instanceKills: 2, databaseKills: 2 });
    },
    180_000,
  );
});
