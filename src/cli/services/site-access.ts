import type { EntityManager } from '@mikro-orm/postgresql';
import { Project } from '../../../entities/project.entity.ts';
import { SiteAccess } from '../../../entities/site-access.entity.ts';
import { Worker } from '../../../entities/worker.entity.ts';
import { refuse } from '../cli-error.ts';
import { identifier } from './checks.ts';
import { existing, insertOnce, inTransaction, lockRow, type Place } from './command-context.ts';

export interface SiteAccessKey {
  workerId: string;
  projectId: string;
}

/** Lets a worker enter a project's site, again where it had been revoked (ATT-7). */
export async function grantSiteAccess(place: Place, request: SiteAccessKey) {
  return inTransaction(place, async (em, now) => {
    const { key, builderId } = await checkBoth(place, em, request);
    const access = await lockRow(em, SiteAccess, key);
    if (!access) {
      const problem = `${key.workerId} was given access to ${key.projectId} at this very moment`;
      await insertOnce(
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

/** Ends a worker's access. The relationship stays known, so that events which a gate has seen are still taken. */
export async function revokeSiteAccess(place: Place, request: SiteAccessKey) {
  return inTransaction(place, async (em, now) => {
    const { key, builderId } = await checkBoth(place, em, request);
    const access = await lockRow(em, SiteAccess, key);
    if (!access) return refuse('--worker', `${key.workerId} was never given access to ${key.projectId}`);
    const changed = access.revokedAt === null;
    if (changed) access.revokedAt = now;
    return { ...key, builderId, grantedAt: access.grantedAt, revokedAt: access.revokedAt, changed };
  });
}

async function checkBoth(place: Place, em: EntityManager, { workerId, projectId }: SiteAccessKey) {
  const key = {
    workerId: identifier('--worker', 'worker', workerId),
    projectId: identifier('--project', 'project', projectId),
  };
  const worker = await existing(place, em, Worker, { option: '--worker', what: 'worker', id: workerId });
  const project = await existing(place, em, Project, { option: '--project', what: 'project', id: projectId });
  if (worker.builderId !== project.builderId) {
    refuse('--project', `${projectId} is of ${project.builderId}, the worker of ${worker.builderId}`);
  }
  return { key, builderId: worker.builderId };
}
