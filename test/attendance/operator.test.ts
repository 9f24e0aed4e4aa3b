import { PassThrough } from 'node:stream';
import { beforeAll, describe, expect, it } from 'vitest';
import { runCli } from '../../src/cli/run.ts';
import { TextCollector } from '../cli/cli-harness.ts';
import { aSignOff, aSignOn, createGateFixture, readAttendance, sendEvent } from '../support/attendance.ts';
import { useService } from '../support/harness.ts';

const service = useService();
let token: string;
let worker: string;

beforeAll(async () => {
  token = await service.tokenOf('A');
  [worker] = createGateFixture().workers.active as [string];
});

/** Runs a command in this process and returns its JSON output. */
async function runCommand(...args: string[]) {
  const [stdout, stderr] = [new TextCollector(), new TextCollector()];
  const stdin = new PassThrough();
  stdin.end();
  const { au1, us1 } = service.databases;
  const env = { DATABASE_URL_AU1: au1.url, DATABASE_URL_US1: us1.url };
  const code = await runCli([...args, '--json'], { env, clock: service.clock, stdin, stdout, stderr });
  return JSON.parse(code === 0 ? stdout.text : stderr.text);
}

async function beginVisit() {
  const on = aSignOn(worker);
  const { body } = await sendEvent(service.app, token, on);
  return { on, visitId: body.data.signOnId as string };
}

const visitOf = async (id: string) => (await readAttendance(service)).visits.find((visit) => visit.id === id)!;
const now = () => new Date(service.clock.now()).toISOString();

describe('attendance close', () => {
  it('stores the time and the person who closed the visit; a later sign-off is 409 (ATT-33)', async () => {
    const { on, visitId } = await beginVisit();
    const at = '2026-05-21T16:30:00+10:00';
    const closed = await runCommand('attendance', 'close', visitId, '--by', ' Robin Walsh ', '--at', at);
    const closedAt = '2026-05-21T06:30:00.000Z';
    const shown = { visitId, workerId: worker, closedAt, closedBy: 'Robin Walsh', archivedAt: null, changed: true };
    expect(closed).toMatchObject({ regionId: 'au1', ...shown });
    expect(await visitOf(visitId)).toMatchObject({ closedAt, closedBy: 'Robin Walsh', signedOffAt: null });
    const { status, body } = await sendEvent(service.app, token, aSignOff(on));
    expect([status, body.code]).toEqual([409, 'ATTENDANCE_CLOSED']);
    expect(await visitOf(visitId)).toMatchObject({ closedAt, signedOffAt: null });
  });

  it('closes a visit once, by default at the current time (ATT-33)', async () => {
    const { visitId } = await beginVisit();
    expect(await runCommand('attendance', 'close', visitId, '--by', 'Robin')).toMatchObject({
      closedAt: now(),
      changed: true,
    });
    const again = await runCommand('attendance', 'close', visitId, '--by', 'Alex');
    expect(again).toMatchObject({ closedBy: 'Robin', changed: false });
  });

  it('rejects a visit that is signed off, archived or unknown (ATT-33)', async () => {
    const { on, visitId } = await beginVisit();
    await sendEvent(service.app, token, aSignOff(on));
    const refused = await runCommand('attendance', 'close', visitId, '--by', 'Robin');
    expect(refused.error).toBe(`VISIT: ${visitId} was signed off at 2026-05-21T05:30:00.000Z.`);
    const other = await beginVisit();
    await runCommand('attendance', 'archive', other.visitId);
    expect((await runCommand('attendance', 'close', other.visitId, '--by', 'R')).error).toMatch(
      /^VISIT: .* was archived/,
    );
    expect((await runCommand('attendance', 'close', 'signon_nosuch', '--by', 'R')).error).toMatch(
      /^VISIT: there is no visit/,
    );
    expect((await runCommand('attendance', 'close', 'saevt_a', '--by', 'R')).error).toMatch(/^VISIT: /);
  });

  it('rejects a time in the future, before the sign-on or invalid, and a missing person (ATT-33)', async () => {
    const { visitId } = await beginVisit();
    const close = async (...args: string[]) => (await runCommand('attendance', 'close', visitId, ...args)).error;
    expect(await close('--by', 'R', '--at', '2026-06-02T00:00:00Z')).toMatch(/^--at: .* future/);
    expect(await close('--by', 'R', '--at', '2026-05-20T20:59:59Z')).toMatch(/^--at: .* earlier/);
    expect(await close('--by', 'R', '--at', 'yesterday')).toMatch(/^--at: /);
    expect(await close('--by', '  ')).toMatch(/^--by: /);
    expect(await close()).toMatch(/--by/);
    expect(await visitOf(visitId)).toMatchObject({ closedAt: null });
  });
});

describe('attendance archive', () => {
  it('archives an open or ended visit once; a later sign-off is 409 (ATT-34)', async () => {
    const { on, visitId } = await beginVisit();
    expect(await runCommand('attendance', 'archive', visitId)).toMatchObject({ archivedAt: now(), changed: true });
    expect(await runCommand('attendance', 'archive', visitId)).toMatchObject({ changed: false });
    const { status, body } = await sendEvent(service.app, token, aSignOff(on));
    expect([status, body.code]).toEqual([409, 'ATTENDANCE_CLOSED']);
    const other = await beginVisit();
    await sendEvent(service.app, token, aSignOff(other.on));
    expect(await runCommand('attendance', 'archive', other.visitId)).toMatchObject({ changed: true });
    expect((await runCommand('attendance', 'archive', 'signon_nosuch')).error).toMatch(/^VISIT: /);
  });
});
