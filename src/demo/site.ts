import { Induction } from '../../entities/induction.entity.ts';
import type { InductionAnswer } from '../../entities/induction-answer.type.ts';
import type { Project } from '../../entities/project.entity.ts';
import { SiteAccess } from '../../entities/site-access.entity.ts';
import { Worker } from '../../entities/worker.entity.ts';
import type { Company } from './companies.ts';
import { later, stamps } from './dates.ts';
import { nameOf, phoneOf } from './people.ts';
import { firstDayOf, isBegun } from './projects.ts';
import type { Random } from './random.ts';
import type { Scene } from './scene.ts';
import { INDUCTION_QUESTIONS } from './words/people.ts';

/** How many of the builder's own workers have access to its first project, had it, and never had it. */
const OWN_WORKERS = { active: 6, revoked: 2, none: 2 };

/** Workers of every company, the projects that they may enter, and their inductions there. */
export function addSite(scene: Scene, companies: Company[]): void {
  const random = scene.random('site');
  for (const company of companies) {
    if (company.row.isBuilder) addOwnWorkers(scene, random, company);
    else addWorkers(scene, random, company);
  }
  addInductions(scene);
}

function addOwnWorkers(scene: Scene, random: Random, company: Company): void {
  const [first, ...others] = company.projects.filter(isBegun);
  for (const [access, count] of Object.entries(OWN_WORKERS)) {
    for (let index = 0; index < count; index++) {
      const worker = addWorker(scene, random, company);
      if (access !== 'none') addAccess(scene, random, worker, first!, access === 'revoked');
      for (const project of random.some(others, 3)) addAccess(scene, random, worker, project, random.chance(0.08));
    }
  }
}

function addWorkers(scene: Scene, random: Random, company: Company): void {
  const projects = company.projects.filter(isBegun);
  for (let count = random.between(2, 5); count > 0; count--) {
    const worker = addWorker(scene, random, company);
    for (const project of projects) {
      if (random.chance(0.7)) addAccess(scene, random, worker, project, random.chance(0.08));
    }
  }
}

function addWorker({ rows, builderId }: Scene, random: Random, { row }: Company): Worker {
  const dates = stamps(random, firstDayOf(row), firstDayOf(row) + 60);
  const fullName = nameOf(random);
  return rows.add(Worker, {
    id: random.id('worker', dates.createdAt),
    ...dates,
    builderId,
    subcontractorId: row.id,
    fullName,
  });
}

function addAccess({ rows, builderId }: Scene, random: Random, worker: Worker, project: Project, isRevoked: boolean) {
  const from = firstDayOf(worker, project);
  const { createdAt: grantedAt } = stamps(random, from, from + 30);
  rows.add(SiteAccess, {
    builderId,
    workerId: worker.id,
    projectId: project.id,
    grantedAt,
    revokedAt: isRevoked ? later(random, grantedAt, 120) : null,
  });
}

/** Who may enter has been inducted, or is about to be; numbered within each project in the order of time. */
function addInductions(scene: Scene): void {
  const { rows, builderId } = scene;
  const random = scene.random('inductions');
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
      updatedAt: random.chance(0.5) ? grantedAt : later(random, grantedAt, 14),
      builderId,
      projectId,
      workerId,
      subcontractorId,
      identifier,
      type: random.chance(0.85) ? 'PROJECT_INDUCTION' : 'COMPANY_INDUCTION',
      status: random.pick(['REVIEWED', 'REVIEWED', 'REVIEWED', 'WAITING_REVIEW', 'CHANGES_REQUESTED']),
      data: answersOf(scene, random, fullName),
    });
  }
}

function answersOf({ locale }: Scene, random: Random, fullName: string): InductionAnswer[] {
  const family = fullName.slice(fullName.indexOf(' ') + 1);
  const values = [
    `${nameOf(random).split(' ')[0]} ${family}`,
    phoneOf(random, locale),
    random.chance(0.3) ? `HRW${random.digits(6)}` : null,
    random.chance(0.05) ? 'Asthma' : null,
    'true',
  ];
  return INDUCTION_QUESTIONS.map(({ name, type }, index) => ({ name, type, value: values[index]! }));
}
