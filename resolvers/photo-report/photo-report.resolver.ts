import { ArgsType, Ctx, Field, FieldResolver, Resolver, Root } from 'type-graphql';
import { Builder } from '../../entities/builder.entity.ts';
import { Photo } from '../../entities/photo.entity.ts';
import { PhotoReport } from '../../entities/photo-report.entity.ts';
import { Project } from '../../entities/project.entity.ts';
import { ReportBlock, ReportImage, ReportPage } from '../../entities/report-tree.type.ts';
import { GraphOnly, Scoped } from '../../schema/rest.ts';
import { JsonObject, PhotoReportId, ProjectId } from '../../schema/scalars.ts';
import { Reads, Selected, type Selection } from '../../schema/selection.ts';
import type { RequestContext } from '../../src/auth/request-context.ts';
import { ReportExternalId, ReportSourceApp } from '../../src/domain/photo-reports/photo-report.scalars.ts';
import { buildReportTree } from '../../src/domain/photo-reports/report-tree.ts';
import { builders } from '../../src/domain/readers/builder.reader.ts';
import { photos } from '../../src/domain/readers/photo.reader.ts';
import {
  photoReports,
  type ReportContent,
  reportContents,
  type StoredContent,
} from '../../src/domain/readers/photo-report.reader.ts';
import { projects } from '../../src/domain/readers/project.reader.ts';
import { parseJsonInSlices } from '../../src/limits/parse-json.ts';
import { builderPage, builderRecord, pageEdge, recordEdge } from '../fields.ts';

@ArgsType()
class ReportFilterArgs {
  @Field(() => ReportSourceApp, { nullable: true })
  sourceApp?: string | null;

  @Field(() => ReportExternalId, { nullable: true })
  sourceExternalId?: string | null;

  @Field(() => Boolean, { nullable: true, description: 'The archived ones instead of the active ones. Default false.' })
  archived?: boolean | null;
}

const toFilters = ({ archived, ...filters }: ReportFilterArgs) => ({ ...filters, archived: archived ?? false });
const filtered = { args: [ReportFilterArgs], where: toFilters };

/** Queries of photo reports (PRP-36). */
@Resolver(() => PhotoReport)
export class PhotoReportResolver {
  @FieldResolver(() => ReportPage, { description: 'The root page, with everything in it.' })
  @GraphOnly()
  @Reads('id')
  async page(@Root() report: Pick<PhotoReport, 'id'>, @Ctx() context: RequestContext): Promise<ReportPage> {
    return buildReportTree(await readContent(report, context));
  }

  @FieldResolver(() => JsonObject, { description: 'The whole request of the sync that was last committed.' })
  @GraphOnly()
  @Reads('id')
  async request(
    @Root() report: Pick<PhotoReport, 'id'>,
    @Ctx() context: RequestContext,
  ): Promise<Record<string, unknown>> {
    const { content, sourceRevision } = await readContent(report, context);
    return { ...((await parseJsonInSlices(content)) as ReportContent), sourceRevision };
  }
}

async function readContent({ id }: Pick<PhotoReport, 'id'>, { loaders }: RequestContext): Promise<StoredContent> {
  return (await loaders.load(reportContents, id)) as unknown as StoredContent;
}

@Resolver(() => ReportPage)
export class ReportPageResolver {
  /** A resolver method, so that blocks are completed one by one: a report can be megabytes. */
  @FieldResolver(() => [ReportBlock])
  @Reads('blocks')
  blocks(@Root() { blocks }: Pick<ReportPage, 'blocks'>): (typeof ReportBlock)[] {
    return blocks;
  }
}

@Resolver(() => ReportImage)
export class ReportImageResolver {
  @FieldResolver(() => Photo, { nullable: true, description: 'The photo; null when it failed or is archived.' })
  @GraphOnly()
  @Reads('attachmentId', 'builderId')
  photo(
    @Root() { attachmentId, builderId }: Pick<ReportImage, 'attachmentId' | 'builderId'>,
    @Selected() selection: Selection | null,
    @Ctx() { loaders }: RequestContext,
  ): Promise<Photo | null> | null {
    return attachmentId === null ? null : loaders.load(photos.select(selection), attachmentId, { builderId });
  }
}

export const photoReportFields = [
  builderPage('photoReports', photoReports, 'The photo reports of a builder.', {
    operation: Scoped('read:photos'),
    args: [{ projectId: ProjectId }, ReportFilterArgs],
    where: toFilters,
  }),
  builderRecord(
    'photoReport',
    photoReports,
    { photoReportId: PhotoReportId },
    ['Photo report', 'One photo report, active or archived.'],
    { operation: Scoped('read:photos') },
  ),
  recordEdge(PhotoReport, 'builder', builders, 'builderId', 'The builder whose report it is.'),
  recordEdge(PhotoReport, 'project', projects, 'projectId', 'The project that the report is about.', {
    nullable: true,
  }),
  pageEdge(Project, 'photoReports', photoReports, 'projectId', 'The photo reports about the project.', filtered),
  pageEdge(Builder, 'photoReports', photoReports, 'builderId', 'The photo reports of the builder.', filtered),
];
