import { Induction } from '../../entities/induction.entity.ts';
import type { Project } from '../../entities/project.entity.ts';
import { SiteAccess } from '../../entities/site-access.entity.ts';
import { Worker } from '../../entities/worker.entity.ts';
import { type DemoAttendance, FOUNDING } from './accounts.ts';
import type { BuilderContext } from './builder-context.ts';
import { INDUCTION_QUESTIONS } from './words.ts';

/** Adds the workers of every company with their access to its sites. Those of the builder have the access that their ids are for. */
export function addWorkers(context: BuilderContext, { workers }: DemoAttendance): void {
  const { random, companies, startedProjects } = context;
  const [own, ...others] = companies;
  const [first, ...sites] = startedProjects;
  for (const [access, ids] of Object.entries(workers)) {
    for (const id of ids) {
      const person = { id, subcontractorId: own!.row.id, fullName: context.pickName() };
      const worker = context.add(Worker, 'worker', { ...FOUNDING, ...person });
      if (access !== 'none') addAccess(context, worker, first!, access === 'revoked');
      for (const project of random.sample(sites, 3)) addAccess(context, worker, project, random.chance(0.08));
    }
  }
  for (const { row, projects } of others) {
    for (let count = random.between(2, 5); count > 0; count--) {
      const from = context.dayAfter(row);
      const person = { subcontractorId: row.id, fullName: context.pickName() };
      const worker = context.add(Worker, 'worker', { ...context.pickDates(from, from + 60), ...person });
      for (const project of projects.filter((one) => startedProjects.includes(one))) {
        if (random.chance(0.7)) addAccess(context, worker, project, random.chance(0.08));
      }
    }
  }
  addInductions(context);
}

function addAccess(context: BuilderContext, worker: Worker, project: Project, isRevoked: boolean): void {
  const from = context.dayAfter(worker, project);
  const { createdAt: grantedAt } = context.pickDates(from, from + 30);
  const revokedAt = isRevoked ? context.pickLater(grantedAt, 120) : null;
  const { id: builderId } = context.builder;
  context.rows.add(SiteAccess, { builderId, workerId: worker.id, projectId: project.id, grantedAt, revokedAt });
}

/** Adds inductions for most site accesses, numbered within each project in chronological order. */
function addInductions(context: BuilderContext): void {
  const { rows, random } = context;
  const workers = new Map(rows.of(Worker).map((worker) => [worker.id, worker]));
  const numbers = new Map<string, number>();
  for (const { workerId, projectId, grantedAt } of rows.of(SiteAccess).toSorted(byTime(({ grantedAt }) => grantedAt))) {
    if (random.chance(0.1)) continue;
    const { subcontractorId, fullName } = workers.get(workerId)!;
    const identifier = (numbers.get(projectId) ?? 0) + 1;
    numbers.set(projectId, identifier);
    const licence = random.chance(0.3) ? `HRW${random.digits(6)}` : null;
    const relative = `${context.pickName().split(' ')[0]} ${fullName.split(' ')[1]}`;
    const answers = [relative, context.pickPhone(), licence, 'true'];
    context.add(Induction, 'induction', {
      createdAt: grantedAt,
      updatedAt: context.pickLater(grantedAt, 14),
      projectId,
      workerId,
      subcontractorId,
      identifier,
      type: random.chance(0.85) ? 'PROJECT_INDUCTION' : 'COMPANY_INDUCTION',
      status: random.pick(['REVIEWED', 'REVIEWED', 'REVIEWED', 'WAITING_REVIEW', 'CHANGES_REQUESTED']),
      data: INDUCTION_QUESTIONS.map((question, index) => ({ ...question, value: answers[index]! })),
    });
  }
}

/** Returns a comparison that sorts by an instant, the first one first. */
export const byTime =
  <T>(readTime: (row: T) => string) =>
  (one: T, other: T) =>
    readTime(one) < readTime(other) ? -1 : 1;
