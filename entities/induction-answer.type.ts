import { Field, ObjectType } from 'type-graphql';

@ObjectType({ description: 'One field of a filled induction form.', simpleResolvers: true })
export class InductionAnswer {
  @Field(() => String, { description: 'Label of the form field.' })
  name!: string;

  @Field(() => String, { description: 'Kind of the form field, such as `text`.' })
  type!: string;

  @Field(() => String, { nullable: true, description: 'The answer as text; null when the field is empty.' })
  value!: string | null;
}
