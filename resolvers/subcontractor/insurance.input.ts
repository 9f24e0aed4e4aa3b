import { ArgsType, Field } from 'type-graphql';
import { InsuranceStatus, InsuranceType } from '../../schema/enums.ts';
import { type DayRangeArgs, NotBefore, toDayRange } from '../../schema/range.ts';
import { FilterText, Timestamp } from '../../schema/scalars.ts';

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
  @NotBefore('expiresAfter', 'expiresBefore')
  expiresBefore?: string | null;
}

export function toInsuranceFilters(args: ExpiringInsuranceArgs & DayRangeArgs) {
  const { type, status, customType, expiresAfter, expiresBefore } = args;
  return { type, status, customType, expiresAfter, expiresBefore, ...toDayRange(args) };
}
