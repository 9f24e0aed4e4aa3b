import type { FastifyInstance } from 'fastify';
import { SignOnConflict } from '../../entities/sign-on-conflict.entity.ts';
import { SignOnEvent } from '../../entities/sign-on-event.entity.ts';
import { SignOnVisit } from '../../entities/sign-on-visit.entity.ts';
import type { GateEvent } from '../../sdk/src/gate/queue.ts';
import { createGateFixture } from '../setup/company/company.ts';
import type { Service } from './harness.ts';

export type { GateEvent };

export { createGateFixture };

export const signOnEventsPath = ({ builderId, projectId } = createGateFixture()) =>
  `/builders/${builderId}/projects/${projectId}/sign-on-events`;

/** Sends an event and returns the status and the body of the response. */
export async function sendEvent(app: FastifyInstance, token: string, event: object, url = signOnEventsPath()) {
  const headers = { authorization: `Bearer ${token}` };
  const response = await app.inject({ method: 'POST', url, headers, payload: event });
  return { status: response.statusCode, body: response.json() };
}

export type EventResponse = Awaited<ReturnType<typeof sendEvent>>;

let eventCount = 0;
const newEventId = () => `gate-1-${++eventCount}`;

export function aSignOn(workerId: string, more: Partial<GateEvent> = {}): GateEvent {
  return { sourceEventId: newEventId(), workerId, type: 'SIGN_ON', occurredAt: '2026-05-20T21:00:00Z', ...more };
}

export function aSignOff(of: GateEvent, more: Partial<GateEvent> = {}): GateEvent {
  const { workerId, sourceEventId: sourceSignOnEventId } = of;
  const occurredAt = '2026-05-21T05:30:00Z';
  return { sourceEventId: newEventId(), sourceSignOnEventId, workerId, type: 'SIGN_OFF', occurredAt, ...more };
}

/** Returns every visit, event and conflict of the project. */
export async function readAttendance(service: Service, projectId = createGateFixture().projectId) {
  const em = service.databases.au1.fork();
  const where = { where: { projectId }, orderBy: { createdAt: 'asc', id: 'asc' } } as const;
  return {
    visits: await em.findAll(SignOnVisit, where),
    events: await em.findAll(SignOnEvent, where),
    conflicts: await em.findAll(SignOnConflict, where),
  };
}

/** Closes or archives a visit in the database, as the commands `attendance close` and `attendance archive` do. */
export async function endVisit(service: Service, id: string, column: 'closed_at' | 'archived_at'): Promise<void> {
  await service.databases.au1.fork().execute(`update sign_on_visit set ${column} = now() where id = ?`, [id]);
}
