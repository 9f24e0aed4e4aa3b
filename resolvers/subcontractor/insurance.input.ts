import { ArgsType, Field } from 'type-graphql';
import { InsuranceStatus, InsuranceType } from '../../schema/enums.ts';
import { type DayRangeArgs, toDayRange } from '../../schema/range.ts';
import { FilterText, Timestamp } from '../../schema/scalars.ts';
import { invalidField } from '../../src/shared/errors.ts';

@ArgsType()
export class InsuranceArgs {
  @Field(() => InsuranceType, { nullable: true })
  type?: InsuranceType | null;

  @Field(() => InsuranceStatus, { nullable: true })
  status?: InsuranceStatus | null;

  @Field(() => FilterText, { nullable: true, description: "The builder's own name of a type, compared exactly." })
  customType?: string | null;
}

/** Arguments of GraphQL, which the REST contract does not have. */
@ArgsType()
export class ExpiringInsuranceArgs extends InsuranceArgs {
  @Field(() => Timestamp, { nullable: true, description: 'Only cover that ends then or later.' })
  expiresAfter?: string | null;

  @Field(() => Timestamp, { nullable: true, description: 'Only cover that ends earlier than then.' })
  expiresBefore?: string | null;
}

/** Returns the filters. Throws 400 if a range of expiry ends before it starts. */
export function toInsuranceFilters(args: ExpiringInsuranceArgs & DayRangeArgs) {
  const { type, status, customType, expiresAfter, expiresBefore } = args;
  if (expiresAfter && expiresBefore && expiresBefore < expiresAfter) {
    throw invalidField('expiresBefore', 'must not be before expiresAfter');
  }
  return { type, status, customType, expiresAfter, expiresBefore, ...toDayRange(args) };
}
