import type { EntityManager } from '@mikro-orm/postgresql';
import type pg from 'pg';
import {
  type AuditActorType,
  AuditEntry,
  type AuditOrigin,
  type AuditValues,
} from '../../../entities/audit-entry.entity.ts';
import { toSnakeCase } from '../../../entities/columns.ts';
import type { StaffRole } from '../../../entities/user.entity.ts';
import { newId } from '../../../schema/ids.ts';
import { forbidden, rateLimited } from '../../shared/errors.ts';
import { requireStaffAction } from '../access/staff-roles.ts';
import { AUDITED_PROPERTIES, type AuditAction, toObjectType } from './audit-actions.ts';

/** A staff user acts with a role, which must allow the action. */
type AuditActor =
  | { type: Exclude<AuditActorType, 'STAFF'>; id: string | null }
  | { type: 'STAFF'; id: string; role: StaffRole };

/** Who causes a change, and from where. */
export interface AuditSource {
  actor: AuditActor;
  origin: AuditOrigin;
}

/** A change to be recorded. */
export interface AuditedChange extends AuditSource {
  /** ISO 8601, the time of the change. */
  at: string;
  action: AuditAction;
  /** Id of the changed object; `integrator/builder`, `user/builder` and `worker/project` for those without an id of their own. */
  objectId: string;
  builderId?: string | null;
  integratorId?: string | null;
  /** The user or worker whom the entry is about, and whose values an erasure replaces. */
  personId?: string | null;
  /** Properties before the change; others than the audited ones are left out, and those that did not change. */
  before?: object | null;
  after?: object | null;
}

const HOUR_MS = 3_600_000;

/** Changes that users and integrators can repeat at will. The log keeps each for more than a year. LIM-28. */
const LIMITED_ACTIONS: readonly AuditAction[] = [
  ...(['consent.granted', 'webhook_endpoint.created', 'webhook_endpoint.updated'] as const),
  ...(['webhook_endpoint.secret_rotated', 'webhook_endpoint.replayed', 'webhook_endpoint.tested'] as const),
  'tool.called',
];

/** Entries about one kind of object that a user, or a client for one person or none, can cause in an hour by changes that are limited. */
export const LIMITED_CHANGES = 120;

/**
 * Appends an entry to the audit log of the region, in the transaction of the change: both are committed or neither. Properties that are not
 * declared in `AUDITED_PROPERTIES` are left out, so that no secret is recorded. Throws `FORBIDDEN` for a person who may not do it any longer,
 * and `RATE_LIMITED` for a user or client that has made too many such changes. ACC-20 to ACC-22, ACC-27, LIM-28.
 */
export async function recordAudit(transaction: EntityManager, change: AuditedChange): Promise<void> {
  const { actor, action } = change;
  await requireEnabledActor(transaction, change);
  const isLimited = (actor.type === 'USER' || actor.type === 'CLIENT') && LIMITED_ACTIONS.includes(action);
  if (isLimited) await requireChangeBudget(transaction, change);
  await transaction.insert(AuditEntry, toAuditEntry(change));
}

/**
 * Throws `FORBIDDEN` unless the person who acts is still enabled, as a staff user with a role that allows the action. The lock ends with the
 * transaction: an erasure of the person waits for it and finds the name, and this entry with its address, or the change ends here.
 */
async function requireEnabledActor(
  em: EntityManager,
  { actor, action, personId }: Pick<AuditedChange, 'actor' | 'action' | 'personId'>,
): Promise<void> {
  const role = actor.type === 'STAFF' ? actor.role : null;
  if (role) requireStaffAction(role, action);
  const id = role || actor.type === 'USER' ? actor.id : action === 'tool.called' ? personId : null;
  if (!id) return;
  // SQL: MikroORM has no key-share lock, which changes of other columns do not wait for.
  const sql = 'select staff_role as role from app_user where id = ? and disabled_at is null for key share';
  const [user] = await em.execute<{ role: StaffRole | null }[]>(sql, [id]);
  if (!user || (role && user.role !== role)) throw forbidden('The user is disabled or has another role.');
}

async function requireChangeBudget(
  em: EntityManager,
  { actor, action, at, personId = null }: AuditedChange,
): Promise<void> {
  const now = Date.parse(at);
  const where = {
    actorId: actor.id,
    at: { $gt: new Date(now - HOUR_MS).toISOString() },
    objectType: toObjectType(action),
    // The people who use a client have limits of their own.
    ...(actor.type === 'CLIENT' && { personId }),
  };
  const [entry] = await em.find(AuditEntry, where, { orderBy: { at: 'desc' }, limit: 1, offset: LIMITED_CHANGES - 1 });
  if (entry) throw rateLimited(Math.ceil((Date.parse(entry.at) + HOUR_MS - now) / 1000));
}

/** What a staff user read about people. */
export interface PersonalDataRead {
  /** Users and workers whose data was read. */
  personIds: readonly string[];
  /** Records that name people without an identifier. */
  recordIds?: readonly string[];
  /** Kinds of records that were read: `Visit`, `User`. */
  categories: readonly string[];
  /** Null for data of no single builder. */
  builderId: string | null;
}

/**
 * Records that a staff user reads personal data, with one entry for each person, so that each person's entries can be listed and erased,
 * and for each record that names people without an identifier. The caller returns the data after the transaction is committed. Throws
 * `FORBIDDEN` for a role that does not allow `person.read`. ACC-20, ACC-27.
 */
export async function recordPersonalDataRead(
  transaction: EntityManager,
  source: AuditSource,
  at: string,
  { personIds, recordIds = [], categories, builderId }: PersonalDataRead,
): Promise<void> {
  const read = { ...source, at, action: 'person.read', builderId, after: { categories } } as const;
  await requireEnabledActor(transaction, read);
  const entries = [
    ...[...new Set(personIds)].map((personId) => toAuditEntry({ ...read, objectId: personId, personId })),
    ...[...new Set(recordIds)].map((objectId) => toAuditEntry({ ...read, objectId })),
  ];
  await transaction.insertMany(AuditEntry, entries);
}

/** The same in the transaction of a plain connection, such as that of an import. */
export async function recordAuditOnConnection(client: pg.ClientBase, change: AuditedChange): Promise<void> {
  await client.query('insert into audit_entry select * from jsonb_populate_record(null::audit_entry, $1)', [
    toAuditRow(change),
  ]);
}

/** Returns the row of a change as JSON by column. */
export function toAuditRow(change: AuditedChange): string {
  const columns = Object.entries(toAuditEntry(change)).map(([property, value]) => [toSnakeCase(property), value]);
  return JSON.stringify(Object.fromEntries(columns));
}

export function toAuditEntry(change: AuditedChange): AuditEntry {
  const { at, action, actor, origin, objectId } = change;
  const [valuesBefore, valuesAfter] = diffAuditedValues(action, change.before ?? null, change.after ?? null);
  return {
    id: newId('auditEntry', Date.parse(at)),
    at,
    actorType: actor.type,
    actorId: actor.id,
    action,
    objectType: toObjectType(action),
    objectId,
    builderId: change.builderId ?? null,
    integratorId: change.integratorId ?? null,
    personId: change.personId ?? null,
    origin,
    valuesBefore,
    valuesAfter,
  };
}

/** Returns the audited properties, of both sides only those that differ. */
function diffAuditedValues(
  action: AuditAction,
  before: object | null,
  after: object | null,
): [AuditValues | null, AuditValues | null] {
  const properties: readonly string[] = AUDITED_PROPERTIES[toObjectType(action)];
  const pick = (values: object | null) =>
    values &&
    Object.fromEntries(
      properties.map((name) => [name, (values as AuditValues)[name]]).filter(([, value]) => value !== undefined),
    );
  const [old, changed]: (AuditValues | null)[] = [pick(before), pick(after)];
  if (!old || !changed) return [old!, changed!];
  const select = (values: AuditValues, isIncluded: (name: string) => boolean) =>
    Object.fromEntries(Object.entries(values).filter(([name]) => isIncluded(name)));
  const differs = (name: string) => JSON.stringify(old[name]) !== JSON.stringify(changed[name]);
  // What the caller does not give afterwards has not changed.
  return [select(old, (name) => name in after! && differs(name)), select(changed, differs)];
}
