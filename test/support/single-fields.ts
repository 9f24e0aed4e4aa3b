import {
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  isLeafType,
  isNonNullType,
  isObjectType,
  isUnionType,
} from 'graphql';

type Field = GraphQLField<unknown, unknown>;

/** Returns the value of a required argument; undefined where there is none. */
type FindValue = (argument: string, scalar: string) => unknown;

interface SingleFieldDocument {
  /** Fields from the query to the field. */
  name: string;
  type: GraphQLObjectType;
  field: Field;
  /** Selection of the query, to which an alias may be given. */
  selection: string;
}

interface FieldError {
  path?: string[];
  extensions: { http: { status: number } };
}

/** Fields of a request. Each has a selection of its own, as in a request that selects it alone. */
const FIELDS_PER_REQUEST = 25;

/** Sends each document. Returns the names of those that are an error of the service. */
export async function findServiceErrors(
  documents: readonly SingleFieldDocument[],
  send: (query: string) => Promise<readonly FieldError[]>,
): Promise<string[]> {
  const failed: string[] = [];
  for (let at = 0; at < documents.length; at += FIELDS_PER_REQUEST) {
    const part = documents.slice(at, at + FIELDS_PER_REQUEST);
    const errors = await send(`{ ${part.map(({ selection }, index) => `f${index}: ${selection}`).join(' ')} }`);
    for (const [index, { name, selection }] of part.entries()) {
      // An error without a path is of the request, which may cost too much: then each field is sent alone.
      const own = errors.some(({ path }) => !path)
        ? await send(`{ ${selection} }`)
        : errors.filter(({ path }) => path![0] === `f${index}`);
      if (own.some(({ extensions }) => extensions.http.status >= 500)) failed.push(name);
    }
  }
  return failed;
}

interface Step {
  field: Field;
  type: GraphQLObjectType;
}

/**
 * Returns for each field of each type that a query can reach a document that selects this field alone, by the shortest way, and
 * in a list.
 */
export function createSingleFieldDocuments(schema: GraphQLSchema, findValue: FindValue): SingleFieldDocument[] {
  const documents: SingleFieldDocument[] = [];
  const seen = new Set<string>();
  const paths: Step[][] = toSteps(schema.getQueryType()!, findValue).map((step) => [step]);
  for (const path of paths) {
    const { type } = path.at(-1)!;
    const kind = `${type.name} ${path.at(-1)!.field.name === 'data' ? 'in a list' : ''}`;
    if (seen.has(kind)) continue;
    seen.add(kind);
    paths.push(...toSteps(type, findValue).map((step) => [...path, step]));
    for (const field of Object.values(type.getFields())) {
      const call = printCall(field, findValue);
      if (call === null) continue;
      const inner = isLeafType(getNamedType(field.type)) ? call : `${call} { __typename }`;
      const selection = path.reduceRight(
        (members, step) => `${printCall(step.field, findValue)} { ${printMember(step, members)} }`,
        inner,
      );
      const name = `${path.map((step) => step.field.name).join('.')}.${field.name}`;
      documents.push({ name, type, field, selection });
    }
  }
  return documents;
}

const printMember = ({ field, type }: Step, selection: string): string =>
  isUnionType(getNamedType(field.type)) ? `... on ${type.name} { ${selection} }` : selection;

/** Returns the fields of a type that lead to objects and can be called, with each type of a union. */
const toSteps = (parent: GraphQLObjectType, findValue: FindValue): Step[] =>
  Object.values(parent.getFields())
    .filter((field) => printCall(field, findValue) !== null)
    .flatMap((field) => {
      const target = getNamedType(field.type);
      const types = isUnionType(target) ? target.getTypes() : [target];
      return types.filter(isObjectType).map((type) => ({ field, type }));
    });

/** Returns the field with its required arguments; null where one has no value. */
function printCall({ name, args }: Field, findValue: FindValue): string | null {
  const required = args.filter((argument) => isNonNullType(argument.type) && argument.defaultValue === undefined);
  const values = required.map((argument) => [
    argument.name,
    findValue(argument.name, getNamedType(argument.type).name),
  ]);
  if (values.some(([, value]) => value === undefined)) return null;
  return values.length === 0
    ? name
    : `${name}(${values.map(([key, value]) => `${key}: ${JSON.stringify(value)}`).join(', ')})`;
}
