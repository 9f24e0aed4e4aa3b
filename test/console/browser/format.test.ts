import { describe, expect, it } from 'vitest';
import {
  addDays,
  countDays,
  formatAge,
  formatDay,
  formatDuration,
  formatNumber,
  formatTime,
  millisecondsIntoDay,
  roundNumber,
  toCalendarDate,
  toRecordedDay,
} from '../../../src/console/browser/shared/format.ts';
import { fromLocalInput, toLocalInput } from '../../../src/console/browser/shared/local-time.ts';

const SYDNEY = 'Australia/Sydney';
const HOUR = 3_600_000;

describe('times of a builder', () => {
  it('are those of its time zone', () => {
    expect(formatTime('2026-11-22T20:15:00Z', SYDNEY)).toBe('07:15');
    expect(toCalendarDate('2026-11-22T20:15:00Z', SYDNEY)).toBe('2026-11-23');
  });

  it.each([
    ['9999-12-31T23:59:59Z', '9999-12-31'],
    ['0500-05-01T12:00:00Z', '0500-05-01'],
    ['0001-01-01T12:00:00Z', '0001-01-01'],
  ])('have dates that can be shown and compared, also in the first and last years: %s', (instant, date) => {
    expect(toCalendarDate(instant, SYDNEY)).toBe(date);
    expect(formatDay(instant, SYDNEY)).toMatch(/^\d\d? [A-Z][a-z]{2} \d{4}$/);
    expect(millisecondsIntoDay(instant, date, SYDNEY)).not.toBeNaN();
  });

  it('have a position in a day, also outside of it', () => {
    expect(millisecondsIntoDay('2026-11-22T20:15:00Z', '2026-11-23', SYDNEY)).toBe(7.25 * HOUR);
    expect(millisecondsIntoDay('2026-11-22T12:00:00Z', '2026-11-23', SYDNEY)).toBe(-1 * HOUR);
  });

  it.each([
    [SYDNEY, '2026-07-01T06:30'],
    [SYDNEY, '2026-12-01T06:30'],
    ['America/New_York', '2026-03-08T03:30'],
    ['Pacific/Auckland', '2026-09-27T03:30'],
    ['UTC', '2026-01-01T00:00'],
    [SYDNEY, '2026-10-04T01:59'],
    [SYDNEY, '2026-10-04T03:00'],
    ['Australia/Lord_Howe', '2026-10-04T12:00'],
    ['Pacific/Kiritimati', '2026-01-01T00:00'],
    ['Pacific/Pago_Pago', '2026-01-01T23:59'],
  ])('of inputs in %s become instants and back: %s', (timeZone, local) => {
    expect(toLocalInput(fromLocalInput(local, timeZone), timeZone)).toBe(local);
  });

  it.each([
    [SYDNEY, '2026-10-04T02:30', '2026-10-03T16:30:00.000Z'],
    ['America/New_York', '2026-03-08T02:30', '2026-03-08T07:30:00.000Z'],
    ['America/Santiago', '2026-09-06T00:00', '2026-09-06T04:00:00.000Z'],
  ])('that clocks leave out in %s are as much later: %s', (timeZone, local, instant) => {
    expect(fromLocalInput(local, timeZone)).toBe(instant);
  });

  it.each([
    [SYDNEY, '0002-01-01', '0001-12-31T13:55:08.000Z', '0002-01-01T13:55:08.000Z'],
    [SYDNEY, '0001-01-01', '0000-12-31T13:55:08.000Z', '0001-01-01T13:55:08.000Z'],
    [SYDNEY, '9999-12-31', '9999-12-30T13:00:00.000Z', '9999-12-31T13:00:00.000Z'],
    ['America/New_York', '9999-12-31', '9999-12-31T05:00:00.000Z', '+010000-01-01T05:00:00.000Z'],
  ])(
    'of a day in the first or last years, as while one types a year, are instants: %s, %s',
    (timeZone, day, ...ends) => {
      const days = [day, addDays(day, 1)];
      expect(days.map((each) => fromLocalInput(`${each}T00:00`, timeZone))).toEqual(ends);
    },
  );

  it('that occur twice are the first', () => {
    expect(fromLocalInput('2026-04-05T02:30', SYDNEY)).toBe('2026-04-04T15:30:00.000Z');
  });
});

describe('the day of a record', () => {
  it.each([
    ['America/New_York', '2026-12-01T00:00:00.000Z', '2026-12-01'],
    ['America/New_York', '2026-12-01T00:00:00.001Z', '2026-11-30'],
    [SYDNEY, '2026-12-01T00:00:00.000Z', '2026-12-01'],
    [SYDNEY, '2026-11-22T21:00:00.000Z', '2026-11-23'],
  ])('is that of the time zone, but midnight UTC is a day everywhere: %s, %s (RED-31)', (timeZone, instant, day) => {
    expect(toRecordedDay(instant, timeZone)).toBe(day);
  });
});

describe('numbers of a file', () => {
  it('are rounded as they are shown', () => {
    expect([7.3333333333, 0.005, 1.005, 1234.5, 7].map(roundNumber)).toEqual([7.33, 0.01, 1.01, 1234.5, 7]);
    for (const hours of [7.125, 0.994999, 2.675, 12345.678]) {
      expect(String(roundNumber(hours))).toBe(formatNumber(hours).replace(',', ''));
    }
  });
});

describe('durations and ages', () => {
  it('are in words', () => {
    expect(formatDuration(8 * HOUR + 5 * 60_000)).toBe('8 h 05 min');
    expect(formatDuration(59_000)).toBe('1 min');
    expect(formatAge('2026-11-22T10:00:00Z', Date.parse('2026-11-22T12:30:00Z'))).toBe('2 h ago');
  });

  it('of days cross months', () => {
    expect(addDays('2026-02-27', 3)).toBe('2026-03-02');
    expect([countDays('2026-02-27', '2026-03-02'), countDays('2026-03-02', '2026-02-27')]).toEqual([3, -3]);
  });
});
