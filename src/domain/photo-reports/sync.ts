import { toInstant } from '../../../schema/scalars.ts';
import type { Database } from '../../database/database.ts';
import { isReadOnlyError, isValueError } from '../../database/errors.ts';
import type { BoundStatement } from '../../database/pool/pg-pipeline.ts';
import { STATEMENT_TIMEOUT_MS } from '../../database/pool/timeouts.ts';
import { GroupCommits } from '../../database/write/group-commit.ts';
import type { Transaction } from '../../database/write/transaction-runner.ts';
import { ApiError, conflict, type FieldError, internalError, notFound, ValidationError } from '../../shared/errors.ts';
import { newId } from '../../shared/ids.ts';
import type { OperationContext } from '../operation-context.ts';
import { isPermittedScheme, parseScheme } from './deep-link.ts';
import { validatePageDocument } from './page-document.ts';
import { toPathDigest, toReportStatus } from './page-tree.ts';
import { findPreparedPage } from './prepared-page.ts';
import type { SyncPhotoReportInput, SyncPhotoReportResult } from './report-inputs.ts';
import { findPhotoConflict, lockPhotos, type PhotoProjects } from './report-photos.ts';
import { CONFLICTS, decideSync, type StoredReport, type SyncDecision } from './revisions.ts';
import { createPreparedSnapshot, createSnapshot, type Snapshot } from './snapshot.ts';
import { ADD_PAGES, CREATE, LOCK_REPORTS, READ_FACTS, REMOVE_PAGES, REPLACE } from './sync-statements.ts';

/** Bytes of a snapshot above which the statement timeout is extended, by 1 s per MiB. PostgreSQL parses the densest JSON in 0.3 s. */
const LARGE_SNAPSHOT = 1024 * 1024;
const PARSING_MS_PER_BYTE = 1_000 / 1024 / 1024;

/** Identity of a report, with the integrator that sends it. */
export interface ReportSource {
  integratorId: string;
  builderId: string;
  sourceApp: string;
  sourceExternalId: string;
}

interface StoredFacts {
  stored: StoredReport | null;
  /** Ids of the stored pages, by the digest of their path. */
  pages: Record<string, string> | null;
  projectExists: boolean;
  userIsMember: boolean;
  schemes: string[];
}

/** Returns the statement that serialises the transactions of each of the reports. */
export const toReportLock = (sources: readonly ReportSource[]): BoundStatement => [
  LOCK_REPORTS,
  [sources.map(toReportKey)],
];

const toReportKey = ({ builderId, sourceApp, sourceExternalId }: ReportSource): string =>
  JSON.stringify(['photo-report', builderId, sourceApp, sourceExternalId]);

/**
 * Commits the request as the snapshot of its report, in one transaction, which it may share with syncs of other reports. A failure keeps
 * the previous snapshot; after the save has begun it is a 500, and the client repeats the identical request (PRP-9).
 *
 * @param updateOnly whether the report must exist and be active.
 */
export async function syncReport(
  { database, clock }: Pick<OperationContext, 'database' | 'clock'>,
  source: ReportSource,
  request: SyncPhotoReportInput,
  updateOnly: boolean,
): Promise<SyncPhotoReportResult> {
  // Literals in a GraphQL document have not been validated as a whole.
  const errors = validatePageDocument(request.page, 'page');
  if (errors.length > 0) throw new ValidationError(errors);
  const prepared = findPreparedPage(request.page);
  const snapshot = prepared ? await createPreparedSnapshot(request, prepared) : createSnapshot(request);
  const sync: Sync = { database, source, request, updateOnly, snapshot, now: clock.now(), saveStarted: false };
  try {
    const outcome = await syncInGroup(sync);
    if (outcome instanceof ApiError) throw outcome;
    return outcome;
  } catch (error) {
    // A read-only database has saved nothing; a retry would fail too.
    const failed = sync.saveStarted && !isReadOnlyError(error) && !(error instanceof ApiError && error.status < 500);
    throw failed ? internalError(error) : error;
  }
}

/** A request that is to be saved. */
interface Sync {
  database: Database;
  source: ReportSource;
  request: SyncPhotoReportInput;
  updateOnly: boolean;
  snapshot: Snapshot;
  /** Milliseconds since the epoch. */
  now: number;
  /** Whether its last transaction has sent what saves the snapshot. */
  saveStarted: boolean;
}

/** Result of a sync, or why it is rejected. */
type SyncOutcome = SyncPhotoReportResult | ApiError;

const syncCommits = new GroupCommits<Sync, SyncOutcome>({
  name: 'syncs',
  run: runSyncs,
  identityOf: ({ source }) => toReportKey(source),
  bytesOf: ({ snapshot }) => snapshot.jsonb.length,
});

async function syncInGroup(sync: Sync): Promise<SyncOutcome> {
  const { integratorId, builderId } = sync.source;
  try {
    // A transaction is charged to one integrator's fair share, and has the rows of one builder.
    return await syncCommits.add(sync.database.writer, `${integratorId} ${builderId}`, sync);
  } catch (error) {
    if (!isValueError(error)) throw error;
    // The values of another sync may be the cause.
    const [outcome] = await runSyncs([sync]);
    return outcome!;
  }
}

/** Decides and saves syncs of one integrator and builder, no two of the same report, in one transaction. */
function runSyncs(syncs: readonly Sync[]): Promise<SyncOutcome[]> {
  const [{ database }] = syncs as [Sync];
  return database.write(async (transaction) => {
    for (const sync of syncs) sync.saveStarted = false;
    const [facts, photos] = await readFacts(transaction, syncs);
    const decided = syncs.map((sync, index) => decide(sync, facts[index]!, photos));
    const saves = decided.flatMap(({ save }) => save ?? []);
    if (saves.length === 0) return decided.map(({ outcome }) => outcome);
    for (const [index, sync] of syncs.entries()) sync.saveStarted = decided[index]!.save !== undefined;
    const bytes = syncs.reduce((sum, { snapshot }) => sum + snapshot.jsonb.length, 0);
    if (bytes > LARGE_SNAPSHOT)
      await transaction.extendTimeout(STATEMENT_TIMEOUT_MS + Math.ceil(bytes * PARSING_MS_PER_BYTE));
    await transaction.commit(...saves);
    return decided.map(({ outcome }) => outcome);
  });
}

/** Locks the reports and their photos, and reads the facts of each sync, in one round trip. */
async function readFacts(
  transaction: Transaction,
  syncs: readonly Sync[],
): Promise<[facts: StoredFacts[], photos: PhotoProjects]> {
  const readOne = async ({ source, request }: Sync) => {
    const { builderId, sourceApp, sourceExternalId, integratorId } = source;
    const { projectId = null, mappedAdminUserId = null } = request;
    const values = [builderId, sourceApp, sourceExternalId, integratorId, projectId, mappedAdminUserId];
    const [row] = await transaction.query([READ_FACTS, values]);
    return row as unknown as StoredFacts;
  };
  const images = syncs.flatMap(({ snapshot }) => snapshot.tree.images);
  const [, facts, photos] = await Promise.all([
    transaction.query(toReportLock(syncs.map(({ source }) => source))),
    Promise.all(syncs.map(readOne)),
    lockPhotos(transaction, images, syncs[0]!.source.builderId),
  ]);
  return [facts, photos];
}

/** Result of a sync with what saves it, or why it is rejected. */
interface DecidedSync {
  outcome: SyncOutcome;
  /** Absent where nothing is saved. */
  save?: BoundStatement[];
}

function decide(sync: Sync, facts: StoredFacts, photos: PhotoProjects): DecidedSync {
  const { source, request, updateOnly, snapshot } = sync;
  const { integratorId } = source;
  const { fingerprint } = snapshot;
  const { stored } = facts;
  const { sourceRevision } = request;
  const decision = decideSync({ updateOnly, integratorId, sourceRevision, fingerprint, stored });
  if (decision === 'REPLAY') return { outcome: toReplayResult(facts) };
  const rejection = findRejection(sync, decision, facts, photos);
  return rejection ? { outcome: rejection } : toSave(sync, facts);
}

/**
 * Returns why a sync that is no replay is rejected, null if it is saved. A replay precedes all checks of stored data (PRP-3); the checks
 * of user and link scheme (PRP-13, PRP-21) precede the conflicts.
 */
function findRejection(
  { request, snapshot }: Sync,
  decision: Exclude<SyncDecision, 'REPLAY'>,
  facts: StoredFacts,
  photos: PhotoProjects,
): ApiError | null {
  const invalid = findUserOrLinkSchemeError(request, facts);
  if (invalid) return invalid;
  if (decision === 'NOT_FOUND') return notFound('Photo report');
  if (decision !== 'SAVE') return conflict(decision, CONFLICTS[decision]);
  if (request.projectId != null && !facts.projectExists) return notFound('Project');
  return findPhotoConflict(photos, snapshot.tree.images, request.projectId);
}

function toReplayResult({ stored, pages }: StoredFacts): SyncPhotoReportResult {
  const { id, status, sourceRevision } = stored!;
  return { status, idempotent: true, photoReportId: id, pageId: pages![ROOT]!, sourceRevision };
}

/** Returns a 400 if the user is not a member of the builder or the scheme of the link is not permitted. */
function findUserOrLinkSchemeError(
  { mappedAdminUserId, sourceDeepLink }: SyncPhotoReportInput,
  { userIsMember, schemes }: StoredFacts,
): ApiError | null {
  const errors: FieldError[] = [];
  if (mappedAdminUserId != null && !userIsMember) {
    errors.push({ fieldName: 'mappedAdminUserId', message: 'is not a user of this builder' });
  }
  if (sourceDeepLink != null && !isPermittedScheme(parseScheme(sourceDeepLink), schemes)) {
    const permitted = ['https', ...schemes].join(', ');
    errors.push({ fieldName: 'sourceDeepLink', message: `must have a permitted scheme: ${permitted}` });
  }
  return errors.length > 0 ? new ValidationError(errors) : null;
}

/** Digest of the root's path. */
const ROOT = toPathDigest([]);

/** Returns the result of a sync that is saved, and the statements that save it. */
function toSave(sync: Sync, { stored, pages }: StoredFacts): DecidedSync {
  const { request, snapshot, now } = sync;
  const { tree } = snapshot;
  const id = stored?.id ?? newId('photoReport', now);
  const pageIds = new Map(Object.entries(pages ?? {}));
  const ids = new Map(tree.pages.map(({ pathDigest }) => [pathDigest, pageIds.get(pathDigest) ?? newId('page', now)]));
  const added = tree.pages
    .filter(({ pathDigest }) => !pageIds.has(pathDigest))
    .map(({ path, pathDigest, parentDigest }) => {
      return { id: ids.get(pathDigest), parentId: parentDigest && ids.get(parentDigest), path, pathDigest };
    });
  const status = toReportStatus(tree);
  const removal: BoundStatement[] = pageIds.size > 0 ? [[REMOVE_PAGES, [id, [...ids.values()]]]] : [];
  const { sourceRevision } = request;
  return {
    outcome: { status, idempotent: false, photoReportId: id, pageId: ids.get(ROOT)!, sourceRevision },
    save: [
      [stored ? REPLACE : CREATE, toReportValues(sync, id, status)],
      ...removal,
      [ADD_PAGES, [id, JSON.stringify(added)]],
    ],
  };
}

function toReportValues({ source, request, snapshot, now }: Sync, id: string, status: string): unknown[] {
  const { integratorId, builderId, sourceApp, sourceExternalId } = source;
  const { projectId, sourceAuthor, mappedAdminUserId, sourceDeepLink, ...others } = request;
  return [
    ...[id, new Date(now).toISOString(), builderId, sourceApp, sourceExternalId, integratorId],
    ...[projectId ?? null, others.sourceRevision, status, snapshot.title],
    ...[toInstant(others.sourceCreatedAt), toInstant(others.walkthroughDate)],
    ...[JSON.stringify(sourceAuthor), mappedAdminUserId ?? null, sourceDeepLink ?? null],
    ...[snapshot.fingerprint, snapshot.jsonb],
  ];
}
