import { Arg, Args, Ctx, Mutation, Resolver } from 'type-graphql';
import { PhotoReportConflictCode } from '../../schema/enums.ts';
import { Rest } from '../../schema/rest.ts';
import { BuilderId } from '../../schema/scalars.ts';
import type { RequestContext } from '../../src/auth/request-context.ts';
import { archiveReport } from '../../src/domain/photo-reports/archive.ts';
import { LIMITS, MAX_BODY_BYTES } from '../../src/domain/photo-reports/limits.ts';
import { type ReportSource, syncReport } from '../../src/domain/photo-reports/sync.ts';
import { ArchiveReportArgs, PhotoReportArgs, type SourceReportArgs } from './photo-report.input.ts';
import { PhotoReportArchive, PhotoReportSync } from './photo-report.type.ts';

const CODES = Object.keys(PhotoReportConflictCode);
const SHARED = { scope: 'write:photos', tag: 'Photo reports', budget: 'sync' } as const;

const DOCUMENT = `The page replaces the whole stored page: content that it no longer contains is removed. A 400 names every invalid field with its path. Lengths count Unicode code points. Beyond the schema: at most ${LIMITS.blocks.max} blocks in the whole tree, ${LIMITS.levels.max} page levels including the root, each \`sourceBlockId\` unique among its siblings, each list item's \`id\` unique in its list, at most ${LIMITS.richText.max} characters in one rich text.`;

const RETRY =
  'After a network failure or a 500, send the identical revision and content again: the response has `idempotent` true when it was committed before, even if its photos have been archived since.';

@Resolver()
export class PhotoReportSyncResolver {
  @Mutation(() => PhotoReportSync, {
    description: `Syncs a photo report of another application: the first sync creates it, a higher revision replaces it, and restores it when it is archived. Upload the photos beforehand through the bulk upsert, and put their attachment ids in IMAGE blocks. ${DOCUMENT} ${RETRY}`,
  })
  @Rest('POST /builders/{builderId}/photo-reports/sync', { ...SHARED, bodyLimit: MAX_BODY_BYTES, conflicts: CODES })
  syncPhotoReport(
    @Arg('builderId', () => BuilderId) builderId: string,
    @Args() request: PhotoReportArgs,
    @Ctx() context: RequestContext,
  ): Promise<PhotoReportSync> {
    return syncReport(context, toReportSource(context, builderId, request), request, false);
  }

  @Mutation(() => PhotoReportSync, {
    description: `Syncs a photo report that exists and is active; otherwise it is 404. The body and the rules are those of the sync with POST. ${DOCUMENT} ${RETRY}`,
  })
  @Rest('PATCH /builders/{builderId}/photo-reports/sync', { ...SHARED, bodyLimit: MAX_BODY_BYTES, conflicts: CODES })
  updatePhotoReport(
    @Arg('builderId', () => BuilderId) builderId: string,
    @Args() request: PhotoReportArgs,
    @Ctx() context: RequestContext,
  ): Promise<PhotoReportSync> {
    return syncReport(context, toReportSource(context, builderId, request), request, true);
  }

  @Mutation(() => PhotoReportArchive, {
    description:
      'Archives a photo report. A repeated request returns the same result with `idempotent` true. A later sync of a higher revision restores the report.',
  })
  @Rest('DELETE /builders/{builderId}/photo-reports/sync', {
    ...SHARED,
    conflicts: [PhotoReportConflictCode.STALE_REVISION, PhotoReportConflictCode.SOURCE_OWNERSHIP_REQUIRED],
  })
  archivePhotoReport(
    @Arg('builderId', () => BuilderId) builderId: string,
    @Args() { sourceRevision, ...report }: ArchiveReportArgs,
    @Ctx() context: RequestContext,
  ): Promise<PhotoReportArchive> {
    return archiveReport(context, toReportSource(context, builderId, report), sourceRevision ?? null);
  }
}

function toReportSource(context: RequestContext, builderId: string, report: SourceReportArgs): ReportSource {
  const { sourceApp, sourceExternalId } = report;
  const integratorId = context.caller.requireIntegrator();
  return { integratorId, builderId, sourceApp, sourceExternalId };
}
