import { createHash } from 'node:crypto';
import { Enum, Index, Property, Unique } from '@mikro-orm/decorators/legacy';
import { Int } from 'type-graphql';
import { ConflictResolution, SignOnConflictCode } from '../schema/enums.ts';
import { ListsChanges } from './change-list.ts';
import { EnumField, Instant, LargeSerialId, ListIndex } from './columns.ts';
import { ColumnField, EntityType } from './entity-type.ts';
import { GateEvent } from './gate-record.ts';
import { PersonalData } from './personal-data.ts';

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
@ListsChanges('sign_on_conflict', ['integratorId', 'projectId'])
export class SignOnConflict extends GateEvent {
  @LargeSerialId()
  id!: number;

  /** SHA-256 of the payload, in hexadecimal, because its texts are too long for an index. */
  @Property({ type: 'text' })
  digest!: string;

  @EnumField(() => SignOnConflictCode, { description: 'Code of the latest response.' })
  code!: SignOnConflictCode;

  @ColumnField(() => Int, 'integer', { default: 1, description: 'Number of times that the same request was rejected.' })
  answers!: number;

  @Enum({ items: () => ConflictResolution, nullable: true })
  resolution!: ConflictResolution | null;

  @Property({ type: 'text', nullable: true })
  resolutionReason!: string | null;

  /** Name of the person who resolved it. */
  @Property({ type: 'text', nullable: true })
  resolvedBy!: string | null;

  @Instant({ nullable: true })
  resolvedAt!: string | null;
}

/** Returns the digest of a payload, which identifies repeated requests. */
export function conflictDigest(payload: Pick<SignOnConflict, (typeof PAYLOAD)[number]>): string {
  const values = PAYLOAD.map((name) => payload[name]);
  return createHash('sha256').update(JSON.stringify(values)).digest('hex');
}

const PAYLOAD = ['sourceEventId', 'sourceSignOnEventId', 'workerId', 'type', 'occurredAt', 'deviceId'] as const;
