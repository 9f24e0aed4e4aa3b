import { Arg, Args, Ctx, FieldResolver, Query, Resolver, Root } from 'type-graphql';
import { Insurance } from '../../entities/insurance.entity.ts';
import { Subcontractor } from '../../entities/subcontractor.entity.ts';
import { SubcontractorSummary } from '../../entities/summaries.type.ts';
import { type Page, PageArgs, PageOf, windowOf } from '../../schema/page.ts';
import { GraphOnly, Rest, Scoped } from '../../schema/rest.ts';
import { BuilderId, InsuranceId, SubcontractorId } from '../../schema/scalars.ts';
import type { Context } from '../context.ts';
import { heldPage, heldRecord } from './held.ts';
import { ExpiringInsuranceArgs, InsuranceArgs, insuranceFilters } from './insurance.input.ts';
import { insurances } from './insurance.reader.ts';
import { owners } from './subcontractor.reader.ts';

const InsurancePage = PageOf(Insurance);

@Resolver(() => Insurance)
export class InsuranceResolver {
  @Query(() => InsurancePage, { description: 'The insurances of a subcontractor.' })
  @Rest('GET /subcontractors/{id}/insurances', { scope: 'read:insurances', tag: 'Subcontractors' })
  async subcontractorInsurances(
    @Arg('id', () => SubcontractorId) id: string,
    @Args() args: InsuranceArgs,
    @Args() page: PageArgs,
    @Ctx() context: Context,
  ): Promise<Page<Insurance>> {
    const where = { subcontractorId: id, ...insuranceFilters(args) };
    const found = await insurances.page(context.database, where, windowOf(page));
    return heldPage(context, id, 'read:insurances', found);
  }

  @Query(() => Insurance, { description: 'One insurance of a subcontractor.' })
  @Rest('GET /subcontractors/{id}/insurances/{insuranceId}', { scope: 'read:insurances', tag: 'Subcontractors' })
  async insurance(
    @Arg('id', () => SubcontractorId) id: string,
    @Arg('insuranceId', () => InsuranceId) insuranceId: string,
    @Ctx() context: Context,
  ): Promise<Insurance> {
    const found = await insurances.one(context.database, insuranceId, { subcontractorId: id });
    return heldRecord(context, id, 'read:insurances', found, 'Insurance');
  }

  @Query(() => InsurancePage, {
    description: "The insurances of all of a builder's subcontractors that are not archived.",
  })
  @Scoped('read:insurances')
  insurances(
    @Arg('builderId', () => BuilderId) builderId: string,
    @Args() args: ExpiringInsuranceArgs,
    @Args() page: PageArgs,
    @Ctx() { database }: Context,
  ): Promise<Page<Insurance>> {
    return insurances.page(database, { builderId, ...insuranceFilters(args) }, windowOf(page));
  }

  @FieldResolver(() => SubcontractorSummary, { description: 'The subcontractor that it covers.' })
  @GraphOnly()
  subcontractor(@Root() insurance: Insurance, @Ctx() { loaders }: Context): Promise<SubcontractorSummary | null> {
    return loaders.one(owners, insurance.subcontractorId);
  }

  @FieldResolver()
  url(@Root() { documentKey, url }: Insurance, @Ctx() { storage }: Context): string | null {
    return documentKey ? storage.downloadUrl(documentKey) : url;
  }
}

@Resolver(() => Subcontractor)
export class SubcontractorInsurancesResolver {
  @FieldResolver(() => InsurancePage, { description: 'Its insurances.' })
  @GraphOnly()
  insurances(
    @Root() subcontractor: Subcontractor,
    @Args() args: ExpiringInsuranceArgs,
    @Args() page: PageArgs,
    @Ctx() { loaders }: Context,
  ): Promise<Page<Insurance>> {
    return loaders.page(insurances, 'subcontractorId', subcontractor.id, insuranceFilters(args), windowOf(page));
  }
}
