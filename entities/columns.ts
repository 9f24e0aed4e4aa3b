import { type EntityClass, type EntityProperty, type Platform, Type } from '@mikro-orm/core';
import { ManyToOne, Property } from '@mikro-orm/decorators/legacy';
import { Field, ObjectType } from 'type-graphql';
import { Timestamp } from '../schema/scalars.ts';

/** A timestamp as the contract writes it, ISO 8601 in UTC with milliseconds, kept in a `timestamptz(3)`. */
export class InstantType extends Type<string | null, string | null> {
  override convertToJSValue(value: string | Date | null): string | null {
    return value === null ? null : value instanceof Date ? value.toISOString() : isoFromPostgres(value);
  }

  override getColumnType(_property: EntityProperty, _platform: Platform): string {
    return 'timestamptz(3)';
  }
}

/** `2026-03-02 07:30:00.5+00`, as a UTC session prints it, to `2026-03-02T07:30:00.500Z`. */
export function isoFromPostgres(text: string): string {
  if (text.charCodeAt(10) === 84) return text;
  const plus = text.indexOf('+', 19);
  const fraction = plus > 20 ? text.slice(20, plus).padEnd(3, '0') : '000';
  return `${text.slice(0, 10)}T${text.slice(11, 19)}.${fraction}Z`;
}

/** Column of a property: `projectId` to `project_id`. */
export const snakeCase = (property: string) => property.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** A `timestamptz(3)` column. */
export function Instant(options: { nullable?: boolean; lazy?: boolean } = {}) {
  return Property({ type: InstantType, ...options });
}

/** A foreign key that the entity holds as the plain id: `projectId`, in the column `project_id`. */
export function Reference(
  target: () => EntityClass<object>,
  options: { nullable?: boolean; index?: boolean; deleteRule?: 'cascade' } = {},
) {
  return (owner: object, property: string) =>
    ManyToOne(
      target as never,
      {
        mapToPk: true,
        fieldName: snakeCase(property),
        index: false,
        deleteRule: 'no action',
        updateRule: 'no action',
        ...options,
      } as never,
    )(owner, property);
}

/** Primary key: an identifier with the prefix of its kind, made by `newId`. */
export function Id() {
  return Property({ type: 'text', primary: true });
}

/** When a row was made and last changed; kept by the writer from the injected clock. */
@ObjectType({ simpleResolvers: true })
export abstract class Timestamped {
  @Field(() => Timestamp, { description: 'When the record was made.' })
  @Instant()
  createdAt!: string;

  @Field(() => Timestamp, { description: 'When the record last changed.' })
  @Instant()
  updatedAt!: string;
}
