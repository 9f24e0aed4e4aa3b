import { Defect } from '../../entities/defect.entity.ts';
import type { DefectAssignee } from '../../entities/defect-assignee.type.ts';
import type { Location } from '../../entities/location.entity.ts';
import type { Project } from '../../entities/project.entity.ts';
import type { User } from '../../entities/user.entity.ts';
import type { Company } from './companies.ts';
import { HISTORY_DAYS, pickLater, pickTimestamps, toBaseDay, toDay } from './dates.ts';
import type { GeneratorContext } from './generator-context.ts';
import { findFirstDay, hasStarted } from './projects.ts';
import type { Random } from './random.ts';
import { DEFECT_TAGS, TRADES } from './words.ts';

const DEFECTS = 120;

interface DefectContext {
  projects: Project[];
  locations: Map<string, Location[]>;
  companies: Company[];
  staff: User[];
}

/** Adds defects, numbered within each project in chronological order. */
export function addDefects(context: GeneratorContext, defectContext: DefectContext): void {
  const random = context.random('defects');
  const tags = DEFECT_TAGS.map((name): DefectAssignee => {
    return { type: 'TAG', id: random.id('tag', toBaseDay(-HISTORY_DAYS)), name };
  });
  const found = Array.from({ length: DEFECTS }, () => {
    const project = random.pick(defectContext.projects.filter(hasStarted));
    return { project, dates: pickTimestamps(random, findFirstDay(project) + 5, -1) };
  });
  found.sort((a, b) => (a.dates.createdAt < b.dates.createdAt ? -1 : 1));
  const numbers = new Map<string, number>();
  for (const { project, dates } of found) {
    const identifier = (numbers.get(project.id) ?? 0) + 1;
    numbers.set(project.id, identifier);
    const age = -toDay(dates.createdAt);
    const status =
      age > 180 && random.chance(0.8)
        ? 'CLOSED'
        : random.pick(['OPEN', 'IN_PROGRESS', 'READY_FOR_REVIEW', 'CLOSED'] as const);
    const closedAt = status === 'CLOSED' ? pickLater(random, dates.createdAt, 45) : null;
    context.rows.add(Defect, {
      id: random.id('defect', dates.createdAt),
      createdAt: dates.createdAt,
      updatedAt: closedAt ?? dates.updatedAt,
      identifier,
      builderId: context.builderId,
      projectId: project.id,
      ...createDescription(random),
      status,
      priority: random.pick(['LOW', 'MEDIUM', 'MEDIUM', 'HIGH']),
      dueDate: random.chance(0.8) ? toBaseDay(random.between(7, 45) - age) : null,
      locationId: random.chance(0.85) ? random.pick(defectContext.locations.get(project.id)!).id : null,
      assignees: pickAssignees(random, defectContext, project, tags),
      photoIds: [],
      closedAt,
    });
  }
}

function createDescription(random: Random) {
  const trade = random.pick(TRADES);
  const title = random.pick(trade.defects);
  const description = `${title}. ${trade.name} to attend, make good and advise when ready for review.`;
  return { title, description: random.chance(0.7) ? description : null };
}

/** Picks none to three assignees: a user, a company and a tag. */
function pickAssignees(random: Random, { companies, staff }: DefectContext, project: Project, tags: DefectAssignee[]) {
  const user = random.pick(staff);
  const company = random.pick(companies.filter(({ projects }) => projects.includes(project))).row;
  const all: DefectAssignee[] = [
    { type: 'USER', id: user.id, name: user.name },
    { type: 'COMPANY', id: company.id, name: company.name },
    random.pick(tags),
  ];
  return random.sample(all, random.pick([0, 1, 1, 1, 2, 2, 3]));
}
