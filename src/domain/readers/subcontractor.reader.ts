import { Subcontractor } from '../../../entities/subcontractor.entity.ts';
import { SubcontractorStatus } from '../../../schema/enums.ts';
import { equal, type FilterDefinition, searchOf } from '../../database/read/filter.ts';
import { Reader } from '../../database/read/reader.ts';
import type { ComputedColumn } from '../../database/read/row-mapper.ts';

const STATUSES = Object.values(SubcontractorStatus);

/** Statuses on the project of the filter, else on any project; without repetitions, in the order of the enum (RED-8). */
const statuses: ComputedColumn = {
  sql: (given) => {
    const project = given.find((name) => name === 'projectId' || name === 'statusesOn');
    return `array(select unnest(link.statuses) from subcontractor_project link
      where link.subcontractor_id = t.id${project ? ` and link.project_id = :${project}` : ''})`;
  },
  convert: (text) => {
    const reached = new Set(text.slice(1, -1).split(','));
    return STATUSES.filter((status) => reached.has(status));
  },
};

export const subcontractors = new Reader(Subcontractor, {
  columns: { statuses },
  filters: {
    ...equal('builderId', 'isBuilder'),
    /** As an array, for which the planner uses index lookups regardless of its estimate. */
    projectId: {
      sql: `t.id = any(array(select link.subcontractor_id from subcontractor_project link
        where link.project_id = :projectId))`,
    },
    search: searchOf('t.name'),
    /** Parameter of `statuses`; filters no rows. */
    statusesOn: { sql: 'true' },
  },
  condition: 't.archived_at is null',
  exclude: ['archivedAt'],
});

/** Subcontractors with only their builder, for authorization. */
export const subcontractorOwners = new Reader(Subcontractor, {
  name: 'SubcontractorOwner',
  condition: 't.archived_at is null',
  exclude: ['createdAt', 'updatedAt', 'abn', 'isBuilder', 'address', 'tags', 'integrations', 'archivedAt'],
});

/** Filter for the records of a subcontractor that is not archived (RED-11). */
export const belongsToActiveSubcontractor: FilterDefinition = {
  column: 'subcontractor_id',
  op: 'eq',
  and: 'exists (select from subcontractor s where s.id = :subcontractorId and s.archived_at is null)',
};
