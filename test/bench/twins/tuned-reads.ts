import type { FastifyInstance } from 'fastify';
import { isoFromPostgres } from '../../../entities/columns.ts';
import type { TextRow } from '../../../src/database/pool/pg-pipeline.ts';
import type { StatementRunner } from '../../../src/database/pool/statement-runner.ts';
import { signedUrl } from './inputs.ts';
import { createPage, parametersOf } from './parameters.ts';
import { type Caller, type Door, forbidden, notFound, type Region, requireConnectionScope } from './service.ts';
import { BUILDERS, photos, REACHED, subcontractor, timesheets } from './statements.ts';

export function tunedReads(app: FastifyInstance, door: Door, runners: Record<Region, StatementRunner>): void {
  app.get('/builders', async (request) => {
    const caller = await door.enter(request, 'read:builders');
    const { region, grants } = caller;
    const { offset = 0, limit = 25 } = parametersOf(request, ['offset', 'limit']);
    const ids = Object.keys(grants.connections).filter((id) => grants.connections[id]!.includes('read:builders'));
    const rows = await runners[region].run(BUILDERS, [ids, limit, offset]);
    const now = Date.now();
    return page(rows, (row) => builderOf(row, caller, now), offset, limit);
  });

  app.get('/timesheets', async (request) => {
    const caller = await door.enter(request, 'read:timesheets');
    const builderId = await door.requireHeaderBuilder(caller, 'read:timesheets');
    const parameters = parametersOf(request, ['offset', 'limit', 'status', 'projectId']);
    const { offset = 0, limit = 25, ...filters } = parameters;
    const given = [filters.projectId, filters.status].filter((value) => value !== undefined);
    const rows = await runners[caller.region].run(timesheets(filters), [builderId, limit, offset, ...given]);
    return page(rows, timesheetOf, offset, limit);
  });

  app.get<{ Params: { id: string } }>('/subcontractors/:id', async (request) => {
    const { region, grants, builderHeader } = await door.enter(request, 'read:subcontractors');
    const { id } = request.params;
    if (!/^sub_[a-z0-9]+$/.test(id)) throw notFound('Resource');
    const { projectId, includeBuilderCompany } = parametersOf(request, ['includeBuilderCompany', 'projectId']);
    const values = projectId === undefined ? [id] : [id, projectId];
    const [row] = await runners[region].run(subcontractor(projectId), values);
    const granted = row && grants.connections[row[1]!];
    if (!granted || (row[4] === 't' && !includeBuilderCompany)) throw notFound('Subcontractor');
    if (builderHeader !== null && builderHeader !== row[1]) {
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
    const rows = await runners[caller.region].run(photos(filters), [builderId, limit, offset, ...given]);
    const now = Date.now();
    return page(rows, (row) => photoOf(row, caller, now), offset, limit);
  });
}

/** The total stands first in each row; a page without items has one row of nothing else. */
function page(rows: TextRow[], itemOf: (row: TextRow) => object, offset: number, limit: number) {
  const data: object[] = [];
  for (const row of rows) if (row[1] !== null) data.push(itemOf(row));
  return createPage(data, Number(rows[0]![0]), offset, limit);
}

const isoOrNull = (text: string | null) => (text === null ? null : isoFromPostgres(text));

function builderOf([, id, name, logoKey, createdAt, updatedAt]: TextRow, caller: Caller, now: number) {
  const builder = { id, createdAt: isoFromPostgres(createdAt!), updatedAt: isoFromPostgres(updatedAt!), name };
  if (logoKey === null) return builder;
  return { ...builder, logoUrl: signedUrl(caller, logoKey!, 'image/png', null, now) };
}

function timesheetOf(row: TextRow) {
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

function subcontractorOf(row: TextRow) {
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
    statuses: REACHED.filter((status) => statuses.includes(status)),
    tags: JSON.parse(row[6]!),
    integrations: integrations.map(({ type, sourceId, companyId }) => ({ type, sourceId, companyId })),
  };
}

function photoOf(row: TextRow, caller: Caller, now: number) {
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
    imageUrl: signedUrl(caller, key!, contentType!, fileName!, now),
  };
}
