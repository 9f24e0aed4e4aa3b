import { Arg, Args, Ctx, FieldResolver, Query, Resolver, Root } from 'type-graphql';
import { Subcontractor } from '../../entities/subcontractor.entity.ts';
import { SwmsDocument } from '../../entities/swms-document.entity.ts';
import { createPageType, type Page, PageArgs } from '../../schema/page.ts';
import { Rest } from '../../schema/rest.ts';
import { ProjectId, SubcontractorId, SwmsId } from '../../schema/scalars.ts';
import { Reads, Selected, type Selection } from '../../schema/selection.ts';
import type { RequestContext } from '../../src/auth/request-context.ts';
import { swmsDocuments } from '../../src/domain/readers/swms.reader.ts';
import { pageEdge } from '../edges.ts';
import { authorizeSubcontractorPage, authorizeSubcontractorRecord } from './subcontractor-authorization.ts';

const SwmsDocumentPage = createPageType(SwmsDocument);

@Resolver(() => SwmsDocument)
export class SwmsResolver {
  @Query(() => SwmsDocumentPage, { description: 'The SWMS documents of a subcontractor.' })
  @Rest('GET /subcontractors/{id}/swms', { scope: 'read:swms', tag: 'Subcontractors' })
  async subcontractorSwms(
    @Arg('id', () => SubcontractorId) id: string,
    @Arg('projectId', () => ProjectId, { nullable: true }) projectId: string | null,
    @Args() page: PageArgs,
    @Selected() selection: Selection | null,
    @Ctx() context: RequestContext,
  ): Promise<Page<SwmsDocument>> {
    const found = await swmsDocuments
      .select(selection)
      .findPage(context.database, { subcontractorId: id, projectId }, page);
    return authorizeSubcontractorPage(context, id, 'read:swms', found);
  }

  @Query(() => SwmsDocument, { description: 'One SWMS document of a subcontractor.' })
  @Rest('GET /subcontractors/{id}/swms/{swmsDocId}', { scope: 'read:swms', tag: 'Subcontractors' })
  async swmsDocument(
    @Arg('id', () => SubcontractorId) id: string,
    @Arg('swmsDocId', () => SwmsId) swmsDocId: string,
    @Ctx() context: RequestContext,
  ): Promise<SwmsDocument> {
    const found = await swmsDocuments.findOne(context.database, swmsDocId, { subcontractorId: id });
    return authorizeSubcontractorRecord(context, id, 'read:swms', found, 'SWMS document');
  }

  @FieldResolver()
  @Reads('documentKey', 'url')
  url(
    @Root() { documentKey, url }: Pick<SwmsDocument, 'documentKey' | 'url'>,
    @Ctx() { storage }: RequestContext,
  ): string | null {
    return documentKey ? storage.createDownloadUrl(documentKey) : url;
  }
}

export const swmsEdges = [
  pageEdge(Subcontractor, 'swms', swmsDocuments, 'subcontractorId', 'The SWMS documents of the subcontractor.', {
    args: [{ projectId: ProjectId }],
  }),
];
