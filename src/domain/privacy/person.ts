import type { EntityManager } from '@mikro-orm/postgresql';
import type { PersonKind } from '../../../entities/personal-data.ts';
import { executeBound } from '../../database/write/execute-bound.ts';
import { toComparableText } from '../../shared/comparable-text.ts';
import { ID_PREFIXES } from '../../shared/ids.ts';
import { InvalidInputError } from '../access/invalid-input-error.ts';
import { toNameForms } from './name-patterns.ts';
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

/** Returns the table of the persons of a kind. */
const personTable = (tables: readonly PersonalTable[], kind: PersonKind): PersonalTable =>
  tables.find(({ declaration }) => declaration.of?.[kind] === 'id')!;

/** Builders of users: of their memberships, and those that they have left. */
const FORMER_BUILDERS = `select builder_id as id from membership where user_id = any(?::text[])
  union select builder_id from oauth_token_family where user_id = any(?::text[])
  union select builder_id from photo_report where mapped_admin_user_id = any(?::text[])
  union select builder_id from audit_entry where person_id = any(?::text[]) and builder_id is not null`;

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
    const { table, declaration, columnOf } = personTable(tables, kind);
    const { name = [], email = [] } = declaration;
    const columns = ['id', ...name, ...email, ...(columnOf('builderId') ? ['builderId'] : [])];
    const list = columns.map((property) => `${quote(columnOf(property)!)} as ${quote(property)}`).join(', ');
    const sql = `select ${list} from ${quote(table)} where id = any(?::text[])`;
    for (const row of await em.execute<Record<string, string | null>[]>(sql, [toArray(ids[kind])])) {
      found.add(row.id!);
      for (const property of name) if (row[property]) names.add(row[property]);
      for (const property of email) if (row[property]) emails.add(row[property]);
      if (row.builderId) builderIds.add(row.builderId);
    }
  }
  const memberships = await em.execute<{ id: string }[]>(
    FORMER_BUILDERS,
    Array.from({ length: 4 }, () => toArray(ids.user)),
  );
  for (const { id } of memberships) builderIds.add(id);
  const missing = PERSON_KINDS.flatMap((kind) => ids[kind]).filter((id) => !found.has(id));
  const [staff] = await em.execute<unknown[]>(
    'select 1 from app_user where id = any(?::text[]) and staff_role is not null limit 1',
    [toArray(ids.user)],
  );
  const isStaff = staff !== undefined;
  return { person: { ids, names: [...names], emails: [...emails], builderIds: [...builderIds], isStaff }, missing };
}

/** A record of a person that a search has found. */
interface FoundPerson {
  id: string;
  kind: PersonKind;
  builderId: string | null;
  name: string;
  email: string | null;
}

/** Returns the records of people with the name, also with the family name first, or the e-mail address. */
export async function findPeople(
  em: EntityManager,
  tables: readonly PersonalTable[],
  text: string,
): Promise<FoundPerson[]> {
  const found: FoundPerson[] = [];
  for (const kind of PERSON_KINDS) {
    const { table, declaration, columnOf } = personTable(tables, kind);
    const [name] = declaration.name!;
    const [email] = declaration.email ?? [];
    const column = (property: string | undefined) =>
      property && columnOf(property) ? quote(columnOf(property)!) : null;
    const [nameColumn, emailColumn, builderColumn] = [column(name)!, column(email), column('builderId')];
    const sql = `select id, ${builderColumn ?? 'null'} as "builderId", ${nameColumn} as name, ${emailColumn ?? 'null'} as email
      from ${quote(table)} where comparable_text(${nameColumn}) = any(?::text[])
        or comparable_text(${emailColumn ?? 'null'}) = ? order by id`;
    const values = [toArray(toNameForms(text)), toComparableText(text)];
    const { rows } = await executeBound<Omit<FoundPerson, 'kind'>>(em, sql, values);
    found.push(...rows.map((row) => ({ ...row, kind })));
  }
  return found;
}

/** Returns a PostgreSQL array literal of texts. */
export const toArray = (texts: readonly string[]): string =>
  `{${texts.map((text) => `"${text.replace(/["\\]/g, '\\$&')}"`).join(',')}}`;
