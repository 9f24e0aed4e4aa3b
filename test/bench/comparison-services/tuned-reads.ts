import type { FastifyInstance } from 'fastify';
import { isoFromPostgres } from '../../../entities/columns.ts';
import type { TextRow } from '../../../src/database/pool/pg-pipeline.ts';
import type { StatementRunner } from '../../../src/database/pool/statement-runner.ts';
import { forbidden, notFound } from './http-error.ts';
import { createPage, parseQueryParameters } from './query-parameters.ts';
import {
  createPhotosStatement,
  createSubcontractorStatement,
  createTimesheetsStatement,
  LIST_BUILDERS,
  STATUS_ORDER,
} from './read-statements.ts';
import { type Caller, type Region, type RequestAuthorizer, requireConnectionScope } from './request-authorizer.ts';
import { createSignedUrl } from './signed-url.ts';

/** Registers the measured read operations on the measured service's statement runners. */
export function registerTunedReads(
  app: FastifyInstance,
  authorizer: RequestAuthorizer,
  runners: Record<Region, StatementRunner>,
): void {
  app.get('/builders', async (request) => {
    const caller = await authorizer.authorize(request, 'read:builders');
    const { region, access } = caller;
    const { offset = 0, limit = 25 } = parseQueryParameters(request, ['offset', 'limit']);
    const ids = Object.keys(access.connections).filter((id) => access.connections[id]!.includes('read:builders'));
    const rows = await runners[region].run(LIST_BUILDERS, [ids, limit, offset]);
    const now = Date.now();
    return toPage(rows, (row) => toBuilder(row, caller, now), offset, limit);
  });

  app.get('/timesheets', async (request) => {
    const caller = await authorizer.authorize(request, 'read:timesheets');
    const builderId = await authorizer.authorizeHeaderBuilder(caller, 'read:timesheets');
    const parameters = parseQueryParameters(request, ['offset', 'limit', 'status', 'projectId']);
    const { offset = 0, limit = 25, ...filters } = parameters;
    const filterValues = [filters.projectId, filters.status].filter((value) => value !== undefined);
    const rows = await runners[caller.region].run(createTimesheetsStatement(filters), [
      builderId,
      limit,
      offset,
      ...filterValues,
    ]);
    return toPage(rows, toTimesheet, offset, limit);
  });

  app.get<{ Params: { id: string } }>('/subcontractors/:id', async (request) => {
    const { region, access, builderHeader } = await authorizer.authorize(request, 'read:subcontractors');
    const { id } = request.params;
    if (!/^sub_[a-z0-9]+$/.test(id)) throw notFound('Resource');
    const { projectId, includeBuilderCompany } = parseQueryParameters(request, ['includeBuilderCompany', 'projectId']);
    const values = projectId === undefined ? [id] : [id, projectId];
    const [row] = await runners[region].run(createSubcontractorStatement(projectId), values);
    const connectionScopes = row && access.connections[row[1]!];
    if (!connectionScopes || (row[4] === 't' && !includeBuilderCompany)) throw notFound('Subcontractor');
    if (builderHeader !== null && builderHeader !== row[1]) {
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
    const rows = await runners[caller.region].run(createPhotosStatement(filters), [
      builderId,
      limit,
      offset,
      ...filterValues,
    ]);
    const now = Date.now();
    return toPage(rows, (row) => toPhoto(row, caller, now), offset, limit);
  });
}

/** The first column of each row is the total count. An empty page has one row, of which every other column is null. */
function toPage(rows: TextRow[], toItem: (row: TextRow) => object, offset: number, limit: number) {
  const data: object[] = [];
  for (const row of rows) if (row[1] !== null) data.push(toItem(row));
  return createPage(data, Number(rows[0]![0]), offset, limit);
}

const isoOrNull = (text: string | null) => (text === null ? null : isoFromPostgres(text));

function toBuilder([, id, name, logoKey, createdAt, updatedAt]: TextRow, caller: Caller, now: number) {
  const builder = { id, createdAt: isoFromPostgres(createdAt!), updatedAt: isoFromPostgres(updatedAt!), name };
  if (logoKey === null) return builder;
  return { ...builder, logoUrl: createSignedUrl(caller, logoKey!, 'image/png', null, now) };
}

function toTimesheet(row: TextRow) {
  return {
    id: row[1],
    createdAt: isoFromPostgres(row[7]!),
    updatedAt: isoFromPostgres(row[8]!),
    status: row[2],
    date: isoFromPostgres(row[3]!),
    hours: Number(row[4]),
    notes: row[5],
    timesheetGroupId: row[6],
    timeType: row[9],
    costCode: row[10],
    profile: { id: row[11], fullName: row[12], type: row[13] },
    project: { id: row[14], name: row[15] },
  };
}

function toSubcontractor(row: TextRow) {
  const { street, suburb, state, postcode, country } = JSON.parse(row[5]!);
  const statuses = JSON.parse(row[10]!) as string[];
  const integrations = JSON.parse(row[7]!) as Record<string, string>[];
  return {
    id: row[0],
    createdAt: isoFromPostgres(row[8]!),
    updatedAt: isoFromPostgres(row[9]!),
    name: row[2],
    abn: row[3],
    isBuilder: row[4] === 't',
    address: { street, suburb, state, postcode, country },
    statuses: STATUS_ORDER.filter((status) => statuses.includes(status)),
    tags: JSON.parse(row[6]!),
    integrations: integrations.map(({ type, sourceId, companyId }) => ({ type, sourceId, companyId })),
  };
}

function toPhoto(row: TextRow, caller: Caller, now: number) {
  const [, id, builderId, projectId, source, folderId, fileName, contentType, key, fileSize] = row;
  return {
    id,
    createdAt: isoFromPostgres(row[14]!),
    updatedAt: isoFromPostgres(row[15]!),
    builderId,
    projectId,
    source,
    folderId,
    fileName,
    contentType,
    key,
    fileSize,
    description: row[10],
    photoTakenDate: isoOrNull(row[11]!),
    sortDate: isoFromPostgres(row[12]!),
    metadata: JSON.parse(row[13]!),
    archivedAt: null,
    imageUrl: createSignedUrl(caller, key!, contentType!, fileName!, now),
  };
}
