import { subtle } from 'node:crypto';
import type { PhotoReport } from '../../../entities/photo-report.entity.ts';
import { newId } from '../../../schema/ids.ts';
import { toInstant } from '../../../schema/scalars.ts';
import { isReadOnlyError, toApiError } from '../../database/errors.ts';
import type { BoundStatement } from '../../database/pool/pg-pipeline.ts';
import { STATEMENT_TIMEOUT_MS } from '../../database/pool/timeouts.ts';
import type { Transaction } from '../../database/write/transaction-runner.ts';
import { conflict, type FieldError, internalError, notFound, ValidationError } from '../../shared/errors.ts';
import { canonicalJson, createFingerprint } from '../canonical-json.ts';
import type { OperationContext } from '../operation-context.ts';
import { isPermittedScheme, parseScheme } from './deep-link.ts';
import { removeNullFields } from './null-fields.ts';
import { type PageTree, toPageTree, toPathDigest, toReportStatus } from './page-tree.ts';
import { PreparedPage } from './prepared-page.ts';
import type { PageDocument } from './report-inputs.ts';
import { lockPhotos, requirePhotos } from './report-photos.ts';
import { CONFLICTS, decideSync, type StoredReport } from './revisions.ts';
import { ADD_PAGES, CREATE, LOCK_REPORT, READ_FACTS, REMOVE_PAGES, REPLACE } from './sync-statements.ts';

/** Bytes of a snapshot above which the statement timeout is extended, by 1 s per MiB. PostgreSQL parses the densest JSON in 0.3 s. */
const LARGE_SNAPSHOT = 1024 * 1024;
const PARSING_MS_PER_BYTE = 1_000 / 1024 / 1024;

/** Identity of a report, with the integrator that sends it. */
export type ReportSource = Pick<PhotoReport, 'integratorId' | 'builderId' | 'sourceApp' | 'sourceExternalId'>;

/** Request to store a revision of a report. `sourceApp` and `sourceExternalId` identify the report. */
export interface SyncPhotoReportInput {
  sourceApp: string;
  sourceExternalId: string;
  sourceRevision: number;
  sourceCreatedAt: string;
  walkthroughDate: string;
  sourceAuthor: { externalId: string; name: string; email?: string | null };
  mappedAdminUserId?: string | null;
  sourceDeepLink?: string | null;
  projectId?: string | null;
  page: PageDocument | PreparedPage;
}

interface StoredFacts {
  stored: StoredReport | null;
  /** Ids of the stored pages, by the digest of their path. */
  pages: Record<string, string> | null;
  projectExists: boolean;
  userIsMember: boolean;
  schemes: string[];
}

/** Returns the statement that serialises the transactions of a report. */
export const toReportLock = ({ builderId, sourceApp, sourceExternalId }: ReportSource): BoundStatement => [
  LOCK_REPORT,
  [JSON.stringify(['photo-report', builderId, sourceApp, sourceExternalId])],
];

/**
 * Commits the request as the snapshot of its report, in one transaction. A failure keeps the previous snapshot; after the save has
 * begun it is a 500, and the client repeats the identical request (PRP-9). A replay precedes all checks of stored data (PRP-3); the
 * checks of user and link scheme (PRP-13, PRP-21) precede the conflicts.
 *
 * @param updateOnly whether the report must exist and be active.
 */
export async function syncReport(
  { database, clock }: Pick<OperationContext, 'database' | 'clock'>,
  source: ReportSource,
  request: SyncPhotoReportInput,
  updateOnly: boolean,
) {
  const { sourceRevision, page, ...fields } = request;
  const snapshot = await (page instanceof PreparedPage
    ? createPreparedSnapshot(fields, page)
    : createSnapshot({ ...fields, page }));
  const pending = { source, request, snapshot, now: clock.now() };
  let saveStarted = false;
  try {
    return await database.write(async (transaction) => {
      saveStarted = false;
      const { integratorId } = source;
      const { fingerprint, tree } = snapshot;
      const [facts, photos] = await Promise.all([
        readFacts(transaction, source, request),
        lockPhotos(transaction, tree.images, source.builderId),
      ]);
      const decision = decideSync({ updateOnly, integratorId, sourceRevision, fingerprint, stored: facts.stored });
      if (decision === 'REPLAY') return toReplayResult(facts);
      requireUserAndLinkScheme(request, facts);
      if (decision === 'NOT_FOUND') throw notFound('Photo report');
      if (decision !== 'SAVE') throw conflict(decision, CONFLICTS[decision]);
      if (request.projectId != null && !facts.projectExists) throw notFound('Project');
      requirePhotos(photos, tree.images, request.projectId);
      saveStarted = true;
      const { length } = snapshot.jsonb;
      if (length > LARGE_SNAPSHOT)
        await transaction.extendTimeout(STATEMENT_TIMEOUT_MS + Math.ceil(length * PARSING_MS_PER_BYTE));
      return await commitSnapshot(transaction, pending, facts);
    });
  } catch (error) {
    // A read-only database has saved nothing; a retry would fail too.
    const failed = saveStarted && !isReadOnlyError(error) && !toApiError(error).isRejection;
    throw failed ? internalError(error) : error;
  }
}

async function readFacts(
  transaction: Transaction,
  source: ReportSource,
  request: SyncPhotoReportInput,
): Promise<StoredFacts> {
  const { builderId, sourceApp, sourceExternalId, integratorId } = source;
  const { projectId = null, mappedAdminUserId = null } = request;
  const values = [builderId, sourceApp, sourceExternalId, integratorId, projectId, mappedAdminUserId];
  const [, [facts]] = await Promise.all([
    transaction.query(toReportLock(source)),
    transaction.query([READ_FACTS, values]),
  ]);
  return facts as unknown as StoredFacts;
}

/** Returns the result of a revision that was committed before with the same content. */
function toReplayResult({ stored, pages }: StoredFacts) {
  const { id, status, sourceRevision } = stored!;
  return { status, idempotent: true, photoReportId: id, pageId: pages![ROOT]!, sourceRevision };
}

/** Throws a `ValidationError` if the user is not a member of the builder or the scheme of the link is not permitted. */
function requireUserAndLinkScheme(
  { mappedAdminUserId, sourceDeepLink }: SyncPhotoReportInput,
  { userIsMember, schemes }: StoredFacts,
): void {
  const errors: FieldError[] = [];
  if (mappedAdminUserId != null && !userIsMember) {
    errors.push({ fieldName: 'mappedAdminUserId', message: 'is not a user of this builder' });
  }
  if (sourceDeepLink != null && !isPermittedScheme(parseScheme(sourceDeepLink), schemes)) {
    const permitted = ['https', ...schemes].join(', ');
    errors.push({ fieldName: 'sourceDeepLink', message: `must have a permitted scheme: ${permitted}` });
  }
  if (errors.length > 0) throw new ValidationError(errors);
}

/** Digest of the root's path. */
const ROOT = toPathDigest([]);

/** Content of a request as it is compared and stored (PRP-2). */
interface Snapshot {
  title: string;
  tree: PageTree;
  fingerprint: string;
  /** Binary jsonb: the version of the format, then the bytes that the fingerprint is the hash of. */
  jsonb: Buffer;
}

/** Version of the binary format of jsonb. */
const JSONB_VERSION = '\u0001';

type Fields = Omit<SyncPhotoReportInput, 'sourceRevision' | 'page'>;

function createSnapshot(content: Fields & { page: PageDocument }): Snapshot {
  removeNullFields(content);
  const jsonb = Buffer.from(`${JSONB_VERSION}${canonicalJson(content)}`);
  const { page } = content;
  return { title: page.title, tree: toPageTree(page), fingerprint: createFingerprint(jsonb.subarray(1)), jsonb };
}

/** Creates the snapshot of a request whose page a worker thread has serialised: inserts it between the other fields, in order. */
async function createPreparedSnapshot(fields: Fields, prepared: PreparedPage): Promise<Snapshot> {
  removeNullFields(fields);
  const serialiseFields = (isWanted: (name: string) => boolean) =>
    canonicalJson(Object.fromEntries(Object.entries(fields).filter(([name]) => isWanted(name)))).slice(1, -1);
  const before = serialiseFields((name) => name < 'page');
  const after = serialiseFields((name) => name > 'page');
  const jsonb = prepared.embed(`${JSONB_VERSION}{${before && `${before},`}"page":`, `${after && `,${after}`}}`);
  const { title, tree } = prepared;
  // In a thread of libuv: the event loop would be occupied for a tenth of a second.
  const digest = await subtle.digest('SHA-256', jsonb.subarray(1));
  return { title, tree, fingerprint: Buffer.from(digest).toString('hex'), jsonb };
}

/** A snapshot to save, and its request. */
interface PendingSnapshot {
  source: ReportSource;
  request: SyncPhotoReportInput;
  snapshot: Snapshot;
  /** Milliseconds since the epoch. */
  now: number;
}

async function commitSnapshot(transaction: Transaction, pending: PendingSnapshot, { stored, pages }: StoredFacts) {
  const { request, now } = pending;
  const { tree } = pending.snapshot;
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
  const save: BoundStatement = [stored ? REPLACE : CREATE, toReportValues(pending, id, status)];
  await transaction.commit(save, ...removal, [ADD_PAGES, [id, JSON.stringify(added)]]);
  const { sourceRevision } = request;
  return { status, idempotent: false, photoReportId: id, pageId: ids.get(ROOT)!, sourceRevision };
}

function toReportValues({ source, request, snapshot, now }: PendingSnapshot, id: string, status: string): unknown[] {
  const { integratorId, builderId, sourceApp, sourceExternalId } = source;
  return [
    id,
    new Date(now).toISOString(),
    builderId,
    sourceApp,
    sourceExternalId,
    integratorId,
    request.projectId ?? null,
    request.sourceRevision,
    status,
    snapshot.title,
    toInstant(request.sourceCreatedAt),
    toInstant(request.walkthroughDate),
    JSON.stringify(request.sourceAuthor),
    request.mappedAdminUserId ?? null,
    request.sourceDeepLink ?? null,
    snapshot.fingerprint,
    snapshot.jsonb,
  ];
}
