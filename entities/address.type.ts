import { Field, ObjectType } from 'type-graphql';

@ObjectType({ description: 'A postal address. Part 2 of the specification.', simpleResolvers: true })
export class Address {
  @Field(() => String, { nullable: true })
  street!: string | null;

  @Field(() => String, { nullable: true })
  suburb!: string | null;

  @Field(() => String, { nullable: true })
  state!: string | null;

  @Field(() => String, { nullable: true })
  postcode!: string | null;

  @Field(() => String, { nullable: true })
  country!: string | null;
}
