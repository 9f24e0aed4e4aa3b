import { Ctx, FieldResolver, Resolver, Root } from 'type-graphql';
import { Insurance } from '../../entities/insurance.entity.ts';
import { Subcontractor } from '../../entities/subcontractor.entity.ts';
import { DayRangeArgs } from '../../schema/range.ts';
import { Rest, Scoped } from '../../schema/rest.ts';
import { InsuranceId } from '../../schema/scalars.ts';
import { Reads } from '../../schema/selection.ts';
import type { RequestContext } from '../../src/auth/request-context.ts';
import { insurances } from '../../src/domain/readers/insurance.reader.ts';
import { builderPage, pageEdge, subcontractorPage, subcontractorRecord } from '../fields.ts';
import { ExpiringInsuranceArgs, InsuranceArgs, toInsuranceFilters } from './insurance.input.ts';

@Resolver(() => Insurance)
export class InsuranceResolver {
  @FieldResolver()
  @Reads('documentKey', 'url')
  url(
    @Root() { documentKey, url }: Pick<Insurance, 'documentKey' | 'url'>,
    @Ctx() { storage }: RequestContext,
  ): string | null {
    return documentKey ? storage.createDownloadUrl(documentKey) : url;
  }
}

const shared = { scope: 'read:insurances', tag: 'Subcontractors' } as const;

export const insuranceFields = [
  subcontractorPage('subcontractorInsurances', insurances, 'The insurances of a subcontractor.', {
    operation: Rest('GET /subcontractors/{id}/insurances', shared),
    args: [InsuranceArgs],
    where: toInsuranceFilters,
  }),
  subcontractorRecord(
    'insurance',
    insurances,
    { insuranceId: InsuranceId },
    ['Insurance', 'One insurance of a subcontractor.'],
    { operation: Rest('GET /subcontractors/{id}/insurances/{insuranceId}', shared) },
  ),
  builderPage('insurances', insurances, "The insurances of all of a builder's subcontractors that are not archived.", {
    operation: Scoped('read:insurances'),
    args: [ExpiringInsuranceArgs, DayRangeArgs],
    where: toInsuranceFilters,
  }),
  pageEdge(Subcontractor, 'insurances', insurances, 'subcontractorId', 'The insurances of the subcontractor.', {
    args: [ExpiringInsuranceArgs, DayRangeArgs],
    where: toInsuranceFilters,
  }),
];
