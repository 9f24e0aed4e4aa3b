import { Field, ObjectType } from 'type-graphql';

@ObjectType({ description: 'The same record in another platform.', simpleResolvers: true })
export class Integration {
  @Field(() => String, { description: 'Name of the other platform.' })
  type!: string;

  @Field(() => String, { description: 'Identifier of the record there.' })
  sourceId!: string;

  @Field(() => String, { description: 'Identifier of the company there.' })
  companyId!: string;
}
