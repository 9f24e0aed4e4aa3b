import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { toDayRange } from '../../../schema/range.ts';
import {
  readHoursByCostCode,
  readHoursByProject,
  readHoursByWeek,
} from '../../../src/domain/dashboard-figures/hours.ts';
import { timesheets } from '../../../src/domain/readers/timesheet.reader.ts';
import {
  addDays,
  type FigureFixture,
  groupBy,
  instantOf,
  localTimeOf,
  mondayOf,
  openFigureFixture,
  ZONES,
} from './figure-fixture.ts';

interface Row {
  date: Date;
  projectId: string;
  project: string;
  costCode: string | null;
  status: string;
  hours: number;
}

let fixture: FigureFixture;
let rows: Row[];

/** A third of the dates are days at midnight UTC, a third at midnight of Sydney, a third any quarter of an hour. */
const INSERT = `insert into timesheet (id, created_at, updated_at, builder_id, project_id, profile_id, cost_code_id, status, date, hours)
  select 'ts_' || ? || n, now(), now(), 'buil_' || ?, 'proj_' || ? || 1 + n % 3, 'pers_' || ?,
    case when n % 4 > 0 then 'tscc_' || ? || n % 4 end,
    (array['WAITING_REVIEW', 'APPROVED_1', 'APPROVED_2', 'REJECTED'])[1 + n % 4],
    case n % 3 when 0 then date_trunc('day', ${instantOf('n')})
      when 1 then date_trunc('day', ${instantOf('n')}, 'Australia/Sydney') else ${instantOf('n')} end,
    (array[7.6, 8, 0.1, 0.2, 1.0 / 3])[1 + n % 5]
  from generate_series(1, 1000) n`;

beforeAll(async () => {
  fixture = await openFigureFixture();
  for (const b of ['a', 'b']) await fixture.execute(INSERT, [b, b, b, b, b]);
  rows = await fixture.execute<Row>(
    `select t.date, t.project_id as "projectId", p.name as project, c.code as "costCode", t.status, t.hours
      from timesheet t join project p on p.id = t.project_id left join timesheet_cost_code c on c.id = t.cost_code_id
      where t.builder_id = 'buil_a'`,
  );
});
afterAll(() => fixture.close());

/** The day of a timesheet: that of the time zone, or for midnight UTC that of UTC. */
function dayOf({ date }: Row, timeZone: string): string {
  const iso = new Date(date).toISOString();
  return iso.endsWith('T00:00:00.000Z') ? iso.slice(0, 10) : localTimeOf(iso, timeZone).date;
}

const RANGES = [
  { startDate: '2026-03-02', endDate: '2026-04-12' },
  { startDate: '2026-04-05', endDate: '2026-04-05' },
  { startDate: '2026-01-01', endDate: '2026-12-31' },
];
const CASES = ZONES.flatMap((timeZone) =>
  RANGES.flatMap((range) => [null, 'proj_a2'].map((projectId) => ({ timeZone, ...range, projectId }))),
);

/** Groups the rows of a case in JavaScript, to the precision of the figures. */
function expectGroups(
  { timeZone, startDate, endDate, projectId, status }: (typeof CASES)[number] & { status?: string },
  key: (row: Row) => string,
) {
  const counted = rows.filter((row) => {
    const day = dayOf(row, timeZone);
    if (status && row.status !== status) return false;
    return day >= startDate && day <= endDate && (projectId === null || row.projectId === projectId);
  });
  return groupBy(counted, key, ({ hours }) => hours).map(([name, { count, sum }]) => [
    name,
    Math.round(sum * 10_000) / 10_000,
    count,
  ]);
}

describe('hours', () => {
  const ofStatus = { ...CASES[0]!, status: 'APPROVED_1' as const };
  it.each([...CASES, ofStatus])('equal those that are grouped one by one, for %j (RED-31)', async (filter) => {
    const { database } = fixture;
    const scope = { ...filter, builderId: 'buil_a' };
    const weeks = await readHoursByWeek(database, scope, filter);
    expect(weeks.map(({ week, status, hours, timesheets }) => [`${week} ${status}`, hours, timesheets])).toEqual(
      expectGroups(filter, (row) => `${mondayOf(dayOf(row, filter.timeZone))} ${row.status}`),
    );
    const projects = await readHoursByProject(database, scope, filter);
    expect(projects.map(({ project, hours, timesheets }) => [project.name, hours, timesheets])).toEqual(
      expectGroups(filter, ({ project }) => project),
    );
    const codes = await readHoursByCostCode(database, scope, filter);
    expect(codes.map(({ costCode, hours, timesheets }) => [costCode?.code ?? 'none', hours, timesheets])).toEqual(
      expectGroups(filter, ({ costCode }) => costCode ?? 'none'),
    );
  });

  it.each(CASES)('are of the timesheets that a list by day has, for %j (RED-31)', async (filter) => {
    const days = toDayRange({ firstDay: filter.startDate, lastDay: filter.endDate, timeZone: filter.timeZone });
    const where = { builderId: 'buil_a', projectId: filter.projectId, ...days };
    const counted = expectGroups(filter, () => 'all')[0]?.[2] ?? 0;
    for (const offset of [0, 7]) {
      const page = await timesheets.findPage(fixture.database, where, { offset, limit: 1000 });
      expect([page.meta.totalCount, page.data.length]).toEqual([counted, Math.max(0, Number(counted) - offset)]);
    }
  });

  it.each(ZONES)('are of timesheets before a day and from it on, which are all, in %s (RED-31)', async (timeZone) => {
    const find = (days: object) => {
      const where = { builderId: 'buil_a', ...toDayRange({ ...days, timeZone }) };
      return timesheets.findPage(fixture.database, where, { offset: 0, limit: 1 });
    };
    const pages = [await find({ lastDay: '2026-03-09' }), await find({ firstDay: '2026-03-10' })];
    const totals = pages.map(({ meta }) => meta.totalCount);
    const before = rows.filter((row) => dayOf(row, timeZone) <= '2026-03-09').length;
    expect(totals).toEqual([before, rows.length - before]);
  });

  it('of more than 10,000 projects are rejected, as the cost of a query counts no more (CON-14)', async () => {
    // Without triggers, which would take most of the time.
    await fixture.execute(`begin; set local session_replication_role = replica;
      insert into project (id, created_at, updated_at, builder_id, status, name, integrations)
      select 'proj_many' || n, now(), now(), 'buil_b', 'IN_PROGRESS', 'Site ' || n, '[]' from generate_series(1, 10001) n;
      insert into timesheet (id, created_at, updated_at, builder_id, project_id, profile_id, status, date, hours)
      select 'ts_many' || n, now(), now(), 'buil_b', 'proj_many' || n, 'pers_b', 'REJECTED', '2025-03-03', 5 from generate_series(1, 10001) n; commit`);
    const range = { startDate: '2025-03-03', endDate: '2025-03-03' };
    const filter = { builderId: 'buil_b', projectId: null, timeZone: 'UTC' };
    await expect(readHoursByProject(fixture.database, filter, range)).rejects.toThrow(/more than 10000 projects/);
    expect(await readHoursByCostCode(fixture.database, filter, range)).toMatchObject([{ hours: 50_005 }]);
    await fixture.execute(`delete from timesheet where id = 'ts_many1'`);
    expect(await readHoursByProject(fixture.database, filter, range)).toHaveLength(10_000);
  });

  it('of a day without a time zone are on that day everywhere (RED-31)', async () => {
    const id = 'ts_bare';
    await fixture.execute(
      `insert into timesheet (id, created_at, updated_at, builder_id, project_id, profile_id, status, date, hours)
        values (?, now(), now(), 'buil_a', 'proj_a1', 'pers_a', 'REJECTED', '2025-03-03', 5)`,
      [id],
    );
    for (const timeZone of ZONES) {
      const filter = { builderId: 'buil_a', projectId: null, timeZone };
      const read = (day: string) => readHoursByWeek(fixture.database, filter, { startDate: day, endDate: day });
      expect(await read('2025-03-03')).toEqual([{ week: '2025-03-03', status: 'REJECTED', hours: 5, timesheets: 1 }]);
      for (const days of [-1, 1]) expect(await read(addDays('2025-03-03', days))).toEqual([]);
    }
    await fixture.execute('delete from timesheet where id = ?', [id]);
  });
});
