import { Entity, Enum, Index, Property } from '@mikro-orm/decorators/legacy';
import { Id, Instant, SqlTrigger } from './columns.ts';
import { PersonalData } from './personal-data.ts';

/** Who caused an audited change. */
export const AuditActorType = {
  /** An operator at the command line; the id is the name of the operating system's account. */
  OPERATOR: 'OPERATOR',
  /** A staff user in the console. */
  STAFF: 'STAFF',
  /** A user in a browser. */
  USER: 'USER',
  CLIENT: 'CLIENT',
  /** A background job; the id is its name. */
  JOB: 'JOB',
  /** A data import; the id is the name of the operating system's account that started it. */
  IMPORT: 'IMPORT',
} as const;
export type AuditActorType = keyof typeof AuditActorType;

/** Where an audited change came from. Absent members do not apply. */
export interface AuditOrigin {
  /** IP address of a request. */
  address?: string;
  /** `X-Request-Id` of a request. */
  requestId?: string;
  /** Host of a command. */
  host?: string;
  /** Set for a change in the console. */
  application?: 'console';
  /** Command without its arguments, such as `client create`. */
  command?: string;
}

/** Values of audited properties by name. They contain no secrets. */
export type AuditValues = Record<string, unknown>;

/** An entry of the audit log (ACC-20). The table is append-only; ids are not foreign keys, because entries outlive their objects. */
@Entity({ tableName: 'audit_entry' })
@PersonalData<AuditEntry>({
  of: { user: 'personId', worker: 'personId', profile: 'personId', contact: 'personId' },
  erase: 'audit',
  none: ['action', 'objectType', 'builderId', 'integratorId'],
  kept: ['actorId', 'objectId', 'personId', 'origin', 'valuesBefore', 'valuesAfter'],
})
@Index({ properties: ['at', 'id'] })
@Index({ name: 'audit_entry_changes', properties: ['at', 'id'], where: `action <> 'person.read'` })
@Index({ properties: ['actorId', 'at'] })
@Index({ properties: ['objectId', 'at'] })
@Index({ properties: ['builderId', 'at'] })
@Index({ properties: ['personId'] })
@SqlTrigger(
  'create trigger "audit_entry_append_only" before update or delete on "audit_entry" for each statement execute function "audit_entry_reject_change"()',
)
export class AuditEntry {
  @Id()
  id!: string;

  @Instant()
  at!: string;

  @Enum({ items: () => AuditActorType })
  actorType!: AuditActorType;

  @Property({ type: 'text', nullable: true })
  actorId!: string | null;

  /** One of `AUDIT_ACTIONS`. */
  @Property({ type: 'text' })
  action!: string;

  @Property({ type: 'text' })
  objectType!: string;

  @Property({ type: 'text' })
  objectId!: string;

  @Property({ type: 'text', nullable: true })
  builderId!: string | null;

  @Property({ type: 'text', nullable: true })
  integratorId!: string | null;

  /** The user or worker that the entry is about. An erasure replaces this person's values. */
  @Property({ type: 'text', nullable: true })
  personId!: string | null;

  @Property({ type: 'jsonb' })
  origin!: AuditOrigin;

  /** Null for a created object. */
  @Property({ type: 'jsonb', nullable: true })
  valuesBefore!: AuditValues | null;

  /** Null for a deleted object. */
  @Property({ type: 'jsonb', nullable: true })
  valuesAfter!: AuditValues | null;
}
