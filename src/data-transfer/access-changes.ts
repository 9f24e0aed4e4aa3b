import type pg from 'pg';
import { AUDITED_PROPERTIES } from '../domain/audit/audit-actions.ts';
import type { FileMapping } from './file-mapping.ts';
import { formatColumns, INTO_PROBLEMS, toJoinCondition } from './statements.ts';

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

/** Table of the audited values before the import. Its name is that of a temporary table. */
export const CREATE_ACCESS_TABLE = `create temp table import_access (file text, key text[], before jsonb) on commit drop`;

const isAudited = ({ file }: FileMapping): boolean => file in AUDITED_FILES;

/** Returns SQL of the values that the audit log records of a row. */
function toValuesSql({ file, columns }: FileMapping, alias: string): string {
  const properties: readonly string[] = AUDITED_PROPERTIES[AUDITED_FILES[file as AuditedFile]];
  const values = columns.filter(({ field }) => properties.includes(field));
  return `jsonb_build_object(${values.map(({ field, name, type }) => `'${field}', ${type.json(`${alias}.${name}`)}`).join()})`;
}

/** An address that differs in nothing but its spelling is the stored one, of which mail certainly reaches the person. */
const KEEP_SPELLING = `update import_stage s set email = t.email from app_user t
  where t.id = s.id and s.email <> t.email and comparable_text(s.email) = comparable_text(t.email)`;

/** Addresses of erased people, whom the replay of erasures erases again after the import. */
const ERASED = '%@erased.invalid';

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
  const email = `${INTO_PROBLEMS} select __line, 'email', 'is ' || t.email || ' in the database; --allow-user-changes changes it'
    from import_stage s join app_user t on t.id = s.id
    where t.staff_role is null and s.email <> t.email and t.email not like '${ERASED}'`;
  return allowUserChanges ? [staff] : [KEEP_SPELLING, staff, email];
}

/** Returns SQL that stores the audited values of the file's records that are about to change; null for other files. */
export function toStoreAccessSql(mapping: FileMapping): string | null {
  if (!isAudited(mapping)) return null;
  const { file, table, key } = mapping;
  const before = toValuesSql(mapping, 't');
  return `insert into import_access select '${file}', array[${formatColumns('t', key)}], ${before}
    from ${table} t join import_stage s on ${toJoinCondition('t', 's', key)} where ${before} <> ${toValuesSql(mapping, 's')}`;
}

/** Returns the audited records that the import has changed, without new ones. */
export async function findAccessChanges(
  client: pg.ClientBase,
  mappings: readonly FileMapping[],
): Promise<AccessChange[]> {
  const changes: AccessChange[] = [];
  for (const mapping of mappings.filter(isAudited)) {
    const { file, table, key, builder } = mapping;
    const kind = AUDITED_FILES[file as AuditedFile];
    const builderId = kind === 'builder' ? 't.id' : builder ? `t.${builder.name}` : 'null';
    const isSame = key.map(({ name }, index) => `t.${name} = a.key[${index + 1}]`).join(' and ');
    const after = toValuesSql(mapping, 't');
    const { rows } = await client.query<Omit<AccessChange, 'kind'>>(
      `select a.key, ${builderId} as "builderId", a.before, ${after} as after from import_access a join ${table} t on ${isSame}
        where a.file = '${file}' and a.before <> ${after} order by 1`,
    );
    changes.push(...rows.map((row) => ({ kind, ...row })));
  }
  return changes;
}
