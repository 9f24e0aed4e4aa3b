import type { FastifyInstance } from 'fastify';
import { signedUrl } from './inputs.ts';
import { createPage, parametersOf } from './parameters.ts';
import { pools } from './plain-database.ts';
import { type Caller, type Door, forbidden, notFound, requireConnectionScope } from './service.ts';
import { BUILDERS, photos, REACHED, subcontractor, timesheets } from './statements.ts';

// biome-ignore lint/suspicious/noExplicitAny: a row as pg gives it.
type Row = any;

export function plainReads(app: FastifyInstance, door: Door): void {
  app.get('/builders', async (request) => {
    const caller = await door.enter(request, 'read:builders');
    const { region, grants } = caller;
    const { offset = 0, limit = 25 } = parametersOf(request, ['offset', 'limit']);
    const ids = Object.keys(grants.connections).filter((id) => grants.connections[id]!.includes('read:builders'));
    const { rows } = await pools[region].query({ ...BUILDERS, values: [ids, limit, offset] });
    const now = Date.now();
    return page(rows, (row) => builderOf(row, caller, now), offset, limit);
  });

  app.get('/timesheets', async (request) => {
    const caller = await door.enter(request, 'read:timesheets');
    const builderId = await door.requireHeaderBuilder(caller, 'read:timesheets');
    const parameters = parametersOf(request, ['offset', 'limit', 'status', 'projectId']);
    const { offset = 0, limit = 25, ...filters } = parameters;
    const given = [filters.projectId, filters.status].filter((value) => value !== undefined);
    const values = [builderId, limit, offset, ...given];
    const { rows } = await pools[caller.region].query({ ...timesheets(filters), values });
    return page(rows, timesheetOf, offset, limit);
  });

  app.get<{ Params: { id: string } }>('/subcontractors/:id', async (request) => {
    const { region, grants, builderHeader } = await door.enter(request, 'read:subcontractors');
    const { id } = request.params;
    if (!/^sub_[a-z0-9]+$/.test(id)) throw notFound('Resource');
    const { projectId, includeBuilderCompany } = parametersOf(request, ['includeBuilderCompany', 'projectId']);
    const values = projectId === undefined ? [id] : [id, projectId];
    const { rows } = await pools[region].query<Row>({ ...subcontractor(projectId), values });
    const [row] = rows;
    const granted = row && grants.connections[row.builder_id];
    if (!granted || (row.is_builder && !includeBuilderCompany)) throw notFound('Subcontractor');
    if (builderHeader !== null && builderHeader !== row.builder_id) {
      throw forbidden('X-Service-Builder-Id names another builder than the one the resource belongs to.');
    }
    requireConnectionScope(granted, 'read:subcontractors');
    return subcontractorOf(row);
  });

  app.get<{ Params: { builderId: string } }>('/builders/:builderId/photos', async (request) => {
    const caller = await door.enter(request, 'read:photos');
    const { builderId } = request.params;
    await door.requirePathBuilder(caller, builderId, 'read:photos');
    const parameters = parametersOf(request, ['offset', 'limit', 'projectId', 'folderId']);
    const { offset = 0, limit = 25, ...filters } = parameters;
    const given = [filters.projectId, filters.folderId].filter((value) => value !== undefined);
    const values = [builderId, limit, offset, ...given];
    const { rows } = await pools[caller.region].query({ ...photos(filters), values });
    const now = Date.now();
    return page(rows, (row) => photoOf(row, caller, now), offset, limit);
  });
}

/** The total stands in each row; a page without items has one row of nothing else. */
function page(rows: Row[], itemOf: (row: Row) => object, offset: number, limit: number) {
  const data = rows.filter(({ id }) => id !== null).map(itemOf);
  return createPage(data, rows[0].total, offset, limit);
}

function builderOf(row: Row, caller: Caller, now: number) {
  const builder = { id: row.id, createdAt: row.created_at, updatedAt: row.updated_at, name: row.name };
  if (row.logo_key === null) return builder;
  return { ...builder, logoUrl: signedUrl(caller, row.logo_key, 'image/png', null, now) };
}

function timesheetOf(row: Row) {
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

function subcontractorOf(row: Row) {
  const { street, suburb, state, postcode, country } = row.address;
  return {
    id: row.id,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    name: row.name,
    abn: row.abn,
    isBuilder: row.is_builder,
    address: { street, suburb, state, postcode, country },
    statuses: REACHED.filter((status) => row.statuses.includes(status)),
    tags: row.tags,
    integrations: row.integrations.map(({ type, sourceId, companyId }: Row) => ({ type, sourceId, companyId })),
  };
}

function photoOf(row: Row, caller: Caller, now: number) {
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
    imageUrl: signedUrl(caller, row.key, row.content_type, row.file_name, now),
  };
}
