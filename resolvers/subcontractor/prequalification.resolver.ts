import { Arg, Args, Ctx, Query, Resolver } from 'type-graphql';
import { Prequalification } from '../../entities/prequalification.entity.ts';
import { Subcontractor } from '../../entities/subcontractor.entity.ts';
import { PrequalificationStatus } from '../../schema/enums.ts';
import { createPageType, type Page, PageArgs } from '../../schema/page.ts';
import { Rest } from '../../schema/rest.ts';
import { PrequalificationId, SubcontractorId } from '../../schema/scalars.ts';
import { Selected, type Selection } from '../../schema/selection.ts';
import type { RequestContext } from '../../src/auth/request-context.ts';
import { prequalifications } from '../../src/domain/readers/prequalification.reader.ts';
import { pageEdge } from '../edges.ts';
import { authorizeSubcontractorPage, authorizeSubcontractorRecord } from './subcontractor-authorization.ts';

const PrequalificationPage = createPageType(Prequalification);
const SCOPE = 'read:prequalifications';

@Resolver(() => Prequalification)
export class PrequalificationResolver {
  @Query(() => PrequalificationPage, { description: 'The prequalifications of a subcontractor.' })
  @Rest('GET /subcontractors/{id}/prequalifications', { scope: SCOPE, tag: 'Subcontractors' })
  async subcontractorPrequalifications(
    @Arg('id', () => SubcontractorId) id: string,
    @Arg('status', () => PrequalificationStatus, { nullable: true }) status: PrequalificationStatus | null,
    @Args() page: PageArgs,
    @Selected() selection: Selection | null,
    @Ctx() context: RequestContext,
  ): Promise<Page<Prequalification>> {
    const found = await prequalifications
      .select(selection)
      .findPage(context.database, { subcontractorId: id, status }, page);
    return authorizeSubcontractorPage(context, id, SCOPE, found);
  }

  @Query(() => Prequalification, { description: 'One prequalification of a subcontractor.' })
  @Rest('GET /subcontractors/{id}/prequalifications/{prequalId}', { scope: SCOPE, tag: 'Subcontractors' })
  async prequalification(
    @Arg('id', () => SubcontractorId) id: string,
    @Arg('prequalId', () => PrequalificationId) prequalId: string,
    @Ctx() context: RequestContext,
  ): Promise<Prequalification> {
    const found = await prequalifications.findOne(context.database, prequalId, { subcontractorId: id });
    return authorizeSubcontractorRecord(context, id, SCOPE, found, 'Prequalification');
  }
}

export const prequalificationEdges = [
  pageEdge(
    Subcontractor,
    'prequalifications',
    prequalifications,
    'subcontractorId',
    'The prequalifications of the subcontractor.',
    { args: [{ status: PrequalificationStatus }] },
  ),
];
