import type { EntityClass } from '@mikro-orm/core';
import { Entity, Property } from '@mikro-orm/decorators/legacy';
import { getMetadataStorage, ObjectType } from 'type-graphql';
import { Scoped } from '../schema/rest.ts';
import type { Scope } from '../schema/scopes.ts';
import { addField, type FieldOptions, Reference } from './columns.ts';

/** Declares a class as a table and as a GraphQL type. Every field that leads to the type requires its scope. */
export function EntityType({
  scope,
  description,
  ...options
}: {
  scope?: Scope;
  description: string;
  tableName?: string;
}) {
  return (owner: new () => object): void => {
    ObjectType({ description, simpleResolvers: true })(owner);
    if (scope) Scoped(scope)(owner);
    Entity(options)(owner);
  };
}

interface ColumnFieldOptions extends FieldOptions {
  /** Default of the column. */
  default?: boolean | number | string | string[];
}

/** A column of a database type that is a GraphQL field: `@ColumnField(() => Int, 'integer', { description: '…' })`. */
export function ColumnField(type: () => object, column: string, options: ColumnFieldOptions = {}) {
  const { description, ...shared } = options;
  return addField(Property({ type: column, ...shared }) as PropertyDecorator, type, {
    description,
    nullable: options.nullable,
  });
}

/** A foreign key that is a GraphQL field. Its scalar is that of the referenced table's `id`. */
export function ReferenceField(target: () => EntityClass<object>, options: FieldOptions = {}) {
  const isId = ({ target: owner, name }: { target: object; name: string }) => owner === target() && name === 'id';
  const getScalar = () => getMetadataStorage().fields.find(isId)!.getType() as object;
  return addField(Reference(target, { nullable: options.nullable }) as PropertyDecorator, getScalar, options);
}
