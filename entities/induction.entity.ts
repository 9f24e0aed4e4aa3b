import { Property, Unique } from '@mikro-orm/decorators/legacy';
import { Field, Int, ObjectType } from 'type-graphql';
import { InductionStatus, InductionType } from '../schema/enums.ts';
import { Scoped } from '../schema/rest.ts';
import { InductionId } from '../schema/scalars.ts';
import { ChangesRoster } from './change-list.ts';
import { ChangeIndex, EnumField, IdField, ListIndex, Reference } from './columns.ts';
import { ColumnField, EntityType } from './entity-type.ts';
import { InductionAnswer } from './induction-answer.type.ts';
import { KeepsTotal } from './list-total.entity.ts';
import { PersonalData } from './personal-data.ts';
import { Project } from './project.entity.ts';
import { Publishes } from './published.ts';
import { SubcontractorRecord } from './subcontractor.entity.ts';
import { ProjectSummary, SubcontractorSummary, WorkerSummary } from './summaries.type.ts';
import { Worker } from './worker.entity.ts';

/** A worker's introduction to a project (RED-20). */
@EntityType({ scope: 'read:inductions', description: "A worker's introduction to a project." })
@PersonalData<Induction>({ of: { worker: 'workerId' }, cleared: ['data'] })
@Publishes('induction', 'induction', {
  path: '/builders/{builderId}/projects/{projectId}/inductions/{id}',
  project: true,
})
@ChangesRoster('induction', ['worker_id', 'worker_id'], ['project_id', 'status', 'created_at'], ['insert', 'delete'])
@KeepsTotal('induction', 'status', { parent: 'subcontractor_id' })
@Unique({ properties: ['projectId', 'identifier'] })
@ListIndex('builderId', { include: ['projectId', 'status'] })
@ListIndex('builderId', { secondFilter: 'status', include: ['projectId'] })
@ListIndex('projectId', { include: ['builderId', 'status'] })
@ListIndex('subcontractorId', { include: ['builderId', 'projectId', 'status'] })
@ListIndex('workerId')
@ChangeIndex('subcontractorId')
@ChangeIndex('projectId')
export class Induction extends SubcontractorRecord {
  @IdField(() => InductionId, {
    description: 'Identifies the induction in paths, which also accept its `identifier` within the project.',
  })
  id!: string;

  @Reference(() => Project)
  projectId!: string;

  @Reference(() => Worker)
  workerId!: string;

  @ColumnField(() => Int, 'integer', { description: 'Number of the induction, unique in its project.' })
  identifier!: number;

  @EnumField(() => InductionType)
  type!: InductionType;

  @EnumField(() => InductionStatus)
  status!: InductionStatus;

  @Field(() => ProjectSummary)
  project!: ProjectSummary;

  @Field(() => WorkerSummary)
  worker!: WorkerSummary;

  @Field(() => SubcontractorSummary)
  subcontractor!: SubcontractorSummary;

  /** Answers of the worker; only selected for `InductionDetails`. */
  @Property({ type: 'jsonb', default: '[]', lazy: true })
  data!: InductionAnswer[];
}

@ObjectType({ description: "An induction with the worker's answers.", simpleResolvers: true })
@Scoped('read:inductions')
@PersonalData<InductionDetails>({ of: { worker: 'workerId' }, cleared: ['data'] })
export class InductionDetails extends Induction {
  @Field(() => [InductionAnswer], { description: 'Answers of the worker, in the order of the form.' })
  override data!: InductionAnswer[];
}
