import { Subcontractor } from '../../../entities/subcontractor.entity.ts';
import { SubcontractorStatus } from '../../../schema/enums.ts';
import { Reader } from '../../database/read/reader.ts';
import type { ComputedColumn } from '../../database/read/row-mapper.ts';

const STATUSES = Object.values(SubcontractorStatus);

/** Of the project that the reader is asked about, else of all; each once, in the order of the enum (RED-8). */
const statuses: ComputedColumn = {
  sql: (given) => {
    const project = given.find((name) => name === 'projectId' || name === 'statusesOn');
    return `array(select unnest(link.statuses) from subcontractor_project link
      where link.subcontractor_id = t.id${project ? ` and link.project_id = :${project}` : ''})`;
  },
  convert: (text) => {
    const held = new Set(text.slice(1, -1).split(','));
    return STATUSES.filter((status) => held.has(status));
  },
};

export const subcontractors = new Reader(Subcontractor, {
  columns: { statuses },
  filters: {
    builderId: 't.builder_id = :builderId',
    /** An array, so that the planner looks up each of the few rows, whatever it guesses of the table. */
    projectId: `t.id = any(array(select link.subcontractor_id from subcontractor_project link
      where link.project_id = :projectId))`,
    /** Leaves out the builder's own company record. */
    thirdParty: 'not t.is_builder',
    /** Picks the statuses and keeps every row. */
    statusesOn: 'true',
  },
  condition: 't.archived_at is null',
  exclude: ['archivedAt'],
});

/** As little of a subcontractor as shows whose it is. */
export const owners = new Reader(Subcontractor, {
  name: 'SubcontractorOwner',
  condition: 't.archived_at is null',
  exclude: ['createdAt', 'updatedAt', 'abn', 'isBuilder', 'address', 'tags', 'integrations', 'archivedAt'],
});

/** Condition of the rows that a subcontractor holds; none once it is archived (RED-11). */
export const heldBySubcontractor = `t.subcontractor_id = :subcontractorId
  and exists (select from subcontractor s where s.id = :subcontractorId and s.archived_at is null)`;
