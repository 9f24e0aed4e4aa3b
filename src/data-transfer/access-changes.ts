import type pg from 'pg';
import { NO_DOMAIN } from '../domain/access/access-values.ts';
import { AUDITED_PROPERTIES } from '../domain/audit/audit-actions.ts';
import type { FileMapping } from './file-mapping.ts';
import { formatColumns, INTO_PROBLEMS } from './statements.ts';
import { DataTransferError } from './transaction.ts';

/*
 * What an import may change about users, memberships and other access. A staff user is never changed, never becomes a member and is not the
 * author of a report. The e-mail address of an existing user changes only when the operator allows it. A disabled user stays disabled: see
 * `keepsStoredValue`.
 */

/** Files with records whose changes the audit log has one by one, and their kind there. */
const AUDITED_FILES = {
  'integrators.ndjson': 'integrator',
  'builders.ndjson': 'builder',
  'users.ndjson': 'user',
  'memberships.ndjson': 'membership',
  'site-accesses.ndjson': 'site_access',
} as const;

type AuditedFile = keyof typeof AUDITED_FILES;

/** A record of an audited file that the import has changed. */
export interface AccessChange {
  kind: (typeof AUDITED_FILES)[AuditedFile];
  /** Ids that identify the record. */
  key: string[];
  builderId: string | null;
  /** Values as the audit log records them. */
  before: Record<string, unknown>;
  after: Record<string, unknown>;
}

/** Table of the audited records that the import has changed. Its name is that of a temporary table. */
export const CREATE_ACCESS_TABLE = `create temp table import_access
  (position serial, kind text, key text[], "builderId" text, before jsonb, after jsonb) on commit drop`;

/** Returns SQL of the values that the audit log records of a row. */
function toValuesSql({ file, columns }: FileMapping, alias: string): string {
  const properties: readonly string[] = AUDITED_PROPERTIES[AUDITED_FILES[file as AuditedFile]];
  const values = columns.filter(({ field }) => properties.includes(field));
  return `jsonb_build_object(${values.map(({ field, name, type }) => `'${field}', ${type.json(`${alias}.${name}`)}`).join()})`;
}

/** An address that differs in nothing but its spelling is the stored one, of which mail certainly reaches the person. */
const KEEP_SPELLING = `update import_stage s set email = t.email from app_user t
  where t.id = s.id and s.email <> t.email and comparable_text(s.email) = comparable_text(t.email)`;

/** Returns the SQL condition of staged users `s` that differ from the stored ones `t`. */
function toChangedUserSql({ columns }: FileMapping): string {
  const stored = columns.map(({ name }) => `t.${name}`);
  const written = columns.map(({ name, keepsStoredValue }) =>
    keepsStoredValue ? `coalesce(s.${name}, t.${name})` : `s.${name}`,
  );
  return `(${written.join()}) is distinct from (${stored.join()})`;
}

/** Returns SQL that locks the users whom the import changes, so that none is disabled between the checks and the write; null for other files. */
export function toLockUsersSql(mapping: FileMapping): string | null {
  if (mapping.file !== 'users.ndjson') return null;
  return `select from app_user t join import_stage s on s.id = t.id where ${toChangedUserSql(mapping)}
    order by t.id for no key update of t`;
}

/** Returns SQL that finds rows which the import must not write. */
export function toAccessProblemsSql(mapping: FileMapping, allowUserChanges: boolean): string[] {
  const { file, references } = mapping;
  if (file !== 'users.ndjson') {
    return references
      .filter(({ parent }) => parent.file === 'users.ndjson')
      .map(
        ({ column: { field, name } }) =>
          `${INTO_PROBLEMS} select __line, '${field}', s.${name} || ' is a staff user, who is never a member'
            from import_stage s join app_user t on t.id = s.${name} where t.staff_role is not null`,
      );
  }
  const staff = `${INTO_PROBLEMS} select __line, 'id', s.id || ' is a staff user, whom an import never changes'
    from import_stage s join app_user t on t.id = s.id
    where t.staff_role is not null and ${toChangedUserSql(mapping)}`;
  // The replay of erasures erases the others again.
  const email = `${INTO_PROBLEMS} select __line, 'email', 'is ' || t.email || ' in the database; --allow-user-changes changes it'
    from import_stage s join app_user t on t.id = s.id
    where t.staff_role is null and s.email <> t.email and t.email <> t.id || '${NO_DOMAIN}'`;
  return allowUserChanges ? [staff] : [KEEP_SPELLING, staff, email];
}

/** Returns what the statement that writes records returns and does besides, to store those whose audited values it changes. */
export function toStoreAccessSql(mapping: FileMapping): { returning: string; cte: string } {
  const { file, key, builder } = mapping;
  if (!(file in AUDITED_FILES)) return { returning: '', cte: '' };
  const kind = AUDITED_FILES[file as AuditedFile];
  const builderId = kind === 'builder' ? 'new.id' : builder ? `new.${builder.name}` : 'null';
  return {
    returning: `, array[${formatColumns('new', key)}] as access_key, ${builderId} as access_builder,
      ${toValuesSql(mapping, 'old')} as access_before, ${toValuesSql(mapping, 'new')} as access_after`,
    cte: `, audited as (insert into import_access (kind, key, "builderId", before, after)
      select '${kind}', access_key, access_builder, access_before, access_after
      from written where not fresh and access_before <> access_after)`,
  };
}

/** A user who was as in the folder when the import checked it, and was changed before it wrote (others are locked between), or is foreign since. */
const toChangedMeanwhileSql = (foreign: string) => `
  select from import_access join app_user t on t.id = key[1] where kind = 'user' and (
    t.staff_role is not null or before ->> 'disabledAt' <> '' and t.disabled_at is null
    or not $1 and before ->> 'email' <> after ->> 'email' and before ->> 'email' <> key[1] || '${NO_DOMAIN}'
    or t.id in (${foreign}))`;

/** Returns the audited records that the import has changed, without new ones. @param foreign SQL of the ids of users whom it may not change. */
export async function findAccessChanges(
  client: pg.ClientBase,
  allowUserChanges = false,
  foreign = 'null',
): Promise<AccessChange[]> {
  if ((await client.query(toChangedMeanwhileSql(foreign), [allowUserChanges])).rowCount! > 0)
    throw new DataTransferError('A user was changed during the import: import again.');
  return (await client.query('select kind, key, "builderId", before, after from import_access order by position')).rows;
}
