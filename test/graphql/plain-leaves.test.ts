import 'reflect-metadata';
import { GraphQLList, GraphQLNonNull, type GraphQLOutputType, isEnumType, isObjectType, isScalarType } from 'graphql';
import { getMetadataStorage } from 'type-graphql';
import { describe, expect, it } from 'vitest';
import { buildServiceSchema } from '../../resolvers/service-schema.ts';
import { createOrm } from '../../src/database/orm.ts';

const schema = buildServiceSchema();

const PRINTED: Record<string, unknown> = { String, ID: String, Int: Number, Float: Number, Boolean };

/** The type alone; null of a list. */
function single(type: GraphQLOutputType): GraphQLOutputType | null {
  if (type instanceof GraphQLNonNull) return single(type.ofType);
  return type instanceof GraphQLList ? null : type;
}

interface Leaf {
  name: string;
  /** Type of the field in GraphQL. */
  type: string;
  /** Class of the property or the method's answer in TypeScript. */
  held: unknown;
}

const metadata = createOrm('postgresql://localhost/none').em.getMetadata();

/** What a column is read as. */
function columnOf(type: object, property: string): unknown {
  const [column] = metadata.find(type as never)?.properties[property as never]?.columnTypes ?? [];
  if (!column) return undefined;
  if (/^(text|varchar)/.test(column)) return String;
  return column === 'boolean' ? Boolean : /^(int|double|numeric|real)/.test(column) ? Number : column;
}

/** Every field that is printed by a scalar of GraphQL's own. */
function leaves(): Leaf[] {
  const { objectTypes, fieldResolvers } = getMetadataStorage();
  return Object.values(schema.getTypeMap())
    .filter(isObjectType)
    .flatMap((type) => {
      const meta = objectTypes.find(({ name }) => name === type.name);
      return Object.values(type.getFields()).flatMap((field): Leaf[] => {
        const leaf = single(field.type);
        if (!meta || !leaf || !isScalarType(leaf) || !(leaf.name in PRINTED)) return [];
        const method = fieldResolvers.find(
          (one) => one.schemaName === field.name && one.kind === 'external' && one.getObjectType?.() === meta.target,
        );
        const held = method
          ? Reflect.getMetadata('design:returntype', method.target.prototype, method.methodName)
          : (columnOf(meta.target, field.name) ??
            Reflect.getMetadata('design:type', meta.target.prototype, field.name));
        return [{ name: `${type.name}.${field.name}`, type: leaf.name, held }];
      });
    });
}

describe('what is answered as it is', () => {
  it('is of the type that GraphQL prints', () => {
    const all = leaves();
    expect(all.length).toBeGreaterThan(100);
    // What may be null and is no column is an Object here.
    expect(all.filter(({ type, held }) => held !== PRINTED[type] && held !== Object)).toEqual([]);
    expect(all.filter(({ held }) => held === Object).length).toBeLessThan(all.length / 5);
  });

  it('is a name of its enum', () => {
    const enums = Object.values(schema.getTypeMap()).filter((type) => isEnumType(type) && !type.name.startsWith('__'));
    expect(enums.length).toBeGreaterThan(10);
    for (const type of enums.filter(isEnumType)) {
      for (const { name, value } of type.getValues()) expect(value, type.name).toBe(name);
    }
  });

  it('is the value of a scalar of our own', () => {
    const own = Object.values(schema.getTypeMap()).filter((type) => isScalarType(type) && !(type.name in PRINTED));
    expect(own.length).toBeGreaterThan(10);
    const value = {};
    for (const type of own.filter(isScalarType)) expect(type.serialize(value), type.name).toBe(value);
  });
});
