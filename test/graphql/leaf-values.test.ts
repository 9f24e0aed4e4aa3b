import 'reflect-metadata';
import { GraphQLList, GraphQLNonNull, type GraphQLOutputType, isEnumType, isObjectType, isScalarType } from 'graphql';
import { getMetadataStorage } from 'type-graphql';
import { describe, expect, it } from 'vitest';
import { OWN_CONFLICTS, OWN_EVENTS, ROSTER } from '../../entities/gate-lists.type.ts';
import { createOrm } from '../../src/database/orm.ts';
import { schema } from '../support/definition.ts';

const BUILT_IN_SCALARS: Record<string, unknown> = { String, ID: String, Int: Number, Float: Number, Boolean };

/** Returns the type without non-null; null for a list. */
function unwrapNonNull(type: GraphQLOutputType): GraphQLOutputType | null {
  if (type instanceof GraphQLNonNull) return unwrapNonNull(type.ofType);
  return type instanceof GraphQLList ? null : type;
}

interface Leaf {
  name: string;
  /** Type of the field in GraphQL. */
  type: string;
  /** Constructor of the TypeScript type of the property or of the resolver's result. */
  valueType: unknown;
}

/** Items whose values PostgreSQL makes as JSON. `test/attendance/gate-lists.test.ts` checks their values. */
const ITEMS = [ROSTER, OWN_EVENTS, OWN_CONFLICTS]
  .map(({ item }) => item.type.name)
  .concat('SentSignOnEvent', 'OwnVisit');

const metadata = createOrm('postgresql://localhost/none').em.getMetadata();

/** Returns the constructor of the values of a column, or its SQL type. */
function findColumnType(type: object, property: string): unknown {
  const [column] = metadata.find(type as never)?.properties[property as never]?.columnTypes ?? [];
  if (!column) return undefined;
  if (/^(text|varchar)/.test(column)) return String;
  return column === 'boolean' ? Boolean : /^(int|double|numeric|real)/.test(column) ? Number : column;
}

/** Returns every field whose type is a built-in scalar. */
function listLeaves(): Leaf[] {
  const { objectTypes, fieldResolvers } = getMetadataStorage();
  return Object.values(schema.getTypeMap())
    .filter(isObjectType)
    .filter(({ name }) => !ITEMS.includes(name))
    .flatMap((type) => {
      const meta = objectTypes.find(({ name }) => name === type.name);
      return Object.values(type.getFields()).flatMap((field): Leaf[] => {
        const leaf = unwrapNonNull(field.type);
        if (!meta || !leaf || !isScalarType(leaf) || !(leaf.name in BUILT_IN_SCALARS)) return [];
        const method = fieldResolvers.find(
          (one) => one.schemaName === field.name && one.kind === 'external' && one.getObjectType?.() === meta.target,
        );
        const valueType = method
          ? Reflect.getMetadata('design:returntype', method.target.prototype, method.methodName)
          : (findColumnType(meta.target, field.name) ??
            Reflect.getMetadata('design:type', meta.target.prototype, field.name));
        return [{ name: `${type.name}.${field.name}`, type: leaf.name, valueType }];
      });
    });
}

describe('a leaf value that is returned without conversion', () => {
  it('has the JavaScript type of its built-in scalar', () => {
    const all = listLeaves();
    expect(all.length).toBeGreaterThan(100);
    // The reflected type of a nullable property that is no column is Object.
    expect(all.filter(({ type, valueType }) => valueType !== BUILT_IN_SCALARS[type] && valueType !== Object)).toEqual(
      [],
    );
    expect(all.filter(({ valueType }) => valueType === Object).length).toBeLessThan(all.length / 5);
  });

  it('is a name of its enum type', () => {
    const enums = Object.values(schema.getTypeMap()).filter((type) => isEnumType(type) && !type.name.startsWith('__'));
    expect(enums.length).toBeGreaterThan(10);
    for (const type of enums.filter(isEnumType)) {
      for (const { name, value } of type.getValues()) expect(value, type.name).toBe(name);
    }
  });

  it('is what a custom scalar serializes unchanged', () => {
    const own = Object.values(schema.getTypeMap()).filter(
      (type) => isScalarType(type) && !(type.name in BUILT_IN_SCALARS),
    );
    expect(own.length).toBeGreaterThan(10);
    const value = {};
    for (const type of own.filter(isScalarType)) expect(type.serialize(value), type.name).toBe(value);
  });
});
