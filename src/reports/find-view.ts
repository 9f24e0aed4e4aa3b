import { readTree } from '../../resolvers/photo-report/report-tree.ts';
import type { ReportPage } from '../../resolvers/photo-report/report-tree.type.ts';
import type { Statement } from '../database/pool/pg-pipeline.ts';
import { photos } from '../domain/readers/photo.reader.ts';
import { photoReports, reportContents, type StoredContent } from '../domain/readers/photo-report.reader.ts';
import { projects } from '../domain/readers/project.reader.ts';
import type { Storages } from '../storage/storage.ts';
import type { ReportView } from './render.ts';
import type { Visitor } from './visit.ts';

const IS_MEMBER: Statement = {
  name: 'reports.is-member',
  text: `select from membership m join photo_report r on r.builder_id = m.builder_id where r.id = $1 and m.user_id = $2`,
};

/** The report, if the visitor is a member of its builder. */
export async function findView(
  { database, user }: Visitor,
  storages: Storages,
  id: string,
): Promise<ReportView | null> {
  const [member] = await database.runner.run(IS_MEMBER, [id, user.id]);
  if (!member) return null;
  const [report, stored] = await Promise.all([
    photoReports.findOne(database, id),
    reportContents.findOne(database, id),
  ]);
  if (!report || !stored) return null;
  const { content } = stored as unknown as StoredContent;
  const tree = await readTree(stored as unknown as StoredContent);
  const { builderId, projectId } = report;
  const [shown, project] = await Promise.all([
    photos.findMany(database, imagesOf(tree), { builderId }),
    projectId === null ? null : projects.findOne(database, projectId, { builderId }),
  ]);
  const storage = storages[database.region].issuedTo(user.id);
  const signed = shown
    .filter((photo) => photo !== null)
    .map(({ id: photoId, key, contentType, fileName, description }) => {
      return [photoId, { url: storage.downloadUrl(key, contentType, fileName), description }] as const;
    });
  return { report, tree, bytes: content.length, user, projectName: project?.name ?? null, photos: new Map(signed) };
}

/** Attachment ids of the images of a tree. */
function imagesOf({ blocks }: ReportPage): string[] {
  return blocks.flatMap((block) => {
    if ('childPage' in block) return imagesOf(block.childPage as ReportPage);
    return 'imageStatus' in block && block.attachmentId !== null ? [block.attachmentId] : [];
  });
}
