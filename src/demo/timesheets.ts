import { CostCode } from '../../entities/cost-code.entity.ts';
import { Profile } from '../../entities/profile.entity.ts';
import { TimeType } from '../../entities/time-type.entity.ts';
import { Timesheet } from '../../entities/timesheet.entity.ts';
import type { TimesheetStatus } from '../../schema/enums.ts';
import { type BuilderContext, HISTORY_DAYS } from './builder-context.ts';
import { DAY, iso } from './local-calendar.ts';
import type { Random } from './random.ts';
import { TIMESHEET_NOTES } from './words.ts';

/**
 * Adds timesheets, the newest first, which wait for review. Each person has one for each working day; those that do not fit into the history
 * are further ones of the same days.
 */
export function addTimesheets(context: BuilderContext, count: number): void {
  const { rows, random, calendar, runningProjects } = context;
  const [profiles, costCodes] = [rows.of(Profile), rows.of(CostCode)];
  const [ordinary, overtime] = rows.of(TimeType);
  const days = Array.from({ length: HISTORY_DAYS }, (_, index) => -1 - index).filter(calendar.isWeekday);
  const groups = new Map<string, string>();
  for (let number = 0; number < count; number++) {
    const person = number % profiles.length;
    const day = days[Math.floor(number / profiles.length) % days.length]!;
    const createdAt = iso(calendar.instantOf(day, random.between(16 * 60, 17 * 60)));
    const begun = runningProjects.filter((project) => project.createdAt < createdAt);
    const status = pickStatus(random, -day);
    const isLong = random.chance(0.12);
    const week = `${person} ${Math.floor(calendar.dateOf(day) / DAY / 7)}`;
    const timesheetGroupId = groups.get(week) ?? random.id('timesheetGroup', createdAt);
    groups.set(week, timesheetGroupId);
    context.add(Timesheet, 'timesheet', {
      createdAt,
      updatedAt: status === 'WAITING_REVIEW' ? createdAt : context.pickLater(createdAt, 3),
      // Most work on one project.
      projectId: begun[(random.chance(0.85) ? person : random.between(0, 99)) % begun.length]!.id,
      profileId: profiles[person]!.id,
      costCodeId: random.chance(0.95) ? random.pick(costCodes).id : null,
      timeTypeId: (isLong ? overtime : ordinary)!.id,
      status,
      date: iso(calendar.dateOf(day)),
      hours: isLong ? 10 : random.pick([7.6, 8, 8, 8, 7.5, 6]),
      notes: random.chance(0.2) ? random.pick(TIMESHEET_NOTES) : null,
      timesheetGroupId,
    });
  }
}

function pickStatus(random: Random, age: number): TimesheetStatus {
  if (random.chance(0.04)) return 'REJECTED';
  if (age <= 3) return 'WAITING_REVIEW';
  if (age <= 10) return random.pick(['WAITING_REVIEW', 'APPROVED_1', 'APPROVED_1', 'APPROVED_2']);
  return random.chance(0.93) ? 'APPROVED_2' : 'APPROVED_1';
}
