import { Entity, Property } from '@mikro-orm/decorators/legacy';
import { Field, ObjectType } from 'type-graphql';
import { OmittedWhenNull, Scoped } from '../schema/rest.ts';
import { BuilderId } from '../schema/scalars.ts';
import { Id, Timestamped } from './columns.ts';

/** A construction company. Every builder-scoped record belongs to one. Part 2 of the specification. */
@ObjectType({ description: 'A construction company.', simpleResolvers: true })
@Scoped('read:builders')
@Entity()
export class Builder extends Timestamped {
  @Field(() => BuilderId)
  @Id()
  id!: string;

  @Field(() => String)
  @Property({ type: 'text' })
  name!: string;

  @Field(() => String, {
    nullable: true,
    description: 'Signed URL of the company logo; left out when no logo is configured.',
  })
  @OmittedWhenNull()
  @Property({ type: 'text', nullable: true })
  logoUrl!: string | null;

  /** Where the logo stands in our own storage; it wins over a stored address. */
  @Property({ type: 'text', nullable: true })
  logoKey!: string | null;
}
