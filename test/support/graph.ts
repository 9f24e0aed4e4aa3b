import {
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLObjectType,
  getNamedType,
  isNonNullType,
  isObjectType,
  isUnionType,
} from 'graphql';
import { buildServiceSchema } from '../../resolvers/service-schema.ts';
import { recordType } from '../../schema/selection.ts';
import { requireSample, SAMPLED, type Samples } from './samples.ts';

export type Field = GraphQLField<unknown, unknown>;

/** A field on the path through the graph, and the type that its next field belongs to. */
export interface Step {
  field: Field;
  type: GraphQLObjectType;
}

const schema = buildServiceSchema();
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

export const required = (field: Field) => field.args.filter(({ type }) => isNonNullType(type));
const answerable = (field: Field) => required(field).every(({ type }) => SAMPLED.has(getNamedType(type).name));

/**
 * Returns the shortest path from a query to a type without needing the scope, so that only the edge itself can be rejected.
 *
 * @param begins whether the path may begin with that query.
 */
export function wayTo(goal: GraphQLObjectType, scope: string | null, begins = (_: Field) => true): Step[] | null {
  const ways: Step[][] = Object.values(query.getFields())
    .filter((field) => (scope === null || field.extensions.scope !== scope) && answerable(field) && begins(field))
    .flatMap((field) => targetsOf(field).map((type) => [{ field, type }]));
  const seen = new Set<GraphQLObjectType>();
  for (const way of ways) {
    const { type } = way.at(-1)!;
    if (type === goal) return way;
    if (seen.has(type)) continue;
    seen.add(type);
    for (const field of Object.values(type.getFields())) {
      if ((scope !== null && scopeOf(recordType(field.type)) === scope) || required(field).length > 0) continue;
      ways.push(...targetsOf(field).map((next) => [...way, { field, type: next }]));
    }
  }
  return null;
}

/** Returns a document that selects the path and then the edge. */
export function documentOf(
  samples: Samples,
  way: Step[],
  edge: Field,
  inner = `${call(samples, edge)} ${selected(edge, '__typename')}`,
): string {
  const body = way.reduceRight((selection, { field, type }) => {
    return `${call(samples, field)} ${selected(field, `... on ${type.name} { ${selection} }`)}`;
  }, inner);
  return `{ ${body} }`;
}

export const call = (samples: Samples, field: Field) => {
  const values = required(field).map(
    ({ name, type }) => `${name}: "${requireSample(samples, getNamedType(type).name)}"`,
  );
  return values.length ? `${field.name}(${values.join(', ')})` : field.name;
};

export const selected = (field: Field, selection: string) =>
  isEnvelope(getNamedType(field.type)) ? `{ data { ${selection} } }` : `{ ${selection} }`;
