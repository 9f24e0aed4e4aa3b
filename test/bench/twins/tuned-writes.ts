import type { FastifyInstance } from 'fastify';
import type { PageDocumentInput } from '../../../resolvers/photo-report/photo-report.input.ts';
import type { Transaction, TransactionRunner } from '../../../src/database/write/transaction-runner.ts';
import { FAST_SIGN_ONS, LOCK_EVENTS, READ_FACTS } from '../../../src/domain/attendance/record-statements.ts';
import { validatePageDocument } from '../../../src/domain/photo-reports/page-document.ts';
import { type PageTree, toPageTree } from '../../../src/domain/photo-reports/page-tree.ts';
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
import { canonicalJson, createFingerprint } from '../../../src/shared/canonical-json.ts';
import { newId } from '../../../src/shared/ids.ts';
import { REPORT_BODY, REPORT_LIMIT, type ReportBody, SIGN_ON_BODY, type SignOnBody } from './inputs.ts';
import type { Limits } from './limits.ts';
import { conflict, type Door, forbidden, HttpError, invalid, notFound, type Region, shareOf } from './service.ts';

const ROOT = createFingerprint('[]');

/**
 * The first sync of a report and the first event of its id, which are what is measured, by the service's own statements. What it is
 * otherwise, the service alone finds out; here it is 409.
 */
export function tunedWrites(
  app: FastifyInstance,
  door: Door,
  writers: Record<Region, TransactionRunner>,
  limits: Limits,
): void {
  app.post<{ Params: { builderId: string; projectId: string }; Body: SignOnBody }>(
    '/builders/:builderId/projects/:projectId/sign-on-events',
    { schema: { body: SIGN_ON_BODY } },
    async (request, reply) => {
      const { builderId, projectId } = request.params;
      const caller = await door.enter(request, 'write:sign_on_events');
      await door.requirePathBuilder(caller, builderId, 'write:sign_on_events');
      if (!/^proj_[a-z0-9]+$/.test(projectId)) throw notFound('Resource');
      const { sourceEventId, workerId, occurredAt, deviceId = null } = request.body;
      const now = Date.now();
      if (Date.parse(occurredAt) > now + 5_000) {
        throw invalid([{ fieldName: 'occurredAt', message: 'is too far in the future' }]);
      }
      const integratorId = caller.grants.integrator_id;
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
      const kept = await limits.runWrite(shareOf(caller), () => writer.run(record));
      if (!kept) {
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

  app.post<{ Params: { builderId: string }; Body: ReportBody }>(
    '/builders/:builderId/photo-reports/sync',
    { schema: { body: REPORT_BODY }, bodyLimit: REPORT_LIMIT },
    async (request) => {
      const { builderId } = request.params;
      const caller = await door.enter(request, 'write:photos');
      await door.requirePathBuilder(caller, builderId, 'write:photos');
      const { sourceRevision, ...content } = request.body;
      const errors = validatePageDocument(content.page, 'page');
      if (errors.length > 0) throw invalid(errors);
      const text = canonicalJson(content);
      const sync: Sync = {
        ...{ builderId, integratorId: caller.grants.integrator_id, body: request.body, text },
        ...{ fingerprint: createFingerprint(text), tree: toPageTree(content.page as PageDocumentInput) },
      };
      const share = shareOf(caller);
      const write = () => writers[caller.region].run((transaction) => save(transaction, sync));
      return limits.runSync(share, () => limits.runWrite(share, write));
    },
  );
}

interface Sync {
  builderId: string;
  integratorId: string;
  body: ReportBody;
  text: string;
  fingerprint: string;
  tree: PageTree;
}

async function save(transaction: Transaction, { builderId, integratorId, body, text, fingerprint, tree }: Sync) {
  const { sourceApp, sourceExternalId, sourceRevision, projectId = null } = body;
  const lock = JSON.stringify(['photo-report', builderId, sourceApp, sourceExternalId]);
  const shown = tree.images.filter(({ block }) => block.imageStatus === 'SYNCED');
  const photoIds = [...new Set(shown.map(({ block }) => block.attachmentId!))];
  const facts = [builderId, sourceApp, sourceExternalId, integratorId, projectId, null];
  const [, [found], usable] = await Promise.all([
    transaction.query([LOCK_REPORT, [lock]]),
    transaction.query([READ_REPORT_FACTS, facts]),
    transaction.query([LOCK_PHOTOS, [photoIds, builderId]]),
  ]);
  const stored = found!.stored as StoredReport | null;
  const decision = decideSync({ updateOnly: false, integratorId, sourceRevision, fingerprint, stored });
  if (decision === 'REPLAY') {
    const pageId = (found!.pages as Record<string, string>)[ROOT];
    return { status: stored!.status, idempotent: true, photoReportId: stored!.id, pageId, sourceRevision };
  }
  if (decision !== 'SAVE') throw new HttpError(409, { code: decision, message: decision });
  if (projectId !== null && !found!.projectExists) throw notFound('Project');
  const inPlace = usable.filter((photo) => projectId === null || [null, projectId].includes(photo.projectId as string));
  if (inPlace.length < photoIds.length) {
    throw conflict('ATTACHMENT_CONFLICT', 'An image refers to a photo that the report cannot show.');
  }
  const now = Date.now();
  const id = stored?.id ?? newId('photoReport', now);
  const status = tree.images.some(({ block }) => block.imageStatus === 'FAILED') ? 'partial' : 'synced';
  const known = new Map(Object.entries((found!.pages ?? {}) as Record<string, string>));
  const ids = new Map(tree.pages.map(({ pathDigest }) => [pathDigest, known.get(pathDigest) ?? newId('page', now)]));
  const added = tree.pages
    .filter(({ pathDigest }) => !known.has(pathDigest))
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
    [ADD_PAGES, [id, JSON.stringify(added)]],
  );
  return { status, idempotent: false, photoReportId: id, pageId: ids.get(ROOT), sourceRevision };
}
