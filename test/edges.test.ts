import {
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLObjectType,
  getNamedType,
  isNonNullType,
  isObjectType,
  isUnionType,
} from 'graphql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildServiceSchema, recordType } from '../schema/build.ts';
import { type Service, startService } from './harness.ts';
import { SAMPLED, type Samples, samplesOf } from './support/samples.ts';

type Field = GraphQLField<unknown, unknown>;

/** A field on the way through the graph, and the type whose field comes next. */
interface Step {
  field: Field;
  type: GraphQLObjectType;
}

const schema = buildServiceSchema();
const query = schema.getQueryType()!;

const scopeOf = (type: GraphQLNamedType) => type.extensions.scope as string | undefined;
const isEnvelope = (type: GraphQLNamedType) => Boolean(type.extensions.envelope);

/** The object types that a field leads to, out of envelopes and unions. */
function targetsOf(field: Field): GraphQLObjectType[] {
  const target = recordType(field.type);
  if (isUnionType(target)) return [...target.getTypes()];
  return isObjectType(target) ? [target] : [];
}

/** Every field of a type that leads to records under a scope. */
const edges = Object.values(schema.getTypeMap())
  .filter(isObjectType)
  .filter(
    (type) => type !== query && type !== schema.getMutationType() && !isEnvelope(type) && !type.name.startsWith('__'),
  )
  .flatMap((type) =>
    Object.values(type.getFields())
      .filter((field) => scopeOf(recordType(field.type)) !== undefined)
      .map((field) => ({ name: `${type.name}.${field.name}`, type, field, scope: scopeOf(recordType(field.type))! })),
  );

let service: Service;
let samples: Samples;

beforeAll(async () => {
  service = await startService();
  samples = await samplesOf(service.databases.au1, service.demo('A').builderIds[0]!);
});

afterAll(() => service.stop());

const required = (field: Field) => field.args.filter(({ type }) => isNonNullType(type));
const answerable = (field: Field) => required(field).every(({ type }) => SAMPLED.has(getNamedType(type).name));

/** Shortest way from a query to a type that needs no such scope, so that the edge alone is what is refused. */
function wayTo(goal: GraphQLObjectType, scope: string): Step[] | null {
  const ways: Step[][] = Object.values(query.getFields())
    .filter((field) => field.extensions.scope !== scope && answerable(field))
    .flatMap((field) => targetsOf(field).map((type) => [{ field, type }]));
  const seen = new Set<GraphQLObjectType>();
  for (const way of ways) {
    const { type } = way.at(-1)!;
    if (type === goal) return way;
    if (seen.has(type)) continue;
    seen.add(type);
    for (const field of Object.values(type.getFields())) {
      if (scopeOf(recordType(field.type)) === scope || required(field).length > 0) continue;
      ways.push(...targetsOf(field).map((next) => [...way, { field, type: next }]));
    }
  }
  return null;
}

/** The document that goes the way and then takes the edge. */
function documentOf(way: Step[], edge: Field, inner = `${call(edge)} ${selected(edge, '__typename')}`): string {
  const body = way.reduceRight((selection, { field, type }) => {
    return `${call(field)} ${selected(field, `... on ${type.name} { ${selection} }`)}`;
  }, inner);
  return `{ ${body} }`;
}

const call = (field: Field) => {
  const values = required(field).map(({ name, type }) => `${name}: "${samples[getNamedType(type).name]}"`);
  return values.length ? `${field.name}(${values.join(', ')})` : field.name;
};

const selected = (field: Field, selection: string) =>
  isEnvelope(getNamedType(field.type)) ? `{ data { ${selection} } }` : `{ ${selection} }`;

describe.each(edges)('the edge $name', ({ type, field, scope }) => {
  const way = wayTo(type, scope);
  // Visits and the like are for internal clients, which have no connections.
  const name = scope === 'read:attendance' ? 'internal' : 'A';

  if (!way) {
    it('is reached only from where its scope is needed already', () => expect(scopeOf(type)).toBe(scope));
    return;
  }

  it(`needs ${scope}`, async () => {
    const document = documentOf(way, field);
    const others = service.demo(name).scopes.filter((other) => other !== scope);
    const refused = await service.graphql(await service.as(name, others), document);
    expect(refused.errors?.[0]?.extensions, document).toMatchObject({
      code: 'INSUFFICIENT_SCOPE',
      http: { status: 403 },
    });
    const allowed = await service.graphql(await service.as(name), document);
    expect(allowed.errors, document).toBeUndefined();
  });

  if (name === 'internal') return;

  it(`is refused where the builder's connection does not allow ${scope}`, async () => {
    const set = (scopes: readonly string[]) =>
      service.databases.au1
        .fork()
        .execute('update connection set scopes = ? where builder_id = ?', [`{${scopes.join()}}`, samples.BuilderId]);
    const { scopes } = service.demo('A');
    await set(scopes.filter((other) => other !== scope));
    service.clock.advance(1_000);
    try {
      const refused = await service.graphql(await service.as('A'), documentOf(way, field));
      expect(refused.errors?.[0]?.extensions).toMatchObject({ code: 'INSUFFICIENT_SCOPE', http: { status: 403 } });
      if (!isEnvelope(getNamedType(field.type))) return;
      // A page past the end holds no record that could be refused, and tells the count all the same.
      const count = documentOf(way, field, `${field.name}(offset: 1000000) { meta { totalCount } }`);
      const counted = await service.graphql(await service.as('A'), count);
      expect(counted.errors?.[0]?.extensions).toMatchObject({ code: 'INSUFFICIENT_SCOPE', http: { status: 403 } });
    } finally {
      await set(scopes);
      service.clock.advance(1_000);
    }
  });
});
