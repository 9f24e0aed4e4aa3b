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
import { BODIES } from '../../support/samples.ts';
import type { Json } from './contract.ts';
import { allowedValue, chance, type Draw, hostileText, hostileValue, mutated, number, pick } from './values.ts';
import type { Sent, World } from './world.ts';

/** A document that is being generated, with its variables. */
interface Writing {
  draw: Draw;
  world: World;
  variables: Record<string, { type: string; value: Json }>;
}

/** Returns a GraphQL request from the schema: valid, or with one change of a variable or of its text. */
export function graphqlRequest(draw: Draw, world: World): Sent {
  const isQuery = chance(draw, 75);
  const root = isQuery ? world.schema.getQueryType()! : world.schema.getMutationType()!;
  const writing: Writing = { draw, world, variables: {} };
  const fields = Array.from({ length: 1 + number(draw, isQuery ? 2 : 0) }, (_, at) => {
    return `${at === 0 ? '' : `f${at}: `}${written(writing, pick(draw, Object.values(root.getFields())), 0)}`;
  });
  const definitions = Object.entries(writing.variables).map(([name, { type }]) => `$${name}: ${type}`);
  const head = `${isQuery ? 'query' : 'mutation'}${definitions.length ? ` (${definitions.join(', ')})` : ''}`;
  const body: Json = {
    query: `${head} { ${fields.join(' ')} }`,
    variables: Object.fromEntries(Object.entries(writing.variables).map(([name, { value }]) => [name, value])),
  };
  const token = chance(draw, 90) ? world.tokens.usual : pick(draw, Object.values(world.tokens));
  const headers: Sent['headers'] = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
  const changed = chance(draw, 70) ? change(draw, body, headers) : body;
  return { method: 'POST', url: '/graphql', headers, body: Buffer.from(JSON.stringify(changed) ?? '') };
}

const INTROSPECTION = '{ __schema { types { name fields { name args { name type { name ofType { name } } } } } } }';

/** Makes one change. */
function change(draw: Draw, body: Json, headers: Sent['headers']): Json {
  const names = Object.keys(body.variables);
  switch (number(draw, names.length > 0 ? 9 : 5)) {
    case 0:
      return { ...body, query: cut(draw, body.query) };
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
        { query: repeated(draw) },
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
      return { ...body, variables: { ...body.variables, [name]: mutated(draw, body.variables[name]) } };
    }
  }
}

/** Too many aliases, fields nested too deep, and too many tokens. */
function repeated(draw: Draw): string {
  const times = pick(draw, [10, 100, 900]);
  return pick(draw, [
    `{ ${Array.from({ length: times }, (_, at) => `a${at}: builders { data { id } }`).join(' ')} }`,
    `{ builders { data { ${'projects { data { builder { '.repeat(times)} id ${'} } }'.repeat(times)} } } }`,
    `{ ${'__typename '.repeat(times)} }`,
    `query (${Array.from({ length: times }, (_, at) => `$v${at}: Int`).join(' ')}) { me { id } }`,
    `{ me { ...a } } fragment a on Identity { ...b } fragment b on Identity { ...a }`,
  ]);
}

function cut(draw: Draw, text: string): string {
  const at = number(draw, text.length);
  const inserted = pick(draw, ['', '{', '}', '"', '"""', '#', '$', '\u0000', '\ud800', hostileText(draw)]);
  return `${text.slice(0, at)}${inserted}${text.slice(at + number(draw, 3))}`;
}

type Field = GraphQLField<unknown, unknown>;

/** The field with arguments and, below it, a few fields at random. */
function written(writing: Writing, field: Field, depth: number): string {
  const { draw } = writing;
  const given = field.args.filter(({ type }) => isNonNullType(type) || chance(draw, 30));
  const body = depth === 0 && chance(draw, 70) ? BODIES[field.name]?.(writing.world.samples) : undefined;
  const values = given.map((argument) => `${argument.name}: ${valueText(writing, argument, body?.[argument.name])}`);
  const call = values.length > 0 ? `${field.name}(${values.join(', ')})` : field.name;
  const type = getNamedType(field.type);
  if (isLeafType(type)) return call;
  const members = isUnionType(type) ? [...type.getTypes()] : isObjectType(type) ? [type] : [];
  const selections = members.map((member) => {
    const chosen = selected(writing, member, depth + 1);
    return isUnionType(type) ? `... on ${member.name} { ${chosen} }` : chosen;
  });
  return `${call} { __typename ${selections.join(' ')} }`;
}

function selected(writing: Writing, type: GraphQLObjectType, depth: number): string {
  const { draw } = writing;
  const envelope = Boolean(type.extensions.envelope);
  const fields = Object.values(type.getFields()).filter(
    (field) => envelope || isLeafType(getNamedType(field.type)) || (depth < 7 && chance(draw, 50)),
  );
  if (envelope) return fields.map((field) => written(writing, field, depth)).join(' ');
  const chosen = Array.from({ length: Math.min(fields.length, 1 + number(draw, 3)) }, () => pick(draw, fields));
  return chosen.map((field, at) => `s${at}: ${written(writing, field, depth)}`).join(' ');
}

/** Adds a variable, or returns a literal for a plain value. */
function valueText(writing: Writing, { type }: GraphQLArgument, known: unknown): string {
  const value = known === undefined ? inputValue(writing, type, 0) : known;
  const named = getNamedType(type);
  if (chance(writing.draw, 30) && isScalarType(named) && (value === null || typeof value !== 'object'))
    return JSON.stringify(value);
  const name = `v${Object.keys(writing.variables).length}`;
  writing.variables[name] = { type: String(type), value };
  return `$${name}`;
}

function inputValue(writing: Writing, type: GraphQLInputType, depth: number): Json {
  const { draw, world } = writing;
  if (isNonNullType(type)) return inputValue(writing, type.ofType, depth);
  if (isListType(type))
    return Array.from({ length: number(draw, depth > 4 ? 0 : 2) + 1 }, () =>
      inputValue(writing, type.ofType, depth + 1),
    );
  if (isEnumType(type)) return pick(draw, type.getValues()).name;
  if (isInputObjectType(type)) {
    const fields = Object.values(type.getFields()).filter(
      ({ type: own }) => isNonNullType(own) || (depth < 4 && chance(draw, 50)),
    );
    return Object.fromEntries(fields.map((field) => [field.name, inputValue(writing, field.type, depth + 1)]));
  }
  const sample = world.samples[type.name];
  if (sample !== undefined && chance(draw, 90)) return sample;
  const builtIn = BUILT_IN[type.name];
  const schema = builtIn ? { type: builtIn } : (type.extensions.jsonSchema as Json);
  return allowedValue(
    draw,
    schema ?? {},
    { samples: world.samples, lookUp: (one) => world.contract.lookUp(one) },
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
