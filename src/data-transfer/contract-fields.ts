import { GraphQLScalarType } from 'graphql';
import { getMetadataStorage } from 'type-graphql';
import * as types from './field-types.ts';

/** A field of an entity's GraphQL type. */
interface ContractField {
  description: string | undefined;
  nullable: boolean;
  /** Evaluated only for fields that rows have, because the types of graph edges are recursive. */
  fieldType: () => types.FieldType;
}

type Class = abstract new (...args: never[]) => object;

/**
 * Returns the API fields of an entity class by name, including inherited ones. Imported values are validated with the types of
 * the API, because responses return them.
 */
export function readContractFields(of: Class): Map<string, ContractField> {
  const fields = new Map<string, ContractField>();
  const lineage: Class[] = [];
  for (let part = of; part !== Function.prototype; part = Object.getPrototypeOf(part)) lineage.unshift(part);
  for (const part of lineage) {
    for (const { target, name, description, getType, typeOptions } of getMetadataStorage().fields) {
      if (target !== part) continue;
      // TypeGraphQL sets the depth of a list when getType is called.
      const fieldType = () => {
        const type = getType();
        return listed(toFieldType(type), typeOptions.array ? (typeOptions.arrayDepth ?? 1) : 0);
      };
      fields.set(name, { description, nullable: typeOptions.nullable === true, fieldType });
    }
  }
  return fields;
}

/** Creates the field type of the objects of a class inside a row. */
export function createObjectType(type: Class): types.FieldType {
  const members = [...readContractFields(type)].map(([name, { fieldType, nullable }]) => [
    name,
    { fieldType: fieldType(), nullable },
  ]);
  return types.object(Object.fromEntries(members));
}

const listed = (fieldType: types.FieldType, depth: number): types.FieldType =>
  depth === 0 ? fieldType : types.list(listed(fieldType, depth - 1));

function toFieldType(type: unknown): types.FieldType {
  const { enums, unions } = getMetadataStorage();
  const union = unions.find(({ symbol }) => symbol === type);
  if (union)
    return types.createUnionType(union.getClassTypes().map((member) => createObjectType(member as unknown as Class)));
  const declaredEnum = enums.find(({ enumObj }) => enumObj === type);
  if (declaredEnum) return types.createEnumType(Object.values(declaredEnum.enumObj) as string[]);
  if (type instanceof GraphQLScalarType) return toScalarFieldType(type);
  if (type === String) return types.text;
  if (type === Boolean) return types.boolean;
  if (type === Number) return types.number;
  return createObjectType(type as Class);
}

const BUILT_IN: Record<string, types.FieldType> = {
  String: types.text,
  Boolean: types.boolean,
  Int: types.integer,
  Float: types.number,
  Timestamp: types.timestamp,
  JsonObject: types.jsonObject,
};

/** Custom scalars validate themselves; their JSON schema has the pattern of an id. */
export function toScalarFieldType(scalar: GraphQLScalarType): types.FieldType {
  const builtIn = BUILT_IN[scalar.name];
  if (builtIn) return builtIn;
  const { pattern } = (scalar.extensions.jsonSchema ?? {}) as { pattern?: string };
  const prefix = pattern?.match(/^\^([a-z]+_)/)?.[1];
  return {
    label: prefix ? `id \`${prefix}\`` : scalar.name,
    read(value, path, report) {
      try {
        return scalar.parseValue(value);
      } catch (error) {
        report(path, (error as Error).message);
        return value;
      }
    },
  };
}
