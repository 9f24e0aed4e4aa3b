import { toInstant } from '../../../schema/scalars.ts';
import { isReadOnlyError } from '../../database/errors.ts';
import { STATEMENT_TIMEOUT_MS } from '../../database/pool/timeouts.ts';
import type { BoundStatement, Transaction } from '../../database/write/transaction-runner.ts';
import { canonicalJson, fingerprintOf } from '../../shared/canonical-json.ts';
import { ApiError, conflict, type FieldError, internalError, notFound, ValidationError } from '../../shared/errors.ts';
import { newId } from '../../shared/ids.ts';
import type { OperationContext } from '../operation-context.ts';
import { isPermittedScheme, schemeOf } from './deep-link.ts';
import { inspectPageDocument } from './page-document.ts';
import { digestOfPath, statusOf, type Tree, treeOf } from './page-tree.ts';
import { fingerprintInSlices, type PreparedPage, preparedPageOf } from './prepared-page.ts';
import type { SyncPhotoReportInput, SyncPhotoReportResult } from './report-inputs.ts';
import { holdPhotos, requirePhotos } from './report-photos.ts';
import { CONFLICTS, decideSync, type StoredReport } from './revisions.ts';
import { ADD_PAGES, FACTS, LOCK, REMOVE_PAGES, SAVE } from './sync-statements.ts';

/** Bytes of a snapshot from which on PostgreSQL is given more time to parse it: its densest content takes 0.3 s per MiB alone. */
const LARGE_SNAPSHOT = 1024 * 1024;
const PARSING_MS_PER_BYTE = 1_000 / 1024 / 1024;

/** Whose report it is, and which. */
export interface Source {
  integratorId: string;
  builderId: string;
  sourceApp: string;
  sourceExternalId: string;
}

interface Facts {
  stored: StoredReport | null;
  /** Ids of the stored pages, by the digest of their path. */
  pages: Record<string, string> | null;
  projectExists: boolean;
  userIsMember: boolean;
  schemes: string[];
}

/** One transaction at a time for a report. */
export const lockOf = ({ builderId, sourceApp, sourceExternalId }: Source): BoundStatement => [
  LOCK,
  [JSON.stringify(['photo-report', builderId, sourceApp, sourceExternalId])],
];

/**
 * Commits the request as the snapshot of its report, or tells what is in the way. All of it is one transaction: a failure leaves the
 * previous snapshot whole, and once the save has begun it is a 500, after which the identical request is right (PRP-9). A replay
 * precedes every check of what is stored (PRP-3); the checks of user and link scheme (PRP-13, PRP-21) precede the conflicts.
 *
 * @param updateOnly whether the report must exist and be active.
 */
export async function syncReport(
  { database, clock }: Pick<OperationContext, 'database' | 'clock'>,
  source: Source,
  request: SyncPhotoReportInput,
  updateOnly: boolean,
): Promise<SyncPhotoReportResult> {
  // What was written into a GraphQL document has not been looked at as a whole.
  const errors = inspectPageDocument(request.page, 'page');
  if (errors.length > 0) throw new ValidationError(errors);
  const { sourceRevision } = request;
  const prepared = preparedPageOf(request.page);
  const snapshot = prepared ? await preparedSnapshot(request, prepared) : snapshotOf(request);
  const save = new Save(source, request, snapshot, clock.now());
  let begun = false;
  try {
    return await database.write(async (transaction) => {
      begun = false;
      const { integratorId } = source;
      const { fingerprint, tree } = save;
      const [facts, photos] = await Promise.all([
        readFacts(transaction, source, request),
        holdPhotos(transaction, tree.images, source.builderId),
      ]);
      const decision = decideSync({ updateOnly, integratorId, sourceRevision, fingerprint, stored: facts.stored });
      if (decision === 'REPLAY') return replay(facts);
      requireKnown(request, facts);
      if (decision === 'NOT_FOUND') throw notFound('Photo report');
      if (decision !== 'SAVE') throw conflict(decision, CONFLICTS[decision]);
      if (request.projectId != null && !facts.projectExists) throw notFound('Project');
      requirePhotos(photos, tree.images, request.projectId);
      begun = true;
      const { length } = snapshot.jsonb;
      if (length > LARGE_SNAPSHOT)
        await transaction.extendTimeout(STATEMENT_TIMEOUT_MS + Math.ceil(length * PARSING_MS_PER_BYTE));
      return await save.commit(transaction, facts);
    });
  } catch (error) {
    // A read-only database has saved nothing, and takes no retry before it is writable again.
    const failed = begun && !isReadOnlyError(error) && !(error instanceof ApiError && error.status < 500);
    throw failed ? internalError(error) : error;
  }
}

async function readFacts(transaction: Transaction, source: Source, request: SyncPhotoReportInput): Promise<Facts> {
  const { builderId, sourceApp, sourceExternalId, integratorId } = source;
  const { projectId = null, mappedAdminUserId = null } = request;
  const values = [builderId, sourceApp, sourceExternalId, integratorId, projectId, mappedAdminUserId];
  const [, [facts]] = await Promise.all([transaction.query(lockOf(source)), transaction.query([FACTS, values])]);
  return facts as unknown as Facts;
}

function replay({ stored, pages }: Facts): SyncPhotoReportResult {
  const { id, status, sourceRevision } = stored!;
  return { status, idempotent: true, photoReportId: id, pageId: pages![ROOT]!, sourceRevision };
}

/** Throws 400 for what the request names and only the database knows. */
function requireKnown(
  { mappedAdminUserId, sourceDeepLink }: SyncPhotoReportInput,
  { userIsMember, schemes }: Facts,
): void {
  const errors: FieldError[] = [];
  if (mappedAdminUserId != null && !userIsMember) {
    errors.push({ fieldName: 'mappedAdminUserId', message: 'is not a user of this builder' });
  }
  if (sourceDeepLink != null && !isPermittedScheme(schemeOf(sourceDeepLink), schemes)) {
    const permitted = ['https', ...schemes].join(', ');
    errors.push({ fieldName: 'sourceDeepLink', message: `must have a permitted scheme: ${permitted}` });
  }
  if (errors.length > 0) throw new ValidationError(errors);
}

/** Digest of the root's path. */
const ROOT = digestOfPath([]);

/** The content of a request in the form in which it is compared and stored (PRP-2). */
interface Snapshot {
  title: string;
  tree: Tree;
  fingerprint: string;
  /** As PostgreSQL receives a jsonb in binary: the version of the format, then the bytes that the fingerprint is made of. */
  jsonb: Buffer;
}

/** Version of the binary format of jsonb. */
const JSONB_VERSION = '\u0001';

function snapshotOf({ sourceRevision: _, ...content }: SyncPhotoReportInput): Snapshot {
  const jsonb = Buffer.from(`${JSONB_VERSION}${canonicalJson(content)}`);
  const { page } = content;
  return { title: page.title, tree: treeOf(page), fingerprint: fingerprintOf(jsonb.subarray(1)), jsonb };
}

/** The same of a request whose page a worker thread has written already: the other fields are put around it, in their order. */
async function preparedSnapshot(
  { sourceRevision: _, page: __, ...rest }: SyncPhotoReportInput,
  prepared: PreparedPage,
): Promise<Snapshot> {
  const membersWhere = (isWanted: (name: string) => boolean) =>
    canonicalJson(Object.fromEntries(Object.entries(rest).filter(([name]) => isWanted(name)))).slice(1, -1);
  const before = membersWhere((name) => name < 'page');
  const after = membersWhere((name) => name > 'page');
  const jsonb = prepared.embed(`${JSONB_VERSION}{${before && `${before},`}"page":`, `${after && `,${after}`}}`);
  const { title, tree } = prepared;
  return { title, tree, fingerprint: await fingerprintInSlices(jsonb.subarray(1)), jsonb };
}

/** What is to be written of one request. */
class Save {
  readonly fingerprint: string;
  readonly tree: Tree;
  readonly #source: Source;
  readonly #request: SyncPhotoReportInput;
  readonly #snapshot: Snapshot;
  readonly #now: number;

  constructor(source: Source, request: SyncPhotoReportInput, snapshot: Snapshot, now: number) {
    this.#source = source;
    this.#request = request;
    this.#snapshot = snapshot;
    this.#now = now;
    this.fingerprint = snapshot.fingerprint;
    this.tree = snapshot.tree;
  }

  async commit(transaction: Transaction, { stored, pages }: Facts): Promise<SyncPhotoReportResult> {
    const id = stored?.id ?? newId('photoReport', this.#now);
    const known = new Map(Object.entries(pages ?? {}));
    const ids = new Map(
      this.tree.pages.map(({ pathDigest }) => [pathDigest, known.get(pathDigest) ?? newId('page', this.#now)]),
    );
    const added = this.tree.pages
      .filter(({ pathDigest }) => !known.has(pathDigest))
      .map(({ path, pathDigest, parentDigest }) => {
        return { id: ids.get(pathDigest), parentId: parentDigest && ids.get(parentDigest), path, pathDigest };
      });
    const { sourceRevision } = this.#request;
    const status = statusOf(this.tree);
    const removal: BoundStatement[] = known.size > 0 ? [[REMOVE_PAGES, [id, [...ids.values()]]]] : [];
    await transaction.commit([SAVE, this.#values(id, status)], ...removal, [ADD_PAGES, [id, JSON.stringify(added)]]);
    return { status, idempotent: false, photoReportId: id, pageId: ids.get(ROOT)!, sourceRevision };
  }

  #values(id: string, status: string): unknown[] {
    const { integratorId, builderId, sourceApp, sourceExternalId } = this.#source;
    const { projectId, sourceAuthor, mappedAdminUserId, sourceDeepLink, ...request } = this.#request;
    const { title, jsonb } = this.#snapshot;
    return [
      ...[id, new Date(this.#now).toISOString(), builderId, sourceApp, sourceExternalId, integratorId],
      ...[projectId ?? null, request.sourceRevision, status, title],
      ...[toInstant(request.sourceCreatedAt), toInstant(request.walkthroughDate)],
      ...[JSON.stringify(sourceAuthor), mappedAdminUserId ?? null, sourceDeepLink ?? null],
      ...[this.fingerprint, jsonb],
    ];
  }
}
