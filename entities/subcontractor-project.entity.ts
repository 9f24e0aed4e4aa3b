import { Check, Entity, Index, Property, Unique } from '@mikro-orm/decorators/legacy';
import { SubcontractorStatus } from '../schema/enums.ts';
import { Reference, SerialId } from './columns.ts';
import { PersonalData } from './personal-data.ts';
import { Project } from './project.entity.ts';
import { ChangesParent } from './published.ts';
import { Subcontractor } from './subcontractor.entity.ts';

const STATUS_LITERALS = Object.values(SubcontractorStatus)
  .map((status) => `'${status}'::text`)
  .join(', ');

/** Assignment of a subcontractor to a project of the same builder, with its statuses there (RED-8). */
@Entity()
@PersonalData<SubcontractorProject>({ none: ['statuses'] })
@ChangesParent('subcontractor_project', { column: 'subcontractor_id', parent: 'subcontractor' })
@Unique({ properties: ['subcontractorId', 'projectId'] })
@Index({ properties: ['projectId', 'subcontractorId'] })
@Check({ name: 'subcontractor_project_statuses_check', expression: `statuses <@ ARRAY[${STATUS_LITERALS}]` })
export class SubcontractorProject {
  @SerialId()
  id!: number;

  @Reference(() => Subcontractor)
  subcontractorId!: string;

  @Reference(() => Project)
  projectId!: string;

  @Property({ type: 'text[]', default: [] })
  statuses!: SubcontractorStatus[];
}
