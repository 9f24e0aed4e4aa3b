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
  document: string;
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
      const body = path.reduceRight(
        (selection, step) => `${printCall(step.field, findValue)} { ${printMember(step, selection)} }`,
        inner,
      );
      const name = `${path.map((step) => step.field.name).join('.')}.${field.name}`;
      documents.push({ name, type, field, document: `{ ${body} }` });
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
