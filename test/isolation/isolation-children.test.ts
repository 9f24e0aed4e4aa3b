import { getNamedType } from 'graphql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { locateArguments } from '../../src/rest/input.ts';
import { operations, schema } from '../support/definition.ts';
import { generatedEntities } from '../support/generated-rows.ts';
import { useService } from '../support/harness.ts';
import { OperationCalls, type OperationResult } from '../support/operation-calls.ts';
import { createSamples, REQUEST_BODIES, restoreSamples, type Samples } from '../support/samples.ts';

const fields = [schema.getQueryType()!, schema.getMutationType()!].flatMap((type) =>
  Object.values(type.getFields()).map((field) => ({ kind: type.name as 'Query' | 'Mutation', field })),
);

/** Whether a sample value is the id of a builder's record. */
const isChild = (kind: string) => kind.endsWith('Id') && kind !== 'BuilderId' && !kind.includes('External');

/** Returns the names of the samples in the body of an operation. */
function samplesInBody(field: string): string[] {
  const used = new Set<string>();
  const watched = new Proxy({} as Samples, { get: (_, name) => void used.add(String(name)) });
  REQUEST_BODIES[field]?.(watched);
  return [...used];
}

const restCases = operations.flatMap((operation) => {
  const inPath = locateArguments(operation, schema).filter(({ location }) => location === 'path');
  const kinds = inPath.map(({ argument }) => getNamedType(argument.type).name);
  return [...new Set([...kinds, ...samplesInBody(operation.field)])]
    .filter(isChild)
    .map((kind) => ({ name: `${operation.method} ${operation.path}`, kind, operation }));
});

const graphqlCases = fields.flatMap(({ kind: root, field }) => {
  const kinds = field.args.map(({ type }) => getNamedType(type).name);
  return [...new Set([...kinds, ...samplesInBody(field.name)])]
    .filter(isChild)
    .map((kind) => ({ name: `${root}.${field.name}`, kind, root, field }));
});

const service = useService();
let calls: OperationCalls;
/** Samples of a builder that integrator A is connected to, of its other builder, and of an unconnected builder. */
let ownSamples: Samples;
let connectedSamples: Samples;
let unconnectedSamples: Samples;

beforeAll(async () => {
  const database = service.databases.au1;
  ownSamples = await createSamples(database, service.findDemoClient('A').builderIds[0]!);
  unconnectedSamples = await createSamples(database, service.findDemoClient('B').builderIds[0]!, { integrator: 'B' });
  connectedSamples = await createSamples(database, service.findDemoClient('A').builderIds[1]!, { integrator: 'C' });
  calls = new OperationCalls(service, ownSamples);
  for (const foreign of [unconnectedSamples, connectedSamples]) records.set(foreign, await readRecords(foreign));
});

afterAll(async () => {
  console.info(`isolation: ${calls.count} calls with a child of another builder gave nothing of it`);
});

/** Expects 404, 403 or an empty page, without data of the foreign builder. */
function expectNothing({ status, code, body }: OperationResult, foreign: Samples, kind: string): void {
  expect([200, 400, 403, 404, 409], body).toContain(status);
  const sent = body.replaceAll(foreign[kind]!, '');
  for (const [name, id] of Object.entries(foreign))
    if (isChild(name) || name === 'BuilderId') expect(sent).not.toContain(id);
  if (status === 403 || status === 404) expect(code).toMatch(/^(FORBIDDEN|NOT_FOUND|INSUFFICIENT_SCOPE)$/);
}

/** Returns the foreign records, to compare them before and after. */
async function readRecords(foreign: Samples): Promise<unknown[]> {
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
    ...generatedEntities.map((entity) => service.databases.au1.metadata.get(entity).tableName),
  ];
  // The restore of the samples writes the times of a change, and any read of changes lists those of every builder.
  const selects = tables.map(
    (table) => `select '${table}' as of, to_jsonb(t) - '{changed_at,listed_at}'::text[] as row from ${table} t
      where builder_id = '${foreign.BuilderId}'`,
  );
  return service.databases.au1.fork().execute(`${selects.join(' union all ')} order by 1, 2`);
}

/** The foreign records after the last call, which the next one must leave as they are. */
const records = new Map<Samples, unknown[]>();

/** Expects that the foreign records are as they were before the last call. */
async function expectUnchanged(foreign: Samples): Promise<void> {
  const before = records.get(foreign);
  const after = await readRecords(foreign);
  records.set(foreign, after);
  expect(after).toEqual(before);
}

// Operations without a builder among their arguments accept records of the integrator's other builder.
const restCasesWithBuilder = restCases.filter(({ operation }) =>
  locateArguments(operation, schema).some(({ argument }) => argument.name === 'builderId'),
);
const graphqlCasesWithBuilder = graphqlCases.filter(({ field }) => field.args.some(({ name }) => name === 'builderId'));

describe.each([
  {
    of: 'that the integrator is not connected to',
    foreignOf: () => unconnectedSamples,
    rest: restCases,
    graphql: graphqlCases,
  },
  {
    of: 'that the integrator is connected to as well',
    foreignOf: () => connectedSamples,
    rest: restCasesWithBuilder,
    graphql: graphqlCasesWithBuilder,
  },
])('with a record of a builder $of under a connected builder,', ({ foreignOf, rest, graphql }) => {
  it.each(rest)('$name returns and changes nothing: $kind (ACC-12)', async ({ kind, operation }) => {
    const foreign = foreignOf();
    const samples = { ...ownSamples, [kind]: foreign[kind]! };
    const answer = await calls.rest(operation, await service.tokenOf('A'), {}, samples);
    await expectUnchanged(foreign);
    expectNothing(answer, foreign, kind);
  });

  it.each(graphql)('$name returns and changes nothing: $kind (ACC-12)', async ({ kind, root, field }) => {
    const foreign = foreignOf();
    const samples = { ...ownSamples, [kind]: foreign[kind]! };
    const name = field.extensions.scope === 'read:attendance' ? 'internal' : 'A';
    const answer = await calls.graphql(root, field, await service.tokenOf(name), {}, samples);
    await expectUnchanged(foreign);
    expectNothing(answer, foreign, kind);
  });
});
