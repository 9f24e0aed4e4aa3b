import type { PhotoReport } from '../../../entities/photo-report.entity.ts';
import type { PhotoReportConflictCode } from '../../../schema/enums.ts';

/** Columns of a stored report that a decision depends on. */
export type StoredReport = Pick<
  PhotoReport,
  'id' | 'integratorId' | 'sourceRevision' | 'fingerprint' | 'status' | 'archivedAt'
>;

/** Facts that decide about a sync, before its project and photos are checked. */
interface SyncFacts {
  /** Whether the report must exist and be active, for `PATCH`. */
  updateOnly: boolean;
  integratorId: string;
  sourceRevision: number;
  fingerprint: string;
  stored: StoredReport | null;
}

/** Result of a sync: save a snapshot, replay the stored one, or an error. */
type SyncDecision = 'SAVE' | 'REPLAY' | 'NOT_FOUND' | PhotoReportConflictCode;

type Rule = readonly [situation: string, holds: (facts: SyncFacts) => boolean, decision: SyncDecision];

/**
 * Decision table of a sync (PRP-1, PRP-3 to PRP-6, PRP-11). The first row whose condition holds decides, so a row may rely on the
 * conditions above it being false.
 */
// biome-ignore format: a table
const DECISION_TABLE: readonly Rule[] = [
  ['PATCH of a report that does not exist',   ({ updateOnly, stored }) => updateOnly && stored === null,                 'NOT_FOUND'],
  ['A report that was never synced',          ({ stored }) => stored === null,                                           'SAVE'],
  ['Another integrator synced it first',      ({ stored, integratorId }) => stored!.integratorId !== integratorId,       'SOURCE_OWNERSHIP_REQUIRED'],
  ['PATCH of an archived report',             ({ updateOnly, stored }) => updateOnly && stored!.archivedAt !== null,     'NOT_FOUND'],
  ['Same revision and same content',          (facts) => isReplay(facts),                                                'REPLAY'],
  ['Same revision, other content',            ({ stored, sourceRevision }) => stored!.sourceRevision === sourceRevision, 'REVISION_CONFLICT'],
  ['Lower revision',                          ({ stored, sourceRevision }) => stored!.sourceRevision > sourceRevision,   'STALE_REVISION'],
  ['Higher revision; it restores, too',       () => true,                                                                'SAVE'],
];

const isReplay = ({ stored, sourceRevision, fingerprint }: SyncFacts) =>
  stored!.sourceRevision === sourceRevision && stored!.fingerprint === fingerprint;

/** Returns the decision for a sync. */
export const decideSync = (facts: SyncFacts): SyncDecision => DECISION_TABLE.find(([, holds]) => holds(facts))![2];

/** Returns the decision for an archive request (PRP-1, PRP-16, PRP-17). */
export function decideArchive({ integratorId, sourceRevision, stored }: ArchiveFacts): ArchiveDecision {
  if (stored === null) return 'NOT_FOUND';
  if (stored.integratorId !== integratorId) return 'SOURCE_OWNERSHIP_REQUIRED';
  if (sourceRevision !== null && sourceRevision < stored.sourceRevision) return 'STALE_REVISION';
  return stored.archivedAt === null ? 'ARCHIVE' : 'REPLAY';
}

type ArchiveFacts = Pick<SyncFacts, 'integratorId' | 'stored'> & { sourceRevision: number | null };
type ArchiveDecision = 'ARCHIVE' | 'REPLAY' | 'NOT_FOUND' | 'SOURCE_OWNERSHIP_REQUIRED' | 'STALE_REVISION';

/** Message of each conflict code. */
export const CONFLICTS: Record<PhotoReportConflictCode, string> = {
  STALE_REVISION: 'A higher revision of this report is stored; send the latest one.',
  REVISION_CONFLICT: 'This revision is stored with other content; send changed content under a higher revision.',
  ATTACHMENT_CONFLICT: 'An image refers to a photo that the report cannot show.',
  SOURCE_OWNERSHIP_REQUIRED: 'This report belongs to the integrator that synced it first.',
};
