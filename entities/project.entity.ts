import { Entity, Property } from '@mikro-orm/decorators/legacy';
import { Field, ObjectType } from 'type-graphql';
import { ProjectStatus } from '../schema/enums.ts';
import { Scoped } from '../schema/rest.ts';
import { ProjectId } from '../schema/scalars.ts';
import { Builder } from './builder.entity.ts';
import { ChangeIndex, EnumField, IdField, ListIndex, Reference, TextField, Tracked } from './columns.ts';
import { Integration } from './integration.type.ts';
import { PersonalData } from './personal-data.ts';
import { Publishes } from './published.ts';

/** A building site of a builder (RED-4). */
@ObjectType({ description: 'A building site of a builder.', simpleResolvers: true })
@Scoped('read:projects')
@Entity()
@PersonalData<Project>({ none: ['integrations'], mentions: ['name'] })
@Publishes('project', 'project', { path: '/builders/{builderId}/projects/{id}' })
@ListIndex('builderId')
@ChangeIndex('builderId')
export class Project extends Tracked {
  @IdField(() => ProjectId, { description: 'Identifies the project in paths and filters.' })
  id!: string;

  @Reference(() => Builder)
  builderId!: string;

  @EnumField(() => ProjectStatus)
  status!: ProjectStatus;

  @TextField({ description: 'Name of the project.' })
  name!: string;

  @Field(() => [Integration], { description: 'The same project in other platforms.' })
  @Property({ type: 'jsonb', default: '[]' })
  integrations!: Integration[];
}
