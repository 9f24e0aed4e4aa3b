import type { Project } from '../../../entities/project.entity.ts';
import { DEFAULT_TIME_ZONES } from '../../../schema/time-zone.ts';
import type { GeneratorContext } from '../generator-context.ts';
import type { DemoPicture } from '../photos.ts';
import { LocalCalendar } from './local-calendar.ts';
import { addRecentAttendance } from './recent-attendance.ts';
import { addExpiringInsurances, addRecentPhotos, addRecentTimesheets } from './recent-records.ts';

interface ScenarioOptions {
  now: number;
  projects: Project[];
  /** The integrator whose gates are on the sites; null for none. */
  integratorId: string | null;
  pictures: readonly DemoPicture[];
}

/** Adds the last weeks of a builder up to now: the data that the console shows at first. */
export function addScenario(
  context: GeneratorContext,
  { now, projects, integratorId, pictures }: ScenarioOptions,
): void {
  const calendar = new LocalCalendar(now, context.locale.timeZone ?? DEFAULT_TIME_ZONES[context.region]);
  const scenario = { context, now, calendar };
  addRecentTimesheets(scenario, projects);
  addExpiringInsurances(scenario);
  addRecentPhotos(scenario, projects, pictures);
  addRecentAttendance(scenario, projects, integratorId);
}
