import type pg from 'pg';
import type { FileMapping } from './file-mapping.ts';
import { INTO_PROBLEMS } from './statements.ts';

/*
 * What an import may change about users and their memberships. A staff user is never changed and never becomes a member. The e-mail
 * address of an existing user changes only when the operator allows it. A disabled user stays disabled: see `keepsStoredValue`.
 */

/** A user or membership that the import has changed. */
export interface AccessChange {
  userId: string;
  /** Null for a change of the user. */
  builderId: string | null;
  /** Values as the audit log records them. */
  before: Record<string, unknown>;
  after: Record<string, unknown>;
}

/** Table of the audited values before the import. Its name is that of a temporary table. */
export const CREATE_ACCESS_TABLE = `create temp table import_access
  (user_id text, builder_id text, before jsonb, unique nulls not distinct (user_id, builder_id)) on commit drop`;

const USER_VALUES = `jsonb_build_object('name', name, 'email', email,
  'disabledAt', to_char(disabled_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))`;
const MEMBERSHIP_VALUES = `jsonb_build_object('userId', user_id, 'builderId', builder_id, 'role', role)`;

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
  const { file } = mapping;
  if (file === 'memberships.ndjson') {
    return [
      `${INTO_PROBLEMS} select __line, 'userId', s.user_id || ' is a staff user, who is never a member'
        from import_stage s join app_user t on t.id = s.user_id where t.staff_role is not null`,
    ];
  }
  if (file !== 'users.ndjson') return [];
  const staff = `${INTO_PROBLEMS} select __line, 'id', s.id || ' is a staff user, whom an import never changes'
    from import_stage s join app_user t on t.id = s.id
    where t.staff_role is not null and ${toChangedUserSql(mapping)}`;
  const email = `${INTO_PROBLEMS} select __line, 'email', 'is ' || t.email || ' in the database; --allow-user-changes changes it'
    from import_stage s join app_user t on t.id = s.id
    where t.staff_role is null and s.email <> t.email and t.email not like '${ERASED}'`;
  return allowUserChanges ? [staff] : [KEEP_SPELLING, staff, email];
}

/** Returns SQL that stores the audited values of the file's records before they are written; null for other files. */
export function toStoreAccessSql({ file }: FileMapping): string | null {
  if (file === 'users.ndjson') {
    return `insert into import_access select id, null, ${USER_VALUES} from app_user where id in (select id from import_stage)`;
  }
  if (file === 'memberships.ndjson') {
    return `insert into import_access select user_id, builder_id, ${MEMBERSHIP_VALUES} from membership
      where (user_id, builder_id) in (select user_id, builder_id from import_stage)`;
  }
  return null;
}

/** Returns the users and memberships that the import has changed, without new ones. */
export async function findAccessChanges(client: pg.ClientBase): Promise<AccessChange[]> {
  const { rows } = await client.query<AccessChange>(
    `select user_id as "userId", builder_id as "builderId", before, after from import_access join lateral (
        select ${USER_VALUES} as after from app_user where id = user_id and builder_id is null
        union all select ${MEMBERSHIP_VALUES} from membership m
          where (m.user_id, m.builder_id) = (import_access.user_id, import_access.builder_id)
      ) now on before <> after order by 1, 2`,
  );
  return rows;
}
