import type { EntityClass } from '@mikro-orm/core';
import { Defect } from '../../entities/defect.entity.ts';
import { Meeting } from '../../entities/meeting.entity.ts';
import { Profile } from '../../entities/profile.entity.ts';
import { Project } from '../../entities/project.entity.ts';
import { SiteAccess } from '../../entities/site-access.entity.ts';
import { Subcontractor } from '../../entities/subcontractor.entity.ts';
import { Timesheet } from '../../entities/timesheet.entity.ts';
import { Worker } from '../../entities/worker.entity.ts';
import { ID_PREFIXES, type IdKind } from '../../schema/ids.ts';
import type { Service } from './harness.ts';

/*
 * Insert valid rows in the region au1. A test states only the values that matter to it, and does not depend on the rows of
 * `test/setup/company`.
 */

const AT = '2026-03-02T07:30:00.000Z';

let count = 0;
const newRow = (kind: IdKind) => ({ id: `${ID_PREFIXES[kind]}_row${++count}`, createdAt: AT, updatedAt: AT });

/** Inserts the row and returns its id. The row has no properties that readers compute. */
async function insertRow(service: Service, entity: EntityClass<object>, row: { id: string }): Promise<string> {
  await service.databases.au1.fork().insert(entity, row);
  return row.id;
}

/** Adds a project of the builder and returns its id. */
export const addProject = (service: Service, builderId: string, values: Partial<Project> = {}): Promise<string> =>
  insertRow(service, Project, {
    ...newRow('project'),
    builderId,
    ...{ status: 'IN_PROGRESS', name: 'Harbour Tower', integrations: [], ...values },
  });

/** Adds a meeting of the builder and returns its id. */
export const addMeeting = (service: Service, builderId: string, values: Partial<Meeting> = {}): Promise<string> =>
  insertRow(service, Meeting, {
    ...newRow('meeting'),
    builderId,
    ...{ projectId: null, title: 'Weekly site meeting', date: AT, status: 'DRAFT', agenda: null, plainNotes: null },
    ...{ templateId: null, templateResponse: null, integratorId: null, sourceApp: null, externalSourceId: null },
    ...values,
  });

/** Adds a defect of the project and returns its id. */
export const addDefect = (
  service: Service,
  { builderId, projectId }: { builderId: string; projectId: string },
  values: Partial<Defect> = {},
): Promise<string> =>
  insertRow(service, Defect, {
    ...newRow('defect'),
    ...{ builderId, projectId, identifier: 10_000 + count, title: 'Cracked tile', description: null, status: 'OPEN' },
    ...{ priority: 'LOW', dueDate: null, locationId: null, assignees: [], photoIds: [], closedAt: null },
    ...values,
  });

/** Adds timesheets of one person, by default on a new project of the builder. */
export async function addTimesheets(
  service: Service,
  builderId: string,
  timesheets: Partial<Timesheet>[],
): Promise<void> {
  const projectId = await addProject(service, builderId);
  const profileId = `${ID_PREFIXES.profile}_row${++count}`;
  await insertRow(service, Profile, {
    id: profileId,
    ...{ builderId, fullName: 'Alex Ng', type: 'worker' },
  } as Profile);
  const rows = timesheets.map((values) => ({
    ...newRow('timesheet'),
    ...{ builderId, projectId, profileId, status: 'WAITING_REVIEW', date: AT, hours: 8, notes: null },
    ...{ costCodeId: null, timeTypeId: null, timesheetGroupId: null },
    ...values,
  }));
  await service.databases.au1.fork().insertMany(Timesheet as EntityClass<object>, rows);
}

/** Adds a worker of a new subcontractor with access to the site of a new project. */
export async function addWorkerOnSite(
  service: Service,
  builderId: string,
): Promise<{ workerId: string; projectId: string }> {
  const projectId = await addProject(service, builderId);
  const subcontractorId = await insertRow(service, Subcontractor, {
    ...newRow('subcontractor'),
    ...{ builderId, name: 'Steel Works', abn: null, isBuilder: false, address: {}, tags: [], integrations: [] },
  } as never);
  const workerId = await insertRow(service, Worker, {
    ...newRow('worker'),
    ...{ builderId, subcontractorId, fullName: 'Alex Ng' },
  } as never);
  const access = { builderId, workerId, projectId, grantedAt: AT, revokedAt: null };
  await service.databases.au1.fork().insert(SiteAccess as EntityClass<object>, access);
  return { workerId, projectId };
}
