import type { FastifyInstance } from 'fastify';
import { inject } from 'vitest';
import { SignOnConflict } from '../../entities/sign-on-conflict.entity.ts';
import { SignOnEvent } from '../../entities/sign-on-event.entity.ts';
import { SignOnVisit } from '../../entities/sign-on-visit.entity.ts';
import type { SignOnType } from '../../schema/enums.ts';
import type { Service } from '../harness.ts';

/** A sign-on event as it goes over the wire. */
export interface GateEvent {
  sourceEventId: string;
  sourceSignOnEventId?: string | null;
  workerId: string;
  type: SignOnType;
  occurredAt: string;
  deviceId?: string | null;
}

/** The demo data's place to try gate attendance at. */
export const gate = () => inject('demo').attendance!;

export const gatePath = ({ builderId, projectId } = gate()) =>
  `/builders/${builderId}/projects/${projectId}/sign-on-events`;

/** Answers status and body. */
export async function send(app: FastifyInstance, token: string, event: object, url = gatePath()) {
  const headers = { authorization: `Bearer ${token}` };
  const response = await app.inject({ method: 'POST', url, headers, payload: event });
  return { status: response.statusCode, body: response.json() };
}

export type Answer = Awaited<ReturnType<typeof send>>;

let made = 0;
const newEventId = () => `gate-1-${++made}`;

export function signOn(workerId: string, more: Partial<GateEvent> = {}): GateEvent {
  return { sourceEventId: newEventId(), workerId, type: 'SIGN_ON', occurredAt: '2026-05-20T21:00:00Z', ...more };
}

export function signOff(of: GateEvent, more: Partial<GateEvent> = {}): GateEvent {
  const { workerId, sourceEventId: sourceSignOnEventId } = of;
  const occurredAt = '2026-05-21T05:30:00Z';
  return { sourceEventId: newEventId(), sourceSignOnEventId, workerId, type: 'SIGN_OFF', occurredAt, ...more };
}

/** Every visit, event and conflict of the project. */
export async function attendanceOf(service: Service, projectId = gate().projectId) {
  const em = service.databases.au1.fork();
  const where = { where: { projectId }, orderBy: { createdAt: 'asc', id: 'asc' } } as const;
  return {
    visits: await em.findAll(SignOnVisit, where),
    events: await em.findAll(SignOnEvent, where),
    conflicts: await em.findAll(SignOnConflict, where),
  };
}

/** As an operator would: what `attendance close` and `attendance archive` leave behind. */
export async function endVisit(service: Service, id: string, column: 'closed_at' | 'archived_at'): Promise<void> {
  await service.databases.au1.fork().execute(`update sign_on_visit set ${column} = now() where id = ?`, [id]);
}

/** So many more workers who may enter the demo's site. */
export async function addWorkers({ databases }: Service, count: number): Promise<string[]> {
  const { builderId, projectId } = gate();
  const em = databases.au1.fork();
  const rows = (await em.execute(
    `insert into worker (id, created_at, updated_at, builder_id, subcontractor_id, full_name)
      select 'wkr_gate' || n, now(), now(), s.builder_id, s.id, 'Worker ' || n
      from generate_series(1, ?) n, (select id, builder_id from subcontractor where builder_id = ? limit 1) s returning id`,
    [count, builderId],
  )) as { id: string }[];
  await em.execute(
    `insert into site_access (builder_id, worker_id, project_id, granted_at)
      select builder_id, id, ?, now() from worker where id like 'wkr_gate%'`,
    [projectId],
  );
  return rows.map(({ id }) => id);
}
