import { Ctx, FieldResolver, Resolver, Root } from 'type-graphql';
import { Subcontractor } from '../../entities/subcontractor.entity.ts';
import { SwmsDocument } from '../../entities/swms-document.entity.ts';
import { Rest } from '../../schema/rest.ts';
import { ProjectId, SwmsId } from '../../schema/scalars.ts';
import { Reads } from '../../schema/selection.ts';
import type { RequestContext } from '../../src/auth/request-context.ts';
import { swmsDocuments } from '../../src/domain/readers/swms.reader.ts';
import { pageEdge, subcontractorPage, subcontractorRecord } from '../fields.ts';

@Resolver(() => SwmsDocument)
export class SwmsResolver {
  @FieldResolver()
  @Reads('documentKey', 'url')
  url(
    @Root() { documentKey, url }: Pick<SwmsDocument, 'documentKey' | 'url'>,
    @Ctx() { storage }: RequestContext,
  ): string | null {
    return documentKey ? storage.createDownloadUrl(documentKey) : url;
  }
}

const shared = { scope: 'read:swms', tag: 'Subcontractors' } as const;

export const swmsFields = [
  subcontractorPage('subcontractorSwms', swmsDocuments, 'The SWMS documents of a subcontractor.', {
    operation: Rest('GET /subcontractors/{id}/swms', shared),
    args: [{ projectId: ProjectId }],
  }),
  subcontractorRecord(
    'swmsDocument',
    swmsDocuments,
    { swmsDocId: SwmsId },
    ['SWMS document', 'One SWMS document of a subcontractor.'],
    { operation: Rest('GET /subcontractors/{id}/swms/{swmsDocId}', shared) },
  ),
  pageEdge(Subcontractor, 'swms', swmsDocuments, 'subcontractorId', 'The SWMS documents of the subcontractor.', {
    args: [{ projectId: ProjectId }],
  }),
];
