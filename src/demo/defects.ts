import { Defect } from '../../entities/defect.entity.ts';
import type { DefectAssignee } from '../../entities/defect-assignee.type.ts';
import { Location } from '../../entities/location.entity.ts';
import { Subcontractor } from '../../entities/subcontractor.entity.ts';
import { User } from '../../entities/user.entity.ts';
import { FOUNDED } from './accounts.ts';
import { type BuilderContext, HISTORY_DAYS } from './builder-context.ts';
import { iso } from './local-calendar.ts';
import { DEFECT_TAGS, DEFECTS } from './words.ts';

const DAYS_APART = 5;

/** Adds defects in chronological order, numbered within each project, with none to three assignees. */
export function addDefects(context: BuilderContext): void {
  const { rows, random, calendar } = context;
  const tags = DEFECT_TAGS.map((name): DefectAssignee => ({ type: 'TAG', id: random.id('tag', FOUNDED), name }));
  for (let age = HISTORY_DAYS - DAYS_APART; age > 0; age -= DAYS_APART) {
    const createdAt = context.pickLater(context.ago(age), DAYS_APART);
    const { id: projectId } = random.pick(context.listStartedProjects(createdAt));
    const isOld = age > 180 && random.chance(0.8);
    const status = isOld ? 'CLOSED' : random.pick(['OPEN', 'IN_PROGRESS', 'READY_FOR_REVIEW', 'CLOSED'] as const);
    const closedAt = status === 'CLOSED' ? context.pickLater(createdAt, 45) : null;
    const title = random.pick(DEFECTS);
    const [user, company] = [random.pick(rows.of(User)), random.pick(rows.of(Subcontractor))];
    const assignees: DefectAssignee[] = [
      { type: 'USER', id: user.id, name: user.name },
      { type: 'COMPANY', id: company.id, name: company.name },
      random.pick(tags),
    ];
    context.add(Defect, 'defect', {
      createdAt,
      updatedAt: closedAt ?? context.pickLater(createdAt, 60),
      identifier: rows.of(Defect).filter((other) => other.projectId === projectId).length + 1,
      projectId,
      title,
      description: random.chance(0.7) ? `${title}. Make good and advise.` : null,
      status,
      priority: random.pick(['LOW', 'MEDIUM', 'MEDIUM', 'HIGH']),
      dueDate: random.chance(0.8) ? iso(calendar.dateOf(random.between(7, 45) - age)) : null,
      locationId: random.pick(rows.of(Location).filter((location) => location.projectId === projectId)).id,
      assignees: random.sample(assignees, random.between(0, 3)),
      photoIds: [],
      closedAt,
    });
  }
}
