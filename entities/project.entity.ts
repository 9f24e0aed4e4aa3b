import { ProjectStatus } from '../schema/enums.ts';
import { ProjectId } from '../schema/scalars.ts';
import { Builder } from './builder.entity.ts';
import { ChangeIndex, EnumField, IdField, ListIndex, Reference, SearchIndex, TextField, Tracked } from './columns.ts';
import { ColumnField, EntityType } from './entity-type.ts';
import { Integration } from './integration.type.ts';
import { PersonalData } from './personal-data.ts';
import { Publishes } from './published.ts';

/** A building site of a builder (RED-4). */
@EntityType({ scope: 'read:projects', description: 'A building site of a builder.' })
@PersonalData<Project>({ none: ['integrations'], mentions: ['name'] })
@Publishes('project', 'project', { path: '/builders/{builderId}/projects/{id}' })
@ListIndex('builderId')
@ChangeIndex('builderId')
@SearchIndex('project', 'name')
export class Project extends Tracked {
  @IdField(() => ProjectId, { description: 'Identifies the project in paths and filters.' })
  id!: string;

  @Reference(() => Builder)
  builderId!: string;

  @EnumField(() => ProjectStatus)
  status!: ProjectStatus;

  @TextField({ description: 'Name of the project.' })
  name!: string;

  @ColumnField(() => [Integration], 'jsonb', { default: '[]', description: 'The same project in other platforms.' })
  integrations!: Integration[];
}
