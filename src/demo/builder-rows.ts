import { Builder } from '../../entities/builder.entity.ts';
import { SiteAccess } from '../../entities/site-access.entity.ts';
import { Subcontractor } from '../../entities/subcontractor.entity.ts';
import { Worker } from '../../entities/worker.entity.ts';
import type { RegionId } from '../shared/regions.ts';
import { findIntegrator } from './accounts.ts';
import { addAttendance } from './attendance.ts';
import { addCompanies, addContacts } from './companies.ts';
import { BASE } from './dates.ts';
import { addDefects } from './defects.ts';
import { addDocuments } from './documents.ts';
import { createGeneratorContext, generateBuilder, hasLogo, toLogoKey } from './generator-context.ts';
import { addMeetings } from './meetings.ts';
import { addPhotos, addRecentPhotos, type DemoPicture } from './photos.ts';
import { addLocations, addProjects, addTimesheetCodes } from './projects.ts';
import { addRecentTimesheets } from './recent-timesheets.ts';
import { addReports } from './reports.ts';
import type { Rows } from './rows.ts';
import { addProfiles, addStaff } from './staff.ts';
import { addWorkersAndInductions } from './workers.ts';

/** What the rows of a builder depend on. */
export interface BuilderRowsOptions {
  /** Midnight of the day that the expiry of insurances is relative to; nothing else is. */
  asOf: number;
  /** Stored pictures for photos; without them there are no photos. */
  pictures?: readonly DemoPicture[];
  /** Instant of loading, in milliseconds. Without it attendance ends at the base date, and other records with the history. */
  now?: number;
}

/** Creates all rows of one builder except the timesheets of the history. */
export const createBuilderRows = (region: RegionId, builderIndex: number, options: BuilderRowsOptions): Rows =>
  generateRows(region, builderIndex, options).rows;

function generateRows(region: RegionId, builderIndex: number, { asOf, pictures = [], now }: BuilderRowsOptions) {
  const context = createGeneratorContext(region, builderIndex, { asOf, now: now ?? BASE });
  const { domain: _domain, ...builder } = generateBuilder(region, builderIndex);
  const isLogoStored = pictures.length > 0 && hasLogo(builderIndex);
  context.rows.add(Builder, { ...builder, logoKey: isLogoStored ? toLogoKey(builder.id) : null });
  const projects = addProjects(context);
  const locations = addLocations(context, projects);
  addTimesheetCodes(context);
  addProfiles(context);
  const staff = addStaff(context);
  const companies = addCompanies(context, projects, builder.name);
  addContacts(context, companies);
  addDocuments(context, companies);
  addWorkersAndInductions(context, companies);
  addDefects(context, { projects, locations, companies, staff });
  addPhotos(context, projects, pictures);
  const integratorId = findIntegrator(region, builderIndex);
  addMeetings(context, projects, integratorId);
  addReports(context, projects, integratorId);
  addAttendance(context, projects, integratorId);
  if (now !== undefined) {
    addRecentTimesheets(context, projects);
    addRecentPhotos(context, projects, pictures);
  }
  return { rows: context.rows, projects };
}

/** Workers for trying gate attendance, by their access to a project of integrator A's first builder. */
export interface DemoAttendance {
  builderId: string;
  projectId: string;
  workers: { active: string[]; revoked: string[]; none: string[] };
}

const MAX_WORKERS = 20;

export function createDemoAttendance(): DemoAttendance {
  const { rows, projects } = generateRows('au1', 0, { asOf: BASE });
  const { id: projectId, builderId } = projects[0]!;
  const archived = new Set(rows.of(Subcontractor).flatMap(({ id, archivedAt }) => (archivedAt ? [id] : [])));
  const revoked = new Map(
    rows
      .of(SiteAccess)
      .flatMap((access) => (access.projectId === projectId ? [[access.workerId, access.revokedAt] as const] : [])),
  );
  const workers = rows.of(Worker).filter(({ subcontractorId }) => !archived.has(subcontractorId));
  const list = (has: (revokedAt: string | null | undefined) => boolean) =>
    workers.flatMap(({ id }) => (has(revoked.get(id)) ? [id] : [])).slice(0, MAX_WORKERS);
  return {
    builderId,
    projectId,
    workers: {
      active: list((revokedAt) => revokedAt === null),
      revoked: list((revokedAt) => typeof revokedAt === 'string'),
      none: list((revokedAt) => revokedAt === undefined),
    },
  };
}
