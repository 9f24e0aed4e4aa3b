import { Induction } from '../../entities/induction.entity.ts';
import type { InductionAnswer } from '../../entities/induction-answer.type.ts';
import type { Project } from '../../entities/project.entity.ts';
import { SiteAccess } from '../../entities/site-access.entity.ts';
import { Worker } from '../../entities/worker.entity.ts';
import type { Company } from './companies.ts';
import { pickLater, pickTimestamps } from './dates.ts';
import type { GeneratorContext } from './generator-context.ts';
import { findFirstDay, hasStarted } from './projects.ts';
import type { Random } from './random.ts';
import { pickName, pickPhone } from './staff.ts';
import { INDUCTION_QUESTIONS } from './words.ts';

/** Number of the builder's own workers by their access to its first project. */
const OWN_WORKERS = { active: 6, revoked: 2, none: 2 };

/** Adds the workers of every company, their site access and their inductions. */
export function addWorkersAndInductions(context: GeneratorContext, companies: Company[]): void {
  const random = context.random('site');
  for (const company of companies) {
    if (company.row.isBuilder) addOwnWorkers(context, random, company);
    else addWorkers(context, random, company);
  }
  addInductions(context);
}

function addOwnWorkers(context: GeneratorContext, random: Random, company: Company): void {
  const [first, ...others] = company.projects.filter(hasStarted);
  for (const [access, count] of Object.entries(OWN_WORKERS)) {
    for (let index = 0; index < count; index++) {
      const worker = addWorker(context, random, company);
      if (access !== 'none') addAccess(context, random, worker, first!, access === 'revoked');
      for (const project of random.sample(others, 3)) addAccess(context, random, worker, project, random.chance(0.08));
    }
  }
}

function addWorkers(context: GeneratorContext, random: Random, company: Company): void {
  const projects = company.projects.filter(hasStarted);
  for (let count = random.between(2, 5); count > 0; count--) {
    const worker = addWorker(context, random, company);
    for (const project of projects) {
      if (random.chance(0.7)) addAccess(context, random, worker, project, random.chance(0.08));
    }
  }
}

function addWorker({ rows, builderId }: GeneratorContext, random: Random, { row }: Company): Worker {
  const dates = pickTimestamps(random, findFirstDay(row), findFirstDay(row) + 60);
  const fullName = pickName(random);
  return rows.add(Worker, {
    id: random.id('worker', dates.createdAt),
    ...dates,
    builderId,
    subcontractorId: row.id,
    fullName,
  });
}

function addAccess(
  { rows, builderId }: GeneratorContext,
  random: Random,
  worker: Worker,
  project: Project,
  isRevoked: boolean,
) {
  const from = findFirstDay(worker, project);
  const { createdAt: grantedAt } = pickTimestamps(random, from, from + 30);
  rows.add(SiteAccess, {
    builderId,
    workerId: worker.id,
    projectId: project.id,
    grantedAt,
    revokedAt: isRevoked ? pickLater(random, grantedAt, 120) : null,
  });
}

/** Adds inductions for most site accesses, numbered within each project in chronological order. */
function addInductions(context: GeneratorContext): void {
  const { rows, builderId } = context;
  const random = context.random('inductions');
  const workers = new Map(rows.of(Worker).map((worker) => [worker.id, worker]));
  const numbers = new Map<string, number>();
  const accesses = rows.of(SiteAccess).toSorted((a, b) => (a.grantedAt < b.grantedAt ? -1 : 1));
  for (const { workerId, projectId, grantedAt } of accesses) {
    if (random.chance(0.1)) continue;
    const { subcontractorId, fullName } = workers.get(workerId)!;
    const identifier = (numbers.get(projectId) ?? 0) + 1;
    numbers.set(projectId, identifier);
    rows.add(Induction, {
      id: random.id('induction', grantedAt),
      createdAt: grantedAt,
      updatedAt: random.chance(0.5) ? grantedAt : pickLater(random, grantedAt, 14),
      builderId,
      projectId,
      workerId,
      subcontractorId,
      identifier,
      type: random.chance(0.85) ? 'PROJECT_INDUCTION' : 'COMPANY_INDUCTION',
      status: random.pick(['REVIEWED', 'REVIEWED', 'REVIEWED', 'WAITING_REVIEW', 'CHANGES_REQUESTED']),
      data: createAnswers(context, random, fullName),
    });
  }
}

function createAnswers({ locale }: GeneratorContext, random: Random, fullName: string): InductionAnswer[] {
  const family = fullName.slice(fullName.indexOf(' ') + 1);
  const values = [
    `${pickName(random).split(' ')[0]} ${family}`,
    pickPhone(random, locale),
    random.chance(0.3) ? `HRW${random.digits(6)}` : null,
    random.chance(0.05) ? 'Asthma' : null,
    'true',
  ];
  return INDUCTION_QUESTIONS.map(({ name, type }, index) => ({ name, type, value: values[index]! }));
}
