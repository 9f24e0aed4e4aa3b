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
import { fieldError, fieldPath, inspectionOf } from '../../schema/input.ts';
import { ruleErrors } from '../../schema/input-rules.ts';
import { rangeErrors } from '../../schema/range.ts';
import type { Operation } from '../../schema/route-table.ts';
import { booleanFromText, integerFromText } from '../../schema/scalar.ts';
import { FieldErrors, invalidField, notFound } from '../shared/errors.ts';

/** The parts of a request that hold an operation's input. */
export interface RawInput {
  params: Record<string, string>;
  query: Record<string, string | string[] | undefined>;
  body: unknown;
  /** `X-Service-Builder-Id`, or the builder of the token. */
  builderId: string | null;
}

/** A DELETE takes its input from the body or the query; a field that is in both counts as the body says. */
type Place = 'path' | 'header' | 'query' | 'body' | 'bodyOrQuery';

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
    return { argument, place: PLACES[operation.method] ?? 'body', name: argument.name };
  });
}

const PLACES: Record<string, Place> = { GET: 'query', DELETE: 'bodyOrQuery' };

/**
 * The operation's variables, each checked against its type in the schema; never coerced. Throws 404 when an identifier in
 * the path has the wrong shape, else 400 with every field that fails. ERR-1, IDN-6.
 */
export function readVariables(placements: Placement[], input: RawInput): Record<string, unknown> {
  const variables: Record<string, unknown> = {};
  const errors = new FieldErrors();
  if (input.body !== undefined && !isObject(input.body) && placements.some(({ place }) => /^body/.test(place)))
    throw invalidField('body', 'must be an object');
  for (const { argument, place, name } of placements) {
    const before = errors.count;
    const raw = rawValue(place, name, argument, input, errors);
    if (raw === undefined) {
      if (isNonNullType(argument.type) && errors.count === before)
        errors.add({ fieldName: name, message: 'is required' });
      continue;
    }
    const inspect = inspectionOf(argument.type);
    if (inspect && raw !== null) {
      errors.add(...inspect(raw, name));
      // Its type has nothing left to say.
      variables[argument.name] = raw;
      continue;
    }
    variables[argument.name] = coerceInputValue(raw, argument.type, (path, _value, error) => {
      if (place === 'path') throw notFound('Resource');
      const isQuery = place === 'query';
      errors.add(fieldError(isQuery ? spellingOf(name, path[0], input) : name, isQuery ? [] : path, error));
    });
    if (errors.count === before) errors.add(...ruleErrors(name, argument, raw));
  }
  errors.add(...rangeErrors(variables));
  errors.throwIfAny();
  return variables;
}

function rawValue(
  place: Place,
  name: string,
  argument: GraphQLArgument,
  input: RawInput,
  errors: FieldErrors,
): unknown {
  switch (place) {
    case 'path':
      return valueOfText(input.params[name]!, argument.type);
    case 'header':
      return input.builderId ?? undefined;
    case 'query':
      return valueOfQuery(name, argument, input, errors);
    case 'bodyOrQuery':
      return valueOfBody(name, argument, input, errors) ?? valueOfQuery(name, argument, input, errors);
    default:
      return valueOfBody(name, argument, input, errors);
  }
}

function valueOfQuery(name: string, { type }: GraphQLArgument, { query }: RawInput, errors: FieldErrors): unknown {
  if (isListType(nullableType(type))) {
    // A repeatable parameter has two spellings, which may be mixed. Only the plain one exists for the others.
    const texts = [...textsOf(query[name]), ...textsOf(query[`${name}[]`])];
    return texts.length === 0 ? undefined : texts.map((text) => valueOfText(text, type));
  }
  const raw = query[name];
  if (raw === undefined) return undefined;
  if (Array.isArray(raw)) {
    errors.add({ fieldName: name, message: 'must be given once' });
    return null;
  }
  return valueOfText(raw, type);
}

/** The values of a parameter, however often it was sent. */
const textsOf = (sent: string | string[] | undefined): string[] => (sent === undefined ? [] : [sent].flat());

/** The name that a value of a query parameter was sent under, by its index among the values of both spellings. */
function spellingOf(name: string, index: string | number | undefined, { query }: RawInput): string {
  return typeof index === 'number' && index >= textsOf(query[name]).length ? `${name}[]` : name;
}

function valueOfBody(name: string, { type }: GraphQLArgument, { body }: RawInput, errors: FieldErrors): unknown {
  if (!isObject(body)) return undefined;
  if (inspectionOf(type)) return body[name];
  return asWritten(body[name], type, [], (path, message) => errors.add({ fieldName: fieldPath(name, path), message }));
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

type Path = readonly (string | number)[];

/**
 * Takes unknown fields out of nested objects, unless their type is marked strict (a Page document), and refuses a single
 * value where a list belongs, which GraphQL would take for a list of one.
 */
function asWritten(
  value: unknown,
  type: GraphQLInputType,
  path: Path,
  refuse: (path: Path, message: string) => void,
): unknown {
  const nullable = nullableType(type);
  if (value === undefined || value === null) return value;
  if (isListType(nullable)) {
    if (Array.isArray(value)) return value.map((item, at) => asWritten(item, nullable.ofType, [...path, at], refuse));
    refuse(path, 'must be an array');
    return [];
  }
  if (!isInputObjectType(nullable) || !isObject(value)) return value;
  const fields = nullable.getFields();
  const entries = Object.entries(value)
    .filter(([name]) => name in fields || nullable.extensions.strict)
    .map(([name, item]) => [
      name,
      name in fields ? asWritten(item, fields[name]!.type, [...path, name], refuse) : item,
    ]);
  return Object.fromEntries(entries);
}

const nullableType = (type: GraphQLInputType) => (isNonNullType(type) ? type.ofType : type) as GraphQLInputType;

const isObject = (value: unknown): value is Record<string, unknown> =>
  value !== null && typeof value === 'object' && !Array.isArray(value);
