import { Check, Entity, Index, Property, Unique } from '@mikro-orm/decorators/legacy';
import { SubcontractorStatus } from '../schema/enums.ts';
import { Reference } from './columns.ts';
import { Project } from './project.entity.ts';
import { Subcontractor } from './subcontractor.entity.ts';

const known = Object.values(SubcontractorStatus)
  .map((status) => `'${status}'::text`)
  .join(', ');

/** A subcontractor's place on a project of the same builder, and what it has reached there (RED-8). */
@Entity()
@Unique({ properties: ['subcontractorId', 'projectId'] })
@Index({ properties: ['projectId', 'subcontractorId'] })
@Check({ name: 'subcontractor_project_statuses_check', expression: `statuses <@ ARRAY[${known}]` })
export class SubcontractorProject {
  @Property({ type: 'integer', primary: true, autoincrement: true })
  id!: number;

  @Reference(() => Subcontractor)
  subcontractorId!: string;

  @Reference(() => Project)
  projectId!: string;

  @Property({ type: 'text[]', default: [] })
  statuses!: SubcontractorStatus[];
}
