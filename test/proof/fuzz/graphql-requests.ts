import {
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLInputType,
  type GraphQLObjectType,
  getNamedType,
  isEnumType,
  isInputObjectType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
  isScalarType,
  isUnionType,
} from 'graphql';
import { REQUEST_BODIES } from '../../support/samples.ts';
import type { Json } from './contract.ts';
import type { FuzzFixture, GeneratedRequest } from './fuzz-fixture.ts';
import {
  allowedValue,
  chance,
  type Draw,
  hostileText,
  hostileValue,
  mutateValue,
  pick,
  randomInteger,
} from './random-values.ts';

/** A document during its generation, with its variables. */
interface GraphqlDraft {
  draw: Draw;
  fixture: FuzzFixture;
  variables: Record<string, { type: string; value: Json }>;
}

/** Returns a GraphQL request from the schema: valid, or with one change of a variable or of its text. */
export function generateGraphqlRequest(draw: Draw, fixture: FuzzFixture): GeneratedRequest {
  const isQuery = chance(draw, 75);
  const root = isQuery ? fixture.schema.getQueryType()! : fixture.schema.getMutationType()!;
  const draft: GraphqlDraft = { draw, fixture, variables: {} };
  const fields = Array.from({ length: 1 + randomInteger(draw, isQuery ? 2 : 0) }, (_, at) => {
    return `${at === 0 ? '' : `f${at}: `}${writeField(draft, pick(draw, Object.values(root.getFields())), 0)}`;
  });
  const definitions = Object.entries(draft.variables).map(([name, { type }]) => `$${name}: ${type}`);
  const head = `${isQuery ? 'query' : 'mutation'}${definitions.length ? ` (${definitions.join(', ')})` : ''}`;
  const body: Json = {
    query: `${head} { ${fields.join(' ')} }`,
    variables: Object.fromEntries(Object.entries(draft.variables).map(([name, { value }]) => [name, value])),
  };
  const token = chance(draw, 90) ? fixture.tokens.authorized : pick(draw, Object.values(fixture.tokens));
  const headers: GeneratedRequest['headers'] = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
  const mutated = chance(draw, 70) ? mutateRequest(draw, body, headers) : body;
  return { method: 'POST', url: '/graphql', headers, body: Buffer.from(JSON.stringify(mutated) ?? '') };
}

const INTROSPECTION = '{ __schema { types { name fields { name args { name type { name ofType { name } } } } } } }';

/** Returns the body with one change; a change of the headers is made in place. */
function mutateRequest(draw: Draw, body: Json, headers: GeneratedRequest['headers']): Json {
  const names = Object.keys(body.variables);
  switch (randomInteger(draw, names.length > 0 ? 9 : 5)) {
    case 0:
      return { ...body, query: damageText(draw, body.query) };
    case 1:
      return {
        ...body,
        query: body.query.replace(
          '{',
          `{ ${pick(draw, ['__typename', '...on Query { me { id } }', '@skip(if: 1)', '...x', hostileText(draw)])} `,
        ),
      };
    case 2:
      return pick(draw, [
        hostileValue(draw),
        [body, body],
        { ...body, operationName: hostileText(draw) },
        { ...body, extensions: { persistedQuery: { version: 1, sha256Hash: hostileText(draw) } } },
      ]);
    case 3:
      return pick(draw, [
        { query: INTROSPECTION },
        { query: generateOversizedQuery(draw) },
        { ...body, variables: hostileValue(draw) },
      ]);
    case 4:
      headers[pick(draw, ['X-Service-Region-Id', 'X-Service-Builder-Id', 'X-Service-Api-Version', 'Content-Type'])] =
        pick(draw, ['us1', 'buil_a', 'v2', 'text/plain']);
      return body;
    case 5:
      return {
        ...body,
        query: body.query.replaceAll(/"[^"]*"|\b\d+\b/g, (literal: string) =>
          chance(draw, 30) ? JSON.stringify(hostileText(draw)) : literal,
        ),
      };
    default: {
      const name = pick(draw, names);
      return { ...body, variables: { ...body.variables, [name]: mutateValue(draw, body.variables[name]) } };
    }
  }
}

/** Returns a query with too many aliases, too deep nesting, too many tokens or variables, or a cycle of fragments. */
function generateOversizedQuery(draw: Draw): string {
  const times = pick(draw, [10, 100, 900]);
  return pick(draw, [
    `{ ${Array.from({ length: times }, (_, at) => `a${at}: builders { data { id } }`).join(' ')} }`,
    `{ builders { data { ${'projects { data { builder { '.repeat(times)} id ${'} } }'.repeat(times)} } } }`,
    `{ ${'__typename '.repeat(times)} }`,
    `query (${Array.from({ length: times }, (_, at) => `$v${at}: Int`).join(' ')}) { me { id } }`,
    `{ me { ...a } } fragment a on Identity { ...b } fragment b on Identity { ...a }`,
  ]);
}

function damageText(draw: Draw, text: string): string {
  const at = randomInteger(draw, text.length);
  const inserted = pick(draw, ['', '{', '}', '"', '"""', '#', '$', '\u0000', '\ud800', hostileText(draw)]);
  return `${text.slice(0, at)}${inserted}${text.slice(at + randomInteger(draw, 3))}`;
}

type Field = GraphQLField<unknown, unknown>;

/** Returns the text of the field with arguments and a random selection. */
function writeField(draft: GraphqlDraft, field: Field, depth: number): string {
  const { draw } = draft;
  const given = field.args.filter(({ type }) => isNonNullType(type) || chance(draw, 30));
  const body = depth === 0 && chance(draw, 70) ? REQUEST_BODIES[field.name]?.(draft.fixture.samples) : undefined;
  const values = given.map((argument) => `${argument.name}: ${writeArgument(draft, argument, body?.[argument.name])}`);
  const call = values.length > 0 ? `${field.name}(${values.join(', ')})` : field.name;
  const type = getNamedType(field.type);
  if (isLeafType(type)) return call;
  const members = isUnionType(type) ? [...type.getTypes()] : isObjectType(type) ? [type] : [];
  const selections = members.map((member) => {
    const chosen = selectFields(draft, member, depth + 1);
    return isUnionType(type) ? `... on ${member.name} { ${chosen} }` : chosen;
  });
  return `${call} { __typename ${selections.join(' ')} }`;
}

function selectFields(draft: GraphqlDraft, type: GraphQLObjectType, depth: number): string {
  const { draw } = draft;
  const envelope = Boolean(type.extensions.envelope);
  const fields = Object.values(type.getFields()).filter(
    (field) => envelope || isLeafType(getNamedType(field.type)) || (depth < 7 && chance(draw, 50)),
  );
  if (envelope) return fields.map((field) => writeField(draft, field, depth)).join(' ');
  const chosen = Array.from({ length: Math.min(fields.length, 1 + randomInteger(draw, 3)) }, () => pick(draw, fields));
  return chosen.map((field, at) => `s${at}: ${writeField(draft, field, depth)}`).join(' ');
}

/** Returns a variable, which is added to the draft, or a literal of a scalar. */
function writeArgument(draft: GraphqlDraft, { type }: GraphQLArgument, sampleValue: unknown): string {
  const value = sampleValue === undefined ? generateInput(draft, type, 0) : sampleValue;
  const named = getNamedType(type);
  if (chance(draft.draw, 30) && isScalarType(named) && (value === null || typeof value !== 'object'))
    return JSON.stringify(value);
  const name = `v${Object.keys(draft.variables).length}`;
  draft.variables[name] = { type: String(type), value };
  return `$${name}`;
}

function generateInput(draft: GraphqlDraft, type: GraphQLInputType, depth: number): Json {
  const { draw, fixture } = draft;
  if (isNonNullType(type)) return generateInput(draft, type.ofType, depth);
  if (isListType(type))
    return Array.from({ length: randomInteger(draw, depth > 4 ? 0 : 2) + 1 }, () =>
      generateInput(draft, type.ofType, depth + 1),
    );
  if (isEnumType(type)) return pick(draw, type.getValues()).name;
  if (isInputObjectType(type)) {
    const fields = Object.values(type.getFields()).filter(
      ({ type: own }) => isNonNullType(own) || (depth < 4 && chance(draw, 50)),
    );
    return Object.fromEntries(fields.map((field) => [field.name, generateInput(draft, field.type, depth + 1)]));
  }
  const sample = fixture.samples[type.name];
  if (sample !== undefined && chance(draw, 90)) return sample;
  const builtIn = BUILT_IN[type.name];
  const schema = builtIn ? { type: builtIn } : (type.extensions.jsonSchema as Json);
  return allowedValue(
    draw,
    schema ?? {},
    { samples: fixture.samples, resolveReference: (one) => fixture.contract.resolveReference(one) },
    depth,
  );
}

const BUILT_IN: Record<string, string> = {
  Int: 'integer',
  Float: 'number',
  Boolean: 'boolean',
  String: 'string',
  ID: 'string',
};
