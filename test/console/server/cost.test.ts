import {
  getNamedType,
  getNullableType,
  isLeafType,
  isListType,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  parse,
} from 'graphql';
import pg from 'pg';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import * as documents from '../../../src/console/browser/graphql/generated.ts';
import { estimateCost } from '../../../src/graphql/engine/cost.ts';
import { MAX_COST } from '../../../src/limits/response-meter.ts';
import { addStaff, type ConsoleBrowser, signInToConsole } from '../../support/console.ts';
import { schema as integratorSchema, consoleSchema as schema } from '../../support/definition.ts';
import { useService } from '../../support/harness.ts';

const service = useService();
let operator: ConsoleBrowser;

/** Lists of few items that are loaded with their record. */
const FIELDS_OF_LOADED_RECORDS = [
  'StaffUser.otherActions',
  'Integrator.webhookEndpoints',
  'Client.secrets',
  'UserSummary.projects',
];

beforeAll(async () => {
  operator = await signInToConsole(service.app, await addStaff(service, 'OPERATOR'));
});

const sql = (text: string, values: unknown[] = []) => service.databases.au1.fork().execute(text, values);

const RANGE = 'startDate: "2026-06-01", endDate: "2026-06-02"';

const costOf = (query: string) => {
  const document = parse(query);
  const operation = document.definitions.find(({ kind }) => kind === Kind.OPERATION_DEFINITION);
  return estimateCost(schema, document, operation as OperationDefinitionNode, {}).cost;
};

describe('the cost of a query of the console', () => {
  it.each([
    ['{ audit(limit: 200) { data { id at } } }', 200 * 2],
    ['{ audit { data { id at } meta { nextCursor } } }', 50 * 2],
    ['{ requestLog(limit: 10) { at code } }', 10 * 2],
    ['{ people(limit: 20) { data { id memberships(limit: 5) { role } } } }', 20 * (1 + 1 + 5)],
    ['{ webhookEndpoints(limit: 100) { data { deliveries(limit: 30) { data { id } } } } }', 100 * (1 + 30)],
    ['{ usageByDay(since: "2026-06-01", until: "2026-06-01") { date requests } }', 400 * 2],
    [`{ hoursByProject(builderId: "buil_a", ${RANGE}) { hours project { id } } }`, 10_000 * 3],
    [`{ hoursByCostCode(builderId: "buil_a", ${RANGE}) { hours } }`, 10_000],
    ['{ workersOnSite(builderId: "buil_a") { onSite } }', 10_000],
    ['{ visitsOfDay(builderId: "buil_a", projectId: "proj_a", date: "2026-06-01") { id worker { id } } }', 5_000 * 3],
    ['{ projectsInProgress(builderId: "buil_a") { id name } }', 10_000 * 2],
    ['{ events: conflicts(limit: 2) { data { project { id } } } }', 2 * 2],
  ])('is records times fields: %s (CON-14)', (query, expected) => {
    expect(costOf(query)).toBe(expected);
  });

  it.each(Object.entries(documents).filter(([name]) => name.endsWith('Document')))(
    'of a page is within the limit: %s (CON-14)',
    (_, query) => {
      expect(costOf(query as unknown as string)).toBeLessThan(MAX_COST);
    },
  );

  it('counts every list of the console by its limit or its most records (CON-14)', () => {
    const uncounted = Object.values(schema.getTypeMap()).flatMap((type) => {
      if (!isObjectType(type) || type.name.startsWith('__') || type.extensions.envelope) return [];
      const existing = integratorSchema.getType(type.name);
      const names = isObjectType(existing) ? existing.getFields() : {};
      return Object.values(type.getFields())
        .filter(({ name }) => type.name === 'Query' || !(name in names))
        .filter((field) => isListType(getNullableType(field.type)) && !isLeafType(getNamedType(field.type)))
        .filter((field) => !field.args.some(({ name }) => name === 'limit') && !field.extensions.maxRecords)
        .map(({ name }) => `${type.name}.${name}`);
    });
    expect(uncounted.filter((name) => !FIELDS_OF_LOADED_RECORDS.includes(name))).toEqual([]);
  });

  it.each(['0', '201'])('of a limit of %s is not charged: it is 400 (CON-14)', async (limit) => {
    for (const list of ['integrators', 'clients', 'connections', 'people', 'audit', 'conflicts', 'webhookEndpoints']) {
      const { errors } = await operator.query(`{ ${list}(limit: ${limit}) { meta { nextCursor } } }`);
      expect(errors?.[0]?.extensions.errors, list).toEqual([{ fieldName: 'limit', message: 'must be from 1 to 200' }]);
    }
  });
});

const INTEGRATORS = `query($limit: Int) { integrators(name: "Vendor ", limit: $limit) { data {
  activeClients activeConnections
  webhookEndpoints { failures failingSince suspendedUntil replayRemaining client { name } integrator { name } deliveries(limit: 3) { data { id } } }
} } }`;
const CLIENTS = 'query($limit: Int) { clients(limit: $limit) { data { id secrets { id } integrator { name } } } }';
const CONNECTIONS =
  'query($limit: Int) { connections(limit: $limit) { data { status integrator { name } builder { name } } } }';
const PEOPLE = 'query($limit: Int) { people(limit: $limit) { data { name memberships { role builder { name } } } } }';
const CONFLICTS =
  'query($limit: Int) { conflicts(limit: $limit) { data { id visit { id } recordedEvent { id } project { name } } } }';

describe('a page of the console', () => {
  const statementsOf = async (query: string, limit: number) => {
    const spy = vi.spyOn(pg.Client.prototype, 'query');
    const prepared = await service.countStatements('au1', async () => {
      const { errors } = await operator.query(query, { limit });
      expect(errors).toBeUndefined();
    });
    const texts = spy.mock.calls.map(([first]) => {
      const query = first as unknown as string | { name?: string; text?: string };
      // A named one is among the prepared ones.
      return typeof query === 'string' ? query : (!query.name && query.text) || '';
    });
    spy.mockRestore();
    const tables = texts.map((text) => /^\s*(?:select|with)[\s\S]*?from "?(?:public"?\.)?"?(\w+)/i.exec(text)?.[1]);
    expect(prepared + tables.length).toBeGreaterThan(2);
    // The settings of a new connection are compared by `json_each_text`.
    const read = tables.filter((table) => table !== undefined && table !== 'json_each_text');
    return { prepared, tables: read.sort() };
  };

  beforeAll(async () => {
    const { clientId } = service.findDemoClient('A');
    await sql(
      `insert into integrator (id, created_at, updated_at, name, deep_link_schemes)
        select 'intg_z' || n, now(), now(), 'Vendor ' || n, '{}' from generate_series(1, 20) n`,
    );
    await sql(
      `insert into oauth_client select (jsonb_populate_record(client, jsonb_build_object('id', 'cli_z' || n || 'x' || m, 'integrator_id', 'intg_z' || n))).*
        from oauth_client client, generate_series(1, 20) n, generate_series(1, 3) m where client.id = ?`,
      [clientId],
    );
    await sql(
      `insert into connection select (jsonb_populate_record(base, jsonb_build_object('id', 1000000 + n, 'integrator_id', 'intg_z' || n))).*
        from connection base, generate_series(1, 20) n where base.id = (select min(id) from connection)`,
    );
    await sql(
      `insert into webhook_endpoint (id, created_at, updated_at, integrator_id, client_id, url, status, secret)
        select 'whe_z' || n, now(), now(), 'intg_z' || n, 'cli_z' || n || 'x1', 'https://example.com/' || n, 'ACTIVE', 'x' from generate_series(1, 20) n`,
    );
    await sql(
      `insert into webhook_progress (endpoint_id, day, number, failing_since) select 'whe_z' || n, '2026-06-01', 0,
        case when n = 2 then now() end from generate_series(1, 20) n`,
    );
    // Each page was read before: permissions and prepared statements are in memory.
    for (const query of [INTEGRATORS, CLIENTS, CONNECTIONS, PEOPLE, CONFLICTS])
      await operator.query(query, { limit: 30 });
  });

  it.each([
    ['integrators', INTEGRATORS],
    ['clients', CLIENTS],
    ['connections', CONNECTIONS],
    ['people', PEOPLE],
    ['conflicts', CONFLICTS],
  ])('of %s takes as many statements for a few records as for many (CON-14)', async (_, query) => {
    const few = await statementsOf(query, 4);
    const many = await statementsOf(query, 30);
    expect(many).toEqual(few);
  });

  it('of webhook endpoints continues after the page before, and is filtered before it is cut (CON-14)', async () => {
    const list = async (args: string) =>
      (await operator.query(`{ webhookEndpoints(${args}) { data { id status } meta { nextCursor } } }`)).data
        .webhookEndpoints;
    const all = (await list('limit: 200')).data.map(({ id }: { id: string }) => id);
    const first = await list('limit: 7');
    expect(first.data).toHaveLength(7);
    const rest = await list(`limit: 200, after: "${first.meta.nextCursor}"`);
    expect([...first.data, ...rest.data].map(({ id }) => id)).toEqual(all);
    expect(rest.meta.nextCursor).toBeNull();
    expect((await list('failing: true, limit: 1')).data).toMatchObject([{ id: 'whe_z2' }]);
    const [{ builder_id: builderId }] = (await sql(
      `select builder_id from connection where integrator_id = 'intg_z2'`,
    )) as unknown as [{ builder_id: string }];
    expect((await list(`failing: true, builderId: "${builderId}"`)).data).toMatchObject([{ id: 'whe_z2' }]);
    await sql(`update webhook_endpoint set builder_ids = '{buil_other}' where id = 'whe_z2'`);
    expect((await list(`failing: true, builderId: "${builderId}"`)).data).toEqual([]);
    await sql(`update webhook_endpoint set builder_ids = null where id = 'whe_z2'`);
    await sql(`update connection set status = 'REVOKED' where integrator_id = 'intg_z2'`);
    expect((await list(`failing: true, builderId: "${builderId}"`)).data).toEqual([]);
    await sql(`update oauth_client set disabled_at = now() where id = 'cli_z3x1'`);
    expect((await list('status: PAUSED, integratorId: "intg_z3", limit: 1')).data).toMatchObject([
      { id: 'whe_z3', status: 'PAUSED' },
    ]);
    expect((await list('status: ACTIVE, integratorId: "intg_z3"')).data).toEqual([]);
  });
});

describe('usage', () => {
  it('is read beside the small reads of requests (CON-14)', async () => {
    const { runner, slowRunner } = service.databases.au1;
    const names: Record<string, string[]> = { small: [], slow: [] };
    const ends = [
      runner.onStatement(({ name }) => names.small!.push(name)),
      slowRunner.onStatement(({ name }) => names.slow!.push(name)),
    ];
    await operator.query('{ usageByDay(since: "2026-06-01", until: "2026-06-02") { date } }');
    for (const end of ends) end();
    expect(names.slow!.sort()).toEqual(['usage.by-day']);
    expect(names.small!.filter((name) => name.startsWith('usage'))).toEqual([]);
  });
});
