import { Field, ObjectType } from 'type-graphql';

@ObjectType({ description: 'A postal address.', simpleResolvers: true })
export class Address {
  @Field(() => String, { nullable: true, description: 'Street and number.' })
  street!: string | null;

  @Field(() => String, { nullable: true, description: 'Suburb or town.' })
  suburb!: string | null;

  @Field(() => String, { nullable: true, description: 'State or territory, such as `NSW`.' })
  state!: string | null;

  @Field(() => String, { nullable: true, description: 'Postcode, as text.' })
  postcode!: string | null;

  @Field(() => String, { nullable: true, description: 'Name of the country.' })
  country!: string | null;
}
