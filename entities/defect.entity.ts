import { Unique } from '@mikro-orm/decorators/legacy';
import { Field, Int } from 'type-graphql';
import { DefectPriority, DefectStatus } from '../schema/enums.ts';
import { AttachmentId, DefectId } from '../schema/scalars.ts';
import { Builder } from './builder.entity.ts';
import { ChangeIndex, EnumField, IdField, InstantField, ListIndex, Reference, TextField, Tracked } from './columns.ts';
import { DefectAssignee } from './defect-assignee.type.ts';
import { ColumnField, EntityType, ReferenceField } from './entity-type.ts';
import { KeepsTotal } from './list-total.entity.ts';
import { Location } from './location.entity.ts';
import { PersonalData } from './personal-data.ts';
import { Project } from './project.entity.ts';
import { Publishes } from './published.ts';

/** Work on a project that has to be put right (RED-26). */
@EntityType({ scope: 'read:defects', description: 'Defective work on a project.' })
@PersonalData<Defect>({ none: ['photoIds'], people: ['assignees'], mentions: ['title', 'description'] })
@Publishes('defect', 'defect', { path: '/builders/{builderId}/defects/{id}', project: true })
@KeepsTotal('defect', 'status')
@Unique({ properties: ['projectId', 'identifier'] })
@ListIndex('builderId', { include: ['projectId', 'status'] })
@ListIndex('builderId', { secondFilter: 'status', include: ['projectId'] })
@ListIndex('projectId', { include: ['builderId', 'status'] })
@ChangeIndex('builderId')
export class Defect extends Tracked {
  @IdField(() => DefectId, { description: 'Identifies the defect in paths.' })
  id!: string;

  @ColumnField(() => Int, 'integer', { description: 'Number of the defect within its project.' })
  identifier!: number;

  @ReferenceField(() => Builder, { description: 'The builder that the defect belongs to.' })
  builderId!: string;

  @ReferenceField(() => Project, { description: 'The project that the defect is on.' })
  projectId!: string;

  @TextField({ description: 'Short description of the defect.' })
  title!: string;

  @TextField({ nullable: true, description: 'Full description of the defect.' })
  description!: string | null;

  @EnumField(() => DefectStatus)
  status!: DefectStatus;

  @EnumField(() => DefectPriority)
  priority!: DefectPriority;

  @InstantField({ nullable: true, description: 'Due date.' })
  dueDate!: string | null;

  @Reference(() => Location, { nullable: true })
  locationId!: string | null;

  @Field(() => Location, { nullable: true, description: 'Place of the defect on the project.' })
  location!: Location | null;

  @ColumnField(() => [DefectAssignee], 'jsonb', {
    default: '[]',
    description: 'Assignees: people, companies and tags.',
  })
  assignees!: DefectAssignee[];

  @ColumnField(() => [AttachmentId], 'text[]', { default: [], description: 'The photos of the defect.' })
  photoIds!: string[];

  @InstantField({ nullable: true, description: 'When it was closed.' })
  closedAt!: string | null;
}
