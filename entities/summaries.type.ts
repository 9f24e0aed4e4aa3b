import { Field, ObjectType } from 'type-graphql';
import { ProfileType } from '../schema/enums.ts';
import { ProfileId, ProjectId, SubcontractorId, WorkerId } from '../schema/scalars.ts';

/*
 * What a record prints of another one that it belongs to. They are part of the record and need no scope beyond its own;
 * the `details` edge that GraphQL adds leads to the whole record, under its scope.
 */

@ObjectType({ description: 'The project that a record belongs to.', simpleResolvers: true })
export class ProjectSummary {
  @Field(() => ProjectId)
  id!: string;

  @Field(() => String)
  name!: string;

  /** Whose it is, where that was read. It is not printed. */
  builderId?: string;
}

@ObjectType({ description: 'The subcontractor that a record belongs to.', simpleResolvers: true })
export class SubcontractorSummary {
  @Field(() => SubcontractorId)
  id!: string;

  @Field(() => String)
  name!: string;

  /** Whose it is, where that was read. It is not printed. */
  builderId?: string;

  /** Null unless it is archived. Read and not printed, like the builder. */
  archivedAt?: string | null;
}

@ObjectType({ description: 'The application vendor that sent a record.', simpleResolvers: true })
export class IntegratorSummary {
  @Field(() => String)
  id!: string;

  @Field(() => String)
  name!: string;
}

@ObjectType({ description: 'The worker that a record is about.', simpleResolvers: true })
export class WorkerSummary {
  @Field(() => WorkerId)
  id!: string;

  @Field(() => String)
  fullName!: string;

  /** Whose it is, where that was read. It is not printed. */
  builderId?: string;
}

@ObjectType({ description: 'The person who filled a timesheet.', simpleResolvers: true })
export class ProfileSummary {
  @Field(() => ProfileId)
  id!: string;

  @Field(() => String)
  fullName!: string;

  @Field(() => ProfileType)
  type!: ProfileType;
}
