import { conflictDigest, SignOnConflict } from '../../../entities/sign-on-conflict.entity.ts';
import { SignOnEvent } from '../../../entities/sign-on-event.entity.ts';
import { SignOnVisit } from '../../../entities/sign-on-visit.entity.ts';
import { SiteAccess } from '../../../entities/site-access.entity.ts';
import { type CompanyContext, instant } from './company-context.ts';

const DAYS = 14;
const WORKERS = 3;

type Event = Pick<
  SignOnEvent,
  'sourceEventId' | 'sourceSignOnEventId' | 'workerId' | 'type' | 'occurredAt' | 'deviceId'
>;

/**
 * Adds visits of the last two weeks to the second project, of which the last have no end, and one of each event that needs a review. The
 * first project has no attendance. None without an integrator.
 */
export function addAttendance(context: CompanyContext): void {
  const { rows, builderId, integratorId, projects } = context;
  if (integratorId === null) return;
  const owner = { integratorId, builderId, projectId: projects[1]!.id };
  const workers = rows
    .of(SiteAccess)
    .filter(({ projectId, revokedAt }) => projectId === owner.projectId && revokedAt === null)
    .map(({ workerId }) => workerId)
    .slice(0, WORKERS);

  const addEvent = (event: Event, status: SignOnEvent['status'], visitId: string | null) => {
    const stamps = { createdAt: event.occurredAt, updatedAt: event.occurredAt };
    const rejection = status === 'REJECTED' ? 'WORKER_MISMATCH' : null;
    rows.add(SignOnEvent, { id: context.id('signOnEvent'), ...stamps, ...owner, ...event, status, visitId, rejection });
  };
  const createEvent = (workerId: string, type: Event['type'], occurredAt: string, signOn: Event | null): Event => ({
    ...{ workerId, type, occurredAt, deviceId: 'turnstile-1' },
    sourceEventId: `${type}-${workerId}-${occurredAt}`,
    sourceSignOnEventId: signOn?.sourceEventId ?? null,
  });

  for (let day = -DAYS; day < 0; day++) {
    for (const [index, workerId] of workers.entries()) {
      const isOpen = day === -1 && index === 0;
      const on = createEvent(workerId, 'SIGN_ON', instant(day, 6, index), null);
      const off = createEvent(workerId, 'SIGN_OFF', instant(day, 14, index), on);
      const id = context.id('signOnVisit');
      rows.add(SignOnVisit, {
        ...{ id, createdAt: on.occurredAt, updatedAt: isOpen ? on.occurredAt : off.occurredAt },
        ...{ builderId, projectId: owner.projectId, workerId, signedOnAt: on.occurredAt },
        ...{ signedOffAt: isOpen ? null : off.occurredAt, closedAt: null, closedBy: null },
        ...{ archivedAt: null, anomaly: null },
      });
      addEvent(on, 'APPLIED', id);
      if (!isOpen) addEvent(off, 'APPLIED', id);
    }
  }

  const [worker, colleague] = workers as [string, string];
  const lost = createEvent(worker, 'SIGN_ON', instant(-1, 15), null);
  addEvent(createEvent(worker, 'SIGN_OFF', instant(-1, 16), lost), 'PENDING_SIGN_ON', null);
  const on = createEvent(worker, 'SIGN_ON', instant(-2, 6), null);
  addEvent(createEvent(colleague, 'SIGN_OFF', instant(-2, 16), on), 'REJECTED', null);
  const changed = { ...on, deviceId: 'turnstile-2' };
  const stamps = { createdAt: instant(-1), updatedAt: instant(-1), answers: 2 };
  rows.add(SignOnConflict, {
    ...stamps,
    ...owner,
    ...changed,
    digest: conflictDigest(changed),
    code: 'EVENT_MISMATCH',
  });
}
