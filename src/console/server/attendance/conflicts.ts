import { SignOnConflict } from '../../../../entities/sign-on-conflict.entity.ts';
import type { SignOnConflictStatus } from '../../../../schema/enums.ts';
import { RECORDED_EVENT } from '../../../domain/attendance/resolve-conflict.ts';
import { invalidField, notFound } from '../../../shared/errors.ts';
import type { ConsoleContext } from '../console-area.ts';
import { type PageArgs, toPage } from '../page.ts';

/** A conflict's records, and what is recorded instead. */
interface Related {
  project: { id: string; name: string; builderId: string };
  worker: { id: string; fullName: string; builderId: string };
  integrator: { id: string; name: string };
  eventId: string | null;
  visitId: string | null;
  visitUpdatedAt: string | null;
  eventWorkerId: string | null;
}

// SQL: the records of a page in one statement.
const SELECT_RELATED = `select conflict.id,
    json_build_object('id', project.id, 'name', project.name, 'builderId', conflict.builder_id) as project,
    json_build_object('id', worker.id, 'fullName', worker.full_name, 'builderId', conflict.builder_id) as worker,
    json_build_object('id', integrator.id, 'name', integrator.name) as integrator,
    event.id as "eventId", event.visit_id as "visitId", event.worker_id as "eventWorkerId",
    to_char(visit.updated_at, 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "visitUpdatedAt"
  from sign_on_conflict conflict
    join project on project.id = conflict.project_id
    join worker on worker.id = conflict.worker_id
    join integrator on integrator.id = conflict.integrator_id
    left join lateral (${RECORDED_EVENT}) event on true
    left join sign_on_visit visit on visit.id = event.visit_id
  where conflict.id = any(string_to_array(?, ',')::bigint[])`;

export type ShownConflict = Awaited<ReturnType<typeof withRelated>>[number];

interface ConflictFilter {
  builderId?: string;
  projectId?: string;
  state?: SignOnConflictStatus;
  since?: string;
  until?: string;
}

/** Returns the number of a conflict. Throws 400 for a text that is none. */
export function parseConflictId(text: string, fieldName = 'id'): number {
  if (!/^[1-9]\d{0,14}$/.test(text)) throw invalidField(fieldName, 'must be the id of a conflict');
  return Number(text);
}

/** Returns a page of conflicts, the newest first. */
export async function listConflicts(context: ConsoleContext, filter: ConflictFilter, { limit, cursor }: PageArgs) {
  const { builderId, projectId, state, since, until } = filter;
  const where = {
    ...(builderId && { builderId }),
    ...(projectId && { projectId }),
    ...(state && { resolvedAt: state === 'OPEN' ? null : { $ne: null } }),
    ...((since || until) && { occurredAt: { ...(since && { $gte: since }), ...(until && { $lt: until }) } }),
    ...(cursor !== undefined && { id: { $lt: parseConflictId(cursor, 'after') } }),
  };
  const options = { orderBy: { id: 'desc' as const }, limit: limit + 1 };
  const rows = await context.database.fork().find(SignOnConflict, where, options);
  const data = await withRelated(context, rows.slice(0, limit));
  return toPage(data, rows.length > limit ? data.at(-1)!.id : null);
}

/** Returns one conflict. Throws 404. */
export async function findConflict(context: ConsoleContext, id: string): Promise<ShownConflict> {
  const row = await context.database.fork().findOne(SignOnConflict, { id: parseConflictId(id) });
  if (!row) throw notFound('Conflict');
  return (await withRelated(context, [row]))[0]!;
}

async function withRelated({ database, personalReads }: ConsoleContext, conflicts: SignOnConflict[]) {
  const ids = conflicts.map(({ id }) => id).join();
  const related = await database.fork().execute<(Related & { id: string })[]>(SELECT_RELATED, [ids]);
  return conflicts.map((conflict) => {
    const { builderId, workerId, resolvedAt, updatedAt } = conflict;
    const own = related.find(({ id }) => id === String(conflict.id))!;
    for (const person of [workerId, own.eventWorkerId])
      if (person) personalReads.add(person, 'SignOnConflict', builderId);
    return {
      ...conflict,
      ...own,
      state: resolvedAt === null ? 'OPEN' : 'RESOLVED',
      // A person who decides has seen both.
      updatedAt: [updatedAt, own.visitUpdatedAt ?? ''].sort().at(-1)!,
    };
  });
}
