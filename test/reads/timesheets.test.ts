import { beforeAll, describe, expect, it } from 'vitest';
import { CostCode } from '../../entities/cost-code.entity.ts';
import { Profile } from '../../entities/profile.entity.ts';
import { TimeType } from '../../entities/time-type.entity.ts';
import { Timesheet } from '../../entities/timesheet.entity.ts';
import { SCOPES } from '../../schema/scopes.ts';
import { useService } from '../support/harness.ts';
import { nullFieldsOf } from '../support/null-fields.ts';
import { fixtureDay, insertSubcontractors } from '../support/subcontractor-data.ts';

const service = useService();
let token: string;

const aTimesheet = (id: string, at: number, changes: Partial<Timesheet> = {}) =>
  ({
    id,
    createdAt: fixtureDay(at),
    updatedAt: fixtureDay(at),
    builderId: 'buil_a',
    projectId: 'proj_a1',
    profileId: 'pers_worker',
    costCodeId: null,
    timeTypeId: null,
    status: 'WAITING_REVIEW',
    date: fixtureDay(at),
    hours: 8,
    notes: null,
    timesheetGroupId: null,
    ...changes,
  }) as Timesheet;

const FULL = {
  projectId: 'proj_a2',
  profileId: 'pers_admin',
  costCodeId: 'tscc_steel',
  timeTypeId: 'tstt_overtime',
  status: 'APPROVED_2',
  hours: 7.5,
  notes: 'Level 3',
  timesheetGroupId: 'tsg_a1',
} as const;

beforeAll(async () => {
  await insertSubcontractors(service.databases.au1);
  const em = service.databases.au1.fork();
  const ofA = { builderId: 'buil_a' };
  await em.insertMany(Profile, [
    { id: 'pers_worker', ...ofA, fullName: 'Alex Ng', type: 'worker' },
    { id: 'pers_admin', ...ofA, fullName: 'Kim Roe', type: 'admin' },
    { id: 'pers_b', builderId: 'buil_b', fullName: 'Lee Poe', type: 'worker' },
  ]);
  await em.insertMany(CostCode, [
    { id: 'tscc_steel', ...ofA, code: '200', description: 'Steel' },
    { id: 'tscc_concrete', ...ofA, code: '100', description: 'Concrete' },
    { id: 'tscc_b', builderId: 'buil_b', code: '300', description: 'Paint' },
  ]);
  await em.insertMany(TimeType, [
    { id: 'tstt_overtime', ...ofA, name: 'Overtime' },
    { id: 'tstt_ordinary', ...ofA, name: 'Ordinary' },
    { id: 'tstt_b', builderId: 'buil_b', name: 'Night' },
  ]);
  await em.insertMany(Timesheet, [
    aTimesheet('ts_a1', 1),
    aTimesheet('ts_a2', 2, FULL),
    aTimesheet('ts_a3', 3, { status: 'REJECTED' }),
    aTimesheet('ts_b1', 4, { builderId: 'buil_b', projectId: 'proj_b', profileId: 'pers_b' }),
  ]);
  token = await service.createToken({ clientId: 'cli_a', scope: SCOPES });
});

const get = (url: string) => service.get(url, token, { 'x-service-builder-id': 'buil_a' });

describe('GET /timesheets/{timesheetId}', () => {
  it('answers 200 with the fields of the contract, no more (RED-23)', async () => {
    const response = await get('/timesheets/ts_a2');
    expect(response.statusCode).toBe(200);
    expect(response.json()).toEqual({
      ...nullFieldsOf('Timesheet'),
      id: 'ts_a2',
      status: 'APPROVED_2',
      createdAt: fixtureDay(2),
      updatedAt: fixtureDay(2),
      date: fixtureDay(2),
      hours: 7.5,
      notes: 'Level 3',
      timeType: 'Overtime',
      costCode: '200 - Steel',
      timesheetGroupId: 'tsg_a1',
      profile: { id: 'pers_admin', fullName: 'Kim Roe', type: 'admin' },
      project: { id: 'proj_a2', name: 'Site proj_a2' },
    });
  });

  it('answers 200 with null for what a timesheet does not have (RED-23)', async () => {
    const absent = { notes: null, timeType: null, costCode: null, timesheetGroupId: null };
    expect((await get('/timesheets/ts_a1')).json()).toMatchObject({ ...absent, profile: { type: 'worker' } });
  });

  it.each(['ts_b1', 'ts_nosuch', 'nonsense'])('answers 404 for %s', async (id) => {
    expect((await get(`/timesheets/${id}`)).statusCode).toBe(404);
  });
});

describe('GET /timesheets', () => {
  it.each([
    ['', ['ts_a1', 'ts_a2', 'ts_a3']],
    ['?projectId=proj_a1', ['ts_a1', 'ts_a3']],
    ['?status=REJECTED', ['ts_a3']],
    ['?projectId=proj_a2&status=REJECTED', []],
    ['?startDate=2026-03-03', ['ts_a2', 'ts_a3']],
    ['?endDate=2026-03-03', ['ts_a1', 'ts_a2']],
    ['?startDate=2026-03-03T00:00:00Z&endDate=2026-03-03', ['ts_a2']],
  ])('answers 200 with the timesheets of the filter: %s (RED-24)', async (query, ids) => {
    const response = await get(`/timesheets${query}`);
    expect(response.statusCode, response.body).toBe(200);
    expect(response.json().data.map(({ id }: { id: string }) => id)).toEqual(ids);
  });

  it.each(['status=DONE', 'status=REJECTED&status=APPROVED_1'])('answers 400 for ?%s (RED-24)', async (query) => {
    const response = await get(`/timesheets?${query}`);
    expect(response.statusCode).toBe(400);
    expect(response.json().errors).toMatchObject([{ fieldName: 'status' }]);
  });
});

describe('GET /timesheets/cost-codes', () => {
  it('answers 200 with all cost codes of the builder, by code (RED-25)', async () => {
    const response = await get('/timesheets/cost-codes');
    expect(response.statusCode).toBe(200);
    expect(response.json()).toEqual({
      data: [
        { id: 'tscc_concrete', code: '100', description: 'Concrete' },
        { id: 'tscc_steel', code: '200', description: 'Steel' },
      ],
    });
  });
});

describe('GET /timesheets/time-types', () => {
  it('answers 200 with all time types of the builder, by name (RED-25)', async () => {
    const response = await get('/timesheets/time-types');
    expect(response.statusCode).toBe(200);
    expect(response.json()).toEqual({
      data: [
        { id: 'tstt_ordinary', name: 'Ordinary' },
        { id: 'tstt_overtime', name: 'Overtime' },
      ],
    });
  });
});
