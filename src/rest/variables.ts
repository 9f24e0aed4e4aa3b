import {
  coerceInputValue,
  type GraphQLArgument,
  type GraphQLInputType,
  type GraphQLScalarType,
  type GraphQLSchema,
  getNamedType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isScalarType,
} from 'graphql';
import type { Operation } from '../../schema/build.ts';
import { fieldPath, messageOf } from '../../schema/input.ts';
import { booleanFromText, integerFromText } from '../../schema/scalars.ts';
import { type FieldError, notFound, ValidationError } from '../errors.ts';

/** The parts of a request that hold an operation's input. */
export interface RawInput {
  params: Record<string, string>;
  query: Record<string, string | string[] | undefined>;
  body: unknown;
  /** `X-Service-Builder-Id`, or the builder of the token. */
  builderId: string | null;
}

type Place = 'path' | 'header' | 'query' | 'body';

/** Where each argument of an operation comes from, and under which name. See `@Rest`. */
export interface Placement {
  argument: GraphQLArgument;
  place: Place;
  name: string;
}

export function placementsOf(operation: Operation, schema: GraphQLSchema): Placement[] {
  const root = operation.kind === 'Query' ? schema.getQueryType()! : schema.getMutationType()!;
  const inPath = new Map(
    [...operation.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => [operation.params[name!] ?? name!, name!]),
  );
  return root.getFields()[operation.field]!.args.map((argument) => {
    const inPathAs = inPath.get(argument.name);
    if (inPathAs) return { argument, place: 'path', name: inPathAs };
    if (argument.name === 'builderId') return { argument, place: 'header', name: 'X-Service-Builder-Id' };
    return { argument, place: operation.method === 'GET' ? 'query' : 'body', name: argument.name };
  });
}

/**
 * The operation's variables, each checked against its type in the schema; never coerced. Throws 404 when an identifier in
 * the path has the wrong shape, else 400 with every field that fails. Part 3 of the decisions.
 */
export function readVariables(placements: Placement[], input: RawInput): Record<string, unknown> {
  const variables: Record<string, unknown> = {};
  const errors: FieldError[] = [];
  for (const { argument, place, name } of placements) {
    const raw = rawValue(place, name, argument, input, errors);
    if (raw === undefined && !isNonNullType(argument.type)) continue;
    if (raw === undefined) {
      errors.push({ fieldName: name, message: 'is required' });
      continue;
    }
    variables[argument.name] = coerceInputValue(raw, argument.type, (path, _value, error) => {
      if (place === 'path') throw notFound('Resource');
      errors.push({ fieldName: fieldPath(name, path), message: messageOf(error.message) });
    });
  }
  if (errors.length > 0) throw new ValidationError(errors);
  return variables;
}

function rawValue(
  place: Place,
  name: string,
  argument: GraphQLArgument,
  input: RawInput,
  errors: FieldError[],
): unknown {
  switch (place) {
    case 'path':
      return valueOfText(input.params[name]!, argument.type);
    case 'header':
      return input.builderId ?? undefined;
    case 'query': {
      const raw = input.query[name];
      if (raw === undefined) return undefined;
      if (isListType(nullableType(argument.type))) return [raw].flat().map((text) => valueOfText(text, argument.type));
      if (Array.isArray(raw)) {
        errors.push({ fieldName: name, message: 'must be given once' });
        return null;
      }
      return valueOfText(raw, argument.type);
    }
    default:
      return isObject(input.body) ? withoutUnknown(input.body[name], argument.type) : undefined;
  }
}

/** A value as the type understands it; text that is none stays text, which the type then refuses. */
function valueOfText(text: string, type: GraphQLInputType): unknown {
  const named = getNamedType(type);
  if (!isScalarType(named)) return text;
  const fromText = named.extensions.fromText as ((text: string) => unknown) | undefined;
  return (fromText ?? builtInFromText(named))(text);
}

function builtInFromText(scalar: GraphQLScalarType): (text: string) => unknown {
  if (scalar.name === 'Int') return integerFromText;
  if (scalar.name === 'Boolean') return booleanFromText;
  return (text) => text;
}

/** Unknown fields of nested objects are ignored, unless their type is marked strict (a Page document). */
function withoutUnknown(value: unknown, type: GraphQLInputType): unknown {
  const nullable = nullableType(type);
  if (isListType(nullable)) {
    return Array.isArray(value) ? value.map((item) => withoutUnknown(item, nullable.ofType)) : value;
  }
  if (!isInputObjectType(nullable) || nullable.extensions.strict || !isObject(value)) return value;
  const fields = nullable.getFields();
  const known = Object.entries(value).filter(([name]) => name in fields);
  return Object.fromEntries(known.map(([name, item]) => [name, withoutUnknown(item, fields[name]!.type)]));
}

const nullableType = (type: GraphQLInputType) => (isNonNullType(type) ? type.ofType : type) as GraphQLInputType;

const isObject = (value: unknown): value is Record<string, unknown> =>
  value !== null && typeof value === 'object' && !Array.isArray(value);
