import type { FastifyRequest } from 'fastify';
import {
  type GraphQLError,
  type GraphQLField,
  type GraphQLInputType,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isInputObjectType,
  isLeafType,
  isListType,
  isScalarType,
} from 'graphql';
import { formatFieldPath, toFieldErrors } from '../../schema/input.ts';
import { isObject } from '../../schema/is-object.ts';
import { IDEMPOTENCY_ARGUMENT, type Operation } from '../../schema/route-table.ts';
import { integerFromText, parseBoolean } from '../../schema/scalar.ts';
import { type NamedArgument, parseArguments, toNamedArgument } from '../graphql/engine/arguments.ts';
import { type FieldError, invalidField, notFound } from '../shared/errors.ts';

type Query = Record<string, string | string[] | undefined>;

/** The parts of a request that hold arguments. */
export type RawInput = Pick<FastifyRequest, 'params' | 'query' | 'headers' | 'body' | 'context'>;

type ReadValue = NamedArgument<RawInput>['readValue'];

/** A DELETE takes its input from the body or the query; a field that is in both must have one value (ERR-8). */
type Location = 'path' | 'header' | 'query' | 'body' | 'bodyOrQuery';

/** Where a request holds an argument of an operation, and under which name. See `@Rest`. */
export interface ArgumentLocation extends NamedArgument<RawInput> {
  location: Location;
}

/** Returns the location of each argument of an operation. */
export function locateArguments(operation: Operation, schema: GraphQLSchema): ArgumentLocation[] {
  const inPath = new Map(
    [...operation.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => [operation.params[name!] ?? name!, name!]),
  );
  return getRootField(operation, schema).args.map((argument) => {
    const locate = (location: Location, name = argument.name): ArgumentLocation => {
      return { ...toNamedArgument(argument, createReader(location, name, argument.type), name), location };
    };
    const pathName = inPath.get(argument.name);
    if (pathName) return locate('path', pathName);
    if (argument.name === 'builderId' && !operation.builderIsInput) return locate('header', 'X-Service-Builder-Id');
    if (argument.name === IDEMPOTENCY_ARGUMENT) return locate('header', 'Idempotency-Key');
    return locate(LOCATIONS[operation.method] ?? 'body');
  });
}

/**
 * Returns the arguments of an operation as fields of one object, under the names of the parameters; those of headers under the names of the
 * arguments. For callers without paths and queries.
 */
export const locateInObject = (operation: Operation, schema: GraphQLSchema): ArgumentLocation[] =>
  locateArguments(operation, schema).map(({ argument, name, location }) => {
    const field = location === 'header' ? argument.name : name;
    const readField = createReader('body', field, argument.type);
    const readValue: ReadValue =
      argument.name === 'builderId'
        ? (input, addErrors) => readField(input, addErrors) ?? input.context!.caller.builderId ?? undefined
        : readField;
    // A builder that is not in a body is authorized before the other arguments are parsed.
    const other = argument.name === 'builderId' && location !== 'body' ? 'header' : 'body';
    return { ...toNamedArgument(argument, readValue, field), location: location === 'path' ? 'path' : other };
  });

const LOCATIONS: Record<string, Location> = { GET: 'query', DELETE: 'bodyOrQuery' };

/** Returns the field of the schema that resolves an operation. */
export function getRootField({ kind, field }: Operation, schema: GraphQLSchema): GraphQLField<unknown, unknown> {
  return (kind === 'Query' ? schema.getQueryType()! : schema.getMutationType()!).getFields()[field]!;
}

/** Parameters of lists that an operation with `after` rejects (EVT-8). */
const LIST_PARAMETERS = ['cursor', 'offset', 'updatedSince', 'order'];

/**
 * Returns a function that returns an operation's variables, each validated against its type in the schema. A value of another JSON type is
 * rejected, not converted. The function throws 404 when an identifier in the path does not have the syntax of its type, else 400 with every
 * field that fails, in the order of the arguments, and then with texts anywhere in the body that cannot be stored. ERR-1, ERR-9, IDN-6.
 */
export function createInputParser(
  locations: readonly ArgumentLocation[],
): (input: RawInput) => Record<string, unknown> {
  const hasBody = locations.some(({ location }) => location.startsWith('body'));
  const hasAfter = locations.some(({ location, name }) => location === 'query' && name === 'after');
  const rejected = hasAfter ? LIST_PARAMETERS : [];
  return (input) => {
    if (hasBody && input.body !== undefined && !isObject(input.body)) throw invalidField('body', 'must be an object');
    const { textErrors = [], clock } = input.context!;
    const otherErrors = rejected.length > 0 ? [...findSent(rejected, input.query as Query), ...textErrors] : textErrors;
    return parseArguments(locations, input, { toFieldErrors: toRequestErrors, otherErrors, now: clock.now() });
  };
}

function toRequestErrors(
  { location, name }: ArgumentLocation,
  { query }: RawInput,
  path: Path,
  error: GraphQLError,
): FieldError[] {
  if (location === 'path') throw notFound('Resource');
  if (location !== 'query') return toFieldErrors(name, path, error);
  const [index] = path;
  // The name under which the value of that index was sent.
  const sentAs = typeof index === 'number' ? listParameters(name, query as Query)[index]![0] : name;
  return toFieldErrors(sentAs, [], error);
}

function findSent(names: readonly string[], query: Query): FieldError[] {
  const sent = names.filter((name) => listParameters(name, query).length > 0);
  return sent.map((fieldName) => ({ fieldName, message: 'is not accepted here: the next page begins at `after`' }));
}

/** Returns the function that reads an argument of the type at a location. The body is an object where there is one. */
function createReader(location: Location, name: string, type: GraphQLInputType): ReadValue {
  const parseText = findTextParser(type);
  const isList = isListType(getNullableType(type));
  const readQuery: ReadValue = ({ query }, addErrors) => {
    const sent = listParameters(name, query as Query);
    if (sent.length === 0) return undefined;
    if (isList) {
      const unreadable = sent.find(([parameter]) => !REPEATABLE.test(parameter.slice(name.length)));
      if (!unreadable) return sent.map(([, text]) => parseText(text));
      addErrors({ fieldName: unreadable[0], message: `must be named ${name}, ${name}[] or ${name}[0]` });
    } else if (sent.length > 1) addErrors({ fieldName: name, message: 'must be given once' });
    else if (sent[0]![0] !== name) addErrors({ fieldName: name, message: 'must be named without brackets' });
    else return parseText(sent[0]![1]);
    return undefined;
  };
  const readBody: ReadValue = isLeafType(getNullableType(type))
    ? ({ body }) => (body as Body)?.[name]
    : ({ body }, addErrors) =>
        withoutUnknownFields((body as Body)?.[name], type, [], (path) =>
          addErrors({ fieldName: formatFieldPath(name, path), message: 'must be an array' }),
        );
  switch (location) {
    case 'path':
      return ({ params }) => parseText((params as Record<string, string>)[name]!);
    case 'header':
      if (name === 'Idempotency-Key') return ({ headers }) => headers['idempotency-key'];
      // The default of the builder is that of the token.
      return ({ context }) => context!.builderHeader ?? context!.caller.builderId ?? undefined;
    case 'query':
      return readQuery;
    case 'body':
      return readBody;
    case 'bodyOrQuery':
      return (input, addErrors) => {
        const inBody = readBody(input, addErrors);
        const inQuery = readQuery(input, addErrors);
        if (inBody !== undefined && inQuery !== undefined && inBody !== inQuery)
          addErrors({ fieldName: name, message: 'has different values in the query and the body' });
        return inBody ?? inQuery;
      };
  }
}

type Body = Record<string, unknown> | undefined;

/** What may follow the name of a repeatable parameter. */
const REPEATABLE = /^(\[\d*\])?$/;

/** Returns each value of a query parameter with the name it was sent under, which may end in brackets. */
function listParameters(name: string, query: Query): [parameter: string, text: string][] {
  const sent: [string, string][] = [];
  for (const parameter in query) {
    if (!parameter.startsWith(name) || (parameter.length > name.length && parameter[name.length] !== '[')) continue;
    for (const text of [query[parameter]!].flat()) sent.push([parameter, text]);
  }
  return sent;
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
