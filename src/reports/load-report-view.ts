import type { ReportPage } from '../../entities/report-tree.type.ts';
import { getTimeZone } from '../../schema/time-zone.ts';
import { statement } from '../database/pool/pg-pipeline.ts';
import { buildReportTree } from '../domain/photo-reports/report-tree.ts';
import { findRenditions, toRendition, UNKNOWN } from '../domain/photos/renditions.ts';
import { builders } from '../domain/readers/builder.reader.ts';
import { photos } from '../domain/readers/photo.reader.ts';
import { photoReports, reportContents, type StoredContent } from '../domain/readers/photo-report.reader.ts';
import { projects } from '../domain/readers/project.reader.ts';
import { RENDITION_SIZES } from '../images/render.ts';
import type { RegionalUser } from '../oauth/interaction/page-request.ts';
import type { Storages } from '../storage/storage.ts';
import type { ReportView } from './report.page.ts';

// SQL: a join by the builder, to which neither entity has a relation.
const IS_MEMBER = statement('reports.is-member')`
  select from membership m join photo_report r on r.builder_id = m.builder_id where r.id = $1 and m.user_id = $2`;

/** Returns the report with its photos; null when it does not exist or the user is not a member of its builder. */
export async function loadReportView(
  { database, user }: RegionalUser,
  storages: Storages,
  id: string,
): Promise<ReportView | null> {
  const [membership] = await database.runner.run(IS_MEMBER, [id, user.id]);
  if (!membership) return null;
  const [report, stored] = await Promise.all([
    photoReports.findOne(database, id),
    reportContents.findOne(database, id),
  ]);
  if (!report || !stored) return null;
  const { content } = stored as unknown as StoredContent;
  const tree = await buildReportTree(stored as unknown as StoredContent);
  const { builderId, projectId } = report;
  const ids = collectAttachmentIds(tree);
  const [builder, found, states, project] = await Promise.all([
    builders.findOne(database, builderId),
    photos.findMany(database, ids, { builderId }),
    findRenditions(database, ids),
    projectId === null ? null : projects.findOne(database, projectId, { builderId }),
  ]);
  const storage = storages[database.region].withShareKey(user.id);
  const views = found
    .filter((photo) => photo !== null)
    .map((photo) => {
      const { id: photoId, key, contentType, fileName, description } = photo;
      const state = states.get(photoId) ?? UNKNOWN;
      const [small, medium, large] = RENDITION_SIZES.map((size) => toRendition(storage, photo, state, size));
      const url = storage.createDownloadUrl(key, contentType, fileName);
      const isPending = state.status === 'PENDING';
      return [photoId, { url, description, isPending, small: small!, medium: medium!, large: large! }] as const;
    });
  const projectName = project?.name ?? null;
  const timeZone = getTimeZone(builder!, database.region);
  return { report, tree, contentBytes: content.length, user, projectName, timeZone, photos: new Map(views) };
}

/** Attachment ids of the images in a page and its child pages. */
function collectAttachmentIds({ blocks }: ReportPage): string[] {
  return blocks.flatMap((block) => {
    if ('childPage' in block) return collectAttachmentIds(block.childPage as ReportPage);
    return 'imageStatus' in block && block.attachmentId !== null ? [block.attachmentId] : [];
  });
}
