import { CostCode } from '../../entities/cost-code.entity.ts';
import { Profile } from '../../entities/profile.entity.ts';
import type { Project } from '../../entities/project.entity.ts';
import { TimeType } from '../../entities/time-type.entity.ts';
import { Timesheet } from '../../entities/timesheet.entity.ts';
import type { TimesheetStatus } from '../../schema/enums.ts';
import { DAY, iso } from './dates.ts';
import type { GeneratorContext } from './generator-context.ts';
import type { Random } from './random.ts';
import { TIME_TYPES, TIMESHEET_NOTES } from './words.ts';

/** Days of timesheets. */
const DAYS = 30;

/** Adds the timesheets of the last month, of which the newest wait for review. */
export function addRecentTimesheets(context: GeneratorContext, projects: Project[]): void {
  const { rows, builderId, calendar, now } = context;
  const random = context.random('recent timesheets');
  const running = projects.filter(({ status }) => status === 'IN_PROGRESS');
  const timeTypes = rows.of(TimeType);
  const ordinary = timeTypes.find(({ name }) => name === TIME_TYPES[0])!;
  const overtime = timeTypes.find(({ name }) => name === TIME_TYPES[1])!;
  for (const profile of rows.of(Profile)) {
    const project = random.pick(running);
    const codes = random.sample(rows.of(CostCode), 2);
    for (let day = -DAYS; day <= 0; day++) {
      const created = calendar.instantOf(day, 16 * 60 + random.between(0, 90));
      if (!calendar.isWeekday(day) || created >= now || random.chance(0.08)) continue;
      const status = pickStatus(random, -day);
      const isLong = random.chance(0.12);
      const createdAt = iso(created);
      rows.add(Timesheet, {
        ...{ id: random.id('timesheet', createdAt), createdAt },
        updatedAt: status === 'WAITING_REVIEW' ? createdAt : iso(Math.min(now, created + random.between(1, 3) * DAY)),
        ...{ builderId, projectId: random.chance(0.85) ? project.id : random.pick(running).id, profileId: profile.id },
        costCodeId: random.chance(0.95) ? random.pick(codes).id : null,
        timeTypeId: (isLong ? overtime : ordinary).id,
        ...{ status, date: iso(calendar.dateOf(day)), hours: isLong ? 10 : random.pick([7.6, 8, 8, 8, 7.5, 6]) },
        notes: random.chance(0.2) ? random.pick(TIMESHEET_NOTES) : null,
      });
    }
  }
}

function pickStatus(random: Random, age: number): TimesheetStatus {
  if (random.chance(0.04)) return 'REJECTED';
  if (age <= 3) return random.chance(0.9) ? 'WAITING_REVIEW' : 'APPROVED_1';
  if (age <= 10) return random.chance(0.3) ? 'WAITING_REVIEW' : random.chance(0.8) ? 'APPROVED_1' : 'APPROVED_2';
  return random.chance(0.93) ? 'APPROVED_2' : 'APPROVED_1';
}
