import { Database } from '../../../src/database/database.ts';
import { createDatabase } from '../../setup/database.ts';

const DAY_MS = 86_400_000;

/** Days from two weeks before New York's to after Sydney's change of daylight saving time. */
export const FIRST_DAY = '2026-02-15';
export const DAYS = 70;

/** Time zones with and without daylight saving time, ahead of and behind UTC, and one whose offset is no whole hour. */
export const ZONES = ['Australia/Sydney', 'America/New_York', 'Asia/Kathmandu', 'UTC'];

export interface FigureFixture {
  database: Database;
  execute: <Row extends object>(sql: string, values?: unknown[]) => Promise<Row[]>;
  close(): Promise<void>;
}

/** Opens a database with the builders `buil_a` and `buil_b`, each with projects, a profile, workers and two subcontractors, `sub_…2` archived. */
export async function openFigureFixture(): Promise<FigureFixture> {
  const created = await createDatabase();
  const database = new Database('au1', created.url);
  const execute = <Row extends object>(sql: string, values: unknown[] = []) =>
    database.fork().execute(sql, values) as unknown as Promise<Row[]>;
  await execute(
    `insert into integrator (id, created_at, updated_at, name, deep_link_schemes) values ('intg_a', now(), now(), 'Gate', '{}')`,
  );
  for (const b of ['a', 'b']) {
    await execute(
      `insert into builder (id, created_at, updated_at, name) values ('buil_${b}', now(), now(), 'Builder')`,
    );
    await execute(`insert into project (id, created_at, updated_at, builder_id, status, name, integrations)
      select 'proj_${b}' || n, now(), now(), 'buil_${b}', 'IN_PROGRESS', 'Site ' || 4 - n, '[]' from generate_series(1, 3) n`);
    await execute(
      `insert into person_profile (id, builder_id, full_name, type) values ('pers_${b}', 'buil_${b}', 'Kim', 'worker')`,
    );
    await execute(`insert into timesheet_cost_code (id, builder_id, code, description)
      select 'tscc_${b}' || n, 'buil_${b}', 'C' || n, 'Code ' || n from generate_series(1, 3) n`);
    await execute(`insert into subcontractor (id, created_at, updated_at, builder_id, name, address, is_builder, tags, integrations, archived_at)
      select 'sub_${b}' || n, now(), now(), 'buil_${b}', 'Steel', '{}', false, '{}', '[]', case when n = 2 then now() end from generate_series(1, 2) n`);
    await execute(`insert into worker (id, created_at, updated_at, builder_id, subcontractor_id, full_name)
      select 'wkr_${b}' || n, now(), now(), 'buil_${b}', 'sub_${b}1', 'Kim' from generate_series(1, 5) n`);
  }
  return {
    ...{ database, execute },
    async close() {
      await database.close();
      await created.drop();
    },
  };
}

/** SQL of the nth of 1,000 instants, spread unevenly over the days, with many in the hours around midnight of the zones. */
export const instantOf = (n: string) =>
  `timestamptz '${FIRST_DAY}T00:00:00Z' + (${n} * 7919 % (${DAYS} * 96)) * interval '15 minutes'`;

const formats = new Map(
  ZONES.map((timeZone) => {
    const parts = { year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit', hourCycle: 'h23' } as const;
    return [timeZone, new Intl.DateTimeFormat('en-CA', { ...parts, timeZone })];
  }),
);

/** Returns the day and the hour of an instant in one of `ZONES`. */
export function localTimeOf(at: string | Date, timeZone: string): { date: string; hour: number } {
  // `2026-03-02, 07`
  const [date, hour] = formats.get(timeZone)!.format(new Date(at)).split(', ');
  return { date: date!, hour: Number(hour) };
}

export const addDays = (date: string, days: number) =>
  new Date(Date.parse(date) + days * DAY_MS).toISOString().slice(0, 10);

export const mondayOf = (date: string) => addDays(date, -((new Date(date).getUTCDay() + 6) % 7));

/** Returns the number and sum of the items by key, sorted by key. */
export function groupBy<T>(items: readonly T[], key: (item: T) => string, value: (item: T) => number = () => 0) {
  const groups = new Map<string, { count: number; sum: number }>();
  for (const item of items) {
    const group = groups.get(key(item)) ?? { count: 0, sum: 0 };
    groups.set(key(item), { count: group.count + 1, sum: group.sum + value(item) });
  }
  return [...groups].sort(([a], [b]) => (a < b ? -1 : 1));
}
