import {
  type GraphQLField,
  type GraphQLInputType,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isInputObjectType,
  isListType,
  isScalarType,
} from 'graphql';
import { formatFieldPath, toFieldErrors } from '../../schema/input.ts';
import { isObject } from '../../schema/is-object.ts';
import type { Operation } from '../../schema/route-table.ts';
import { integerFromText, parseBoolean } from '../../schema/scalar.ts';
import { type AddErrors, type NamedArgument, parseArguments, toNamedArgument } from '../graphql/engine/arguments.ts';
import { type FieldError, invalidField, notFound } from '../shared/errors.ts';

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

/** A DELETE takes its input from the body or the query; a field that is in both must have one value (ERR-8). */
type Location = 'path' | 'header' | 'query' | 'body' | 'bodyOrQuery';

/** Where a request holds an argument of an operation, and under which name. See `@Rest`. */
export interface ArgumentLocation extends NamedArgument {
  location: Location;
  /** Returns the value of a text for its type; invalid text is returned unchanged, and the type rejects it. */
  parseText: (text: string) => unknown;
}

/** Returns the location of each argument of an operation. */
export function locateArguments(operation: Operation, schema: GraphQLSchema): ArgumentLocation[] {
  const inPath = new Map(
    [...operation.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => [operation.params[name!] ?? name!, name!]),
  );
  return getRootField(operation, schema).args.map((argument) => {
    const locate = (location: Location, name = argument.name): ArgumentLocation => {
      return { ...toNamedArgument(argument, name), location, parseText: findTextParser(argument.type) };
    };
    const pathName = inPath.get(argument.name);
    if (pathName) return locate('path', pathName);
    if (argument.name === 'builderId' && !operation.builderInQuery) return locate('header', 'X-Service-Builder-Id');
    return locate(LOCATIONS[operation.method] ?? 'body');
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
 *
 * @param rejected Query parameters that the operation rejects.
 */
export function parseInput(
  locations: readonly ArgumentLocation[],
  input: RawInput,
  rejected: readonly string[] = [],
): Record<string, unknown> {
  if (input.body !== undefined && !isObject(input.body) && locations.some(({ location }) => /^body/.test(location)))
    throw invalidField('body', 'must be an object');
  return parseArguments(locations, {
    readValue: (located, addErrors) => getRawValue(located, input, addErrors),
    toFieldErrors({ location, name }, path, error) {
      if (location === 'path') throw notFound('Resource');
      const isQuery = location === 'query';
      return toFieldErrors(isQuery ? toParameterName(name, path[0], input) : name, isQuery ? [] : path, error);
    },
    otherErrors: rejected.length > 0 ? [...findSent(rejected, input.query), ...input.textErrors] : input.textErrors,
    now: input.now,
  });
}

/** Parameters of lists, which `after` replaces where pages follow it. */
const LIST_PARAMETERS = ['cursor', 'offset', 'updatedSince'];

/** Returns the parameters of lists that an operation rejects because its pages follow `after` (EVT-8). */
export const listRejectedParameters = (locations: readonly ArgumentLocation[]): readonly string[] =>
  locations.some(({ location, name }) => location === 'query' && name === 'after') ? LIST_PARAMETERS : [];

function findSent(names: readonly string[], query: RawInput['query']): FieldError[] {
  const sent = names.filter((name) => listParameters(name, query).length > 0);
  return sent.map((fieldName) => ({ fieldName, message: 'is not accepted here: the next page begins at `after`' }));
}

function getRawValue(located: ArgumentLocation, input: RawInput, addErrors: AddErrors): unknown {
  switch (located.location) {
    case 'path':
      return located.parseText(input.params[located.name]!);
    case 'header':
      return input.builderId ?? undefined;
    case 'query':
      return parseQueryValue(located, input, addErrors);
    case 'bodyOrQuery': {
      const inBody = getBodyValue(located, input, addErrors);
      const inQuery = parseQueryValue(located, input, addErrors);
      if (inBody !== undefined && inQuery !== undefined && inBody !== inQuery)
        addErrors({ fieldName: located.name, message: 'has different values in the query and the body' });
      return inBody ?? inQuery;
    }
    default:
      return getBodyValue(located, input, addErrors);
  }
}

function parseQueryValue(
  { name, argument, parseText }: ArgumentLocation,
  { query }: RawInput,
  addErrors: AddErrors,
): unknown {
  const sent = listParameters(name, query);
  if (sent.length === 0) return undefined;
  if (isListType(getNullableType(argument.type))) {
    const unreadable = sent.find(([parameter]) => !REPEATABLE.test(parameter.slice(name.length)));
    if (!unreadable) return sent.map(([, text]) => parseText(text));
    addErrors({ fieldName: unreadable[0], message: `must be named ${name}, ${name}[] or ${name}[0]` });
  } else if (sent.length > 1) addErrors({ fieldName: name, message: 'must be given once' });
  else if (sent[0]![0] !== name) addErrors({ fieldName: name, message: 'must be named without brackets' });
  else return parseText(sent[0]![1]);
  return undefined;
}

/** What may follow the name of a repeatable parameter. */
const REPEATABLE = /^(\[\d*\])?$/;

/** Returns each value of a query parameter with the name it was sent under, which may end in brackets. */
function listParameters(name: string, query: RawInput['query']): [parameter: string, text: string][] {
  const sent: [string, string][] = [];
  for (const parameter in query) {
    if (!parameter.startsWith(name) || (parameter.length > name.length && parameter[name.length] !== '[')) continue;
    for (const text of [query[parameter]!].flat()) sent.push([parameter, text]);
  }
  return sent;
}

/** The name under which the value of that index was sent. */
const toParameterName = (name: string, index: string | number | undefined, { query }: RawInput): string =>
  typeof index === 'number' ? listParameters(name, query)[index]![0] : name;

function getBodyValue({ name, argument }: ArgumentLocation, { body }: RawInput, addErrors: AddErrors): unknown {
  if (!isObject(body)) return undefined;
  return withoutUnknownFields(body[name], argument.type, [], (path) =>
    addErrors({ fieldName: formatFieldPath(name, path), message: 'must be an array' }),
  );
}

function findTextParser(type: GraphQLInputType): (text: string) => unknown {
  const named = getNamedType(type);
  const parser = isScalarType(named) ? (named.extensions.fromText ?? FROM_TEXT[named.name]) : undefined;
  return (parser as ((text: string) => unknown) | undefined) ?? String;
}

const FROM_TEXT: Record<string, (text: string) => unknown> = { Int: integerFromText, Boolean: parseBoolean };

type Path = readonly (string | number)[];

/**
 * Returns the value without unknown fields of nested objects. Calls `rejectItem` for a single value in place of a list, which GraphQL would
 * coerce to a list of one.
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
    .filter(([name]) => name in fields)
    .map(([name, item]) => [name, withoutUnknownFields(item, fields[name]!.type, [...path, name], rejectItem)]);
  return Object.fromEntries(entries);
}
