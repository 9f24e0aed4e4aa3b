import { beforeAll, describe, expect, it } from 'vitest';
import type { Timesheet } from '../../entities/timesheet.entity.ts';
import { toDateRange } from '../../schema/range.ts';
import { isTimeZone, TimeZone } from '../../schema/time-zone.ts';
import { toZoneDaySql } from '../../src/database/read/zone-day.ts';
import { timesheets } from '../../src/domain/readers/timesheet.reader.ts';
import { useService } from '../support/harness.ts';
import { addMeeting, addProject, addTimesheets } from '../support/rows.ts';

const service = useService();
let token: string;
let builderId: string;

beforeAll(async () => {
  token = await service.tokenOf('A');
  [builderId] = service.findDemoClient('A').builderIds as [string];
});

const shift = (instant: string, milliseconds: number) => new Date(Date.parse(instant) + milliseconds).toISOString();

/** Adds a project with a timesheet and a meeting at each of the instants. */
async function addDated(dates: string[]): Promise<string> {
  const projectId = await addProject(service, builderId);
  await addTimesheets(
    service,
    builderId,
    dates.map((date) => ({ projectId, date })),
  );
  for (const date of dates) await addMeeting(service, builderId, { projectId, date });
  return projectId;
}

const getList = (path: string, query: Record<string, string>) =>
  service.get(`${path}?${new URLSearchParams(query)}`, token, { 'x-service-builder-id': builderId });

const PATHS = ['/timesheets', '/builders/BUILDER/meetings'];

/** Returns the dates that both lists have for a query, in order. */
async function readDates(projectId: string, query: Record<string, string>): Promise<string[]> {
  const lists: string[][] = [];
  for (const path of PATHS) {
    const response = await getList(path.replace('BUILDER', builderId), { projectId, ...query });
    expect(response.statusCode, response.body).toBe(200);
    const { data, meta } = response.json();
    expect(meta.totalCount).toBe(data.length);
    lists.push(data.map(({ date }: { date: string }) => date).sort());
  }
  expect(lists[0]).toEqual(lists[1]);
  return lists[0]!;
}

/** Time zone, day, and the instants at which it begins and ends there. */
const DAYS: [timeZone: string, day: string, begin: string, end: string][] = [
  ['UTC', '2026-03-02', '2026-03-02T00:00:00.000Z', '2026-03-03T00:00:00.000Z'],
  ['Australia/Sydney', '2026-03-02', '2026-03-01T13:00:00.000Z', '2026-03-02T13:00:00.000Z'],
  // 25 hours, then 23.
  ['Australia/Sydney', '2026-04-05', '2026-04-04T13:00:00.000Z', '2026-04-05T14:00:00.000Z'],
  ['Australia/Sydney', '2026-10-04', '2026-10-03T14:00:00.000Z', '2026-10-04T13:00:00.000Z'],
  ['America/New_York', '2026-03-08', '2026-03-08T05:00:00.000Z', '2026-03-09T04:00:00.000Z'],
  ['America/New_York', '2026-11-01', '2026-11-01T04:00:00.000Z', '2026-11-02T05:00:00.000Z'],
  ['Europe/Kyiv', '2026-03-29', '2026-03-28T22:00:00.000Z', '2026-03-29T21:00:00.000Z'],
  ['Europe/Kiev', '2026-03-29', '2026-03-28T22:00:00.000Z', '2026-03-29T21:00:00.000Z'],
  // Half hours: 24 hours, and 24.5.
  ['Asia/Kolkata', '2026-03-02', '2026-03-01T18:30:00.000Z', '2026-03-02T18:30:00.000Z'],
  ['Asia/Calcutta', '2026-03-02', '2026-03-01T18:30:00.000Z', '2026-03-02T18:30:00.000Z'],
  ['Asia/Kathmandu', '2026-03-02', '2026-03-01T18:15:00.000Z', '2026-03-02T18:15:00.000Z'],
  ['America/St_Johns', '2026-03-02', '2026-03-02T03:30:00.000Z', '2026-03-03T03:30:00.000Z'],
  ['Australia/Lord_Howe', '2026-04-05', '2026-04-04T13:00:00.000Z', '2026-04-05T13:30:00.000Z'],
  // Clocks change at midnight: forward to 01:00, back to 00:00, and back to 23:00 of the day.
  ['America/Havana', '2026-03-08', '2026-03-08T05:00:00.000Z', '2026-03-09T04:00:00.000Z'],
  ['America/Havana', '2026-11-01', '2026-11-01T04:00:00.000Z', '2026-11-02T05:00:00.000Z'],
  ['America/Santiago', '2026-04-04', '2026-04-04T03:00:00.000Z', '2026-04-05T04:00:00.000Z'],
  // Before and after the day that Samoa left out.
  ['Pacific/Apia', '2011-12-29', '2011-12-29T10:00:00.000Z', '2011-12-30T10:00:00.000Z'],
  ['Pacific/Apia', '2011-12-31', '2011-12-30T10:00:00.000Z', '2011-12-31T10:00:00.000Z'],
  // The zones that are furthest from UTC, and one with summer time by an old name.
  ['Pacific/Kiritimati', '2026-03-02', '2026-03-01T10:00:00.000Z', '2026-03-02T10:00:00.000Z'],
  ['Etc/GMT+12', '2026-03-02', '2026-03-02T12:00:00.000Z', '2026-03-03T12:00:00.000Z'],
  ['CET', '2026-07-01', '2026-06-30T22:00:00.000Z', '2026-07-01T22:00:00.000Z'],
];

describe('a range of bare dates with a time zone', () => {
  it.each(DAYS)(
    'in %s on %s is from %s to before %s, with midnight UTC of the day (LST-16, RED-31)',
    async (...row) => {
      const [timeZone, day, begin, end] = row;
      const midnight = `${day}T00:00:00.000Z`;
      const [dayBefore, dayAfter] = [shift(midnight, -86_400_000), shift(midnight, 86_400_000)];
      const last = shift(end, -1);
      const dates = new Set([dayBefore, midnight, dayAfter, shift(begin, -1), begin, shift(begin, 1), last, end]);
      const projectId = await addDated([...dates]);
      const onDay = new Set([begin, shift(begin, 1), last].filter((date) => !/T00:00:00.000Z$/.test(date)));
      onDay.add(midnight);
      expect(await readDates(projectId, { startDate: day, endDate: day, timeZone })).toEqual([...onDay].sort());
      // The days before and from it on are all records, and so are those to it and after.
      const dayOf = (days: number) => shift(midnight, days * 86_400_000).slice(0, 10);
      for (const [endDate, startDate] of [
        [dayOf(-1), day],
        [day, dayOf(1)],
      ] as const) {
        const parts = [
          await readDates(projectId, { endDate, timeZone }),
          await readDates(projectId, { startDate, timeZone }),
        ];
        expect(parts.flat().sort()).toEqual([...dates].sort());
      }
    },
  );

  it('on the day that Samoa left out has midnight UTC alone (LST-16, RED-31)', async () => {
    const dates = ['2011-12-29T23:59:59.999Z', '2011-12-30T00:00:00.000Z', '2011-12-30T09:59:59.999Z'];
    const projectId = await addDated([...dates, '2011-12-30T10:00:00.000Z', '2011-12-31T00:00:00.000Z']);
    const query = { startDate: '2011-12-30', endDate: '2011-12-30', timeZone: 'Pacific/Apia' };
    expect(await readDates(projectId, query)).toEqual(['2011-12-30T00:00:00.000Z']);
  });

  it('has the same days as PostgreSQL in every accepted zone (RED-31)', async () => {
    const database = service.databases.au1;
    const projectId = await addProject(service, builderId);
    const [first, last] = ['2026-03-29', '2026-04-04'];
    // Every half hour of the days around both ends of the range in any zone, and midnight UTC of the others.
    const halfHours = (day: string) =>
      Array.from({ length: 96 }, (_, at) => shift(`${day}T00:00:00.000Z`, at * 1_800_000));
    const midnights = ['03-27', '03-30', '03-31', '04-01', '04-02', '04-03', '04-06'].map(
      (day) => `2026-${day}T00:00:00.000Z`,
    );
    const dates = [...halfHours('2026-03-28'), ...halfHours('2026-04-04'), ...midnights];
    await addTimesheets(
      service,
      builderId,
      dates.map((date) => ({ projectId, date })),
    );
    const names = await database.fork().execute<{ name: string }[]>('select name from pg_timezone_names');
    const zones = names
      .map(({ name }) => name)
      .filter(isTimeZone)
      .map(TimeZone.parseValue);
    const rows = await database.fork().execute<{ zone: string; dates: string[] }[]>(
      `select zone, array_agg(date order by date) as dates from unnest(?::text[]) zone, timesheet
        where project_id = ? and ${toZoneDaySql('date', 'zone')} between ?::date and ?::date group by zone`,
      [`{${[...new Set(zones)].join()}}`, projectId, first, last],
    );
    const differing: string[] = [];
    for (const { zone, dates: expected } of rows) {
      const where = { projectId, ...toDateRange({ startDate: first, endDate: last, timeZone: zone }) };
      const { data } = await timesheets.findPage(database, where, { offset: 0, limit: 1000 });
      const found = data.map(({ date }) => Date.parse(date)).sort();
      if (found.join() !== expected.map((date) => Date.parse(date)).join()) differing.push(zone);
    }
    expect([zones.length > 500, rows.length]).toEqual([true, new Set(zones).size]);
    expect(differing).toEqual([]);
  });

  it('does not change instants, and may be mixed with them (LST-16)', async () => {
    const [before, begin, noon, end] = [
      '2026-03-01T12:59:59.999Z',
      '2026-03-01T13:00:00.000Z',
      '2026-03-02T02:00:00.000Z',
      '2026-03-02T13:00:00.000Z',
    ];
    const projectId = await addDated([before, begin, noon, end]);
    const timeZone = 'Australia/Sydney';
    const read = (startDate: string, endDate: string) => readDates(projectId, { startDate, endDate, timeZone });
    expect(await read(before, end)).toEqual([before, begin, noon, end]);
    expect(await read('2026-03-02', noon)).toEqual([begin, noon]);
    expect(await read(noon, '2026-03-02')).toEqual([noon]);
    expect(await readDates(projectId, { timeZone })).toHaveLength(4);
  });

  it('is the same in GraphQL: of the root fields and of each list below a builder or project (LST-16)', async () => {
    const dates = [
      '2026-05-01T13:59:59.999Z',
      '2026-05-01T14:00:00.000Z',
      '2026-05-02T00:00:00.000Z',
      '2026-05-02T13:59:59.999Z',
    ];
    const projectId = await addDated([...dates, '2026-05-02T14:00:00.000Z']);
    const zoned = 'startDate: "2026-05-02", endDate: "2026-05-02", timeZone: "Australia/Brisbane"';
    const days = 'firstDay: "2026-05-02", lastDay: "2026-05-02", timeZone: "Australia/Brisbane"';
    const query = `query ($builderId: BuilderId!, $projectId: ProjectId!) {
      timesheets(builderId: $builderId, projectId: $projectId, ${zoned}) { data { date } }
      meetings(builderId: $builderId, projectId: $projectId, ${zoned}) { data { date } }
      builder(builderId: $builderId) { timesheets(projectId: $projectId, ${days}) { data { date } } meetings(${zoned}) { data { date } } }
      project(builderId: $builderId, projectId: $projectId) { timesheets(${zoned}) { data { date } } meetings(${zoned}) { data { date } } } }`;
    const { data, errors } = await service.graphql(token, query, { builderId, projectId });
    expect(errors).toBeUndefined();
    const lists = [data, data.builder, data.project].flatMap(({ timesheets: sheets, meetings }) => [sheets, meetings]);
    expect(lists).toHaveLength(6);
    for (const list of lists) expect(list.data.map(({ date }: Timesheet) => date).sort()).toEqual(dates.slice(1));
  });

  it('is part of what a cursor is bound to (LST-13)', async () => {
    const projectId = await addDated(['2026-03-02T01:00:00.000Z', '2026-03-02T02:00:00.000Z']);
    const query = { projectId, startDate: '2026-03-02', limit: '1' };
    const { meta } = (await getList('/timesheets', { ...query, timeZone: 'Asia/Kolkata', cursor: '' })).json();
    const next = { ...query, cursor: meta.nextCursor };
    const statuses = ['Asia/Kolkata', 'America/New_York', 'UTC'].map(async (timeZone) => {
      return (await getList('/timesheets', { ...next, timeZone })).statusCode;
    });
    expect(await Promise.all(statuses)).toEqual([200, 400, 400]);
  });
});

describe.each(PATHS)('GET %s', (path) => {
  const fieldsOf = async (query: string) => {
    const response = await service.get(`${path.replace('BUILDER', builderId)}?${query}`, token, {
      'x-service-builder-id': builderId,
    });
    return [response.statusCode, response.json().errors?.map(({ fieldName }: { fieldName: string }) => fieldName)];
  };

  it.each(['Mars/Olympus', '', '%2B10:00', 'AEST', 'BST', 'UTC%2B10', 'Factory', 'posix/UTC', 'UTC&timeZone=UTC'])(
    'is 400 for ?timeZone=%s, with and without dates (LST-16)',
    async (name) => {
      for (const dates of ['', 'startDate=2026-03-02&endDate=2026-03-02&'])
        expect(await fieldsOf(`${dates}timeZone=${name}`)).toEqual([400, ['timeZone']]);
    },
  );

  it.each([
    ['startDate=2026-03-03&endDate=2026-03-02', 400],
    ['startDate=2026-03-02&endDate=2026-03-02', 200],
    // 14:00 on 2 March is 01:00 on 3 March in Sydney.
    ['startDate=2026-03-02T14:00:00Z&endDate=2026-03-02', 400],
    ['startDate=2026-03-02T12:00:00Z&endDate=2026-03-02', 200],
    ['startDate=2026-03-02&endDate=2026-03-01T12:59:59Z', 400],
    ['startDate=2026-03-02&endDate=2026-03-01T13:00:00Z', 200],
  ])('for ?%s in Sydney is %i (LST-12)', async (query, status) => {
    expect(await fieldsOf(`${query}&timeZone=Australia/Sydney`)).toEqual([
      status,
      status === 400 ? ['endDate'] : undefined,
    ]);
  });

  it.each(['0001-01-01', '9999-12-31'])('accepts %s in every direction from UTC', async (day) => {
    for (const zone of ['Pacific/Kiritimati', 'Etc/GMT%2B12', 'Asia/Manila', 'America/Juneau'])
      expect(await fieldsOf(`startDate=${day}&endDate=${day}&timeZone=${zone}`)).toEqual([200, undefined]);
  });
});
