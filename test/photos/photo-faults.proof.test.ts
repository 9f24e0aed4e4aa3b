import { expect, it } from 'vitest';
import { photoFaults } from '../proof/photo-faults.ts';

// On an S3 server, and longer: `npm run proof -- photo-faults-s3`, `-- photo-faults`.
it('no photo is lost, duplicated or without bytes while instances are killed and clients retry', async () => {
  const { problems, ...report } = await photoFaults({
    ...{ store: 'local', pages: 8, photosPerPage: 4, workers: 8 },
    ...{ pause: 100, faults: 4 },
  });
  console.info('photos under faults:', report);
  expect(problems).toEqual([]);
  expect(report).toMatchObject({ instanceKills: 2, databaseKills: 2 });
});
