import type { EntityManager } from '@mikro-orm/postgresql';
import type { PersonKind } from '../../../entities/personal-data.ts';
import { User } from '../../../entities/user.entity.ts';
import { ID_PREFIXES } from '../../../schema/ids.ts';
import { toArrayText } from '../../database/array-text.ts';
import { toComparableText } from '../../shared/comparable-text.ts';
import { InvalidInputError } from '../access/invalid-input-error.ts';
import { createPatterns, isNaming, toNameForms } from './name-patterns.ts';
import { type PersonalTable, quote } from './personal-tables.ts';

export const PERSON_KINDS = ['user', 'worker', 'profile', 'contact'] as const satisfies readonly PersonKind[];

/** Ids of the records of one person, by kind. */
export type PersonIds = Record<PersonKind, string[]>;

/** One person: the records of it, and what they say. */
export interface Person {
  ids: PersonIds;
  names: string[];
  emails: string[];
  /** Builders whose records may name the person. */
  builderIds: string[];
  /** Whether it is a staff user, whom the records of every builder may name. */
  isStaff: boolean;
}

/** Ids that are no record of a person in the region. */
export class UnknownPersonError extends InvalidInputError {
  constructor(ids: readonly string[]) {
    super('ids', `there is no user, worker, profile or contact ${ids.join(', ')}`);
  }
}

/** Groups ids by the kind of their record. Throws `UnknownPersonError` for ids of other kinds. */
export function groupPersonIds(ids: readonly string[]): PersonIds {
  const grouped: PersonIds = { user: [], worker: [], profile: [], contact: [] };
  const unknown = ids.filter((id) => {
    const kind = PERSON_KINDS.find((each) => id.startsWith(`${ID_PREFIXES[each]}_`));
    if (kind && !grouped[kind].includes(id)) grouped[kind].push(id);
    return !kind;
  });
  if (unknown.length > 0) throw new UnknownPersonError(unknown);
  return grouped;
}

/** A record of a person. */
interface PersonRecord {
  id: string;
  kind: PersonKind;
  builderId: string | null;
  name: string;
  email: string | null;
}

/**
 * Selects the records of a kind.
 *
 * @param where returns the condition, of SQL expressions of the name and the e-mail address
 */
async function selectPeople(
  em: EntityManager,
  tables: readonly PersonalTable[],
  kind: PersonKind,
  where: (name: string, email: string) => string,
  values: string[],
): Promise<PersonRecord[]> {
  const { table, declaration, columnOf } = tables.find(({ declaration: { of } }) => of?.[kind] === 'id')!;
  const toSql = (property = '') => (columnOf(property) ? quote(columnOf(property)!) : 'null');
  const [name, email] = [toSql(declaration.name![0]), toSql(declaration.email?.[0])];
  const rows = await em.execute<Omit<PersonRecord, 'kind'>[]>(
    `select id, ${toSql('builderId')} as "builderId", ${name} as name, ${email} as email
      from ${quote(table)} where ${where(name, email)} order by id`,
    values,
  );
  return rows.map((row) => ({ ...row, kind }));
}

/** Builders of users: of their memberships, and those that they have left and whose records name them by id, or anybody by address. */
const FORMER_BUILDERS = `with address as (select unnest(?::text[]) as email
    union select comparable_text(recorded ->> 'email') from audit_entry, unnest(array[values_before, values_after]) recorded
      where person_id = any(?::text[]))
  select builder_id as id from membership where user_id = any(?::text[])
  union select builder_id from oauth_token_family where user_id = any(?::text[])
  union select builder_id from defect, jsonb_array_elements(assignees) assignee
    where assignee ->> 'id' = any(?::text[]) or comparable_text(assignee ->> 'id') in (select email from address)
  union select builder_id from sign_on_visit where comparable_text(closed_by) in (select email from address)
  union select builder_id from sign_on_conflict where comparable_text(resolved_by) in (select email from address)
  union select builder_id from audit_entry where person_id = any(?::text[]) and builder_id is not null
  union select builder_id from photo_report where mapped_admin_user_id = any(?::text[]) or source_author ->> 'externalId' = any(?::text[])
    or array[comparable_text(source_author ->> 'externalId'), comparable_text(source_author ->> 'email')] && array(select email from address)`;

/** Loads the person of the ids. Returns also the ids without a record. */
export async function loadPerson(
  em: EntityManager,
  tables: readonly PersonalTable[],
  ids: PersonIds,
): Promise<{ person: Person; missing: string[] }> {
  const [names, emails, builderIds] = [new Set<string>(), new Set<string>(), new Set<string>()];
  const found = new Set<string>();
  for (const kind of PERSON_KINDS) {
    if (ids[kind].length === 0) continue;
    for (const row of await selectPeople(em, tables, kind, () => 'id = any(?::text[])', [toArrayText(ids[kind])])) {
      found.add(row.id);
      if (row.name) names.add(row.name);
      if (row.email) emails.add(row.email);
      if (row.builderId) builderIds.add(row.builderId);
    }
  }
  const values = [toArrayText([...emails].map(toComparableText)), ...new Array(7).fill(toArrayText(ids.user))];
  for (const { id } of await em.execute<{ id: string }[]>(FORMER_BUILDERS, values)) builderIds.add(id);
  const missing = PERSON_KINDS.flatMap((kind) => ids[kind]).filter((id) => !found.has(id));
  const isStaff = (await em.count(User, { id: { $in: ids.user }, staffRole: { $ne: null } })) > 0;
  return { person: { ids, names: [...names], emails: [...emails], builderIds: [...builderIds], isStaff }, missing };
}

/** Returns the records of people with the name, however it is written, or the e-mail address. */
export async function findPeople(
  em: EntityManager,
  tables: readonly PersonalTable[],
  text: string,
): Promise<PersonRecord[]> {
  const comparable = toComparableText(text);
  const patterns = createPatterns(toNameForms(text).filter(isNaming)).map((pattern) => `^${pattern}$`);
  const where = (name: string, email: string) =>
    `? in (comparable_text(${name}), comparable_text(${email})) or comparable_text(${name}) ~ any(?::text[])`;
  const values = [comparable, toArrayText(patterns)];
  const found: PersonRecord[] = [];
  for (const kind of PERSON_KINDS) found.push(...(await selectPeople(em, tables, kind, where, values)));
  return found;
}
