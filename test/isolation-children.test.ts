import { getNamedType } from 'graphql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildServiceSchema } from '../resolvers/service-schema.ts';
import { routeTable } from '../schema/route-table.ts';
import { locateArguments } from '../src/rest/input.ts';
import { type Service, startService } from './harness.ts';
import { OperationCalls, type Outcome } from './support/operation-calls.ts';
import { BODIES, restoreSamples, type Samples, samplesOf } from './support/samples.ts';

const schema = buildServiceSchema();
const operations = routeTable(schema);
const fields = [schema.getQueryType()!, schema.getMutationType()!].flatMap((type) =>
  Object.values(type.getFields()).map((field) => ({ kind: type.name as 'Query' | 'Mutation', field })),
);

/** What a sample of the name stands for: the ids of one builder's records. A sample that is no id is of nobody. */
const isChild = (kind: string) => kind.endsWith('Id') && kind !== 'BuilderId' && !kind.includes('External');

/** Names of the samples that an operation's body is made of. */
function samplesInBody(field: string): string[] {
  const used = new Set<string>();
  const watched = new Proxy({} as Samples, { get: (_, name) => void used.add(String(name)) });
  BODIES[field]?.(watched);
  return [...used];
}

const inRest = operations.flatMap((operation) => {
  const inPath = locateArguments(operation, schema).filter(({ location }) => location === 'path');
  const kinds = inPath.map(({ argument }) => getNamedType(argument.type).name);
  return [...new Set([...kinds, ...samplesInBody(operation.field)])]
    .filter(isChild)
    .map((kind) => ({ name: `${operation.method} ${operation.path}`, kind, operation }));
});

const inGraphql = fields.flatMap(({ kind: root, field }) => {
  const kinds = field.args.map(({ type }) => getNamedType(type).name);
  return [...new Set([...kinds, ...samplesInBody(field.name)])]
    .filter(isChild)
    .map((kind) => ({ name: `${root}.${field.name}`, kind, root, field }));
});

let service: Service;
let calls: OperationCalls;
/** Of a builder that integrator A is connected to, of its other one, and of one that it is not connected to. */
let own: Samples;
let others: Samples;
let strangers: Samples;

beforeAll(async () => {
  service = await startService();
  const database = service.databases.au1;
  own = await samplesOf(database, service.demo('A').builderIds[0]!);
  strangers = await samplesOf(database, service.demo('B').builderIds[0]!, 'B');
  others = await samplesOf(database, service.demo('A').builderIds[1]!, 'C');
  calls = new OperationCalls(service, own);
});

afterAll(async () => {
  console.info(`isolation: ${calls.count} calls with a child of another builder gave nothing of it`);
  await service.stop();
});

/** The record is not found, is not let in, or filters everything away; nothing of its builder is in the answer. */
function expectNothing({ status, code, body }: Outcome, foreign: Samples, kind: string): void {
  expect([200, 400, 403, 404, 409], body).toContain(status);
  const sent = body.replaceAll(foreign[kind]!, '');
  for (const [name, id] of Object.entries(foreign))
    if (isChild(name) || name === 'BuilderId') expect(sent).not.toContain(id);
  if (status === 403 || status === 404) expect(code).toMatch(/^(FORBIDDEN|NOT_FOUND|INSUFFICIENT_SCOPE)$/);
}

/** What each of the foreign records is, to see that nothing happened to it. */
async function stateOf(foreign: Samples): Promise<unknown[]> {
  await restoreSamples(service.databases.au1);
  const tables = [
    'photo',
    'photo_folder',
    'meeting',
    'meeting_note',
    'photo_report',
    'sign_on_event',
    'sign_on_visit',
    'upload',
  ];
  const em = service.databases.au1.fork();
  return Promise.all(
    tables.map((table) => em.execute(`select * from ${table} where builder_id = ? order by 1`, [foreign.BuilderId])),
  );
}

// Without a builder among its parameters, an operation finds a record of the integrator's other builder rightly.
const restWithBuilder = inRest.filter(({ operation }) =>
  locateArguments(operation, schema).some(({ argument }) => argument.name === 'builderId'),
);
const graphqlWithBuilder = inGraphql.filter(({ field }) => field.args.some(({ name }) => name === 'builderId'));

describe.each([
  { of: 'that the integrator is not connected to', foreignOf: () => strangers, rest: inRest, graphql: inGraphql },
  {
    of: 'that the integrator is connected to as well',
    foreignOf: () => others,
    rest: restWithBuilder,
    graphql: graphqlWithBuilder,
  },
])('with a record of a builder $of, under one of its own,', ({ foreignOf, rest, graphql }) => {
  it.each(rest)('$name has nothing to give or to change: $kind (ACC-12)', async ({ kind, operation }) => {
    const foreign = foreignOf();
    const before = await stateOf(foreign);
    const samples = { ...own, [kind]: foreign[kind]! };
    const answer = await calls.rest(operation, await service.as('A'), {}, samples);
    expectNothing(answer, foreign, kind);
    expect(await stateOf(foreign)).toEqual(before);
  });

  it.each(graphql)('$name has nothing to give or to change: $kind (ACC-12)', async ({ kind, root, field }) => {
    const foreign = foreignOf();
    const before = await stateOf(foreign);
    const samples = { ...own, [kind]: foreign[kind]! };
    const name = field.extensions.scope === 'read:attendance' ? 'internal' : 'A';
    const answer = await calls.graphql(root, field, await service.as(name), {}, samples);
    expectNothing(answer, foreign, kind);
    expect(await stateOf(foreign)).toEqual(before);
  });
});
