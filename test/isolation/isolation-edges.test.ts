import { type GraphQLObjectType, getNamedType, isLeafType, isNonNullType } from 'graphql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Database } from '../../src/database/database.ts';
import { useService } from '../support/harness.ts';
import { createSamples, type Samples } from '../support/samples.ts';
import {
  createDocument,
  edges,
  type Field,
  findSelectionPath,
  printField,
  printSelection,
  requiredArguments,
  scopeOf,
  targetsOf,
} from '../support/schema-edges.ts';

const service = useService();
let ownSamples: Samples;
let unconnectedSamples: Samples;
/** Builder of each record id in the database. */
let ownerOf: Map<string, string>;
let idCount = 0;
let queryCount = 0;

beforeAll(async () => {
  const database = service.databases.au1;
  ownSamples = await createSamples(database, service.findDemoClient('A').builderIds[0]!);
  unconnectedSamples = await createSamples(database, service.findDemoClient('B').builderIds[0]!, { integrator: 'B' });
  ownerOf = await readOwners(database);
});

afterAll(async () => {
  console.info(
    `isolation: ${edges.length} edges, ${queryCount} questions, ${idCount} ids, each of the builder asked for`,
  );
});

/** Reads the builder of each id from all tables with both columns. */
async function readOwners(database: Database): Promise<Map<string, string>> {
  const em = database.fork();
  const tables = (await em.execute(
    `select table_name as name from information_schema.columns
      where table_schema = 'public' and column_name in ('id', 'builder_id') group by 1 having count(*) = 2`,
  )) as { name: string }[];
  const owners = new Map<string, string>();
  for (const { name } of tables) {
    const rows = (await em.execute(`select id, builder_id as owner from "${name}"`)) as { id: string; owner: string }[];
    for (const { id, owner } of rows) owners.set(id, owner);
  }
  return owners;
}

/** Returns the selection of all fields of the type except edges, nested types included. */
function selectFields(type: GraphQLObjectType, depth = 0): string {
  const fields = Object.values(type.getFields()).filter(({ args }) =>
    args.every(({ type: own }) => !isNonNullType(own)),
  );
  const written = fields.flatMap((field): string[] => {
    const named = getNamedType(field.type);
    // Members of a union may have fields with the same name and different types.
    if (isLeafType(named)) return [`${type.name}_${field.name}: ${field.name}`];
    if (depth > 1 || edges.some((edge) => edge.field === field)) return [];
    const members = targetsOf(field).map((member) => `... on ${member.name} { ${selectFields(member, depth + 1)} }`);
    return members.length > 0
      ? [`${type.name}_${field.name}: ${field.name} ${printSelection(field, members.join(' '))}`]
      : [];
  });
  return ['__typename', ...written].join(' ');
}

const selectMembers = (field: Field) =>
  targetsOf(field)
    .map((type) => `... on ${type.name} { ${selectFields(type)} }`)
    .join(' ');

/** Returns all ids in a response. */
function idsIn(value: unknown): string[] {
  if (typeof value === 'string') return /^[a-z]+_[a-z0-9]+$/.test(value) ? [value] : [];
  if (value === null || typeof value !== 'object') return [];
  return Object.values(value).flatMap(idsIn);
}

describe.each(edges)('the edge $name', ({ type, field }) => {
  const way = findSelectionPath(type, null, (query) => requiredArguments(query).length > 0) ?? [];
  const passed = [...way.map((step) => step.type), type, ...targetsOf(field)];
  // Attendance types need an internal client.
  const name = passed.some((one) => scopeOf(one) === 'read:attendance') ? 'internal' : 'A';

  async function ask(edge: string): Promise<string[]> {
    queryCount++;
    const answer = await service.graphql(await service.tokenOf(name), createDocument(ownSamples, way, field, edge));
    expect(answer.errors).toBeUndefined();
    return idsIn(answer.data);
  }

  it('is reachable from the query of one builder', () => {
    expect(way.length).toBeGreaterThan(0);
  });

  it('returns only records of that builder (ACC-15)', async () => {
    const found = await ask(`${printField(ownSamples, field)} ${printSelection(field, selectMembers(field))}`);
    const owned = found.filter((id) => ownerOf.has(id));
    idCount += owned.length;
    for (const id of owned) expect(ownerOf.get(id), id).toBe(ownSamples.BuilderId);
    expect(found.filter((id) => id.startsWith('buil_')).every((id) => id === ownSamples.BuilderId)).toBe(true);
  });

  const filters = field.args.filter(
    ({ type }) => getNamedType(type).name.endsWith('Id') && !getNamedType(type).name.includes('External'),
  );

  it.each(filters.map(({ name, type }) => ({ name, kind: getNamedType(type).name })))(
    "finds nothing by the $name of another builder's record",
    async ({ name, kind }) => {
      expect(unconnectedSamples[kind], kind).toBeDefined();
      const edge = `${field.name}(${name}: ${JSON.stringify(unconnectedSamples[kind])}) ${printSelection(field, selectMembers(field))}`;
      for (const id of await ask(edge)) expect(ownerOf.get(id) ?? ownSamples.BuilderId, id).toBe(ownSamples.BuilderId);
    },
  );
});
