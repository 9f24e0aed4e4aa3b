import { BigIntType, type EntityClass, type EntityProperty, type Platform, Type } from '@mikro-orm/core';
import { Check, Enum, Index, ManyToOne, Property, Trigger } from '@mikro-orm/decorators/legacy';
import { Field, ObjectType } from 'type-graphql';
import { Timestamp } from '../schema/scalars.ts';
import { type ColumnGroup, declarePersonalColumn } from './personal-data.ts';

/** ISO 8601 in UTC with milliseconds as text, stored in a `timestamptz(3)`. */
export class InstantType extends Type<string | null, string | null> {
  override convertToJSValue(value: string | Date | null): string | null {
    return value === null ? null : value instanceof Date ? value.toISOString() : isoFromPostgres(value);
  }

  override getColumnType(_property: EntityProperty, _platform: Platform): string {
    return 'timestamptz(3)';
  }
}

/** Returns `2026-03-02T07:30:00.500Z` for `2026-03-02 07:30:00.5+00`, the output of a session in UTC. */
export function isoFromPostgres(text: string): string {
  if (text.charCodeAt(10) === 84) return text;
  const plus = text.indexOf('+', 19);
  const fraction = plus > 20 ? text.slice(20, plus).padEnd(3, '0') : '000';
  return `${text.slice(0, 10)}T${text.slice(11, 19)}.${fraction}Z`;
}

/** Returns the column of a property: `project_id` for `projectId`. */
export const toSnakeCase = (property: string) => property.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** A `timestamptz(3)` column. */
export function Instant(options: { nullable?: boolean; lazy?: boolean } = {}) {
  return Property({ type: InstantType, ...options });
}

export interface FieldOptions {
  description?: string;
  nullable?: boolean;
}

/** A column and a GraphQL field with the same nullability. */
export function addField(column: PropertyDecorator, type: () => object, options: FieldOptions): PropertyDecorator {
  return (owner, property) => {
    column(owner, property);
    Field(type, options)(owner, property as string);
  };
}

/** A primary key, created by `newId`, that is a GraphQL field. */
export function IdField(type: () => object, options: FieldOptions = {}) {
  return addField(Id() as PropertyDecorator, type, options);
}

/**
 * A `text` column that is a GraphQL field.
 *
 * @param options.personal what erasing a person does with the text, if the class has no `@PersonalData` with the column
 */
export function TextField({ personal, ...options }: FieldOptions & { personal?: ColumnGroup } = {}): PropertyDecorator {
  const column = Property({ type: 'text', nullable: options.nullable }) as PropertyDecorator;
  return (owner, property) => {
    if (personal) declarePersonalColumn(owner.constructor.name, property as string, personal);
    addField(column, () => String, options)(owner, property);
  };
}

/** A `timestamptz(3)` column that is a GraphQL field. */
export function InstantField(options: FieldOptions = {}) {
  return addField(Instant({ nullable: options.nullable }) as PropertyDecorator, () => Timestamp, options);
}

/** A column for a value of an enum that is a GraphQL field. */
export function EnumField(items: () => Record<string, string>, options: FieldOptions = {}) {
  return addField(Enum({ items, nullable: options.nullable }) as PropertyDecorator, items, options);
}

/** Foreign key whose property is the plain id: `projectId`, in the column `project_id`. */
export function Reference(
  target: () => EntityClass<object>,
  options: { nullable?: boolean; index?: boolean; primary?: boolean; deleteRule?: 'cascade' } = {},
) {
  return (owner: object, property: string) =>
    ManyToOne(
      target as never,
      {
        mapToPk: true,
        fieldName: toSnakeCase(property),
        index: false,
        deleteRule: 'no action',
        updateRule: 'no action',
        ...options,
      } as never,
    )(owner, property);
}

/** Primary key: an identifier with the prefix of its type, created by `newId`. */
export function Id() {
  return Property({ type: 'text', primary: true });
}

/** Primary key that the database generates. */
export function SerialId() {
  return Property({ type: 'integer', primary: true, autoincrement: true });
}

/** The same for rows of which 2^31 may come: a conflicting insert takes a number too. */
export function LargeSerialId() {
  return Property({ type: new BigIntType('number'), primary: true, autoincrement: true });
}

/**
 * Index for paginated lists that are filtered by the property and ordered by `createdAt` and `id`.
 *
 * @param options.secondFilter property whose rows with one value are in that order too
 * @param options.include columns of further filters, so that a scan need not read the rows
 */
export function ListIndex(
  property: string,
  { secondFilter, ...options }: { secondFilter?: string; include?: string[]; where?: string } = {},
): ClassDecorator {
  const properties = [property, ...(secondFilter ? [secondFilter] : []), 'createdAt', 'id'];
  return Index({ properties, ...options } as never) as unknown as ClassDecorator;
}

/**
 * Index for searches by words of a text: `search_vector(scope, text) @@ search_query(scope, words)`.
 *
 * @param text SQL of the text
 * @param scope SQL of what is searched in: a row's builder, or nothing
 */
export function SearchIndex(table: string, text: string, scope = 'builder_id'): ClassDecorator {
  const name = `${table}_search`;
  const expression = `create index ${name} on ${table} using gin (search_vector(${scope}, ${text}))`;
  return Index({ name, expression }) as unknown as ClassDecorator;
}

/** Index for lists of what has changed, filtered by the property (LST-14). */
export function ChangeIndex(property: string, options: { where?: string } = {}): ClassDecorator {
  return Index({ properties: [property, 'changedAt'], ...options } as never) as unknown as ClassDecorator;
}

/**
 * Constraint that the key of a stored file begins with the prefix and the id of the row's owner: no row refers to, exports or erases a file of another.
 *
 * @param options.owner column with the id of the owner
 */
export function FileKeyPrefix(options: { table: string; column: string; prefix: string; owner: string }) {
  const { table, column, prefix, owner } = options;
  const expression = `starts_with(${column}, (('${prefix}/'::text || ${owner}) || '/'::text))`;
  return Check({ name: `${table}_${column}_owner`, expression }) as unknown as ClassDecorator;
}

/** Declares a trigger by its SQL, which determines its name, events and the rest. Migrations are made of the SQL alone. */
export const SqlTrigger = (expression: string) => (owner: new () => object) => {
  const [, name, timing, events] = /create trigger "(\w+)" (before|after) ([\w ]+) on /.exec(expression)!;
  const forEach = expression.includes(' for each row ') ? 'row' : 'statement';
  Trigger({ name, timing, events: events!.split(' or '), forEach, expression } as never)(owner);
};

/** Times of creation and of the last change, set by the writing code from the injected clock. */
@ObjectType({ simpleResolvers: true })
export abstract class Timestamped {
  @InstantField({ description: 'When the record was made.' })
  createdAt!: string;

  @InstantField({ description: 'When the record last changed.' })
  updatedAt!: string;
}

/** A row that the purge job deletes some time after it has expired. */
export abstract class Expiring {
  @Instant()
  createdAt!: string;

  @Index()
  @Instant()
  expiresAt!: string;
}

/** A record with the time of its last write, which `updatedSince` filters by. */
@ObjectType({ simpleResolvers: true })
export abstract class Tracked extends Timestamped {
  /** When the database last wrote the row, which no response contains. An import may set `updatedAt`, but not this. */
  @Property({ type: InstantType, nullable: false, defaultRaw: 'clock_timestamp()', hidden: true })
  changedAt?: string;
}
