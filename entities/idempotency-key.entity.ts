import { Entity, Index, Property } from '@mikro-orm/decorators/legacy';
import { Id, Instant } from './columns.ts';
import { PersonalData } from './personal-data.ts';

/** An `Idempotency-Key` that has created a record (HDR-18). The retention job deletes it after a day. */
@Entity({ tableName: 'idempotency_key' })
@PersonalData<IdempotencyKey>({ none: ['fingerprint', 'recordId'] })
@Index({ properties: ['createdAt'] })
export class IdempotencyKey {
  /** SHA-256 of integrator, user, operation and key. */
  @Id()
  digest!: string;

  /** SHA-256 of the request. */
  @Property({ type: 'text' })
  fingerprint!: string;

  /** Not a reference: it outlives the record. */
  @Property({ type: 'text' })
  recordId!: string;

  @Instant()
  createdAt!: string;
}
