import {
  coerceInputValue,
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLInputType,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isScalarType,
} from 'graphql';
import { formatFieldPath, getValidator, toFieldErrors } from '../../schema/input.ts';
import { findRuleErrors } from '../../schema/input-rules.ts';
import type { Operation } from '../../schema/route-table.ts';
import { integerFromText, parseBoolean } from '../../schema/scalar.ts';
import { type FieldError, FieldErrors, invalidField, notFound } from '../shared/errors.ts';
import { isObject } from '../shared/is-object.ts';

/** Request values that an operation's arguments are taken from. */
export interface RawInput {
  params: Record<string, string>;
  query: Record<string, string | string[] | undefined>;
  body: unknown;
  /** Errors of texts and names in the body that PostgreSQL cannot store. */
  textErrors: readonly FieldError[];
  /** `X-Service-Builder-Id`, or the builder of the token. */
  builderId: string | null;
  /** Milliseconds since the epoch. */
  now: number;
}

/** A DELETE takes its input from the body or the query; the body takes precedence for a field that is in both. */
type Location = 'path' | 'header' | 'query' | 'body' | 'bodyOrQuery';

/** Where a request holds an argument of an operation, and under which name. See `@Rest`. */
export interface ArgumentLocation {
  argument: GraphQLArgument;
  location: Location;
  name: string;
}

/** Returns the location of each argument of an operation. */
export function locateArguments(operation: Operation, schema: GraphQLSchema): ArgumentLocation[] {
  const inPath = new Map(
    [...operation.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => [operation.params[name!] ?? name!, name!]),
  );
  return getRootField(operation, schema).args.map((argument) => {
    const pathName = inPath.get(argument.name);
    if (pathName) return { argument, location: 'path', name: pathName };
    if (argument.name === 'builderId' && !operation.builderInQuery)
      return { argument, location: 'header', name: 'X-Service-Builder-Id' };
    return { argument, location: LOCATIONS[operation.method] ?? 'body', name: argument.name };
  });
}

const LOCATIONS: Record<string, Location> = { GET: 'query', DELETE: 'bodyOrQuery' };

/** Returns the field of the schema that resolves an operation. */
export function getRootField({ kind, field }: Operation, schema: GraphQLSchema): GraphQLField<unknown, unknown> {
  return (kind === 'Query' ? schema.getQueryType()! : schema.getMutationType()!).getFields()[field]!;
}

/**
 * Returns the operation's variables, each validated against its type in the schema. A value of another JSON type is rejected, not
 * converted. Throws 404 when an identifier in the path does not have the syntax of its type, else 400 with every field that fails, in the
 * order of the arguments, and then with invalid text in fields that the operation does not define. ERR-1, ERR-9, IDN-6.
 */
export function parseInput(locations: ArgumentLocation[], input: RawInput): Record<string, unknown> {
  const variables: Record<string, unknown> = {};
  const errors = new FieldErrors();
  if (input.body !== undefined && !isObject(input.body) && locations.some(({ location }) => /^body/.test(location)))
    throw invalidField('body', 'must be an object');
  for (const { argument, location, name } of locations) {
    const before = errors.count;
    const raw = getRawValue(location, name, argument, input, errors);
    if (raw === undefined) {
      if (isNonNullType(argument.type) && errors.count === before)
        errors.add({ fieldName: name, message: 'is required' });
      continue;
    }
    const validate = getValidator(argument.type);
    if (validate && raw !== null) {
      errors.add(...validate(raw, name));
      // The validator rejects whatever the type would.
      variables[argument.name] = raw;
      continue;
    }
    variables[argument.name] = coerceInputValue(raw, argument.type, (path, _value, error) => {
      if (location === 'path') throw notFound('Resource');
      const isQuery = location === 'query';
      errors.add(...toFieldErrors(isQuery ? toParameterName(name, path[0], input) : name, isQuery ? [] : path, error));
    });
  }
  for (const { argument } of locations) errors.addNew(...findRuleErrors(argument.name, argument, variables, input.now));
  if (errors.count > 0) errors.sort(locations.map(({ name }) => name));
  errors.addNew(...input.textErrors);
  errors.throwIfAny();
  return variables;
}

function getRawValue(
  location: Location,
  name: string,
  argument: GraphQLArgument,
  input: RawInput,
  errors: FieldErrors,
): unknown {
  switch (location) {
    case 'path':
      return parseScalarText(input.params[name]!, argument.type);
    case 'header':
      return input.builderId ?? undefined;
    case 'query':
      return parseQueryValue(name, argument, input, errors);
    case 'bodyOrQuery':
      return getBodyValue(name, argument, input, errors) ?? parseQueryValue(name, argument, input, errors);
    default:
      return getBodyValue(name, argument, input, errors);
  }
}

function parseQueryValue(name: string, { type }: GraphQLArgument, { query }: RawInput, errors: FieldErrors): unknown {
  if (isListType(getNullableType(type))) {
    // A repeatable parameter may be named with and without brackets, also in one request; other parameters only without.
    const texts = [...toTexts(query[name]), ...toTexts(query[`${name}[]`])];
    return texts.length === 0 ? undefined : texts.map((text) => parseScalarText(text, type));
  }
  const raw = query[name];
  if (raw === undefined) return undefined;
  if (Array.isArray(raw)) {
    errors.add({ fieldName: name, message: 'must be given once' });
    return undefined;
  }
  return parseScalarText(raw, type);
}

/** The values of a parameter that was sent any number of times. */
const toTexts = (sent: string | string[] | undefined): string[] => (sent === undefined ? [] : [sent].flat());

/** The name, with or without brackets, that the value of that index was sent under. */
function toParameterName(name: string, index: string | number | undefined, { query }: RawInput): string {
  return typeof index === 'number' && index >= toTexts(query[name]).length ? `${name}[]` : name;
}

function getBodyValue(name: string, { type }: GraphQLArgument, { body }: RawInput, errors: FieldErrors): unknown {
  if (!isObject(body)) return undefined;
  if (getValidator(type)) return body[name];
  return withoutUnknownFields(body[name], type, [], (path) =>
    errors.add({ fieldName: formatFieldPath(name, path), message: 'must be an array' }),
  );
}

/** Returns the value of a text for its type; invalid text is returned unchanged, and the type rejects it. */
function parseScalarText(text: string, type: GraphQLInputType): unknown {
  const named = getNamedType(type);
  if (!isScalarType(named)) return text;
  const fromText = (named.extensions.fromText ?? FROM_TEXT[named.name]) as ((text: string) => unknown) | undefined;
  return fromText ? fromText(text) : text;
}

const FROM_TEXT: Record<string, (text: string) => unknown> = { Int: integerFromText, Boolean: parseBoolean };

type Path = readonly (string | number)[];

/**
 * Returns the value without unknown fields of nested objects, unless their type is strict (a Page document). Calls `rejectItem` for a
 * single value in place of a list, which GraphQL would coerce to a list of one.
 */
function withoutUnknownFields(
  value: unknown,
  type: GraphQLInputType,
  path: Path,
  rejectItem: (path: Path) => void,
): unknown {
  const nullable = getNullableType(type);
  if (value === undefined || value === null) return value;
  if (isListType(nullable)) {
    const { ofType } = nullable;
    if (Array.isArray(value))
      return value.map((item, index) => withoutUnknownFields(item, ofType, [...path, index], rejectItem));
    rejectItem(path);
    return [];
  }
  if (!isInputObjectType(nullable) || !isObject(value)) return value;
  const fields = nullable.getFields();
  const entries = Object.entries(value)
    .filter(([name]) => name in fields || nullable.extensions.strict)
    .map(([name, item]) => [
      name,
      name in fields ? withoutUnknownFields(item, fields[name]!.type, [...path, name], rejectItem) : item,
    ]);
  return Object.fromEntries(entries);
}
