import type { Person } from './person.ts';

/** A reserved domain (RFC 2606), which receives no mail. */
export const NO_DOMAIN = '@erased.invalid';

/** A text that names the person, and where in the value it is: `sourceAuthor.name`. */
export interface Mention {
  at: string;
  text: string;
}

/** Finds and replaces one person in texts and JSON values. */
export interface MentionMatcher {
  /** Lower-case texts of which a value with a mention has one, as it is written in JSON. */
  needles: string[];
  find(value: unknown, at: string): Mention[];
  /** Returns the value with the pseudonym, or the same value when it does not name the person. */
  replace(value: unknown): unknown;
}

/** Replaces the person in the texts of a builder. */
export interface Replacement {
  pseudonym: string;
  email: string;
}

/** Of a matcher that only finds: it only has to differ from every name. */
export const NO_REPLACEMENT: Replacement = { pseudonym: '\u0000', email: '\u0000' };

/**
 * Returns a matcher for names, e-mail addresses and ids of a person. A JSON object with `name` and `id`, `externalId` or `email` is a
 * person: it is replaced as a whole when its id, address or name is one of these.
 */
export function createMentionMatcher(
  { ids, names, emails }: Pick<Person, 'names' | 'emails'> & { ids: readonly string[] },
  { pseudonym, email: address }: Replacement,
): MentionMatcher {
  const lowerEmails = new Set(emails.map((email) => email.toLowerCase()));
  const lowerNames = new Set(names.map((name) => name.toLowerCase()));
  const patterns: [RegExp, string][] = [
    ...emails.map((email): [RegExp, string] => [toPattern(email), address]),
    ...names.map((name): [RegExp, string] => [toPattern(name), pseudonym]),
  ];
  const replaceText = (text: string) => patterns.reduce((result, [pattern, to]) => result.replace(pattern, to), text);

  const isPerson = (object: Record<string, unknown>): boolean => {
    const { name, id, externalId, email } = object;
    if (typeof name !== 'string' || (id ?? externalId ?? email ?? null) === null) return false;
    return (
      ids.includes(id as string) ||
      ids.includes(externalId as string) ||
      (typeof email === 'string' && lowerEmails.has(email.toLowerCase())) ||
      lowerNames.has(name.toLowerCase())
    );
  };
  const replacePerson = (object: Record<string, unknown>): Record<string, unknown> => {
    const replaced: Record<string, unknown> = { ...object, name: pseudonym };
    if (typeof object.externalId === 'string') replaced.externalId = pseudonym;
    if (typeof object.id === 'string' && !ids.includes(object.id)) replaced.id = pseudonym;
    if (typeof object.email === 'string') replaced.email = address;
    return replaced;
  };

  const replace = (value: unknown): unknown => {
    if (typeof value === 'string') return replaceText(value);
    if (Array.isArray(value)) return mapKeepingIdentity(value, replace);
    if (!isObjectOrList(value)) return value;
    const source = isPerson(value) ? replacePerson(value) : value;
    const entries = Object.entries(source).map(([key, member]) => [key, replace(member)] as const);
    const changed = source !== value || entries.some(([key, member]) => member !== source[key]);
    return changed ? Object.fromEntries(entries) : value;
  };
  const find = (value: unknown, at: string): Mention[] => {
    if (typeof value === 'string') return replaceText(value) === value ? [] : [{ at, text: value }];
    if (Array.isArray(value)) return value.flatMap((member, index) => find(member, `${at}[${index}]`));
    if (!isObjectOrList(value)) return [];
    if (isPerson(value)) return [{ at, text: JSON.stringify(value) }];
    return Object.entries(value).flatMap(([key, member]) => find(member, `${at}.${key}`));
  };
  const needles = [...names, ...emails, ...ids].map((text) => JSON.stringify(text.toLowerCase()).slice(1, -1));
  return { needles, find, replace };
}

function mapKeepingIdentity(values: unknown[], map: (value: unknown) => unknown): unknown[] {
  const mapped = values.map(map);
  return mapped.some((value, index) => value !== values[index]) ? mapped : values;
}

const isObjectOrList = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;

/** Matches the text where no letter or digit precedes or follows it, in any case. */
const toPattern = (text: string): RegExp =>
  new RegExp(`(?<![\\p{L}\\p{N}])${text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}(?![\\p{L}\\p{N}])`, 'giu');
