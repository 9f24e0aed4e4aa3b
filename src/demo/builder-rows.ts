import { Builder } from '../../entities/builder.entity.ts';
import type { RegionId } from '../shared/regions.ts';
import { generateAttendance } from './accounts.ts';
import { addAttendance } from './attendance.ts';
import { BuilderContext } from './builder-context.ts';
import { addCompanies } from './companies.ts';
import { addDefects } from './defects.ts';
import { addMeetings } from './meetings.ts';
import { addPhotos, type DemoPicture } from './photos.ts';
import { addProjects, addStaff, addTimesheetLists } from './projects.ts';
import { addReports } from './reports.ts';
import type { Rows } from './rows.ts';
import { hasLogo, toLogoKey } from './store-pictures.ts';
import { addTimesheets } from './timesheets.ts';
import { addWorkers } from './workers.ts';

/** What the rows of a builder depend on. */
export interface BuilderRowsOptions {
  /** Instant of loading, in milliseconds. */
  now: number;
  /** Timesheets of the builder. */
  timesheets: number;
  /** Stored pictures for photos; without them there are no photos. */
  pictures: readonly DemoPicture[];
}

/** Creates all rows of one builder. */
export function createBuilderRows(region: RegionId, index: number, options: BuilderRowsOptions): Rows {
  const { now, timesheets, pictures } = options;
  const context = new BuilderContext(region, index, now);
  const { rows, builder } = context;
  const attendance = generateAttendance(region, index);
  const logoKey = pictures.length > 0 && hasLogo(index) ? toLogoKey(builder.id) : null;
  rows.add(Builder, { ...builder, logoKey });
  addProjects(context, attendance.projectId);
  addTimesheetLists(context);
  addCompanies(context);
  addWorkers(context, attendance);
  addStaff(context);
  addDefects(context);
  addPhotos(context, pictures);
  addMeetings(context);
  addReports(context);
  addAttendance(context);
  addTimesheets(context, timesheets);
  return rows;
}
