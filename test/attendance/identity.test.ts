import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { attendanceOf, gate, send, signOff } from '../support/attendance.ts';
import { GateBench, outcome } from '../support/gate-bench.ts';
import { addProject } from '../support/rows.ts';

let gates: GateBench;

beforeAll(async () => {
  gates = await GateBench.start();
});

afterAll(() => gates.service.stop());

describe('the identity of an event', () => {
  it('is scoped to the integrator: another integrator may use the same id on the project (ATT-10)', async () => {
    const other = await gates.service.as('C');
    const { on } = await gates.begin();
    const foreign = await send(gates.service.app, other, { ...on, workerId: gates.colleague });
    expect(outcome(foreign)).toEqual([201, 'APPLIED', false]);
    expect(outcome(await send(gates.service.app, other, signOff({ ...on, workerId: gates.colleague })))).toEqual([
      201,
      'APPLIED',
      false,
    ]);
    expect(outcome(await gates.post(signOff(on)))).toEqual([201, 'APPLIED', false]);
  });

  it('is scoped to the project: a sign-off waits for a sign-on of its own project (ATT-10)', async () => {
    const { on } = await gates.begin();
    const { builderId } = gate();
    const em = gates.service.databases.au1.fork();
    const elsewhere = await addProject(gates.service, builderId);
    await em.execute(
      `insert into site_access (builder_id, worker_id, project_id, granted_at) values (?, ?, ?, now()) on conflict do nothing`,
      [builderId, gates.worker, elsewhere],
    );
    const url = `/builders/${builderId}/projects/${elsewhere}/sign-on-events`;
    expect(outcome(await gates.post(signOff(on), url))).toEqual([202, 'PENDING_SIGN_ON', false]);
    expect(outcome(await gates.post(on, url))).toEqual([201, 'APPLIED', false]);
  });
});

describe('the conflicts', () => {
  it('are stored with the event, once per distinct request (ATT-28)', async () => {
    const { on } = await gates.begin();
    const sent = { ...on, deviceId: 'turnstile 9' };
    for (let times = 0; times < 3; times++) await gates.post(sent);
    await gates.post({ ...sent, occurredAt: '2026-05-20T21:00:00.000+00:00' });
    const { conflicts } = await attendanceOf(gates.service);
    const kept = conflicts.filter(({ sourceEventId }) => sourceEventId === on.sourceEventId);
    expect(kept).toEqual([
      expect.objectContaining({
        code: 'EVENT_MISMATCH',
        answers: 4,
        workerId: gates.worker,
        deviceId: 'turnstile 9',
        type: 'SIGN_ON',
        occurredAt: '2026-05-20T21:00:00.000Z',
      }),
    ]);
  });
});
