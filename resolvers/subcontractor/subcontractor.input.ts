import { ArgsType, Field } from 'type-graphql';

@ArgsType()
export class SubcontractorArgs {
  @Field(() => Boolean, {
    nullable: true,
    defaultValue: false,
    description: "Whether the builder's internal company record is included.",
  })
  includeBuilderCompany?: boolean | null;
}

export function toSubcontractorFilters({ includeBuilderCompany, ...filters }: SubcontractorArgs) {
  return { ...filters, isBuilder: includeBuilderCompany ? null : false };
}
