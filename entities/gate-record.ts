import { Field, ObjectType } from 'type-graphql';
import { SignOnType } from '../schema/enums.ts';
import { Builder } from './builder.entity.ts';
import { EnumField, InstantField, Reference, TextField, Timestamped } from './columns.ts';
import { Integrator } from './integrator.entity.ts';
import { Project } from './project.entity.ts';
import { IntegratorSummary, ProjectSummary, WorkerSummary } from './summaries.type.ts';
import { Worker } from './worker.entity.ts';

/** What gates report of a worker on a site. */
@ObjectType({ simpleResolvers: true })
export abstract class GateRecord extends Timestamped {
  @Reference(() => Builder)
  builderId!: string;

  @Reference(() => Project)
  projectId!: string;

  @Reference(() => Worker)
  workerId!: string;

  @Field(() => WorkerSummary)
  worker!: WorkerSummary;

  @Field(() => ProjectSummary)
  project!: ProjectSummary;
}

/** An event as a gate sent it. */
@ObjectType({ simpleResolvers: true })
export abstract class GateEvent extends GateRecord {
  @Reference(() => Integrator)
  integratorId!: string;

  @TextField({ description: 'Identity of the physical event at the gate.' })
  sourceEventId!: string;

  @TextField({ nullable: true, description: 'On a sign-off: identity of the sign-on that it ends.' })
  sourceSignOnEventId!: string | null;

  @EnumField(() => SignOnType)
  type!: SignOnType;

  @InstantField({ description: 'Time of the event at the gate.' })
  occurredAt!: string;

  @TextField({ nullable: true, description: 'Identifier of the gate.' })
  deviceId!: string | null;

  @Field(() => IntegratorSummary, { description: 'The integrator that operates the gate.' })
  integrator!: IntegratorSummary;
}
