import type { QueryResult } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import { toArrayText } from '../../database/array-text.ts';
import { toComparableText } from '../../shared/comparable-text.ts';
import { canonicalJson, createFingerprint } from '../canonical-json.ts';
import { type Person } from './person.ts';

/** What replaces the person. */
export interface Replacement {
  pseudonym: string;
  email: string;
}

/** The person as statements compare it. */
interface Matches {
  users: string;
  ids: string;
  emails: string;
  /** Builders and names, in their comparable form, that are of nobody else in the builder. */
  builders: string;
  names: string;
}

type Author = Record<string, unknown>;

/** SQL condition that a name of a row's builder is the person's, and of nobody else there. */
const toNamedSql = (builder: string, name: string) =>
  `(${builder}, comparable_text(${name})) in (select * from unnest(:builders::text[], :names::text[]))`;

/**
 * Replaces the person where fields and JSON objects hold who did something: by id, by equal address, and by equal name where nobody else of
 * the builder has it and no id or address beside it is another user's (PRV-3). Returns the number of changed rows by class name.
 */
export async function eraseStructures(
  em: EntityManager,
  person: Person,
  replacement: Replacement,
  now: string,
): Promise<Record<string, number>> {
  const owned = await findOwnNames(em, person);
  const matches: Matches = {
    users: toArrayText(person.ids.user),
    ids: toArrayText(Object.values(person.ids).flat()),
    emails: toArrayText(person.emails.map(toComparableText)),
    builders: toArrayText(owned.map(({ builderId }) => builderId)),
    names: toArrayText(owned.map(({ name }) => name)),
  };
  const bind = (sql: string): [string, string[]] => {
    const values: Record<string, string> = { ...matches, pseudonym: replacement.pseudonym, now };
    const used = [...sql.matchAll(/(?<!:):(\w+)/g)].map(([, name]) => values[name!]!);
    return [sql.replace(/(?<!:):(\w+)/g, '?'), used];
  };
  const update = async (sql: string) => (await em.execute<QueryResult>(...bind(sql), 'run')).affectedRows;
  const eraseActor = async (table: string, column: string, action: string) => {
    const isActor = toActorSql(column, action);
    // The update then sees who else has acted on a row that was locked.
    await update(`select from ${table} t where ${isActor} order by id for update`);
    return update(`update ${table} t set ${column} = :pseudonym, updated_at = :now where ${isActor}`);
  };
  const counts = {
    SignOnVisit: await eraseActor('sign_on_visit', 'closed_by', 'visit.closed'),
    SignOnConflict: await eraseActor('sign_on_conflict', 'resolved_by', 'conflict.resolved'),
    Defect: await update(ERASE_ASSIGNEES),
    PhotoReport: await eraseAuthors(em, await em.execute<{ id: string }[]>(...bind(LOCK_REPORTS)), replacement, now),
  };
  return Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0));
}

/** The audit log says which staff user acted last; the name may have changed since. */
const toActorSql = (column: string, action: string) => `${column} is not null and ${column} <> :pseudonym
  and (comparable_text(t.${column}) = any(:emails::text[]) and not ${toOtherSql(`t.${column}`)}
    or ${toNamedSql('t.builder_id', `t.${column}`)}
    or t.id::text in (select object_id from audit_entry where actor_id = any(:users::text[]) and action = '${action}')
      and (select actor_id from audit_entry where object_id = t.id::text and action = '${action}' order by at desc, id desc limit 1)
        = any(:users::text[]))`;

/** SQL condition that one of the ids and addresses of a record is that of a user who is not the person. */
const toOtherSql = (...values: string[]) => `exists (select from app_user, unnest(array[${values.join()}]) value
  where id <> all(:ids::text[]) and (id = value or comparable_text(email) = comparable_text(value)))`;

/** Ids that other systems gave may be addresses. */
const assigneeSql = `assignee ->> 'id' = any(:ids::text[]) or (assignee ->> 'type' = 'USER'
  and (comparable_text(assignee ->> 'id') = any(:emails::text[]) or ${toNamedSql('t.builder_id', "assignee ->> 'name'")})
  and not ${toOtherSql("assignee ->> 'id'")})`;

/** Ids of the person remain, because other records refer to them; another id beside the person's name is replaced. */
const ERASE_ASSIGNEES = `update defect t set updated_at = :now, assignees = (
    select jsonb_agg(case when ${assigneeSql} then assignee || jsonb_build_object('name', :pseudonym::text, 'id',
        case when assignee ->> 'id' = any(:ids::text[]) then assignee ->> 'id' else :pseudonym::text end) else assignee end order by n)
    from jsonb_array_elements(assignees) with ordinality each (assignee, n))
  where exists (select from jsonb_array_elements(assignees) assignee
    where assignee ->> 'name' is distinct from :pseudonym::text and (${assigneeSql}))`;

/** The search locks the reports, so that it compares what others have changed meanwhile. */
const LOCK_REPORTS = `select id from photo_report t where source_author ->> 'name' <> :pseudonym
  and (mapped_admin_user_id = any(:users::text[]) or source_author ->> 'externalId' = any(:ids::text[])
    or (array[comparable_text(source_author ->> 'email'), comparable_text(source_author ->> 'externalId')] && :emails::text[]
      or ${toNamedSql('builder_id', "source_author ->> 'name'")})
      and not ${toOtherSql('mapped_admin_user_id', "source_author ->> 'externalId'", "source_author ->> 'email'")})
  order by id for update`;

/**
 * Replaces the authors of reports, in their stored content too, whose fingerprint is computed again. They are read one at a time, because each
 * may have 32 MiB.
 */
async function eraseAuthors(
  em: EntityManager,
  found: readonly { id: string }[],
  { pseudonym, email }: Replacement,
  now: string,
): Promise<number> {
  for (const { id } of found) {
    const [row] = await em.execute<{ author: Author; content: Author }[]>(
      'select source_author as author, content from photo_report where id = ?',
      [id],
    );
    const author = { ...row!.author, name: pseudonym, externalId: pseudonym, ...(row!.author.email ? { email } : {}) };
    const content = { ...row!.content, sourceAuthor: author };
    await em.execute(
      `update photo_report set source_author = ?::jsonb, content = ?::jsonb, fingerprint = ?, updated_at = ? where id = ?`,
      [JSON.stringify(author), JSON.stringify(content), createFingerprint(canonicalJson(content)), now, id],
    );
  }
  return found.length;
}

/** Returns the person's names for each builder in which nobody else has them. Staff users act for all builders. */
async function findOwnNames(em: EntityManager, { names, ids, builderIds, isStaff }: Person) {
  const comparable = [...new Set(names.map(toComparableText))].filter((name) => name !== '');
  return em.execute<{ builderId: string; name: string }[]>(
    `select b.id as "builderId", n.name from builder b, unnest(?::text[]) n (name)
      where (? or b.id = any(?::text[])) and not exists (
        select from (
          select builder_id, id, full_name as name from worker
          union all select builder_id, id, full_name from person_profile
          union all select builder_id, id, name from contact
          union all select builder_id, app_user.id, name from app_user join membership on user_id = app_user.id
          union all select b.id, id, name from app_user where staff_role is not null
        ) other where other.builder_id = b.id and comparable_text(other.name) = n.name and other.id <> all(?::text[]))`,
    [toArrayText(comparable), isStaff, toArrayText(builderIds), toArrayText(Object.values(ids).flat())],
  );
}
