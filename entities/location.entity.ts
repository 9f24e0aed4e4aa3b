import { Entity, Index, Property } from '@mikro-orm/decorators/legacy';
import { Field, ObjectType } from 'type-graphql';
import { LocationId } from '../schema/scalars.ts';
import { Builder } from './builder.entity.ts';
import { Id, Reference } from './columns.ts';
import { Project } from './project.entity.ts';

/** A location within a project, such as a level or a room. It is part of a defect and needs no scope of its own. */
@ObjectType({ description: 'A place within a project.', simpleResolvers: true })
@Entity({ tableName: 'project_location' })
@Index({ properties: ['projectId'] })
export class Location {
  @Field(() => LocationId, { description: 'Identifies the place.' })
  @Id()
  id!: string;

  @Reference(() => Builder)
  builderId!: string;

  @Reference(() => Project)
  projectId!: string;

  @Field(() => String, { description: 'Name of the place, such as a level or a room.' })
  @Property({ type: 'text' })
  name!: string;
}
