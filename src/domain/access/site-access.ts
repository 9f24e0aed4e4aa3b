import type { EntityManager } from '@mikro-orm/postgresql';
import { Project } from '../../../entities/project.entity.ts';
import { SiteAccess } from '../../../entities/site-access.entity.ts';
import { Worker } from '../../../entities/worker.entity.ts';
import { type ChangeContext, changeRow, insertUnique, inTransaction, lockRow, requireRow } from '../change-context.ts';
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
    const after = { grantedAt: now, revokedAt: null };
    const change = { ...toSubject(key, builderId), action: 'site_access.granted' as const };
    if (!access) {
      const problem = `${key.workerId} was given access to ${key.projectId} by another command at the same time`;
      await insertUnique(em, SiteAccess, { ...key, builderId, ...after }, new InvalidInputError('workerId', problem));
      await record({ ...change, after: { ...key, ...after } });
      return { ...key, ...after, builderId, changed: true };
    }
    const changed = await changeRow(access, access.revokedAt === null ? {} : after, now, record, change);
    return { ...key, builderId, grantedAt: access.grantedAt, revokedAt: null, changed };
  });
}

/** Revokes a worker's access. The row is kept, so that events which a gate observed earlier are still accepted. */
export const revokeSiteAccess = (context: ChangeContext, request: SiteAccessKey) =>
  inTransaction(context, async (em, now, record) => {
    const { key, builderId } = await requireWorkerAndProject(context, em, request);
    const access = await lockRow(em, SiteAccess, key);
    if (!access) throw new InvalidInputError('workerId', `${key.workerId} was never given access to ${key.projectId}`);
    const change = { ...toSubject(key, builderId), action: 'site_access.revoked' as const };
    const changed = await changeRow(access, { revokedAt: access.revokedAt ?? now }, now, record, change);
    return { ...key, builderId, grantedAt: access.grantedAt, revokedAt: access.revokedAt, changed };
  });

async function requireWorkerAndProject(
  context: ChangeContext,
  em: EntityManager,
  { workerId, projectId }: SiteAccessKey,
) {
  const worker = await requireRow(context, em, Worker, 'worker', workerId);
  const project = await requireRow(context, em, Project, 'project', projectId);
  if (worker.builderId !== project.builderId) {
    throw new InvalidInputError(
      'projectId',
      `${projectId} belongs to ${project.builderId}, the worker to ${worker.builderId}`,
    );
  }
  return { key: { workerId, projectId }, builderId: worker.builderId };
}

/** Returns what the audit log records a change of the access about. */
const toSubject = ({ workerId, projectId }: SiteAccessKey, builderId: string) => ({
  objectId: `${workerId}/${projectId}`,
  builderId,
  personId: workerId,
});
