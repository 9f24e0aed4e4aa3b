import type { EntityManager } from '@mikro-orm/postgresql';
import { Project } from '../../../entities/project.entity.ts';
import { SiteAccess } from '../../../entities/site-access.entity.ts';
import { Worker } from '../../../entities/worker.entity.ts';
import { type ChangeContext, insertUnique, inTransaction, lockRow, requireRow } from '../change-context.ts';
import { parseId } from './access-values.ts';
import { InvalidInputError } from './invalid-input-error.ts';

interface SiteAccessKey {
  workerId: string;
  projectId: string;
}

/** Grants a worker access to a project's site, or renews a revoked grant. ATT-7. */
export async function grantSiteAccess(context: ChangeContext, request: SiteAccessKey) {
  return inTransaction(context, async (em, now, record) => {
    const { key, builderId } = await requireWorkerAndProject(context, em, request);
    const access = await lockRow(em, SiteAccess, key);
    if (!access) {
      const problem = `${key.workerId} was given access to ${key.projectId} by another command at the same time`;
      await insertUnique(
        em,
        SiteAccess,
        { ...key, builderId, grantedAt: now, revokedAt: null },
        { field: 'workerId', problem },
      );
      const after = { ...key, grantedAt: now, revokedAt: null };
      await record({ ...toSubject(key, builderId), action: 'site_access.granted', after });
      return { ...after, builderId, changed: true };
    }
    const changed = access.revokedAt !== null;
    if (changed) {
      const before = { grantedAt: access.grantedAt, revokedAt: access.revokedAt };
      const after = { grantedAt: now, revokedAt: null };
      Object.assign(access, after);
      await record({ ...toSubject(key, builderId), action: 'site_access.granted', before, after });
    }
    return { ...key, builderId, grantedAt: access.grantedAt, revokedAt: null, changed };
  });
}

/** Revokes a worker's access. The row is kept, so that events which a gate observed earlier are still accepted. */
export async function revokeSiteAccess(context: ChangeContext, request: SiteAccessKey) {
  return inTransaction(context, async (em, now, record) => {
    const { key, builderId } = await requireWorkerAndProject(context, em, request);
    const access = await lockRow(em, SiteAccess, key);
    if (!access) throw new InvalidInputError('workerId', `${key.workerId} was never given access to ${key.projectId}`);
    const changed = access.revokedAt === null;
    if (changed) {
      const { grantedAt } = access;
      access.revokedAt = now;
      const [before, after] = [
        { grantedAt, revokedAt: null },
        { grantedAt, revokedAt: now },
      ];
      await record({ ...toSubject(key, builderId), action: 'site_access.revoked', before, after });
    }
    return { ...key, builderId, grantedAt: access.grantedAt, revokedAt: access.revokedAt, changed };
  });
}

async function requireWorkerAndProject(
  context: ChangeContext,
  em: EntityManager,
  { workerId, projectId }: SiteAccessKey,
) {
  const key = {
    workerId: parseId('workerId', 'worker', workerId),
    projectId: parseId('projectId', 'project', projectId),
  };
  const worker = await requireRow(context, em, Worker, { field: 'workerId', what: 'worker', id: workerId });
  const project = await requireRow(context, em, Project, { field: 'projectId', what: 'project', id: projectId });
  if (worker.builderId !== project.builderId) {
    throw new InvalidInputError(
      'projectId',
      `${projectId} belongs to ${project.builderId}, the worker to ${worker.builderId}`,
    );
  }
  return { key, builderId: worker.builderId };
}

/** Returns what the audit log records a change of the access about. */
const toSubject = ({ workerId, projectId }: SiteAccessKey, builderId: string) => ({
  objectId: `${workerId}/${projectId}`,
  builderId,
  personId: workerId,
});
