import { beforeAll, describe, expect, it } from 'vitest';
import { addStaff, type ConsoleBrowser, signInToConsole } from '../../support/console.ts';
import { useService } from '../../support/harness.ts';

const service = useService();
let viewer: ConsoleBrowser;
let operator: ConsoleBrowser;
let builderId: string;

beforeAll(async () => {
  viewer = await signInToConsole(service.app, await addStaff(service, 'VIEWER'));
  operator = await signInToConsole(service.app, await addStaff(service, 'OPERATOR'));
  builderId = service.findDemoClient('A').builderIds[0]!;
});

const count = async (sql: string) =>
  Number((await service.databases.au1.fork().execute<{ count: string }[]>(sql, [builderId]))[0]!.count);

const DAYS = 'startDate: "2026-03-01", endDate: "2026-05-31"';
const MONTH = 'startDate: "2026-05-01", endDate: "2026-05-31"';

/** Every figure with its fields, and whether it needs `read:attendance`. */
const FIGURES: [name: string, args: string, fields: string, isAttendance: boolean][] = [
  ['hoursByWeek', `, ${DAYS}`, 'week status hours timesheets', false],
  ['hoursByProject', `, ${DAYS}`, 'project { id name details { status } } hours timesheets', false],
  ['hoursByCostCode', `, ${DAYS}`, 'costCode { id code description } hours timesheets', false],
  ['attendanceByDay', `, ${MONTH}`, 'date visits workers', true],
  ['signOnsByHour', ', date: "2026-05-28"', 'hour signOns typicalSignOns', true],
  ['workersOnSite', '', 'project { id name } onSite fromEarlierDays', true],
  ['projectsInProgress', '', 'id name details { status }', false],
  ['inductionsByStatus', '', 'status inductions', false],
  ['insurancesByMonth', `, ${DAYS}`, 'month insurances', false],
  ['attendanceAwaitingAction', '', 'signOnConflicts pendingSignOffs openVisits', true],
  ['itemsAwaitingAction', '', 'timesheets inductions insurances failingWebhookEndpoints signOnConflicts', false],
];

const queryOf = ([name, args, fields]: (typeof FIGURES)[number], id = builderId) =>
  `{ ${name}(builderId: "${id}"${args}) { ${fields} } }`;

describe.each(FIGURES)('%s', (...figure) => {
  const [name, , , isAttendance] = figure;

  it('is read by an operator', async () => {
    const { data, errors } = await operator.query(queryOf(figure));
    expect(errors).toBeUndefined();
    expect([data[name]].flat().length).toBeGreaterThan(0);
  });

  it(isAttendance ? 'is 403 for a viewer, who lacks read:attendance' : 'is read by a viewer', async () => {
    const { errors } = await viewer.query(queryOf(figure));
    expect(errors?.map(({ extensions }) => extensions.http.status)).toEqual(isAttendance ? [403] : undefined);
  });

  it('is 404 for an unknown builder', async () => {
    const { errors } = await operator.query(queryOf(figure, 'buil_none'));
    expect(errors?.map(({ extensions }) => extensions.http.status)).toEqual([404]);
  });

  it('is no field of the integrators’ schema', async () => {
    const { errors } = await service.graphql(await service.tokenOf('internal'), queryOf(figure));
    const [unknown] = errors!;
    expect(unknown!.message).toContain(`Cannot query field "${name}" on type "Query".`);
    const [, suggestions = ''] = unknown!.message.split('Did you mean');
    expect(FIGURES.filter(([other]) => suggestions.includes(`"${other}"`))).toEqual([]);
  });
});

describe('the figures of a builder in a time zone that PostgreSQL takes for an abbreviation', () => {
  const readIn = async (timeZone: string) => {
    await service.databases.au1.fork().execute('update builder set time_zone = ? where id = ?', [timeZone, builderId]);
    return (await operator.query(`{ ${FIGURES.map((figure) => queryOf(figure).slice(2, -2)).join(' ')} }`)).data;
  };

  it.each([
    ['CET', 'Europe/Brussels'],
    ['MET', 'Europe/Brussels'],
    ['EET', 'Europe/Athens'],
    ['WET', 'Europe/Lisbon'],
  ])('have summer time: %s is %s (RED-31)', async (name, zone) => {
    const figures = await readIn(name);
    expect(figures).toEqual(await readIn(zone));
    expect(figures.signOnsByHour.length).toBeGreaterThan(0);
    const winter = { CET: 'Etc/GMT-1', MET: 'Etc/GMT-1', EET: 'Etc/GMT-2', WET: 'Etc/GMT' }[name]!;
    expect((await readIn(winter)).signOnsByHour).not.toEqual(figures.signOnsByHour);
    await service.databases.au1.fork().execute('update builder set time_zone = null where id = ?', [builderId]);
  });
});

describe('the hours of a year', () => {
  it('are in total those of the timesheets, in each division', async () => {
    const all = `builderId: "${builderId}", startDate: "2025-06-01", endDate: "2026-05-31"`;
    const divisions = ['hoursByWeek', 'hoursByProject', 'hoursByCostCode'];
    const { data } = await operator.query(
      `{ ${divisions.map((name) => `${name}(${all}) { hours timesheets }`).join(' ')} }`,
    );
    const rows = `from timesheet where builder_id = ? and date between '2025-06-01' and '2026-05-31'`;
    const [timesheets, hours] = [
      await count(`select count(*) ${rows}`),
      await count(`select sum(hours) as count ${rows}`),
    ];
    expect(timesheets).toBeGreaterThan(20);
    for (const name of divisions) {
      const sum = (field: string) =>
        data[name].reduce((total: number, row: Record<string, number>) => total + row[field]!, 0);
      expect([name, sum('timesheets'), sum('hours').toFixed(4)]).toEqual([name, timesheets, hours.toFixed(4)]);
    }
  });
});

describe('items awaiting action', () => {
  it('are the totals of the lists that they name', async () => {
    const { data } = await operator.query(
      `query ($id: BuilderId!) {
        itemsAwaitingAction(builderId: $id) { signOnConflicts pendingSignOffs rejectedSignOffs timesheets inductions insurances }
        conflicts(builderId: $id, state: OPEN) { data { id } }
        builder(builderId: $id) { pendingSignOffs { meta { totalCount } } rejectedSignOffs { meta { totalCount } } }
        timesheets(builderId: $id, status: WAITING_REVIEW) { meta { totalCount } }
        insurances(builderId: $id, firstDay: "2026-06-01", lastDay: "2026-07-01", timeZone: "Australia/Sydney") { meta { totalCount } }
      }`,
      { id: builderId },
    );
    expect(data.itemsAwaitingAction).toEqual({
      signOnConflicts: data.conflicts.data.length,
      pendingSignOffs: data.builder.pendingSignOffs.meta.totalCount,
      rejectedSignOffs: data.builder.rejectedSignOffs.meta.totalCount,
      timesheets: data.timesheets.meta.totalCount,
      inductions: await count(`select count(*) from induction where builder_id = ? and status = 'WAITING_REVIEW'`),
      insurances: data.insurances.meta.totalCount,
    });
    expect(Object.values(data.itemsAwaitingAction)).not.toContain(0);
  });

  it('leave out those of attendance for a viewer', async () => {
    const query = `{ itemsAwaitingAction(builderId: "${builderId}") { signOnConflicts pendingSignOffs rejectedSignOffs timesheets } }`;
    const { data } = await viewer.query(query);
    const { timesheets, ...attendance } = data.itemsAwaitingAction;
    expect(attendance).toEqual({ signOnConflicts: null, pendingSignOffs: null, rejectedSignOffs: null });
    expect(timesheets).toBeGreaterThan(0);
  });
});

describe('400', () => {
  const cases: [query: string, field: string, message: string][] = [
    [
      'hoursByWeek(builderId: "$", startDate: "2026-03-02", endDate: "2026-03-01") { week }',
      'endDate',
      'must not be before startDate',
    ],
    [
      'hoursByWeek(builderId: "$", startDate: "2025-01-01", endDate: "2026-01-07") { week }',
      'endDate',
      'must be at most 370 days after startDate',
    ],
    [
      'attendanceByDay(builderId: "$", startDate: "2025-01-01", endDate: "2025-06-01") { date }',
      'endDate',
      'must be at most 92 days after startDate',
    ],
  ];

  it.each(cases)('for %s', async (query, fieldName, message) => {
    const { errors } = await operator.query(`{ ${query.replace('$', builderId)} }`);
    expect(errors![0]!.extensions).toMatchObject({ http: { status: 400 }, errors: [{ fieldName, message }] });
  });

  it('for a day that is none', async () => {
    const query = `{ signOnsByHour(builderId: "${builderId}", date: "2026-02-30") { hour } }`;
    expect((await operator.query(query)).errors![0]!.extensions.http.status).toBe(400);
  });

  it('accepts the longest range', async () => {
    const query = `{ hoursByWeek(builderId: "${builderId}", startDate: "2025-01-01", endDate: "2026-01-06") { week } }`;
    expect((await operator.query(query)).errors).toBeUndefined();
  });
});
