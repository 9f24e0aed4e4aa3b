import { Field, ObjectType } from 'type-graphql';
import { ProfileType } from '../schema/enums.ts';
import { ProfileId, ProjectId, SubcontractorId, WorkerId } from '../schema/scalars.ts';

/*
 * Summaries of a related record. A summary is part of its record and needs only the scope of that record. In GraphQL its edge
 * `details` returns the whole related record, which needs its own scope.
 */

@ObjectType({ description: 'The project that a record belongs to.', simpleResolvers: true })
export class ProjectSummary {
  @Field(() => ProjectId, { description: 'Identifies the project.' })
  id!: string;

  @Field(() => String, { description: 'Name of the project.' })
  name!: string;

  /** For authorization; undefined if not selected. Not a GraphQL field. */
  builderId?: string;
}

@ObjectType({ description: 'The subcontractor that a record belongs to.', simpleResolvers: true })
export class SubcontractorSummary {
  @Field(() => SubcontractorId, { description: 'Identifies the subcontractor.' })
  id!: string;

  @Field(() => String, { description: 'Name of the company.' })
  name!: string;

  /** For authorization; undefined if not selected. Not a GraphQL field. */
  builderId?: string;

  /** Not a GraphQL field. */
  archivedAt?: string | null;
}

@ObjectType({ description: 'The application vendor that sent a record.', simpleResolvers: true })
export class IntegratorSummary {
  @Field(() => String, { description: 'Identifies the integrator.' })
  id!: string;

  @Field(() => String, { description: 'Name of the integrator.' })
  name!: string;
}

@ObjectType({ description: 'The worker that a record is about.', simpleResolvers: true })
export class WorkerSummary {
  @Field(() => WorkerId, { description: 'Identifies the worker; sign-on events name it as `workerId`.' })
  id!: string;

  @Field(() => String, { description: 'First and last name of the worker.' })
  fullName!: string;

  /** For authorization; undefined if not selected. Not a GraphQL field. */
  builderId?: string;
}

@ObjectType({ description: 'The person who filled a timesheet.', simpleResolvers: true })
export class ProfileSummary {
  @Field(() => ProfileId, { description: 'Identifies the person.' })
  id!: string;

  @Field(() => String, { description: 'First and last name of the person.' })
  fullName!: string;

  @Field(() => ProfileType)
  type!: ProfileType;
}
