import { describe, expect, it } from 'vitest';
import { findWrongClocks } from '../../../src/console/browser/pages/attendance/gate-clocks.ts';

const MORNING = Date.parse('2026-03-02T06:00:00Z');
const toInstant = (seconds: number) => new Date(MORNING + seconds * 1000).toISOString();

/** Visits that a gate reported, of each sign-on when it occurred and how long afterwards it was received, in seconds. */
const visitsOf = (deviceId: string | null, signOns: [occurred: number, delay: number][]) =>
  signOns.map(([occurred, delay]) => {
    const [occurredAt, createdAt] = [toInstant(occurred), toInstant(occurred + delay)];
    const event = { deviceId, integrator: { name: 'TurnGate' }, occurredAt, createdAt };
    return { id: `${deviceId} ${occurred}`, events: { data: [event] } };
  }) as unknown as Parameters<typeof findWrongClocks>[0][number][];

const every = (seconds: number, delay: (index: number) => number) =>
  Array.from({ length: 8 }, (_, index): [number, number] => [index * seconds, delay(index)]);

describe('the clock of a gate (ATT-41)', () => {
  it('is estimated by the events that arrive one after the other', () => {
    const wrong = visitsOf(
      'gate-1',
      every(60, () => 420),
    );
    const right = visitsOf(
      'gate-2',
      every(60, () => 1),
    );
    const [clock, ...others] = findWrongClocks([...wrong, ...right]);
    expect(others).toEqual([]);
    expect(clock).toEqual({
      name: 'gate-1 of TurnGate',
      aheadMs: -420_000,
      visitIds: new Set(wrong.map(({ id }) => id)),
    });
  });

  it('is wrong when it is more than two minutes off', () => {
    expect(
      findWrongClocks(
        visitsOf(
          'gate-1',
          every(60, () => 120),
        ),
      ),
    ).toEqual([]);
    expect(
      findWrongClocks(
        visitsOf(
          'gate-1',
          every(60, () => 121),
        ),
      ),
    ).toHaveLength(1);
  });

  it('is not judged by a backlog, which arrives together', () => {
    expect(
      findWrongClocks(
        visitsOf(
          'gate-1',
          every(60, (index) => 3600 - index * 60 + index * 0.1),
        ),
      ),
    ).toEqual([]);
    expect(
      findWrongClocks(
        visitsOf(
          'gate-1',
          every(2, () => 3600),
        ),
      ),
    ).toEqual([]);
  });

  it('is judged by the events after a backlog', () => {
    const backlog = every(60, (index) => 3600 - index * 60);
    const after = Array.from({ length: 4 }, (_, index): [number, number] => [4000 + index * 60, 1]);
    expect(findWrongClocks(visitsOf('gate-1', [...backlog, ...after]))).toEqual([]);
  });

  it('is not judged by two events, nor by those without a device', () => {
    expect(findWrongClocks(visitsOf('gate-1', every(60, () => 420).slice(0, 3)))).toEqual([]);
    expect(
      findWrongClocks(
        visitsOf(
          null,
          every(60, () => 420),
        ),
      ),
    ).toEqual([]);
  });
});
