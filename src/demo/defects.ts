import { Defect } from '../../entities/defect.entity.ts';
import type { DefectAssignee } from '../../entities/defect-assignee.type.ts';
import { Location } from '../../entities/location.entity.ts';
import type { User } from '../../entities/user.entity.ts';
import { FOUNDED } from './accounts.ts';
import type { BuilderContext } from './builder-context.ts';
import { iso } from './local-calendar.ts';
import { DEFECT_TAGS, TRADES } from './words.ts';
import { byTime } from './workers.ts';

const DEFECTS = 120;

/** Adds defects, numbered within each project in chronological order, with none to three assignees. */
export function addDefects(context: BuilderContext, staff: User[]): void {
  const { rows, random, calendar } = context;
  const tags = DEFECT_TAGS.map((name): DefectAssignee => ({ type: 'TAG', id: random.id('tag', FOUNDED), name }));
  const planned = Array.from({ length: DEFECTS }, () => {
    const project = random.pick(context.startedProjects);
    return { project, ...context.pickDates(context.dayAfter(project) + 5) };
  });
  const numbers = new Map<string, number>();
  for (const { project, createdAt, updatedAt } of planned.sort(byTime((defect) => defect.createdAt))) {
    const identifier = (numbers.get(project.id) ?? 0) + 1;
    numbers.set(project.id, identifier);
    const day = context.dayAfter({ createdAt });
    const isOld = day < -180 && random.chance(0.8);
    const status = isOld ? 'CLOSED' : random.pick(['OPEN', 'IN_PROGRESS', 'READY_FOR_REVIEW', 'CLOSED'] as const);
    const closedAt = status === 'CLOSED' ? context.pickLater(createdAt, 45) : null;
    const trade = random.pick(TRADES);
    const title = random.pick(trade.defects);
    const { row } = random.pick(context.companies.filter(({ projects }) => projects.includes(project)));
    const user = random.pick(staff);
    const assignees: DefectAssignee[] = [
      { type: 'USER', id: user.id, name: user.name },
      { type: 'COMPANY', id: row.id, name: row.name },
      random.pick(tags),
    ];
    context.add(Defect, 'defect', {
      createdAt,
      updatedAt: closedAt ?? updatedAt,
      identifier,
      projectId: project.id,
      title,
      description: random.chance(0.7) ? `${title}. ${trade.name} to make good and advise.` : null,
      status,
      priority: random.pick(['LOW', 'MEDIUM', 'MEDIUM', 'HIGH']),
      dueDate: random.chance(0.8) ? iso(calendar.dateOf(day + random.between(7, 45))) : null,
      locationId: random.pick(rows.of(Location).filter(({ projectId }) => projectId === project.id)).id,
      assignees: random.sample(assignees, random.between(0, 3)),
      photoIds: [],
      closedAt,
    });
  }
}
