import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { toDayRange } from '../../../schema/range.ts';
import {
  readInductionsByStatus,
  readInsurancesByMonth,
  readItemsAwaitingAction,
} from '../../../src/domain/dashboard-figures/records.ts';
import { insurances } from '../../../src/domain/readers/insurance.reader.ts';
import {
  addDays,
  type FigureFixture,
  groupBy,
  instantOf,
  localTimeOf,
  openFigureFixture,
  ZONES,
} from './figure-fixture.ts';

let fixture: FigureFixture;

/** SQL that inserts rows of the builder whose letter replaces `@`. */
const INSERTS = [
  `insert into induction (id, created_at, updated_at, builder_id, project_id, worker_id, subcontractor_id, identifier, type, status)
    select 'ind_@' || n, now(), now(), 'buil_@', 'proj_@' || 1 + n % 3, 'wkr_@1', 'sub_@1', n, 'PROJECT_INDUCTION',
      (array['WAITING_REVIEW', 'REVIEWED', 'CHANGES_REQUESTED'])[1 + n % 7 % 3] from generate_series(1, 100) n`,
  `insert into insurance (id, created_at, updated_at, builder_id, subcontractor_id, name, type, status, expiry)
    select 'ins_@' || n, now(), now(), 'buil_@', 'sub_@' || 1 + n % 2, 'Cover', (array['OTHER', 'WORK_COVER'])[1 + n % 5 % 2],
      (array['REVIEWED', 'EXPIRED'])[1 + n % 7 % 2],
      case when n % 3 = 0 then date_trunc('day', ${instantOf('n')}, 'UTC') else ${instantOf('n')} end
    from generate_series(1, 300) n`,
  `insert into timesheet (id, created_at, updated_at, builder_id, project_id, profile_id, status, date, hours)
    select 'ts_@' || n, now(), now(), 'buil_@', 'proj_@1', 'pers_@', case when n % 3 = 0 then 'WAITING_REVIEW' else 'REJECTED' end, now(), 1
    from generate_series(1, 50) n`,
  `insert into sign_on_event (id, created_at, updated_at, integrator_id, builder_id, project_id, worker_id, source_event_id, type, occurred_at, status)
    select 'saevt_@' || n, now(), now(), 'intg_a', 'buil_@', 'proj_@1', 'wkr_@1', 'e' || n, 'SIGN_OFF', now(),
      (array['APPLIED', 'PENDING_SIGN_ON', 'REJECTED', 'REJECTED'])[1 + n % 4] from generate_series(1, 40) n`,
  `insert into sign_on_conflict (created_at, updated_at, integrator_id, builder_id, project_id, worker_id, digest, code, source_event_id, type, occurred_at, resolved_at)
    select now(), now(), 'intg_a', 'buil_@', 'proj_@1', 'wkr_@1', n, 'EVENT_MISMATCH', 'c' || n, 'SIGN_OFF', now(), case when n > 4 then now() end
    from generate_series(1, 6) n`,
];

/** The day on which cover ends: that of the time zone, or for midnight UTC that of UTC. RED-31. */
function dayOf(expiry: Date, timeZone: string): string {
  const iso = new Date(expiry).toISOString();
  return iso.endsWith('T00:00:00.000Z') ? iso.slice(0, 10) : localTimeOf(iso, timeZone).date;
}

beforeAll(async () => {
  fixture = await openFigureFixture();
  for (const sql of INSERTS) for (const letter of ['a', 'b']) await fixture.execute(sql.replaceAll('@', letter));
});
afterAll(() => fixture.close());

const filterOf = (timeZone = 'UTC', projectId: string | null = null) => ({ builderId: 'buil_a', projectId, timeZone });

describe('inductions by status', () => {
  it.each([[null], ['proj_a2']])('equal `group by`, of the project %s', async (projectId) => {
    const rows = await fixture.execute<{ status: string }>(
      `select status from induction where builder_id = 'buil_a' and project_id like ?`,
      [projectId ?? '%'],
    );
    const figures = await readInductionsByStatus(fixture.database, filterOf('UTC', projectId));
    expect(figures.map(({ status, inductions }) => [status, inductions])).toEqual(
      groupBy(rows, ({ status }) => status).map(([status, { count }]) => [status, count]),
    );
  });
});

describe('insurances by month', () => {
  it.each(ZONES)('are those of active subcontractors in each month of the range, in %s', async (timeZone) => {
    const range = { startDate: '2026-02-20', endDate: '2026-06-10' };
    const rows = await fixture.execute<{ expiry: Date }>(
      `select expiry from insurance where builder_id = 'buil_a' and subcontractor_id = 'sub_a1'`,
    );
    const days = rows.map(({ expiry }) => dayOf(expiry, timeZone));
    const within = days.filter((day) => day >= range.startDate && day <= range.endDate);
    const figures = await readInsurancesByMonth(fixture.database, filterOf(timeZone), range);
    expect(figures.map(({ month }) => month)).toEqual(['02', '03', '04', '05', '06'].map((m) => `2026-${m}-01`));
    expect(figures.filter(({ insurances }) => insurances > 0)).toEqual(
      groupBy(within, (day) => `${day.slice(0, 7)}-01`).map(([month, { count }]) => ({ month, insurances: count })),
    );
  });
});

describe('insurances of a type and status by month', () => {
  it.each([
    ['WORK_COVER', null],
    [null, 'EXPIRED'],
    ['OTHER', 'REVIEWED'],
  ] as const)('are those of the list, of %s and %s', async (type, status) => {
    const range = { startDate: '2026-02-20', endDate: '2026-06-10' };
    const figures = await readInsurancesByMonth(fixture.database, { ...filterOf(), type, status }, range);
    const days = toDayRange({ firstDay: range.startDate, lastDay: range.endDate, timeZone: 'UTC' });
    const where = { builderId: 'buil_a', ...days, ...(type && { type }), ...(status && { status }) };
    const { meta } = await insurances.findPage(fixture.database, where, { offset: 0, limit: 1 });
    expect(figures.reduce((sum, { insurances: count }) => sum + count, 0)).toBe(meta.totalCount);
    expect(meta.totalCount).toBeGreaterThan(0);
  });
});

describe('the list of insurances by day', () => {
  it.each(ZONES)('has those that the figure counts, in %s (RED-31)', async (timeZone) => {
    const window = { offset: 0, limit: 1000 };
    for (const [firstDay, days] of [
      ['2026-03-10', 30],
      ['2026-03-10', 0],
      ['2026-04-04', 1],
    ] as const) {
      const lastDay = addDays(firstDay, days);
      const where = { builderId: 'buil_a', ...toDayRange({ firstDay, lastDay, timeZone }) };
      const { data, meta } = await insurances.findPage(fixture.database, where, window);
      const now = `${firstDay}T12:00:00.000Z`;
      const figure = await readItemsAwaitingAction(fixture.database, { ...filterOf(timeZone) }, now, days);
      if (localTimeOf(now, timeZone).date === firstDay) expect(meta.totalCount).toBe(figure.insurances);
      const listed = data.map(({ expiry }) => dayOf(new Date(expiry!), timeZone));
      expect(listed.filter((day) => day < firstDay || day > lastDay)).toEqual([]);
      expect(meta.totalCount).toBeGreaterThan(0);
    }
    const past = { builderId: 'buil_a', ...toDayRange({ lastDay: '2026-03-09', timeZone }) };
    const later = { builderId: 'buil_a', ...toDayRange({ firstDay: '2026-03-10', timeZone }) };
    const all = await insurances.findPage(fixture.database, { builderId: 'buil_a' }, window);
    const parts = [past, later].map((where) => insurances.findPage(fixture.database, where, window));
    const totals = (await Promise.all(parts)).map(({ meta }) => meta.totalCount);
    expect(totals[0]! + totals[1]!).toBe(all.meta.totalCount);
  });
});

describe('items awaiting action', () => {
  it.each(ZONES)('are those of the builder, with insurances that end within the days, in %s', async (timeZone) => {
    const now = '2026-03-10T15:00:00.000Z';
    const today = localTimeOf(now, timeZone).date;
    const last = new Date(Date.parse(today) + 14 * 86_400_000).toISOString().slice(0, 10);
    const rows = await fixture.execute<{ expiry: Date }>(
      `select expiry from insurance where builder_id = 'buil_a' and subcontractor_id = 'sub_a1'`,
    );
    const days = rows.map(({ expiry }) => dayOf(expiry, timeZone));
    expect(await readItemsAwaitingAction(fixture.database, filterOf(timeZone), now, 14)).toEqual({
      ...{ signOnConflicts: 4, pendingSignOffs: 10, rejectedSignOffs: 20, timesheets: 16 },
      inductions: (await readInductionsByStatus(fixture.database, filterOf())).at(-1)!.inductions,
      insurances: days.filter((day) => day >= today && day <= last).length,
      failingWebhookEndpoints: 0,
    });
  });

  it('counts webhook endpoints that fail for the builder', async () => {
    await fixture.execute(`insert into oauth_client (id, created_at, updated_at, integrator_id, name, type, internal, grants, scopes)
      values ('cli_a', now(), now(), 'intg_a', 'App', 'CONFIDENTIAL', false, '{client_credentials}', '{}')`);
    await fixture.execute(`insert into connection (created_at, updated_at, integrator_id, builder_id, status, scopes)
      values (now(), now(), 'intg_a', 'buil_a', 'ACTIVE', '{}')`);
    const endpoints: [status: string, builders: string | null, isFailing: boolean, isDeleted: boolean][] = [
      ['ACTIVE', null, true, false],
      ['DISABLED', '{buil_a}', true, false],
      ['ACTIVE', null, false, false],
      ['ACTIVE', '{buil_b}', true, false],
      ['DISABLED', null, true, true],
    ];
    for (const [index, [status, builders, isFailing, isDeleted]] of endpoints.entries()) {
      await fixture.execute(
        `insert into webhook_endpoint (id, created_at, updated_at, integrator_id, client_id, url, builder_ids, status, secret, deleted_at)
          values (?, now(), now(), 'intg_a', 'cli_a', 'https://a.example', ?::text[], ?, 's', ?::timestamptz)`,
        [`whe_${index}`, builders, status, isDeleted ? '2026-01-01' : null],
      );
      await fixture.execute(
        `insert into webhook_progress (endpoint_id, day, number, failing_since) values (?, '20260101', 0, ?::timestamptz)`,
        [`whe_${index}`, isFailing ? '2026-03-01' : null],
      );
    }
    const read = () => readItemsAwaitingAction(fixture.database, filterOf(), '2026-03-10T15:00:00.000Z', 14);
    expect((await read()).failingWebhookEndpoints).toBe(2);
    await fixture.execute(`update connection set status = 'REVOKED'`);
    expect((await read()).failingWebhookEndpoints).toBe(0);
  });
});
