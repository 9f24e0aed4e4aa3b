import type { FastifyInstance } from 'fastify';
import { forbidden, notFound } from './http-error.ts';
import { pools } from './plain-database.ts';
import { createPage, parseQueryParameters } from './query-parameters.ts';
import {
  createPhotosStatement,
  createSubcontractorStatement,
  createTimesheetsStatement,
  LIST_BUILDERS,
  STATUS_ORDER,
} from './read-statements.ts';
import { type Caller, type RequestAuthorizer, requireConnectionScope } from './request-authorizer.ts';
import { createSignedUrl } from './signed-url.ts';

// biome-ignore lint/suspicious/noExplicitAny: pg types the columns of a row as any.
type Row = any;

/** Registers the measured read operations on pools of pg. */
export function registerPlainReads(app: FastifyInstance, authorizer: RequestAuthorizer): void {
  app.get('/builders', async (request) => {
    const caller = await authorizer.authorize(request, 'read:builders');
    const { region, access } = caller;
    const { offset = 0, limit = 25 } = parseQueryParameters(request, ['offset', 'limit']);
    const ids = Object.keys(access.connections).filter((id) => access.connections[id]!.includes('read:builders'));
    const { rows } = await pools[region].query({ ...LIST_BUILDERS, values: [ids, limit, offset] });
    const now = Date.now();
    return toPage(rows, (row) => toBuilder(row, caller, now), offset, limit);
  });

  app.get('/timesheets', async (request) => {
    const caller = await authorizer.authorize(request, 'read:timesheets');
    const builderId = await authorizer.authorizeHeaderBuilder(caller, 'read:timesheets');
    const parameters = parseQueryParameters(request, ['offset', 'limit', 'status', 'projectId']);
    const { offset = 0, limit = 25, ...filters } = parameters;
    const filterValues = [filters.projectId, filters.status].filter((value) => value !== undefined);
    const values = [builderId, limit, offset, ...filterValues];
    const { rows } = await pools[caller.region].query({ ...createTimesheetsStatement(filters), values });
    return toPage(rows, toTimesheet, offset, limit);
  });

  app.get<{ Params: { id: string } }>('/subcontractors/:id', async (request) => {
    const { region, access, builderHeader } = await authorizer.authorize(request, 'read:subcontractors');
    const { id } = request.params;
    if (!/^sub_[a-z0-9]+$/.test(id)) throw notFound('Resource');
    const { projectId, includeBuilderCompany } = parseQueryParameters(request, ['includeBuilderCompany', 'projectId']);
    const values = projectId === undefined ? [id] : [id, projectId];
    const { rows } = await pools[region].query<Row>({ ...createSubcontractorStatement(projectId), values });
    const [row] = rows;
    const connectionScopes = row && access.connections[row.builder_id];
    if (!connectionScopes || (row.is_builder && !includeBuilderCompany)) throw notFound('Subcontractor');
    if (builderHeader !== null && builderHeader !== row.builder_id) {
      throw forbidden('X-Service-Builder-Id names another builder than the one the resource belongs to.');
    }
    requireConnectionScope(connectionScopes, 'read:subcontractors');
    return toSubcontractor(row);
  });

  app.get<{ Params: { builderId: string } }>('/builders/:builderId/photos', async (request) => {
    const caller = await authorizer.authorize(request, 'read:photos');
    const { builderId } = request.params;
    await authorizer.authorizePathBuilder(caller, builderId, 'read:photos');
    const parameters = parseQueryParameters(request, ['offset', 'limit', 'projectId', 'folderId']);
    const { offset = 0, limit = 25, ...filters } = parameters;
    const filterValues = [filters.projectId, filters.folderId].filter((value) => value !== undefined);
    const values = [builderId, limit, offset, ...filterValues];
    const { rows } = await pools[caller.region].query({ ...createPhotosStatement(filters), values });
    const now = Date.now();
    return toPage(rows, (row) => toPhoto(row, caller, now), offset, limit);
  });
}

/** Each row contains the total count. An empty page has one row, of which every other column is null. */
function toPage(rows: Row[], toItem: (row: Row) => object, offset: number, limit: number) {
  const data = rows.filter(({ id }) => id !== null).map(toItem);
  return createPage(data, rows[0].total, offset, limit);
}

function toBuilder(row: Row, caller: Caller, now: number) {
  const builder = { id: row.id, createdAt: row.created_at, updatedAt: row.updated_at, name: row.name };
  if (row.logo_key === null) return builder;
  return { ...builder, logoUrl: createSignedUrl(caller, row.logo_key, 'image/png', null, now) };
}

function toTimesheet(row: Row) {
  return {
    id: row.id,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    status: row.status,
    date: row.date,
    hours: row.hours,
    notes: row.notes,
    timesheetGroupId: row.timesheet_group_id,
    timeType: row.time_type,
    costCode: row.cost_code,
    profile: { id: row.profile_id, fullName: row.full_name, type: row.profile_type },
    project: { id: row.project_id, name: row.project_name },
  };
}

function toSubcontractor(row: Row) {
  const { street, suburb, state, postcode, country } = row.address;
  return {
    id: row.id,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    name: row.name,
    abn: row.abn,
    isBuilder: row.is_builder,
    address: { street, suburb, state, postcode, country },
    statuses: STATUS_ORDER.filter((status) => row.statuses.includes(status)),
    tags: row.tags,
    integrations: row.integrations.map(({ type, sourceId, companyId }: Row) => ({ type, sourceId, companyId })),
  };
}

function toPhoto(row: Row, caller: Caller, now: number) {
  return {
    id: row.id,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    builderId: row.builder_id,
    projectId: row.project_id,
    source: row.source,
    folderId: row.folder_id,
    fileName: row.file_name,
    contentType: row.content_type,
    key: row.key,
    fileSize: String(row.file_size),
    description: row.description,
    photoTakenDate: row.photo_taken_date,
    sortDate: row.sort_date,
    metadata: row.metadata,
    archivedAt: null,
    imageUrl: createSignedUrl(caller, row.key, row.content_type, row.file_name, now),
  };
}
