import { toDayRange } from '../../../../schema/range.ts';
import type { Scope } from '../../../../schema/scopes.ts';
import { findSelection } from '../../../../schema/selection.ts';
import type { Statement } from '../../../database/pool/pg-pipeline.ts';
import type { Where } from '../../../database/read/filter.ts';
import type { Reader } from '../../../database/read/reader.ts';
import { isStaffActionAllowed } from '../../../domain/access/staff-roles.ts';
import { inductions } from '../../../domain/readers/induction.reader.ts';
import { insurances } from '../../../domain/readers/insurance.reader.ts';
import { photoReports } from '../../../domain/readers/photo-report.reader.ts';
import { timesheets } from '../../../domain/readers/timesheet.reader.ts';
import { workers } from '../../../domain/readers/worker.reader.ts';
import { invalidField } from '../../../shared/errors.ts';
import type { ConsoleArea, ConsoleContext, ConsoleOperation } from '../console-area.ts';
import { recordTypes, SORTS } from './records.schema.ts';

/** Maximum length of a search, in characters. */
const MAX_SEARCH = 200;

/** Records of each kind that the search over all returns. */
const MAX_MATCHES = 5;

// SQL: all kinds in one statement.
/** What the search over all looks in: records by name, and requests by id. `$1` is the builder, `$2` the text, `$3` whether people are found. */
const SELECTS = [
  `select 'PROJECT' as kind, id, name, null as detail, null as integrator_id from project
    where builder_id = $1 and search_vector(builder_id, name) @@ search_query($1, $2)`,
  `select 'WORKER', t.id, full_name as name, company.name, null from worker t join subcontractor company on company.id = subcontractor_id
    where $3::boolean and t.builder_id = $1 and search_vector(t.builder_id, full_name) @@ search_query($1, $2)`,
  `select 'SUBCONTRACTOR', id, name, null, null from subcontractor
    where archived_at is null and builder_id = $1 and search_vector(builder_id, name) @@ search_query($1, $2)`,
  `select 'USER', id, name, email, null from app_user
    where $3::boolean and search_vector('', name || ' ' || email) @@ search_query('', $2)`,
  `select 'INTEGRATOR', id, name, null, id from integrator where search_vector('', name) @@ search_query('', $2)`,
  `select 'CLIENT', t.id, t.name, owner.name, owner.id from oauth_client t left join integrator owner on owner.id = integrator_id
    where search_vector('', t.name) @@ search_query('', $2)`,
  `select 'REQUEST', request_id, request_id as name, method || ' ' || path, integrator_id from request_log where request_id = $2`,
];

/** CON-18. */
const FIND: Statement = {
  name: 'console.find',
  text: SELECTS.map((select) => `(${select} order by 3, 2 limit ${MAX_MATCHES})`).join(' union all '),
};

/** Returns the text of a search; null without one. Throws 400 for a long one. */
function toSearch(text: string | null | undefined, fieldName: string): string | null {
  if (text && text.length > MAX_SEARCH) throw invalidField(fieldName, `must have at most ${MAX_SEARCH} characters`);
  return text?.trim() || null;
}

async function find({ database, personalReads, staff }: ConsoleContext, text: string, builderId: string | null) {
  const findsPeople = isStaffActionAllowed(staff.role, 'person.read');
  const rows = await database.runner.run(FIND, [builderId, toSearch(text, 'text'), findsPeople]);
  return (rows as string[][]).map(([kind, id, name, detail, integratorId]) => {
    if (kind === 'WORKER') personalReads.add(id!, 'Worker', builderId);
    if (kind === 'USER') personalReads.add(id!, 'User', null);
    return { kind, id, name, detail, integratorId };
  });
}

/** Returns the query of a list of a builder's records. */
const list = <T extends object, Filter extends string>(
  type: keyof typeof SORTS,
  scope: Scope,
  reader: Reader<T, Filter>,
): ConsoleOperation => ({
  action: 'records.read',
  async resolve(_, { sort, firstDay, lastDay, timeZone, ...args }, { caller, database }, info) {
    caller.requireScope(scope);
    // Cursors are bound to the filters alone.
    const { order, offset, cursor, limit, ...filter } = args;
    const search = toSearch(filter.search, 'search');
    if (firstDay && lastDay && lastDay < firstDay) throw invalidField('lastDay', 'must not be before firstDay');
    const where = { ...filter, search, ...toDayRange({ firstDay, lastDay, timeZone }) } as Where<Filter>;
    const orderBy = sort && (SORTS[type] as Record<string, string>)[sort];
    return reader.select(findSelection(info)).findPage(database, where, { order, offset, cursor, limit, orderBy });
  },
});

/** Lists of a builder's records for tables, and the search over all. */
export const recordsArea: ConsoleArea = {
  types: recordTypes,
  queries: {
    find: {
      action: 'records.read',
      maxRecords: SELECTS.length * MAX_MATCHES,
      resolve: (_, { text, builderId = null }, context) => find(context, text, builderId),
    },
    findTimesheets: list('Timesheet', 'read:timesheets', timesheets),
    findInductions: list('Induction', 'read:inductions', inductions),
    findInsurances: list('Insurance', 'read:insurances', insurances),
    findPhotoReports: list('PhotoReport', 'read:photos', photoReports),
    findWorkers: list('Worker', 'read:subcontractors', workers),
  },
};
