import { Index } from '@mikro-orm/decorators/legacy';
import { LocationId } from '../schema/scalars.ts';
import { Builder } from './builder.entity.ts';
import { IdField, Reference, TextField } from './columns.ts';
import { EntityType } from './entity-type.ts';
import { PersonalData } from './personal-data.ts';
import { Project } from './project.entity.ts';

/** A location within a project, such as a level or a room. It is part of a defect and needs no scope of its own. */
@EntityType({ tableName: 'project_location', description: 'A place within a project.' })
@PersonalData<Location>({ mentions: ['name'] })
@Index({ properties: ['projectId'] })
export class Location {
  @IdField(() => LocationId, { description: 'Identifies the place.' })
  id!: string;

  @Reference(() => Builder)
  builderId!: string;

  @Reference(() => Project)
  projectId!: string;

  @TextField({ description: 'Name of the place, such as a level or a room.' })
  name!: string;
}
