/** A kind of person. The records of a user, worker, profile or contact identify one person. */
export type PersonKind = 'user' | 'worker' | 'profile' | 'contact';

/**
 * The text and JSON columns of a table by what they say about people. Every such column is declared;
 * `test/schema/personal-data.test.ts` fails on one that is not.
 */
export interface PersonalDataDeclaration<Property extends string = string> {
  /** The person that a row is about: the property with the person's id. Such rows are exported with the person. */
  of?: Partial<Record<PersonKind, Property>>;
  /**
   * Whether erasing the person deletes the row. By default it remains, and its columns change as declared below. The audit log cannot
   * be changed; a function of the database replaces the person there.
   */
  erase?: 'delete' | 'audit';
  /** No personal data. */
  none?: readonly Property[];
  /** Name of the person: replaced by the pseudonym. */
  name?: readonly Property[];
  /** Unique e-mail address of the person: replaced by an address without an owner. */
  email?: readonly Property[];
  /** What the person has given or written: cleared, to null or an empty list. In the records of others it is found as `mentions` are. */
  cleared?: readonly Property[];
  /** Storage key of a picture of the person: exported with its bytes; on erasing, cleared and the bytes deleted. */
  file?: readonly Property[];
  /** Passwords and digests: never exported; cleared. */
  secret?: readonly Property[];
  /** About the person, without naming them: exported and kept. */
  kept?: readonly Property[];
  /**
   * Who did something: a name, or JSON objects with `name` and `id`, `externalId` or `email`. Replaced by the pseudonym in
   * `src/domain/privacy/erase-structures.ts`, if it is the person.
   */
  people?: readonly Property[];
  /** Text and JSON in which people may be named: evidence, which an erasure finds and lists, and does not change. */
  mentions?: readonly Property[];
  /** Addresses and keys of files, whose names may be those of people: found as `mentions` are. Never replaced, because they would lead nowhere. */
  addresses?: readonly Property[];
}

/** The groups of columns of a declaration. */
export const COLUMN_GROUPS = [
  ...(['none', 'name', 'email', 'cleared', 'file'] as const),
  ...(['secret', 'kept', 'people', 'mentions', 'addresses'] as const),
];
export type ColumnGroup = (typeof COLUMN_GROUPS)[number];

type MutableDeclaration = { -readonly [Key in keyof PersonalDataDeclaration]: PersonalDataDeclaration[Key] };

/** By class name. */
const declarations = new Map<string, MutableDeclaration>();

/** Declares the personal data of one column, as an option of its decorator. */
export function declarePersonalColumn(className: string, property: string, group: ColumnGroup): void {
  const declaration = declarations.get(className) ?? {};
  declarations.set(className, { ...declaration, [group]: [...(declaration[group] ?? []), property] });
}

/** Declares the personal data of an entity: `@PersonalData<Contact>({ of: { contact: 'id' }, name: ['name'] })`. */
export function PersonalData<Entity extends object>(declaration: PersonalDataDeclaration<keyof Entity & string>) {
  return (owner: abstract new () => Entity): void => {
    const { of, erase, ...columns } = declaration as PersonalDataDeclaration;
    for (const [group, properties] of Object.entries(columns) as [ColumnGroup, readonly string[]][]) {
      for (const property of properties) declarePersonalColumn(owner.name, property, group);
    }
    declarations.set(owner.name, { ...declarations.get(owner.name), of, erase });
  };
}

/** Returns the declaration of an entity by its class name; that of a table without text columns is empty. */
export const getPersonalData = (className: string): PersonalDataDeclaration => declarations.get(className) ?? {};
