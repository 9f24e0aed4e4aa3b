import { Defect } from '../../entities/defect.entity.ts';
import type { DefectAssignee } from '../../entities/defect-assignee.type.ts';
import type { Location } from '../../entities/location.entity.ts';
import type { Project } from '../../entities/project.entity.ts';
import type { User } from '../../entities/user.entity.ts';
import type { Company } from './companies.ts';
import { baseDay, dayOf, later, STORY_DAYS, stamps } from './dates.ts';
import { firstDayOf, isBegun } from './projects.ts';
import type { Random } from './random.ts';
import type { Scene } from './scene.ts';
import { DEFECT_TAGS, TRADES } from './words/trades.ts';

const DEFECTS = 120;

interface Cast {
  projects: Project[];
  locations: Map<string, Location[]>;
  companies: Company[];
  staff: User[];
}

/** Numbered within each project in the order of time. */
export function addDefects(scene: Scene, cast: Cast): void {
  const random = scene.random('defects');
  const tags = DEFECT_TAGS.map((name): DefectAssignee => {
    return { type: 'TAG', id: random.id('tag', baseDay(-STORY_DAYS)), name };
  });
  const found = Array.from({ length: DEFECTS }, () => {
    const project = random.pick(cast.projects.filter(isBegun));
    return { project, dates: stamps(random, firstDayOf(project) + 5, -1) };
  });
  found.sort((a, b) => (a.dates.createdAt < b.dates.createdAt ? -1 : 1));
  const numbers = new Map<string, number>();
  for (const { project, dates } of found) {
    const identifier = (numbers.get(project.id) ?? 0) + 1;
    numbers.set(project.id, identifier);
    const age = -dayOf(dates.createdAt);
    const status =
      age > 180 && random.chance(0.8)
        ? 'CLOSED'
        : random.pick(['OPEN', 'IN_PROGRESS', 'READY_FOR_REVIEW', 'CLOSED'] as const);
    const closedAt = status === 'CLOSED' ? later(random, dates.createdAt, 45) : null;
    scene.rows.add(Defect, {
      id: random.id('defect', dates.createdAt),
      createdAt: dates.createdAt,
      updatedAt: closedAt ?? dates.updatedAt,
      identifier,
      builderId: scene.builderId,
      projectId: project.id,
      ...whatIsWrong(random),
      status,
      priority: random.pick(['LOW', 'MEDIUM', 'MEDIUM', 'HIGH']),
      dueDate: random.chance(0.8) ? baseDay(random.between(7, 45) - age) : null,
      locationId: random.chance(0.85) ? random.pick(cast.locations.get(project.id)!).id : null,
      assignees: assigneesOf(random, cast, project, tags),
      photoIds: [],
      closedAt,
    });
  }
}

function whatIsWrong(random: Random) {
  const trade = random.pick(TRADES);
  const title = random.pick(trade.defects);
  const description = `${title}. ${trade.name} to attend, make good and advise when ready for review.`;
  return { title, description: random.chance(0.7) ? description : null };
}

/** Nobody, or one to three of all kinds: people of the office, companies on the project, tags. */
function assigneesOf(random: Random, { companies, staff }: Cast, project: Project, tags: DefectAssignee[]) {
  const user = random.pick(staff);
  const company = random.pick(companies.filter(({ projects }) => projects.includes(project))).row;
  const all: DefectAssignee[] = [
    { type: 'USER', id: user.id, name: user.name },
    { type: 'COMPANY', id: company.id, name: company.name },
    random.pick(tags),
  ];
  return random.some(all, random.pick([0, 1, 1, 1, 2, 2, 3]));
}
