import {
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLObjectType,
  getNamedType,
  isNonNullType,
  isObjectType,
  isUnionType,
} from 'graphql';
import { recordType } from '../../schema/selection.ts';
import { schema } from './definition.ts';
import { requireSample, SAMPLED_SCALARS, type Samples } from './samples.ts';

export type Field = GraphQLField<unknown, unknown>;

/** A field of a nested selection, and the type that the next field belongs to. */
export interface SelectionStep {
  field: Field;
  type: GraphQLObjectType;
}

const query = schema.getQueryType()!;

export const scopeOf = (type: GraphQLNamedType) => type.extensions.scope as string | undefined;
export const isEnvelope = (type: GraphQLNamedType) => Boolean(type.extensions.envelope);

/** Returns the object types of a field, without envelopes and unions. */
export function targetsOf(field: Field): GraphQLObjectType[] {
  const target = recordType(field.type);
  if (isUnionType(target)) return [...target.getTypes()];
  return isObjectType(target) ? [target] : [];
}

/** Returns every field of a type that leads to records with a scope. */
export const edges = Object.values(schema.getTypeMap())
  .filter(isObjectType)
  .filter(
    (type) => type !== query && type !== schema.getMutationType() && !isEnvelope(type) && !type.name.startsWith('__'),
  )
  .flatMap((type) =>
    Object.values(type.getFields())
      .filter((field) => scopeOf(recordType(field.type)) !== undefined)
      .map((field) => ({ name: `${type.name}.${field.name}`, type, field, scope: scopeOf(recordType(field.type))! })),
  );

export const requiredArguments = (field: Field) => field.args.filter(({ type }) => isNonNullType(type));
const hasSampledArguments = (field: Field) =>
  requiredArguments(field).every(({ type }) => SAMPLED_SCALARS.has(getNamedType(type).name));

/**
 * Returns the shortest nested selection from a query to a type whose fields do not need the scope, so that only the edge itself can be
 * rejected; null when there is none.
 *
 * @param canBegin whether the selection may begin with that query.
 */
export function findSelectionPath(
  goal: GraphQLObjectType,
  scope: string | null,
  canBegin = (_: Field) => true,
): SelectionStep[] | null {
  const paths: SelectionStep[][] = Object.values(query.getFields())
    .filter(
      (field) => (scope === null || field.extensions.scope !== scope) && hasSampledArguments(field) && canBegin(field),
    )
    .flatMap((field) => targetsOf(field).map((type) => [{ field, type }]));
  const seen = new Set<GraphQLObjectType>();
  for (const path of paths) {
    const { type } = path.at(-1)!;
    if (type === goal) return path;
    if (seen.has(type)) continue;
    seen.add(type);
    for (const field of Object.values(type.getFields())) {
      if ((scope !== null && scopeOf(recordType(field.type)) === scope) || requiredArguments(field).length > 0)
        continue;
      paths.push(...targetsOf(field).map((next) => [...path, { field, type: next }]));
    }
  }
  return null;
}

/** Returns a document with the nested selection, and the edge inside it. */
export function createDocument(
  samples: Samples,
  steps: SelectionStep[],
  edge: Field,
  inner = `${printField(samples, edge)} ${printSelection(edge, '__typename')}`,
): string {
  const body = steps.reduceRight((selection, { field, type }) => {
    return `${printField(samples, field)} ${printSelection(field, `... on ${type.name} { ${selection} }`)}`;
  }, inner);
  return `{ ${body} }`;
}

export const printField = (samples: Samples, field: Field) => {
  const values = requiredArguments(field).map(
    ({ name, type }) => `${name}: "${requireSample(samples, getNamedType(type).name)}"`,
  );
  return values.length ? `${field.name}(${values.join(', ')})` : field.name;
};

export const printSelection = (field: Field, selection: string) =>
  isEnvelope(getNamedType(field.type)) ? `{ data { ${selection} } }` : `{ ${selection} }`;
