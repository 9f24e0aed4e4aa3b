import { Insurance } from '../../entities/insurance.entity.ts';
import { Subcontractor } from '../../entities/subcontractor.entity.ts';
import { DayRangeArgs } from '../../schema/range.ts';
import { Rest, Scoped } from '../../schema/rest.ts';
import { InsuranceId } from '../../schema/scalars.ts';
import { insurances } from '../../src/domain/readers/insurance.reader.ts';
import { builderPage, documentUrl, pageEdge, subcontractorPage, subcontractorRecord } from '../fields.ts';
import { ExpiringInsuranceArgs, InsuranceArgs, toInsuranceFilters } from './insurance.input.ts';

const shared = { scope: 'read:insurances', tag: 'Subcontractors' } as const;

export const insuranceFields = [
  documentUrl(Insurance),
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
