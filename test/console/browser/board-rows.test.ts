import { describe, expect, it } from 'vitest';
import { isLong, proposeEnd } from '../../../src/console/browser/pages/attendance/board-rows.ts';

const SIGNED_ON = '2026-03-10T06:30:00Z';
const NOW = Date.parse('2026-03-11T09:00:00Z');
const propose = (usualEnd: string | null, now = NOW) => {
  const end = proposeEnd(SIGNED_ON, usualEnd, now);
  return end && new Date(end).toISOString();
};

describe('the proposed end of a visit', () => {
  it.each([
    ['is the usual end of the project', '2026-03-10T16:05:00Z', '2026-03-10T16:05:00.000Z'],
    ['is unknown without a usual end', null, null],
    ['is unknown where the usual end is too late', '2026-03-10T23:00:00Z', null],
  ])('%s', (_title, usualEnd, expected) => expect(propose(usualEnd)).toBe(expected));

  it('is on the day after for a visit of a night', () => {
    const end = proposeEnd('2026-03-10T18:00:00Z', '2026-03-10T04:00:00Z', NOW);
    expect(new Date(end!).toISOString()).toBe('2026-03-11T04:00:00.000Z');
  });

  it('is not in the future', () => {
    const now = Date.parse('2026-03-10T10:00:00Z');
    expect(propose('2026-03-10T16:05:00Z', now)).toBe(new Date(now).toISOString());
  });
});

describe('a visit', () => {
  it.each([
    ['2026-03-10T20:30:00Z', false],
    ['2026-03-10T20:30:01Z', true],
    [null, true],
  ])('that ended at %s is too long: %s', (signedOffAt, long) => {
    const visit = { signedOnAt: SIGNED_ON, signedOffAt, closedAt: null } as Parameters<typeof isLong>[0];
    expect(isLong(visit, NOW)).toBe(long);
  });
});
