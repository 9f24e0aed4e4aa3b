import { Builder } from '../../entities/builder.entity.ts';
import { SiteAccess } from '../../entities/site-access.entity.ts';
import { Subcontractor } from '../../entities/subcontractor.entity.ts';
import { Worker } from '../../entities/worker.entity.ts';
import type { RegionId } from '../shared/regions.ts';
import { integratorAt } from './accounts.ts';
import { addAttendance } from './attendance.ts';
import { addCompanies, addContacts } from './companies.ts';
import { BASE } from './dates.ts';
import { addDefects } from './defects.ts';
import { addDocuments } from './documents.ts';
import { hasLogo, logoKeyOf } from './logos.ts';
import { addMeetings } from './meetings.ts';
import { addProfiles, addStaff } from './people.ts';
import { addPhotos, type DemoPicture } from './photos.ts';
import { addBooks, addLocations, addProjects } from './projects.ts';
import { addReports } from './reports.ts';
import type { Rows } from './rows.ts';
import { builderOf, newScene } from './scene.ts';
import { addSite } from './site.ts';

/** Everything of one builder but its timesheets. Only the expiry of insurances depends on `asOf`. */
export function builderRows(
  region: RegionId,
  place: number,
  asOf: number,
  pictures: readonly DemoPicture[] = [],
): Rows {
  return play(region, place, asOf, pictures).rows;
}

function play(region: RegionId, place: number, asOf: number, pictures: readonly DemoPicture[] = []) {
  const scene = newScene(region, place, asOf);
  const { domain: _domain, ...builder } = builderOf(region, place);
  const isLogoStored = pictures.length > 0 && hasLogo(place);
  scene.rows.add(Builder, { ...builder, logoKey: isLogoStored ? logoKeyOf(builder.id) : null });
  const projects = addProjects(scene);
  const locations = addLocations(scene, projects);
  addBooks(scene);
  addProfiles(scene);
  const staff = addStaff(scene);
  const companies = addCompanies(scene, projects, builder.name);
  addContacts(scene, companies);
  addDocuments(scene, companies);
  addSite(scene, companies);
  addDefects(scene, { projects, locations, companies, staff });
  addPhotos(scene, projects, pictures);
  addMeetings(scene, projects, integratorAt(region, place));
  addReports(scene, projects, integratorAt(region, place));
  addAttendance(scene, projects, integratorAt(region, place));
  return { rows: scene.rows, projects };
}

/** Workers to try gate attendance with, by their access to the site of a project of integrator A's first builder. */
export interface Attendance {
  builderId: string;
  projectId: string;
  workers: { active: string[]; revoked: string[]; none: string[] };
}

const MOST = 20;

export function demoAttendance(): Attendance {
  const { rows, projects } = play('au1', 0, BASE);
  const { id: projectId, builderId } = projects[0]!;
  const archived = new Set(
    rows
      .of(Subcontractor)
      .filter(({ archivedAt }) => archivedAt)
      .map(({ id }) => id),
  );
  const accesses = new Map(
    rows
      .of(SiteAccess)
      .filter((access) => access.projectId === projectId)
      .map(({ workerId, revokedAt }) => [workerId, revokedAt]),
  );
  const workers = rows.of(Worker).filter(({ subcontractorId }) => !archived.has(subcontractorId));
  const idsWhere = (holds: (revokedAt: string | null | undefined) => boolean) =>
    workers
      .filter(({ id }) => holds(accesses.get(id)))
      .map(({ id }) => id)
      .slice(0, MOST);
  return {
    builderId,
    projectId,
    workers: {
      active: idsWhere((revokedAt) => revokedAt === null),
      revoked: idsWhere((revokedAt) => typeof revokedAt === 'string'),
      none: idsWhere((revokedAt) => revokedAt === undefined),
    },
  };
}
