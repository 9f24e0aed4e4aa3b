import type { FastifyInstance } from 'fastify';
import { newId } from '../../../schema/ids.ts';
import type { Transaction, TransactionRunner } from '../../../src/database/write/transaction-runner.ts';
import { FAST_SIGN_ONS, LOCK_EVENTS, READ_FACTS } from '../../../src/domain/attendance/record-statements.ts';
import { canonicalJson, createFingerprint } from '../../../src/domain/canonical-json.ts';
import { validatePageDocument } from '../../../src/domain/photo-reports/page-document.ts';
import { type PageTree, toPageTree } from '../../../src/domain/photo-reports/page-tree.ts';
import type { PageDocument } from '../../../src/domain/photo-reports/report-inputs.ts';
import { decideSync, type StoredReport } from '../../../src/domain/photo-reports/revisions.ts';
import {
  ADD_PAGES,
  CREATE,
  LOCK_PHOTOS,
  LOCK_REPORT,
  READ_FACTS as READ_REPORT_FACTS,
  REMOVE_PAGES,
  REPLACE,
} from '../../../src/domain/photo-reports/sync-statements.ts';
import type { ConcurrencyLimits } from './concurrency-limits.ts';
import { conflict, forbidden, HttpError, invalid, notFound } from './http-error.ts';
import { getShareKey, type Region, type RequestAuthorizer } from './request-authorizer.ts';
import {
  PHOTO_REPORT_BODY,
  PHOTO_REPORT_BYTES,
  type PhotoReportBody,
  SIGN_ON_BODY,
  type SignOnBody,
} from './request-bodies.ts';

const ROOT_PAGE = createFingerprint('[]');

/**
 * Registers sign-ons and photo-report syncs with the measured service's own statements. Only the measured cases are implemented: the first
 * event of an id and the first sync of a report. Other events are answered with 409.
 */
export function registerTunedWrites(
  app: FastifyInstance,
  authorizer: RequestAuthorizer,
  writers: Record<Region, TransactionRunner>,
  limits: ConcurrencyLimits,
): void {
  app.post<{ Params: { builderId: string; projectId: string }; Body: SignOnBody }>(
    '/builders/:builderId/projects/:projectId/sign-on-events',
    { schema: { body: SIGN_ON_BODY } },
    async (request, reply) => {
      const { builderId, projectId } = request.params;
      const caller = await authorizer.authorize(request, 'write:sign_on_events');
      await authorizer.authorizePathBuilder(caller, builderId, 'write:sign_on_events');
      if (!/^proj_[a-z0-9]+$/.test(projectId)) throw notFound('Resource');
      const { sourceEventId, workerId, occurredAt, deviceId = null } = request.body;
      const now = Date.now();
      if (Date.parse(occurredAt) > now + 5_000) {
        throw invalid([{ fieldName: 'occurredAt', message: 'is too far in the future' }]);
      }
      const integratorId = caller.access.integrator_id;
      const key = JSON.stringify([integratorId, builderId, projectId, sourceEventId]);
      const id = newId('signOnEvent', now);
      const signOnId = newId('signOnVisit', now);
      const owner = [integratorId, builderId, projectId, workerId];
      const event = [
        id,
        new Date(now).toISOString(),
        projectId,
        workerId,
        sourceEventId,
        occurredAt,
        deviceId,
        signOnId,
      ];
      const writer = writers[caller.region];
      const record = async (transaction: Transaction) => {
        const locked = transaction.query([LOCK_EVENTS, [[key]]]);
        const insert = transaction.commit([FAST_SIGN_ONS, [integratorId, builderId, ...event.map((value) => [value])]]);
        const [[rows]] = await Promise.all([insert, locked]);
        return rows!.length === 1;
      };
      const isRecorded = await limits.runWrite(getShareKey(caller), () => writer.run(record));
      if (!isRecorded) {
        const [facts] = await writer.run((transaction) =>
          transaction.query([READ_FACTS, [...owner, sourceEventId, null]]),
        );
        if (!facts!.projectExists) throw notFound('Project');
        if (!facts!.siteAccess) throw forbidden('The worker has no site access, present or past, to this project.');
        throw conflict('EVENT_MISMATCH', 'An event with this sourceEventId was sent before with other data.');
      }
      reply.code(201);
      return { data: { id, sourceEventId, status: 'APPLIED', signOnId, duplicate: false } };
    },
  );

  app.post<{ Params: { builderId: string }; Body: PhotoReportBody }>(
    '/builders/:builderId/photo-reports/sync',
    { schema: { body: PHOTO_REPORT_BODY }, bodyLimit: PHOTO_REPORT_BYTES },
    async (request) => {
      const { builderId } = request.params;
      const caller = await authorizer.authorize(request, 'write:photos');
      await authorizer.authorizePathBuilder(caller, builderId, 'write:photos');
      const { sourceRevision, ...content } = request.body;
      const errors = validatePageDocument(content.page, 'page');
      if (errors.length > 0) throw invalid(errors);
      const text = canonicalJson(content);
      const sync: Sync = {
        ...{ builderId, integratorId: caller.access.integrator_id, body: request.body, text },
        ...{ fingerprint: createFingerprint(text), tree: toPageTree(content.page as PageDocument) },
      };
      const shareKey = getShareKey(caller);
      const write = () => writers[caller.region].run((transaction) => saveReport(transaction, sync));
      return limits.runSync(shareKey, () => limits.runWrite(shareKey, write));
    },
  );
}

interface Sync {
  builderId: string;
  integratorId: string;
  body: PhotoReportBody;
  text: string;
  fingerprint: string;
  tree: PageTree;
}

async function saveReport(transaction: Transaction, { builderId, integratorId, body, text, fingerprint, tree }: Sync) {
  const { sourceApp, sourceExternalId, sourceRevision, projectId = null } = body;
  const lock = JSON.stringify(['photo-report', builderId, sourceApp, sourceExternalId]);
  const syncedImages = tree.images.filter(({ block }) => block.imageStatus === 'SYNCED');
  const photoIds = [...new Set(syncedImages.map(({ block }) => block.attachmentId!))];
  const facts = [builderId, sourceApp, sourceExternalId, integratorId, projectId, null];
  const [, [storedFacts], lockedPhotos] = await Promise.all([
    transaction.query([LOCK_REPORT, [lock]]),
    transaction.query([READ_REPORT_FACTS, facts]),
    transaction.query([LOCK_PHOTOS, [photoIds, builderId]]),
  ]);
  const stored = storedFacts!.stored as StoredReport | null;
  const decision = decideSync({ updateOnly: false, integratorId, sourceRevision, fingerprint, stored });
  if (decision === 'REPLAY') {
    const pageId = (storedFacts!.pages as Record<string, string>)[ROOT_PAGE];
    return { status: stored!.status, idempotent: true, photoReportId: stored!.id, pageId, sourceRevision };
  }
  if (decision !== 'SAVE') throw new HttpError(409, { code: decision, message: decision });
  if (projectId !== null && !storedFacts!.projectExists) throw notFound('Project');
  const usablePhotos = lockedPhotos.filter(
    (photo) => projectId === null || [null, projectId].includes(photo.projectId as string),
  );
  if (usablePhotos.length < photoIds.length) {
    throw conflict('ATTACHMENT_CONFLICT', 'An image refers to a photo that the report cannot show.');
  }
  const now = Date.now();
  const id = stored?.id ?? newId('photoReport', now);
  const status = tree.images.some(({ block }) => block.imageStatus === 'FAILED') ? 'partial' : 'synced';
  const pageIds = new Map(Object.entries((storedFacts!.pages ?? {}) as Record<string, string>));
  const ids = new Map(tree.pages.map(({ pathDigest }) => [pathDigest, pageIds.get(pathDigest) ?? newId('page', now)]));
  const addedPages = tree.pages
    .filter(({ pathDigest }) => !pageIds.has(pathDigest))
    .map(({ path, pathDigest, parentDigest }) => {
      return { id: ids.get(pathDigest), parentId: parentDigest && ids.get(parentDigest), path, pathDigest };
    });
  const author = JSON.stringify(body.sourceAuthor);
  await transaction.commit(
    [
      stored ? REPLACE : CREATE,
      [
        ...[id, new Date(now).toISOString(), builderId, sourceApp, sourceExternalId, integratorId, projectId],
        ...[sourceRevision, status, body.page.title, body.sourceCreatedAt, body.walkthroughDate],
        ...[author, null, null, fingerprint, text],
      ],
    ],
    [REMOVE_PAGES, [id, [...ids.values()]]],
    [ADD_PAGES, [id, JSON.stringify(addedPages)]],
  );
  return { status, idempotent: false, photoReportId: id, pageId: ids.get(ROOT_PAGE), sourceRevision };
}
