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
  const { rows, random, calendar, now, runningProjects } = context;
  const profiles = rows.of(Profile);
  // Ordinary time, then overtime.
  const [usual, long] = rows.of(TimeType).toSorted((one, other) => (one.name < other.name ? -1 : 1));
  const days = Array.from({ length: HISTORY_DAYS }, (_, index) => -1 - index).filter(calendar.isWeekday);
  const groups = new Map<string, string>();
  for (let number = 0; number < count; number++) {
    const person = number % profiles.length;
    const day = days[Math.floor(number / profiles.length) % days.length]!;
    const created = calendar.instantOf(day, 16 * 60 + random.between(0, 90));
    const createdAt = iso(created);
    const begun = runningProjects.filter((project) => project.createdAt < createdAt);
    // Most work on one project.
    const project = random.chance(0.85) ? begun[person % begun.length] : random.pick(begun);
    const status = pickStatus(random, -day);
    const isLong = random.chance(0.12);
    const week = `${person} ${Math.floor(calendar.dateOf(day) / DAY / 7)}`;
    const timesheetGroupId = groups.get(week) ?? random.id('timesheetGroup', createdAt);
    groups.set(week, timesheetGroupId);
    context.add(Timesheet, 'timesheet', {
      createdAt,
      updatedAt: status === 'WAITING_REVIEW' ? createdAt : iso(Math.min(now, created + random.between(1, 3) * DAY)),
      projectId: (project ?? runningProjects[0]!).id,
      profileId: profiles[person]!.id,
      costCodeId: random.chance(0.95) ? random.pick(rows.of(CostCode)).id : null,
      timeTypeId: (isLong ? long : usual)!.id,
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
  if (age <= 3) return random.chance(0.9) ? 'WAITING_REVIEW' : 'APPROVED_1';
  if (age <= 10) return random.chance(0.3) ? 'WAITING_REVIEW' : random.chance(0.8) ? 'APPROVED_1' : 'APPROVED_2';
  return random.chance(0.93) ? 'APPROVED_2' : 'APPROVED_1';
}
