import {
  type GraphQLType,
  getNamedType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isScalarType,
} from 'graphql';
import type { JsonSchema } from '../../../schema/scalar.ts';
import { VALUES } from './example-values.ts';

const BUILT_IN: Record<string, unknown> = { Boolean: true, Float: 1.5, ID: '1', Int: 1, String: 'text' };

/** Types whose example would be the same for every field. */
const GENERIC_TYPES = new Set(['Float', 'Int', 'String', 'Timestamp', 'RangeStart', 'RangeEnd']);

interface Field {
  name: string;
  type: GraphQLType;
}

/**
 * Returns an example of an argument or a field of an input object.
 *
 * @param owner name of the operation or type that declares it.
 * @param ancestors types that contain it: an optional field of such a type is left out, so that recursive types end.
 */
export function createFieldExample(owner: string, field: Field, ancestors: readonly string[] = []): unknown {
  const own = `${owner}.${field.name}`;
  if (Object.hasOwn(VALUES, own)) return VALUES[own];
  if (GENERIC_TYPES.has(getNamedType(field.type).name) && Object.hasOwn(VALUES, field.name)) return VALUES[field.name];
  return createExample(field.type, ancestors);
}

/** Returns an example of an object with these fields, without those whose example is null. */
export function createFieldsExample(
  owner: string,
  fields: readonly Field[],
  ancestors: readonly string[] = [],
): Record<string, unknown> {
  const path = [...ancestors, owner];
  const entries = fields
    .filter(({ type }) => isNonNullType(type) || !path.includes(getNamedType(type).name))
    .map((field) => [field.name, createFieldExample(owner, field, path)] as const);
  return Object.fromEntries(entries.filter(([, value]) => value !== null));
}

function createExample(type: GraphQLType, ancestors: readonly string[]): unknown {
  if (isNonNullType(type)) return createExample(type.ofType, ancestors);
  if (isListType(type))
    return ancestors.includes(getNamedType(type).name) ? [] : [createExample(type.ofType, ancestors)];
  if (isScalarType(type)) return createScalarExample(type.extensions.jsonSchema, type.name);
  if (isEnumType(type)) return type.getValues()[0]!.name;
  return isInputObjectType(type) ? createFieldsExample(type.name, Object.values(type.getFields()), ancestors) : null;
}

function createScalarExample(schema: unknown, name: string): unknown {
  const { examples, type } = (schema ?? {}) as JsonSchema & { examples?: unknown[] };
  return examples?.[0] ?? (type === 'object' ? {} : BUILT_IN[name]);
}
