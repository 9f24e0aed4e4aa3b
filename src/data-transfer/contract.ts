import { GraphQLScalarType } from 'graphql';
import { getMetadataStorage } from 'type-graphql';
import * as shapes from './shapes.ts';

/** A field as the API shows it. */
export interface ContractField {
  description: string | undefined;
  nullable: boolean;
  /** To be asked only of a field that a row carries: the types of graph edges have no end. */
  shape: () => shapes.Shape;
}

type Class = abstract new (...args: never[]) => object;

/**
 * The fields that an entity's class declares for the API, by name, inherited ones included. The rows' texts, lists and
 * objects are held to the same types as the answers, because whatever is imported will be answered.
 */
export function contractFields(of: Class): Map<string, ContractField> {
  const fields = new Map<string, ContractField>();
  const lineage: Class[] = [];
  for (let part = of; part !== Function.prototype; part = Object.getPrototypeOf(part)) lineage.unshift(part);
  for (const part of lineage) {
    for (const { target, name, description, getType, typeOptions } of getMetadataStorage().fields) {
      if (target !== part) continue;
      // The depth of a list is known only once the type was asked for.
      const shape = () => {
        const type = getType();
        return listed(shapeOf(type), typeOptions.array ? (typeOptions.arrayDepth ?? 1) : 0);
      };
      fields.set(name, { description, nullable: typeOptions.nullable === true, shape });
    }
  }
  return fields;
}

/** The shape of the objects of a class that stand inside a row. */
export function objectOf(type: Class): shapes.Shape {
  const members = [...contractFields(type)].map(([name, { shape, nullable }]) => [name, { shape: shape(), nullable }]);
  return shapes.object(Object.fromEntries(members));
}

function listed(shape: shapes.Shape, depth: number): shapes.Shape {
  return depth === 0 ? shape : shapes.list(listed(shape, depth - 1));
}

function shapeOf(type: unknown): shapes.Shape {
  const { enums, unions } = getMetadataStorage();
  const union = unions.find(({ symbol }) => symbol === type);
  if (union) return shapes.anyOf(union.getClassTypes().map((member) => objectOf(member as unknown as Class)));
  const known = enums.find(({ enumObj }) => enumObj === type);
  if (known) return shapes.oneOf(Object.values(known.enumObj) as string[]);
  if (type instanceof GraphQLScalarType) return scalarShape(type);
  if (type === String) return shapes.text;
  if (type === Boolean) return shapes.boolean;
  if (type === Number) return shapes.number;
  return objectOf(type as Class);
}

const BUILT_IN: Record<string, shapes.Shape> = {
  String: shapes.text,
  Boolean: shapes.boolean,
  Int: shapes.integer,
  Float: shapes.number,
  Timestamp: shapes.timestamp,
  JsonObject: shapes.freeObject,
};

/** A scalar of ours holds its own rule, and publishes its pattern. */
function scalarShape(scalar: GraphQLScalarType): shapes.Shape {
  const builtIn = BUILT_IN[scalar.name];
  if (builtIn) return builtIn;
  const { pattern } = (scalar.extensions.jsonSchema ?? {}) as { pattern?: string };
  const prefix = pattern?.match(/^\^([a-z]+_)/)?.[1];
  return {
    label: prefix ? `id \`${prefix}\`` : scalar.name,
    read(value, path, refuse) {
      try {
        return scalar.parseValue(value);
      } catch (error) {
        refuse(path, (error as Error).message);
        return value;
      }
    },
  };
}
