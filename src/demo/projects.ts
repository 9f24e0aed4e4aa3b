import { CostCode } from '../../entities/cost-code.entity.ts';
import { Location } from '../../entities/location.entity.ts';
import { Project } from '../../entities/project.entity.ts';
import { TimeType } from '../../entities/time-type.entity.ts';
import { HISTORY_DAYS, pickTimestamps, toBaseDay, toDay } from './dates.ts';
import type { GeneratorContext } from './generator-context.ts';
import type { Random } from './random.ts';
import { COST_CODES, LOCATIONS, PROJECTS, TIME_TYPES } from './words.ts';

/** Oldest project first; it runs through the whole history. */
const STATUSES = [
  'IN_PROGRESS',
  'ARCHIVED',
  'COMPLETE',
  'COMPLETE',
  'COMPLETE',
  'IN_PROGRESS',
  'IN_PROGRESS',
  'IN_PROGRESS',
  'IN_PROGRESS',
  'IN_PROGRESS',
  'UPCOMING',
  'UPCOMING',
] as const;

const DAYS_APART = Math.floor((HISTORY_DAYS - 10) / STATUSES.length);

export function addProjects(context: GeneratorContext): Project[] {
  const { rows, builderId, locale } = context;
  const random = context.random('projects');
  const companyIds = new Map(locale.projectPlatforms.map((type) => [type, random.digits(5)]));
  const suburbs = random.sample(locale.places, STATUSES.length);
  const kinds = random.sample(PROJECTS, STATUSES.length);
  return STATUSES.map((status, index) => {
    const begun = index * DAYS_APART - HISTORY_DAYS;
    const dates = index === 0 ? sameInstant(toBaseDay(begun)) : pickTimestamps(random, begun, begun + DAYS_APART - 10);
    const types = random.sample(locale.projectPlatforms, random.between(0, 2));
    return rows.add(Project, {
      id: random.id('project', dates.createdAt),
      ...dates,
      builderId,
      status,
      name: `${suburbs[index % suburbs.length]![0]} ${kinds[index]}`,
      integrations: types.map((type) => ({ type, sourceId: random.digits(7), companyId: companyIds.get(type)! })),
    });
  });
}

const sameInstant = (instant: string) => ({ createdAt: instant, updatedAt: instant });

/** Adds the locations of each project. Returns them by project id. */
export function addLocations(context: GeneratorContext, projects: Project[]): Map<string, Location[]> {
  const { rows, builderId } = context;
  const random = context.random('locations');
  const of = ({ id: projectId, createdAt }: Project) =>
    random.sample(LOCATIONS, random.between(5, 9)).map((name) => {
      return rows.add(Location, { id: random.id('location', createdAt), builderId, projectId, name });
    });
  return new Map(projects.map((project) => [project.id, of(project)]));
}

/** Adds cost codes and time types of timesheets. */
export function addTimesheetCodes(context: GeneratorContext): void {
  const { rows, builderId } = context;
  const random: Random = context.random('books');
  const at = toBaseDay(-HISTORY_DAYS);
  for (const [code, description] of COST_CODES) {
    rows.add(CostCode, { id: random.id('costCode', at), builderId, code, description });
  }
  for (const name of TIME_TYPES) rows.add(TimeType, { id: random.id('timeType', at), builderId, name });
}

export const hasStarted = ({ status }: Project) => status !== 'UPCOMING';

/** Returns the first day, relative to the base date, on which all records exist. */
export const findFirstDay = (...records: { createdAt: string }[]) =>
  Math.max(...records.map(({ createdAt }) => toDay(createdAt)));
