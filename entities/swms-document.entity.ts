import { Entity, Enum, Property } from '@mikro-orm/decorators/legacy';
import { Field, ObjectType } from 'type-graphql';
import { SwmsStatus } from '../schema/enums.ts';
import { Scoped } from '../schema/rest.ts';
import { SwmsId } from '../schema/scalars.ts';
import { Builder } from './builder.entity.ts';
import { Id, ListIndex, Reference, Timestamped } from './columns.ts';
import { Project } from './project.entity.ts';
import { Subcontractor } from './subcontractor.entity.ts';

/** A safe work method statement that a subcontractor handed in (RED-12). */
@ObjectType({ description: 'A safe work method statement document of a subcontractor.', simpleResolvers: true })
@Scoped('read:swms')
@Entity()
@ListIndex('subcontractorId')
export class SwmsDocument extends Timestamped {
  @Field(() => SwmsId, { description: 'Identifies the document in paths.' })
  @Id()
  id!: string;

  @Reference(() => Builder)
  builderId!: string;

  @Reference(() => Subcontractor)
  subcontractorId!: string;

  /** Null if the document is valid for all projects. */
  @Reference(() => Project, { nullable: true })
  projectId!: string | null;

  @Field(() => String, { description: 'Title of the document.' })
  @Property({ type: 'text' })
  name!: string;

  @Field(() => SwmsStatus)
  @Enum({ items: () => SwmsStatus })
  status!: SwmsStatus;

  @Field(() => String, { nullable: true, description: 'HTTPS address of the document.' })
  @Property({ type: 'text', nullable: true })
  url!: string | null;

  /** Key of the document in the storage; takes precedence over `url`. */
  @Property({ type: 'text', nullable: true })
  documentKey!: string | null;
}
