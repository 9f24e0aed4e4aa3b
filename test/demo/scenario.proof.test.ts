import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { InstantType } from '../../entities/columns.ts';
import { entities } from '../../entities/index.ts';
import { Database } from '../../src/database/database.ts';
import { createDemoFile } from '../../src/demo/demo-file.ts';
import { populateDatabase } from '../../src/demo/load.ts';
import { LocalCalendar } from '../../src/demo/local-calendar.ts';
import { createDatabase } from '../setup/database.ts';

/** Instants of loading: a working day in Sydney, its night, and the Sunday on which its clocks go forward. */
const INSTANTS = [
  { now: '2026-11-24T00:30:00.000Z', isWorkingDay: true },
  { now: '2026-11-23T16:40:00.000Z', isWorkingDay: false },
  { now: '2026-10-03T23:10:00.000Z', isWorkingDay: false },
];

describe.each(INSTANTS)('the demo data that is loaded at $now', ({ now, isWorkingDay }) => {
  let database: Database;
  let drop: () => Promise<void>;
  let connected: string[];

  beforeAll(async () => {
    const created = await createDatabase();
    drop = created.drop;
    database = new Database('au1', created.url);
    const options = { timesheets: 1_000, now: Date.parse(now), pictures: [{ size: 1, width: 1, height: 1 }] };
    await populateDatabase(database, createDemoFile(['au1'], 'http://localhost:4000', 'key'), options);
    connected = (await query(`select distinct builder_id as id from connection`)).map(({ id }) => String(id));
  });
  afterAll(async () => {
    await database.close();
    await drop();
  });

  const query = (sql: string, values: unknown[] = []) =>
    database.fork().execute(sql, values) as unknown as Promise<Record<string, string | number>[]>;
  const countsBy = async (sql: string): Promise<Record<string, number>> =>
    Object.fromEntries((await query(sql)).map(({ key, count }) => [key, Number(count)]));

  it('has no record of the future, and none that changed before it was made', async () => {
    // Meetings, dues and expiries are planned; the database sets the time of a rendition.
    const planned = new Set(['meeting', 'defect', 'insurance', 'photo_rendition']);
    for (const entity of entities) {
      const { tableName, props } = database.metadata.get(entity as never) as unknown as {
        tableName: string;
        props: { customType?: unknown; fieldNames: string[]; hidden?: boolean }[];
      };
      if (planned.has(tableName)) continue;
      const columns = props.filter(({ customType, hidden }) => customType instanceof InstantType && !hidden);
      for (const { fieldNames } of columns) {
        const sql = `select '${tableName}.${fieldNames[0]}' as late from "${tableName}" where "${fieldNames[0]}" > ? limit 1`;
        expect(await query(sql, [now])).toEqual([]);
      }
    }
    for (const table of ['timesheet', 'sign_on_visit', 'sign_on_event', 'photo', 'insurance']) {
      expect(await query(`select '${table}' as wrong from "${table}" where updated_at < created_at limit 1`)).toEqual(
        [],
      );
    }
  });

  it('has workers on several sites, and the same hours of eight weeks to compare with', async () => {
    const sites = await countsBy(`select builder_id as key, count(distinct project_id) as count from sign_on_visit
      where signed_off_at is null and closed_at is null and signed_on_at > timestamptz '${now}' - interval '10 hours' group by 1`);
    expect(Object.keys(sites).sort()).toEqual([...connected].sort());
    for (const count of Object.values(sites)) expect(count).toBeGreaterThanOrEqual(isWorkingDay ? 4 : 2);
    const [{ weeks }] = (await query(
      `select count(distinct date_trunc('week', signed_on_at)) as weeks from sign_on_visit`,
    )) as [{ weeks: string }];
    expect(Number(weeks)).toBeGreaterThanOrEqual(8);
  });

  it('has nobody on two sites at once', async () => {
    const twice = await query(`select worker_id from sign_on_visit
      where signed_off_at is null and closed_at is null group by 1 having count(distinct project_id) > 1`);
    expect(twice).toEqual([]);
  });

  it('has two open conflicts for each builder with gates', async () => {
    const codes = await query('select builder_id as id, code from sign_on_conflict order by builder_id, code');
    const expected = [...connected].sort().flatMap((id) => [
      { id, code: 'ALREADY_SIGNED_OFF' },
      { id, code: 'ATTENDANCE_CLOSED' },
    ]);
    expect(codes).toEqual(expected);
  });

  it('has a gate whose sign-offs of the afternoon were received the next morning, many in one second', async () => {
    const batches = await query(`select device_id, created_at from sign_on_event
      where created_at - occurred_at > interval '8 hours' group by project_id, 1, 2 having count(*) >= 3`);
    expect(batches.length).toBeGreaterThan(20);
  });

  it('has a month of hours with several cost codes and every status', async () => {
    const recent = `from timesheet where date between timestamptz '${now}' - interval '31 days' and '${now}'`;
    const statuses = await countsBy(`select status as key, count(*) as count ${recent} group by 1`);
    expect(Object.keys(statuses).sort()).toEqual(['APPROVED_1', 'APPROVED_2', 'REJECTED', 'WAITING_REVIEW']);
    const codes = await countsBy(
      `select builder_id as key, count(distinct cost_code_id) as count ${recent} group by 1`,
    );
    expect(Object.values(codes)).toHaveLength(4);
    for (const count of Object.values(codes)) expect(count).toBeGreaterThan(5);
    const [{ days }] = (await query(`select count(distinct date) as days ${recent}`)) as [{ days: string }];
    expect(Number(days)).toBeGreaterThanOrEqual(19);
  });

  it('has insurances of every builder that expire within the next week', async () => {
    const expiring = await countsBy(`select builder_id as key, count(*) as count from insurance
      where expiry between '${now}' and timestamptz '${now}' + interval '7 days' group by 1`);
    expect(Object.values(expiring).filter((count) => count >= 4)).toHaveLength(4);
  });

  it('has photos of the last weeks', async () => {
    const [{ days }] = (await query(
      `select count(distinct created_at::date) as days from photo where created_at > timestamptz '${now}' - interval '31 days'`,
    )) as [{ days: string }];
    expect(Number(days)).toBeGreaterThan(15);
  });

  it('has an integrator whose connection lacks a scope that its client has', async () => {
    const lacking = await query(`select i.name from connection c join integrator i on i.id = c.integrator_id
      join oauth_client o on o.integrator_id = i.id where 'read:photos' = any(o.scopes) and 'read:photos' <> all(c.scopes)`);
    expect(lacking).toEqual([{ name: 'SnapSite Photos' }]);
    const [{ reasons, days }] =
      (await query(`select (select string_agg(distinct message, ', ') from request_log) as reasons,
      (select count(*) from usage_day where requests > rejections and rejections > 0) as days`)) as [
        Record<string, string>,
      ];
    expect([reasons, Number(days)]).toEqual(["The builder's connection does not allow read:photos.", 15]);
  });

  it('has totals that equal the rows', async () => {
    const totals = await countsBy(
      `select kind as key, sum(added) as count from list_total where list = 'timesheet' group by 1`,
    );
    expect(totals).toEqual(await countsBy('select status as key, count(*) as count from timesheet group by 1'));
  });
});

describe('LocalCalendar', () => {
  const cases = [
    ['Australia/Sydney', '2026-10-04T02:00:00Z', 0, 90, '2026-10-03T15:30:00.000Z'],
    ['Australia/Sydney', '2026-10-04T02:00:00Z', 0, 360, '2026-10-03T19:00:00.000Z'],
    ['Australia/Sydney', '2026-10-04T02:00:00Z', -1, 360, '2026-10-02T20:00:00.000Z'],
    ['Australia/Sydney', '2026-10-03T13:59:59Z', 0, 0, '2026-10-02T14:00:00.000Z'],
    ['America/Chicago', '2026-11-02T03:00:00Z', 0, 0, '2026-11-01T05:00:00.000Z'],
    ['America/Chicago', '2026-11-02T03:00:00Z', 0, 360, '2026-11-01T12:00:00.000Z'],
    ['Asia/Kathmandu', '2026-11-02T18:14:00Z', 0, 420, '2026-11-02T01:15:00.000Z'],
  ] as const;

  it.each(cases)('in %s at %s is, %i days and %i minutes later, at %s', (zone, now, day, minutes, expected) => {
    const calendar = new LocalCalendar(Date.parse(now), zone);
    expect(new Date(calendar.instantOf(day, minutes)).toISOString()).toBe(expected);
  });
});
