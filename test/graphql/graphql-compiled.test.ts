import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { useService } from '../support/harness.ts';

const page = readFileSync(join(import.meta.dirname, '../..', 'docs', 'graphql.md'), 'utf8');
const dashboards = [...page.matchAll(/```graphql\n(query \w+[\s\S]*?)```/g)].map(([, query]) => query!);

/** Number of executions, more than those before a document is compiled. */
const USES = 5;

/** Returns a document whose fragments each spread the next one twice. */
function createDoublingQuery(fragments: number): string {
  const next = (n: number) => (n === fragments ? 'id' : `...f${n + 1} ...f${n + 1}`);
  const written = Array.from({ length: fragments }, (_, n) => `fragment f${n + 1} on Builder { ${next(n + 1)} }`);
  return `query ($builderId: BuilderId!) { builder(builderId: $builderId) { ...f1 } } ${written.join(' ')}`;
}

const BUILDER = 'query ($builderId: BuilderId!)';
const QUERIES: [what: string, query: string, more?: Record<string, unknown>][] = [
  ...dashboards.map((query): [string, string] => [/query (\w+)/.exec(query)![1]!, query]),
  [
    'fragments, aliases and directives',
    `query ($builderId: BuilderId!, $all: Boolean!) {
      one: projects(builderId: $builderId, limit: 2) { ...page } two: projects(builderId: $builderId, offset: 1, limit: 1) { ...page }
    } fragment page on ProjectPage { meta { totalCount @include(if: $all) limit @skip(if: $all) } data { __typename ... on Project { name } } }`,
    { all: true },
  ],
  [
    'an alias that is a word of the language',
    `${BUILDER} { builder(builderId: $builderId) { __proto__: name constructor: id } }`,
  ],
  [
    'a default of a variable',
    `query ($builderId: BuilderId!, $limit: PageLimit = 2) { projects(builderId: $builderId, limit: $limit) { meta { limit } } }`,
  ],
  ['a condition that is null', 'query ($no: Boolean = false) { me { id __typename @include(if: $no) } }', { no: null }],
  [
    'an error at one of two root fields',
    `${BUILDER} { me { id } builder(builderId: $builderId) { id } missing: subcontractor(id: "sub_a0mkq00000002000000000000") { id } }`,
  ],
  ['one of two operations', `query A { me { id } } query B { me { id } }`],
  [
    'an error inside a list',
    `${BUILDER} { projects(builderId: $builderId, limit: 2) { data { id timesheets(startDate: "2026-02-02", endDate: "2026-02-01") { meta { limit } } } } }`,
  ],
  ['a record that is not there', `{ subcontractor(id: "sub_none") { id } me { id } }`],
  ['a builder that is not connected', `{ projects(builderId: "buil_none") { meta { limit } } }`],
  [
    'too many records',
    `${BUILDER} { projects(builderId: $builderId) { data { builder { projects { data { builder { projects { data { builder { projects { meta { limit } } } } } } } } } } } }`,
  ],
  [
    'a variable that is wrong',
    `query ($builderId: BuilderId!, $limit: PageLimit) { projects(builderId: $builderId, limit: $limit) { meta { limit } } }`,
    { limit: 99 },
  ],
  [
    'the schema',
    '{ __schema { queryType { name } } __type(name: "Project") { kind name fields { name type { kind ofType { name } } } } }',
  ],
  ['fragments that are millions of fields when they are written out', createDoublingQuery(30)],
];

const service = useService();
let token: string;
let variables: Record<string, unknown>;

beforeAll(async () => {
  token = await service.tokenOf('A', [
    'read:builders',
    'read:projects',
    'read:subcontractors',
    'read:timesheets',
    'read:insurances',
    'read:inductions',
    'read:contacts',
  ]);
  const [from, until] = [0, 30].map((days) => new Date(service.clock.now() + days * 86_400_000).toISOString());
  variables = { builderId: service.findDemoClient('A').builderIds[0]!, from, until };
});

describe('a repeated GraphQL query', () => {
  it.each(QUERIES)('has the same response each time: %s', async (_what, query, more) => {
    const send = async () => {
      const response = await service.app.inject({
        method: 'POST',
        url: '/graphql',
        headers: { authorization: `Bearer ${token}` },
        payload: {
          query,
          variables: { ...variables, ...more },
          operationName: query.startsWith('query A') ? 'B' : undefined,
        },
      });
      return { status: response.statusCode, body: response.body };
    };
    const first = await send();
    for (let use = 2; use <= USES; use++) expect(await send()).toEqual(first);
    expect(first.body).toMatch(/^\{"(data|errors)"/);
  });

  it('causes no unhandled rejection when several items of a list fail', async () => {
    const unheard: unknown[] = [];
    const listen = (error: unknown) => unheard.push(error);
    process.on('unhandledRejection', listen);
    const { builderIds, scopes } = service.findDemoClient('A');
    const allow = (without: Record<string, string>) =>
      Promise.all(
        builderIds.map((id) =>
          service.databases.au1
            .fork()
            .execute('update connection set scopes = ? where builder_id = ?', [
              `{${scopes.filter((scope) => scope !== without[id]).join()}}`,
              id,
            ]),
        ),
      );
    const [first, second] = [...builderIds].sort() as [string, string];
    for (const without of [
      { [first]: 'read:timesheets', [second]: 'read:projects' },
      { [second]: 'read:timesheets', [first]: 'read:projects' },
    ]) {
      await allow(without);
      service.clock.advance(1_000);
      const all = await service.tokenOf('A');
      const query = '{ builders { data { id projects { data { id timesheets { meta { totalCount } } } } } } }';
      for (let use = 1; use <= USES; use++) {
        const { errors } = await service.graphql(all, query);
        expect(errors?.[0]?.extensions).toMatchObject({ code: 'INSUFFICIENT_SCOPE' });
        // Reads the same records, which the failed query may still be reading.
        await service.graphql(token, `{ builders { data { id projects { data { name } } } } }`);
      }
    }
    await allow({});
    service.clock.advance(1_000);
    process.off('unhandledRejection', listen);
    expect(unheard).toEqual([]);
  });

  it('requires the scopes of the current token (ACC-6)', async () => {
    const query = `${BUILDER} { projects(builderId: $builderId) { data { defects { meta { totalCount } } } } }`;
    const allowed = await service.tokenOf('A', ['read:projects', 'read:defects']);
    for (let use = 1; use <= USES; use++)
      expect((await service.graphql(allowed, query, variables)).errors).toBeUndefined();
    const { errors } = await service.graphql(token, query, variables);
    expect(errors?.[0]?.extensions).toMatchObject({ code: 'INSUFFICIENT_SCOPE' });
  });
});
