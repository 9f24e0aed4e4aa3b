import { Induction } from '../../entities/induction.entity.ts';
import type { Project } from '../../entities/project.entity.ts';
import { SiteAccess } from '../../entities/site-access.entity.ts';
import { Subcontractor } from '../../entities/subcontractor.entity.ts';
import { Worker } from '../../entities/worker.entity.ts';
import { FOUNDING, type generateAttendance } from './accounts.ts';
import type { BuilderContext } from './builder-context.ts';
import { REVIEWS } from './documents.ts';
import { INDUCTION_QUESTIONS } from './words.ts';

/** Adds the workers of every company with their access to its sites. Those of the builder have the access that their ids are for. */
export function addWorkers(context: BuilderContext, { workers }: ReturnType<typeof generateAttendance>): void {
  const { rows, random } = context;
  const [own, ...others] = rows.of(Subcontractor);
  const started = context.listStartedProjects();
  const [first, ...sites] = started;
  for (const [access, ids] of Object.entries(workers)) {
    for (const id of ids) {
      const worker = context.addOf(own!, Worker, 'worker', { ...FOUNDING, id, fullName: context.pickName() });
      if (access !== 'none') addAccess(context, worker, first!, access === 'revoked');
      for (const project of random.sample(sites, 3)) addAccess(context, worker, project);
    }
  }
  for (const company of others) {
    for (let count = random.between(2, 5); count > 0; count--) {
      const dates = context.pickDates(company.createdAt, 60);
      const worker = context.addOf(company, Worker, 'worker', { ...dates, fullName: context.pickName() });
      for (const project of random.sample(started, 2)) addAccess(context, worker, project);
    }
  }
}

/** Adds a worker's access to a site, and in most cases the induction before it. */
function addAccess(
  context: BuilderContext,
  { id: workerId, createdAt, subcontractorId, fullName }: Worker,
  { id: projectId, ...project }: Project,
  isRevoked = context.random.chance(0.08),
): void {
  const { rows, random, builder } = context;
  const grantedAt = context.pickLater(createdAt > project.createdAt ? createdAt : project.createdAt, 30);
  const revokedAt = isRevoked ? context.pickLater(grantedAt, 120) : null;
  rows.add(SiteAccess, { builderId: builder.id, workerId, projectId, grantedAt, revokedAt });
  if (random.chance(0.1)) return;
  const licence = random.chance(0.3) ? `HRW${random.digits(6)}` : null;
  const relative = `${context.pickName().split(' ')[0]} ${fullName.split(' ')[1]}`;
  const answers = [relative, context.pickPhone(), licence, 'true'];
  context.add(Induction, 'induction', {
    createdAt: grantedAt,
    updatedAt: context.pickLater(grantedAt, 14),
    projectId,
    workerId,
    subcontractorId,
    identifier: rows.of(Induction).filter((other) => other.projectId === projectId).length + 1,
    type: random.chance(0.85) ? 'PROJECT_INDUCTION' : 'COMPANY_INDUCTION',
    status: random.pick(REVIEWS),
    data: INDUCTION_QUESTIONS.map((question, index) => ({ ...question, value: answers[index]! })),
  });
}
