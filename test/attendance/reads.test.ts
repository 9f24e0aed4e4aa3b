import { beforeAll, describe, expect, it } from 'vitest';
import { isTimeZone } from '../../schema/time-zone.ts';
import {
  aSignOff,
  aSignOn,
  createGateFixture,
  endVisit,
  type GateEvent,
  readAttendance,
  sendEvent,
} from '../support/attendance.ts';
import { useService } from '../support/harness.ts';

const service = useService();
let internalToken: string;
const DAY = '2024-01-10';
const { builderId, projectId, workers } = createGateFixture();
const [worker, colleague] = workers.active as [string, string];

/** Sent events by the state that they have afterwards. */
const sentEvents: Record<string, GateEvent> = {};

beforeAll(async () => {
  internalToken = await service.tokenOf('internal');
  const token = await service.tokenOf('A');
  const post = async (name: string, event: GateEvent) => {
    sentEvents[name] = event;
    const { body } = await sendEvent(service.app, token, event);
    return body.data?.signOnId as string;
  };
  const at = (time: string, day = DAY) => ({ occurredAt: `${day}T${time}Z` });
  await post('ended', aSignOn(worker, at('06:00:00')));
  await post('end', aSignOff(sentEvents.ended!, at('14:00:00')));
  await post('midnight', aSignOn(colleague, at('00:00:00')));
  await post('night', aSignOn(colleague, at('23:59:59.999')));
  await post('dayAfter', aSignOn(colleague, at('00:00:00', '2024-01-11')));
  await post('dayBefore', aSignOn(colleague, at('20:30:00', '2024-01-09')));
  await endVisit(service, await post('closed', aSignOn(worker, at('07:00:00'))), 'closed_at');
  await endVisit(service, await post('archived', aSignOn(worker, at('08:00:00'))), 'archived_at');
  await post('pending', aSignOff(aSignOn(worker), at('15:00:00')));
  const late = aSignOn(worker, at('09:00:00'));
  await post('rejected', aSignOff(late, { ...at('16:00:00'), workerId: colleague }));
  await post('late', late);
  await post('conflict', { ...sentEvents.ended!, deviceId: 'turnstile 9' });
});

const PAGE = 'meta { totalCount }';

async function queryProject(fields: string, token = internalToken) {
  const query = `query ($builderId: BuilderId!, $projectId: ProjectId!) { project(builderId: $builderId, projectId: $projectId) { ${fields} } }`;
  const { data, errors } = await service.graphql(token, query, { builderId, projectId });
  expect(errors).toBeUndefined();
  return data.project;
}

async function readAttendanceDay(args: string): Promise<string[]> {
  const fields = `attendance(${args}) { data { events { data { sourceEventId type } } } }`;
  const { attendance } = await queryProject(fields);
  const begun = attendance.data.map(
    (visit: { events: { data: { sourceEventId: string; type: string }[] } }) =>
      visit.events.data.find(({ type }) => type === 'SIGN_ON')!.sourceEventId,
  );
  const names = Object.keys(sentEvents).filter(
    (name) => begun.includes(sentEvents[name]!.sourceEventId) && name !== 'conflict',
  );
  expect(names.length).toBe(begun.length);
  return names.sort();
}

describe('attendance(date)', () => {
  it('lists the visits that began on the day, in UTC, without the archived ones (ATT-30)', async () => {
    expect(await readAttendanceDay(`date: "${DAY}"`)).toEqual(['closed', 'ended', 'late', 'midnight', 'night']);
  });

  it('uses the day of the given time zone (ATT-30)', async () => {
    // Sydney is eleven hours ahead in January: its day begins at 13:00 UTC of the day before.
    const sydney = await readAttendanceDay(`date: "${DAY}", timeZone: "Australia/Sydney"`);
    expect(sydney).toEqual(['closed', 'dayBefore', 'ended', 'late', 'midnight']);
  });

  it('returns each visit with its worker, project, times and events', async () => {
    const { attendance } = await queryProject(`attendance(date: "${DAY}", limit: 1) {
      data { id createdAt signedOnAt signedOffAt closedAt closedBy archivedAt anomaly worker { id fullName } project { id name }
        events { data { type status occurredAt integrator { name } visit { id } } } } meta { totalCount } }`);
    expect(attendance.meta.totalCount).toBe(5);
    const [visit] = attendance.data;
    expect(visit).toMatchObject({
      id: expect.stringMatching(/^signon_/),
      project: { id: projectId, name: expect.any(String) },
      closedBy: null,
      archivedAt: null,
      anomaly: null,
    });
    expect(visit.events.data[0]).toMatchObject({
      integrator: { name: 'TurnGate Access' },
      visit: { id: visit.id },
      status: 'APPLIED',
    });
  });

  it('lists a day in every accepted time zone', async () => {
    const rows = await service.databases.au1.fork().execute<{ name: string }[]>('select name from pg_timezone_names');
    const zones = rows.map(({ name }) => name).filter(isTimeZone);
    expect(zones).toContain('Asia/Kolkata');
    const fields = zones.map((zone, at) => `z${at}: attendance(date: "${DAY}", timeZone: "${zone}") { ${PAGE} }`);
    for (let from = 0; from < fields.length; from += 60) await queryProject(fields.slice(from, from + 60).join(' '));
  });

  it.each([
    ['date: "10/01/2024"', 'date'],
    ['date: "2024-02-30"', 'date'],
    [`date: "${DAY}", timeZone: "Mars/Olympus"`, 'timeZone'],
    [`date: "${DAY}", timeZone: "+10:00"`, 'timeZone'],
  ])('is 400 for %s', async (args, field) => {
    const query = `{ project(builderId: "${builderId}", projectId: "${projectId}") { attendance(${args}) { ${PAGE} } } }`;
    const { errors } = await service.graphql(internalToken, query);
    expect(errors![0]!.extensions).toMatchObject({ http: { status: 400 }, errors: [{ fieldName: field }] });
  });
});

const ids = (page: { data: { sourceEventId: string }[] }) => page.data.map(({ sourceEventId }) => sourceEventId);

describe('open visits', () => {
  it('are the visits that are not signed off, closed or archived, of the project and of the builder (ATT-31)', async () => {
    const { visits } = await readAttendance(service);
    const open = visits.filter((visit) => !visit.signedOffAt && !visit.closedAt && !visit.archivedAt);
    const page = `openVisits { ${PAGE} data { signedOffAt closedAt archivedAt } }`;
    const { openVisits } = await queryProject(page);
    expect(openVisits.meta.totalCount).toBe(open.length);
    for (const visit of openVisits.data) expect(visit).toEqual({ signedOffAt: null, closedAt: null, archivedAt: null });
    const { data } = await service.graphql(internalToken, `{ builder(builderId: "${builderId}") { ${page} } }`);
    expect(data.builder.openVisits.meta.totalCount).toBeGreaterThanOrEqual(open.length);
  });
});

describe('visits of a worker', () => {
  it('include the archived ones, on all projects or on one (ATT-31)', async () => {
    const { visits } = await readAttendance(service);
    const query = `{ project(builderId: "${builderId}", projectId: "${projectId}") { openVisits { data { worker { id details {
      visits { ${PAGE} } here: visits(projectId: "${projectId}") { ${PAGE} data { archivedAt } } elsewhere: visits(projectId: "proj_nosuch") { ${PAGE} }
    } } } } } }`;
    const { data } = await service.graphql(internalToken, query);
    const found = data.project.openVisits.data.find((visit: { worker: { id: string } }) => visit.worker.id === worker);
    const { details } = found.worker;
    expect(details.here.meta.totalCount).toBe(visits.filter(({ workerId }) => workerId === worker).length);
    expect(details.visits.meta.totalCount).toBeGreaterThanOrEqual(details.here.meta.totalCount);
    expect(details.here.data.some(({ archivedAt }: { archivedAt: string | null }) => archivedAt !== null)).toBe(true);
    expect(details.elsewhere.meta.totalCount).toBe(0);
  });
});

describe('open reconciliation work', () => {
  const FIELDS = `
    pendingSignOffs { data { sourceEventId status rejection visit { id } } }
    rejectedSignOffs { data { sourceEventId sourceSignOnEventId status rejection worker { id } } }
    signOnConflicts { data { sourceEventId code answers type occurredAt deviceId createdAt updatedAt worker { id } integrator { id name } } }
    closed: signOnConflicts(code: ATTENDANCE_CLOSED) { ${PAGE} }`;

  it('is listed for the project: sign-offs that wait, that were rejected, and the conflicts (ATT-32)', async () => {
    const project = await queryProject(FIELDS);
    expect(ids(project.pendingSignOffs)).toContain(sentEvents.pending!.sourceEventId);
    expect(project.pendingSignOffs.data).toContainEqual(
      expect.objectContaining({ status: 'PENDING_SIGN_ON', rejection: null, visit: null }),
    );
    expect(project.rejectedSignOffs.data).toContainEqual({
      sourceEventId: sentEvents.rejected!.sourceEventId,
      sourceSignOnEventId: sentEvents.late!.sourceEventId,
      status: 'REJECTED',
      rejection: 'WORKER_MISMATCH',
      worker: { id: colleague },
    });
    expect(project.signOnConflicts.data).toContainEqual({
      sourceEventId: sentEvents.conflict!.sourceEventId,
      code: 'EVENT_MISMATCH',
      answers: 1,
      type: 'SIGN_ON',
      occurredAt: `${DAY}T06:00:00.000Z`,
      deviceId: 'turnstile 9',
      createdAt: '2026-06-01T00:00:00.000Z',
      updatedAt: '2026-06-01T00:00:00.000Z',
      worker: { id: worker },
      integrator: { id: expect.stringMatching(/^intg_/), name: 'TurnGate Access' },
    });
    expect(project.closed.meta.totalCount).toBeLessThan(project.signOnConflicts.data.length);
  });

  it('and for the builder (ATT-32)', async () => {
    const { data } = await service.graphql(internalToken, `{ builder(builderId: "${builderId}") { ${FIELDS} } }`);
    expect(ids(data.builder.pendingSignOffs)).toContain(sentEvents.pending!.sourceEventId);
    expect(ids(data.builder.rejectedSignOffs)).toContain(sentEvents.rejected!.sourceEventId);
    expect(ids(data.builder.signOnConflicts)).toContain(sentEvents.conflict!.sourceEventId);
  });

  it('is read with one statement per edge', async () => {
    const read = () =>
      queryProject(`attendance(date: "${DAY}") { data { events { data { id } } } } openVisits { data { id } }`);
    await read();
    expect(await service.countStatements('au1', read)).toBeLessThanOrEqual(5);
  });
});

describe('the scope', () => {
  const EDGES = [`attendance(date: "${DAY}")`, 'openVisits', 'pendingSignOffs', 'rejectedSignOffs', 'signOnConflicts'];

  it.each(EDGES)('%s requires an internal client with read:attendance (ATT-29)', async (edge) => {
    const query = `{ project(builderId: "${builderId}", projectId: "${projectId}") { ${edge} { ${PAGE} } } }`;
    const without = service.findDemoClient('internal').scopes.filter((scope) => scope !== 'read:attendance');
    for (const token of [await service.tokenOf('A'), await service.tokenOf('internal', without)]) {
      const { errors } = await service.graphql(token, query);
      expect(errors![0]!.extensions).toMatchObject({ code: 'INSUFFICIENT_SCOPE', http: { status: 403 } });
    }
    expect((await service.graphql(internalToken, query)).errors).toBeUndefined();
  });
});
