import { Unique } from '@mikro-orm/decorators/legacy';
import { Field } from 'type-graphql';
import { Builder } from './builder.entity.ts';
import { ListsChanges } from './change-list.ts';
import { InstantField, Reference, SerialId } from './columns.ts';
import { EntityType } from './entity-type.ts';
import { PersonalData } from './personal-data.ts';
import { Project } from './project.entity.ts';
import { ProjectSummary } from './summaries.type.ts';
import { Worker } from './worker.entity.ts';

/** Present or past permission of a worker to enter the site of a project (ATT-7). */
@EntityType({
  scope: 'read:inductions',
  description: 'Current or past permission of a worker to enter the site of a project.',
})
@PersonalData<SiteAccess>({ of: { worker: 'workerId' } })
@Unique({ properties: ['workerId', 'projectId'] })
@ListsChanges('site_access', ['projectId'], 'workerId')
export class SiteAccess {
  @SerialId()
  id!: number;

  @Reference(() => Builder)
  builderId!: string;

  @Reference(() => Worker)
  workerId!: string;

  @Reference(() => Project)
  projectId!: string;

  @InstantField()
  grantedAt!: string;

  @InstantField({ nullable: true, description: 'When the access ended; null while it is valid.' })
  revokedAt!: string | null;

  @Field(() => ProjectSummary)
  project!: ProjectSummary;
}
