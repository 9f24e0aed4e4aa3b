import type { EntityManager } from '@mikro-orm/postgresql';
import { Project } from '../../../entities/project.entity.ts';
import { SiteAccess } from '../../../entities/site-access.entity.ts';
import { Worker } from '../../../entities/worker.entity.ts';
import { CliError } from '../cli-error.ts';
import { parseId } from './argument-parsers.ts';
import { type CommandContext, insertUnique, inTransaction, lockRow, requireRow } from './command-context.ts';

export interface SiteAccessKey {
  workerId: string;
  projectId: string;
}

/** Grants a worker access to a project's site, or renews a revoked grant. ATT-7. */
export async function grantSiteAccess(context: CommandContext, request: SiteAccessKey) {
  return inTransaction(context, async (em, now) => {
    const { key, builderId } = await requireWorkerAndProject(context, em, request);
    const access = await lockRow(em, SiteAccess, key);
    if (!access) {
      const problem = `${key.workerId} was given access to ${key.projectId} by another command at the same time`;
      await insertUnique(
        em,
        SiteAccess,
        { ...key, builderId, grantedAt: now, revokedAt: null },
        { option: '--worker', problem },
      );
      return { ...key, builderId, grantedAt: now, revokedAt: null, changed: true };
    }
    const changed = access.revokedAt !== null;
    if (changed) Object.assign(access, { grantedAt: now, revokedAt: null });
    return { ...key, builderId, grantedAt: access.grantedAt, revokedAt: null, changed };
  });
}

/** Revokes a worker's access. The row is kept, so that events which a gate observed earlier are still accepted. */
export async function revokeSiteAccess(context: CommandContext, request: SiteAccessKey) {
  return inTransaction(context, async (em, now) => {
    const { key, builderId } = await requireWorkerAndProject(context, em, request);
    const access = await lockRow(em, SiteAccess, key);
    if (!access) throw CliError.forOption('--worker', `${key.workerId} was never given access to ${key.projectId}`);
    const changed = access.revokedAt === null;
    if (changed) access.revokedAt = now;
    return { ...key, builderId, grantedAt: access.grantedAt, revokedAt: access.revokedAt, changed };
  });
}

async function requireWorkerAndProject(
  context: CommandContext,
  em: EntityManager,
  { workerId, projectId }: SiteAccessKey,
) {
  const key = {
    workerId: parseId('--worker', 'worker', workerId),
    projectId: parseId('--project', 'project', projectId),
  };
  const worker = await requireRow(context, em, Worker, { option: '--worker', what: 'worker', id: workerId });
  const project = await requireRow(context, em, Project, { option: '--project', what: 'project', id: projectId });
  if (worker.builderId !== project.builderId) {
    throw CliError.forOption(
      '--project',
      `${projectId} belongs to ${project.builderId}, the worker to ${worker.builderId}`,
    );
  }
  return { key, builderId: worker.builderId };
}
