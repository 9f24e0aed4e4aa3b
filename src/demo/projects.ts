import { CostCode } from '../../entities/cost-code.entity.ts';
import { Location } from '../../entities/location.entity.ts';
import { Project } from '../../entities/project.entity.ts';
import { TimeType } from '../../entities/time-type.entity.ts';
import { baseDay, dayOf, STORY_DAYS, stamps } from './dates.ts';
import type { Random } from './random.ts';
import type { Scene } from './scene.ts';
import { LOCATIONS } from './words/meetings.ts';
import { COST_CODES, TIME_TYPES } from './words/trades.ts';

/** By age, the oldest first: the first project runs through the whole story. */
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

const DAYS_APART = Math.floor((STORY_DAYS - 10) / STATUSES.length);

export function addProjects(scene: Scene): Project[] {
  const { rows, builderId, locale } = scene;
  const random = scene.random('projects');
  const companyIds = new Map(locale.projectPlatforms.map((type) => [type, random.digits(5)]));
  const places = random.some(locale.places, STATUSES.length);
  const kinds = random.some(locale.projects, STATUSES.length);
  return STATUSES.map((status, index) => {
    const begun = index * DAYS_APART - STORY_DAYS;
    const dates = index === 0 ? sameInstant(baseDay(begun)) : stamps(random, begun, begun + DAYS_APART - 10);
    const types = random.some(locale.projectPlatforms, random.between(0, 2));
    return rows.add(Project, {
      id: random.id('project', dates.createdAt),
      ...dates,
      builderId,
      status,
      name: `${places[index % places.length]![0]} ${kinds[index]}`,
      integrations: types.map((type) => ({ type, sourceId: random.digits(7), companyId: companyIds.get(type)! })),
    });
  });
}

const sameInstant = (instant: string) => ({ createdAt: instant, updatedAt: instant });

/** The places within each project, by project id. */
export function addLocations(scene: Scene, projects: Project[]): Map<string, Location[]> {
  const { rows, builderId } = scene;
  const random = scene.random('locations');
  const of = ({ id: projectId, createdAt }: Project) =>
    random.some(LOCATIONS, random.between(5, 9)).map((name) => {
      return rows.add(Location, { id: random.id('location', createdAt), builderId, projectId, name });
    });
  return new Map(projects.map((project) => [project.id, of(project)]));
}

/** What hours are booked to, and the kinds of hours. */
export function addBooks(scene: Scene): void {
  const { rows, builderId } = scene;
  const random: Random = scene.random('books');
  const at = baseDay(-STORY_DAYS);
  for (const [code, description] of COST_CODES) {
    rows.add(CostCode, { id: random.id('costCode', at), builderId, code, description });
  }
  for (const name of TIME_TYPES) rows.add(TimeType, { id: random.id('timeType', at), builderId, name });
}

/** Whether work has begun on it. */
export const isBegun = ({ status }: Project) => status !== 'UPCOMING';

/** The first day, from the base date, on which something can have happened on all of these. */
export const firstDayOf = (...records: { createdAt: string }[]) =>
  Math.max(...records.map(({ createdAt }) => dayOf(createdAt)));
