import { createHash } from 'node:crypto';
import { Enum, Index, Property, Unique } from '@mikro-orm/decorators/legacy';
import { Field, Int } from 'type-graphql';
import { ConflictResolution, SignOnConflictCode, SignOnType } from '../schema/enums.ts';
import { Builder } from './builder.entity.ts';
import { ListedAt, ListsChanges } from './change-list.ts';
import {
  EnumField,
  Instant,
  InstantField,
  LargeSerialId,
  ListIndex,
  Reference,
  TextField,
  Timestamped,
} from './columns.ts';
import { ColumnField, EntityType } from './entity-type.ts';
import { Integrator } from './integrator.entity.ts';
import { PersonalData } from './personal-data.ts';
import { Project } from './project.entity.ts';
import { IntegratorSummary, ProjectSummary, WorkerSummary } from './summaries.type.ts';
import { Worker } from './worker.entity.ts';

/**
 * A sign-on event that was rejected with 409, for manual reconciliation. A repeated request is the same conflict (ATT-27, ATT-28).
 */
@EntityType({ scope: 'read:attendance', description: 'A sign-on event that was rejected with 409.' })
@PersonalData<SignOnConflict>({
  of: { worker: 'workerId' },
  none: ['digest', 'sourceEventId', 'sourceSignOnEventId', 'deviceId'],
  people: ['resolvedBy'],
  mentions: ['resolutionReason'],
})
@Unique({ properties: ['integratorId', 'builderId', 'projectId', 'digest'] })
@ListIndex('projectId')
@ListIndex('builderId')
@Index({ name: 'sign_on_conflict_open', properties: ['builderId', 'id'], where: 'resolved_at is null' })
@ListsChanges('sign_on_conflict', 'integratorId', 'projectId', 'id')
export class SignOnConflict extends Timestamped {
  @LargeSerialId()
  id!: number;

  @Reference(() => Integrator)
  integratorId!: string;

  @Reference(() => Builder)
  builderId!: string;

  @Reference(() => Project)
  projectId!: string;

  @Reference(() => Worker)
  workerId!: string;

  /** SHA-256 of the payload, in hexadecimal, because its texts are too long for an index. */
  @Property({ type: 'text' })
  digest!: string;

  @EnumField(() => SignOnConflictCode, { description: 'Code of the latest response.' })
  code!: SignOnConflictCode;

  @ColumnField(() => Int, 'integer', { default: 1, description: 'Number of times that the same request was rejected.' })
  answers!: number;

  @TextField()
  sourceEventId!: string;

  @TextField({ nullable: true })
  sourceSignOnEventId!: string | null;

  @EnumField(() => SignOnType)
  type!: SignOnType;

  @InstantField()
  occurredAt!: string;

  @TextField({ nullable: true })
  deviceId!: string | null;

  @Enum({ items: () => ConflictResolution, nullable: true })
  resolution!: ConflictResolution | null;

  @Property({ type: 'text', nullable: true })
  resolutionReason!: string | null;

  /** Name of the person who resolved it. */
  @Property({ type: 'text', nullable: true })
  resolvedBy!: string | null;

  @Instant({ nullable: true })
  resolvedAt!: string | null;

  @ListedAt()
  listedAt?: string | null;

  @Field(() => IntegratorSummary, { description: 'The integrator that operates the gate.' })
  integrator!: IntegratorSummary;

  @Field(() => WorkerSummary)
  worker!: WorkerSummary;

  @Field(() => ProjectSummary)
  project!: ProjectSummary;
}

/** Returns the digest of a payload, which identifies repeated requests. */
export function conflictDigest(payload: Pick<SignOnConflict, (typeof PAYLOAD)[number]>): string {
  const values = PAYLOAD.map((name) => payload[name]);
  return createHash('sha256').update(JSON.stringify(values)).digest('hex');
}

const PAYLOAD = ['sourceEventId', 'sourceSignOnEventId', 'workerId', 'type', 'occurredAt', 'deviceId'] as const;
