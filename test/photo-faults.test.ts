import { expect, it } from 'vitest';
import { photoFaults } from './proof/photo-faults.ts';

it('leaves no photo without bytes and no empty folder while instances are killed, with clients that retry', async () => {
  const { wrong, ...report } = await photoFaults({ pages: 16, photosPerPage: 4, workers: 4, pause: 300 });
  console.info('photos under faults:', report);
  expect(wrong).toEqual([]);
  expect(report).toMatchObject({ pages: 16, photos: 48 });
  expect(report.instanceKills).toBeGreaterThanOrEqual(1);
}, 180_000);
