import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Statement } from '../../../src/database/pool/pg-pipeline.ts';
import { connectWithSettings, READER_SETTINGS } from '../../../src/database/pool/session-settings.ts';
import {
  readAttendanceAwaitingAction,
  readAttendanceByDay,
  readSignOnsByHour,
  readUsualEnd,
  readWorkersOnSite,
} from '../../../src/domain/dashboard-figures/attendance.ts';
import {
  addDays,
  DAYS,
  FIRST_DAY,
  type FigureFixture,
  groupBy,
  instantOf,
  localTimeOf,
  openFigureFixture,
  ZONES,
} from './figure-fixture.ts';

interface Visit {
  at: Date;
  projectId: string;
  workerId: string;
  archived: boolean;
  open: boolean;
}

let fixture: FigureFixture;
let visits: Visit[];

const INSERT = `insert into sign_on_visit (id, created_at, updated_at, builder_id, project_id, worker_id, signed_on_at, signed_off_at, archived_at)
  select 'signon_' || ? || n, now(), now(), 'buil_' || ?, 'proj_' || ? || 1 + n % 3, 'wkr_' || ? || 1 + n % 5, ${instantOf('n')},
    case when n % 20 > 0 then ${instantOf('n')} + interval '8 hours' end, case when n % 11 = 0 then now() end
  from generate_series(1, 1000) n`;

beforeAll(async () => {
  fixture = await openFigureFixture();
  for (const b of ['a', 'b']) await fixture.execute(INSERT, [b, b, b, b]);
  visits = await fixture.execute<Visit>(
    `select signed_on_at as at, project_id as "projectId", worker_id as "workerId", archived_at is not null as archived,
        signed_off_at is null as open from sign_on_visit where builder_id = 'buil_a'`,
  );
});
afterAll(() => fixture.close());

const CASES = ZONES.flatMap((timeZone) => [null, 'proj_a3'].map((projectId) => ({ timeZone, projectId })));
const countedVisits = (projectId: string | null) =>
  visits.filter((visit) => !visit.archived && (projectId === null || visit.projectId === projectId));

describe('attendance by day', () => {
  it.each(CASES)('equals the visits that are grouped one by one, for %j', async ({ timeZone, projectId }) => {
    const range = { startDate: addDays(FIRST_DAY, -3), endDate: addDays(FIRST_DAY, DAYS + 3) };
    const figures = await readAttendanceByDay(fixture.database, { builderId: 'buil_a', projectId, timeZone }, range);
    expect(figures).toHaveLength(DAYS + 7);
    const days = groupBy(countedVisits(projectId), ({ at }) => localTimeOf(at, timeZone).date);
    expect(figures.filter(({ visits }) => visits > 0).map(({ date, visits }) => [date, visits])).toEqual(
      days.map(([date, { count }]) => [date, count]),
    );
    const workers = new Map<string, Set<string>>(figures.map(({ date }) => [date, new Set()]));
    for (const { at, workerId } of countedVisits(projectId)) workers.get(localTimeOf(at, timeZone).date)!.add(workerId);
    expect(figures.map(({ date, workers }) => [date, workers])).toEqual(
      [...workers].map(([date, { size }]) => [date, size]),
    );
  });
});

describe('sign-ons by hour', () => {
  const DATES = ['2026-04-05', '2026-03-08', '2026-04-20', FIRST_DAY];
  const cases = CASES.flatMap((one) => DATES.map((date) => ({ ...one, date })));

  it.each(cases)('equal the visits that are grouped one by one, for %j', async ({ timeZone, projectId, date }) => {
    const filter = { builderId: 'buil_a', projectId, timeZone };
    const figures = await readSignOnsByHour(fixture.database, filter, date);
    const times = countedVisits(projectId).map(({ at }) => localTimeOf(at, timeZone));
    const weekdays = Array.from({ length: 8 }, (_, week) => addDays(date, -7 * (week + 1)));
    const attended = weekdays.filter((day) => times.some((time) => time.date === day)).length;
    const expected = Array.from({ length: 24 }, (_, hour) => {
      const signOns = times.filter((time) => time.date === date && time.hour === hour).length;
      const typical = times.filter((time) => weekdays.includes(time.date) && time.hour === hour).length;
      return { hour, signOns, typicalSignOns: Math.round((typical / Math.max(1, attended)) * 100) / 100 };
    });
    expect(figures).toEqual(expected);
  });
});

describe('workers on site', () => {
  it.each(ZONES)('are the open visits of today and of earlier days by project, in %s', async (timeZone) => {
    const now = '2026-03-20T02:00:00.000Z';
    const today = localTimeOf(now, timeZone).date;
    const figures = await readWorkersOnSite(fixture.database, { builderId: 'buil_a', projectId: null, timeZone }, now);
    const open = visits.filter((visit) => visit.open && !visit.archived);
    const expected = ['proj_a3', 'proj_a2', 'proj_a1'].map((id, index) => {
      const ofProject = open.filter(({ projectId }) => projectId === id);
      const onSite = ofProject.filter(({ at }) => localTimeOf(at, timeZone).date >= today).length;
      return {
        project: { id, name: `Site ${index + 1}`, builderId: 'buil_a' },
        ...{ onSite, fromEarlierDays: ofProject.length - onSite },
      };
    });
    expect(figures).toEqual(expected);
  });
});

interface PlanNode {
  'Relation Name'?: string;
  'Actual Rows': number;
  'Actual Loops': number;
  'Rows Removed by Filter'?: number;
  Plans?: PlanNode[];
}

/** Returns the visits that the scans of a plan have read. */
function countVisits(node: PlanNode): number {
  const read = (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops'];
  const below = (node.Plans ?? []).reduce((sum, child) => sum + countVisits(child), 0);
  return below + (node['Relation Name'] === 'sign_on_visit' ? read : 0);
}

describe('figures of days', () => {
  const filter = { builderId: 'buil_b', projectId: null, timeZone: 'UTC' };
  const date = addDays(FIRST_DAY, 63);

  /** Returns how many visits a figure has read, with the plan of the service. */
  async function countReads(read: () => Promise<unknown>, values: readonly string[]): Promise<number> {
    let statement!: Statement;
    const end = fixture.database.onStatement((each) => {
      statement = each;
    });
    await read();
    end();
    const client = await connectWithSettings(fixture.database.url, READER_SETTINGS);
    await client.query(`prepare figure as ${statement.text}`);
    const { rows } = await client.query(
      `explain (analyze, format json) execute figure ('buil_b', null, 'UTC', ${values})`,
    );
    await client.end();
    // The rows of a scan in a loop are an average of two decimal places.
    return Math.round(countVisits(rows[0]['QUERY PLAN'][0].Plan));
  }

  it('read the visits of those days, and not the other ones of the builder', async () => {
    // Of ten weeks: 100 visits each day.
    await fixture.execute(
      `insert into sign_on_visit (id, created_at, updated_at, builder_id, project_id, worker_id, signed_on_at, signed_off_at)
        select 'signon_day_' || n, now(), now(), 'buil_b', 'proj_b1', 'wkr_b' || 1 + n % 5, at, at
        from (select n, timestamptz '${FIRST_DAY}T00:00:00Z' + n * interval '1 day' / 100 as at from generate_series(0, ${DAYS} * 100 - 1) n) day`,
    );
    await fixture.execute('analyze sign_on_visit');
    const visitsOf = async (days: string[]) => {
      const [row] = await fixture.execute<{ count: string }>(
        `select count(*) from sign_on_visit where builder_id = 'buil_b' and archived_at is null
          and (signed_on_at at time zone 'UTC')::date = any(string_to_array(?, ',')::date[])`,
        [days.join()],
      );
      return Number(row!.count);
    };
    const range = { startDate: date, endDate: addDays(date, 1) };
    const byDay = () => readAttendanceByDay(fixture.database, filter, range);
    expect(await countReads(byDay, [`'${range.startDate}'`, `'${range.endDate}'`])).toBe(
      await visitsOf(Object.values(range)),
    );
    const weekdays = Array.from({ length: 9 }, (_, week) => addDays(date, -7 * week));
    const byHour = () => readSignOnsByHour(fixture.database, filter, date);
    expect(await countReads(byHour, [`'${date}'`])).toBe(await visitsOf(weekdays));
  });
});

describe('the usual end of visits', () => {
  const filter = { builderId: 'buil_a', projectId: 'proj_a1', timeZone: 'Australia/Sydney' };

  it('is the median time of day of the sign-offs of the project in the four weeks before, on the day', async () => {
    const times = await fixture.execute<{ time: string }>(
      `select to_char(signed_off_at at time zone 'Australia/Sydney', 'HH24:MI') as time from sign_on_visit
        where project_id = 'proj_a1' and archived_at is null and signed_off_at is not null
          and (signed_on_at at time zone 'Australia/Sydney')::date between '2026-03-04' and '2026-03-31' order by 1`,
    );
    const end = await readUsualEnd(fixture.database, filter, '2026-04-01');
    expect(times.length).toBeGreaterThan(20);
    expect(end).toBe(new Date(`2026-04-01T${times[Math.ceil(times.length / 2) - 1]!.time}+11:00`).toISOString());
  });

  it('is null for a project without sign-offs', async () => {
    expect(await readUsualEnd(fixture.database, filter, '2026-01-01')).toBeNull();
  });
});

describe('attendance that awaits action', () => {
  it.each([null, 'proj_a1'])('counts open visits, of the project %s', async (projectId) => {
    const figure = await readAttendanceAwaitingAction(fixture.database, {
      builderId: 'buil_a',
      projectId,
      timeZone: 'UTC',
    });
    const open = countedVisits(projectId).filter((visit) => visit.open).length;
    expect(figure).toEqual({ signOnConflicts: 0, pendingSignOffs: 0, openVisits: open });
  });
});
