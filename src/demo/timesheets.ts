import type { EntityManager } from '@mikro-orm/postgresql';
import { Builder } from '../../entities/builder.entity.ts';
import { CostCode } from '../../entities/cost-code.entity.ts';
import { Profile } from '../../entities/profile.entity.ts';
import { Project } from '../../entities/project.entity.ts';
import { TimeType } from '../../entities/time-type.entity.ts';
import { Timesheet } from '../../entities/timesheet.entity.ts';
import type { TimesheetStatus } from '../../schema/enums.ts';
import { getTimeZone } from '../../schema/time-zone.ts';
import type { Database } from '../database/database.ts';
import { HISTORY_DAYS } from './builder-context.ts';
import { DAY, iso, LocalCalendar } from './local-calendar.ts';
import { Random } from './random.ts';
import { insertRows, Rows } from './rows.ts';
import { TIMESHEET_NOTES } from './words.ts';

/** Timesheets of a transaction. */
const BATCH = 10_000;

/** What the timesheets of one builder refer to, oldest first. */
interface TimesheetSource {
  builderId: string;
  projects: Project[];
  profiles: Profile[];
  costCodes: CostCode[];
  /** The first is the usual one, the second of long days. */
  timeTypes: TimeType[];
  calendar: LocalCalendar;
  now: number;
  random: Random;
}

/**
 * Adds timesheets with consecutive numbers. Each person has one for each working day, of which the newest have the lowest numbers and wait
 * for review; those that do not fit into the history are further ones of the same days.
 */
export function addTimesheets(
  rows: Rows,
  source: TimesheetSource,
  { first, count }: { first: number; count: number },
): void {
  const { builderId, projects, profiles, costCodes, timeTypes, calendar, now, random } = source;
  const days = Array.from({ length: HISTORY_DAYS }, (_, index) => -1 - index).filter((day) => calendar.isWeekday(day));
  const groups = new Map<string, string>();
  for (let number = first; number < first + count; number++) {
    const person = number % profiles.length;
    const day = days[Math.floor(number / profiles.length) % days.length]!;
    const created = calendar.instantOf(day, 16 * 60 + random.between(0, 90));
    const createdAt = iso(created);
    const begun = projects.filter((project) => project.createdAt < createdAt);
    // Most work on one project.
    const project = random.chance(0.85) ? begun[person % begun.length] : random.pick(begun);
    const status = pickStatus(random, -day);
    const isLong = random.chance(0.12);
    const week = `${person} ${Math.floor(calendar.dateOf(day) / DAY / 7)}`;
    const timesheetGroupId = groups.get(week) ?? random.id('timesheetGroup', createdAt);
    groups.set(week, timesheetGroupId);
    rows.add(Timesheet, {
      id: random.id('timesheet', createdAt),
      createdAt,
      updatedAt: status === 'WAITING_REVIEW' ? createdAt : iso(Math.min(now, created + random.between(1, 3) * DAY)),
      builderId,
      projectId: (project ?? projects[0]!).id,
      profileId: profiles[person]!.id,
      costCodeId: costCodes.length > 0 && random.chance(0.95) ? random.pick(costCodes).id : null,
      timeTypeId: timeTypes[isLong ? 1 : 0]?.id ?? null,
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

/** Adds `count` timesheets, spread over the region's builders, that continue before the existing ones. */
export async function loadTimesheets(
  database: Database,
  count: number,
  now: number,
  onProgress: (done: number) => void = () => {},
): Promise<void> {
  const em = database.fork();
  const sources = await findSources(database, em, now);
  if (sources.length === 0)
    throw new Error('No builder of the region has a project and a profile that timesheets can refer to.');
  let done = 0;
  for (const [index, source] of sources.entries()) {
    const existing = await em.count(Timesheet, { builderId: source.builderId });
    const end = existing + Math.floor((count + index) / sources.length);
    for (let first = existing; first < end; first += BATCH) {
      const batch = { first, count: Math.min(BATCH, end - first) };
      const rows = new Rows();
      addTimesheets(rows, source, batch);
      await database.transaction((transaction) => insertRows(transaction, rows));
      done += batch.count;
      onProgress(done);
    }
  }
}

async function findSources({ region }: Database, em: EntityManager, now: number): Promise<TimesheetSource[]> {
  const builders = await em.find(Builder, {});
  const sources = builders.map(async (builder): Promise<TimesheetSource> => {
    const where = { builderId: builder.id };
    return {
      builderId: builder.id,
      projects: await em.find(Project, { ...where, status: 'IN_PROGRESS' }, { orderBy: { createdAt: 'asc' } }),
      profiles: await em.find(Profile, where, { orderBy: { id: 'asc' } }),
      costCodes: await em.find(CostCode, where),
      timeTypes: await em.find(TimeType, where, { orderBy: { name: 'asc' } }),
      calendar: new LocalCalendar(now, getTimeZone(builder, region)),
      now,
      // Another stream each time, so that ids do not repeat those of earlier timesheets.
      random: new Random(builder.id, crypto.randomUUID()),
    };
  });
  const all = await Promise.all(sources);
  return all.filter(({ projects, profiles }) => projects.length > 0 && profiles.length > 0);
}
