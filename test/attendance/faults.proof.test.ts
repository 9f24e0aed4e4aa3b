import { expect, it } from 'vitest';
import { attendanceFaults } from '../proof/attendance-faults.ts';

it('loses and duplicates no event while PostgreSQL and instances are killed and gates retry', async () => {
  const { problems, ...report } = await attendanceFaults({ events: 600, workers: 30, gates: 16, pause: 500 });
  console.info('attendance under faults:', report);
  expect(problems).toEqual([]);
  expect(report).toMatchObject({ events: 603, visits: 303 });
  expect(report.databaseKills).toBeGreaterThanOrEqual(1);
  expect(report.instanceKills).toBeGreaterThanOrEqual(1);
});
