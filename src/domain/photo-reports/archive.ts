import { conflict, notFound } from '../../shared/errors.ts';
import type { OperationContext } from '../operation-context.ts';
import { CONFLICTS, decideArchive, type StoredReport } from './revisions.ts';
import { type ReportSource, toReportLock } from './sync.ts';
import { ARCHIVE, READ_STORED } from './sync-statements.ts';

/** Archives a report. Its content and pages remain stored; a higher revision restores it (PRP-6, PRP-16). */
export function archiveReport(
  { database, clock }: Pick<OperationContext, 'database' | 'clock'>,
  source: ReportSource,
  sourceRevision: number | null,
) {
  const { integratorId, builderId, sourceApp, sourceExternalId } = source;
  return database.write(async (transaction) => {
    const [, [found]] = await Promise.all([
      transaction.query(toReportLock(source)),
      transaction.query([READ_STORED, [builderId, sourceApp, sourceExternalId]]),
    ]);
    const { stored, pageId } = found as unknown as { stored: StoredReport | null; pageId: string };
    const decision = decideArchive({ integratorId, sourceRevision, stored });
    if (decision === 'NOT_FOUND') throw notFound('Photo report');
    if (decision !== 'ARCHIVE' && decision !== 'REPLAY') throw conflict(decision, CONFLICTS[decision]);
    const idempotent = decision === 'REPLAY';
    const archivedAt = idempotent ? stored!.archivedAt! : new Date(clock.now()).toISOString();
    if (!idempotent) await transaction.commit([ARCHIVE, [stored!.id, archivedAt]]);
    const { id, sourceRevision: storedRevision } = stored!;
    return {
      status: 'archived' as const,
      idempotent,
      photoReportId: id,
      pageId,
      sourceRevision: storedRevision,
      archivedAt,
    };
  });
}
