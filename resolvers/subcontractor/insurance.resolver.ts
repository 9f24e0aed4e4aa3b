import { Arg, Args, Ctx, FieldResolver, Query, Resolver, Root } from 'type-graphql';
import { Insurance } from '../../entities/insurance.entity.ts';
import { Subcontractor } from '../../entities/subcontractor.entity.ts';
import { createPageType, type Page, PageArgs } from '../../schema/page.ts';
import { DayRangeArgs } from '../../schema/range.ts';
import { Rest, Scoped } from '../../schema/rest.ts';
import { BuilderId, InsuranceId, SubcontractorId } from '../../schema/scalars.ts';
import { Reads, Selected, type Selection } from '../../schema/selection.ts';
import type { RequestContext } from '../../src/auth/request-context.ts';
import { insurances } from '../../src/domain/readers/insurance.reader.ts';
import { pageEdge } from '../edges.ts';
import { ExpiringInsuranceArgs, InsuranceArgs, toInsuranceFilters } from './insurance.input.ts';
import { authorizeSubcontractorPage, authorizeSubcontractorRecord } from './subcontractor-authorization.ts';

const InsurancePage = createPageType(Insurance);

@Resolver(() => Insurance)
export class InsuranceResolver {
  @Query(() => InsurancePage, { description: 'The insurances of a subcontractor.' })
  @Rest('GET /subcontractors/{id}/insurances', { scope: 'read:insurances', tag: 'Subcontractors' })
  async subcontractorInsurances(
    @Arg('id', () => SubcontractorId) id: string,
    @Args() args: InsuranceArgs,
    @Args() page: PageArgs,
    @Selected() selection: Selection | null,
    @Ctx() context: RequestContext,
  ): Promise<Page<Insurance>> {
    const where = { subcontractorId: id, ...toInsuranceFilters(args) };
    const found = await insurances.select(selection).findPage(context.database, where, page);
    return authorizeSubcontractorPage(context, id, 'read:insurances', found);
  }

  @Query(() => Insurance, { description: 'One insurance of a subcontractor.' })
  @Rest('GET /subcontractors/{id}/insurances/{insuranceId}', { scope: 'read:insurances', tag: 'Subcontractors' })
  async insurance(
    @Arg('id', () => SubcontractorId) id: string,
    @Arg('insuranceId', () => InsuranceId) insuranceId: string,
    @Ctx() context: RequestContext,
  ): Promise<Insurance> {
    const found = await insurances.findOne(context.database, insuranceId, { subcontractorId: id });
    return authorizeSubcontractorRecord(context, id, 'read:insurances', found, 'Insurance');
  }

  @Query(() => InsurancePage, {
    description: "The insurances of all of a builder's subcontractors that are not archived.",
  })
  @Scoped('read:insurances')
  insurances(
    @Arg('builderId', () => BuilderId) builderId: string,
    @Args() args: ExpiringInsuranceArgs,
    @Args() days: DayRangeArgs,
    @Args() page: PageArgs,
    @Selected() selection: Selection | null,
    @Ctx() { database }: RequestContext,
  ): Promise<Page<Insurance>> {
    return insurances
      .select(selection)
      .findPage(database, { builderId, ...toInsuranceFilters({ ...args, ...days }) }, page);
  }

  @FieldResolver()
  @Reads('documentKey', 'url')
  url(
    @Root() { documentKey, url }: Pick<Insurance, 'documentKey' | 'url'>,
    @Ctx() { storage }: RequestContext,
  ): string | null {
    return documentKey ? storage.createDownloadUrl(documentKey) : url;
  }
}

export const insuranceEdges = [
  pageEdge(Subcontractor, 'insurances', insurances, 'subcontractorId', 'The insurances of the subcontractor.', {
    args: [ExpiringInsuranceArgs, DayRangeArgs],
    where: toInsuranceFilters,
  }),
];
