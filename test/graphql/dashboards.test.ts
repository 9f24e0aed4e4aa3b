import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { getOperationAST, parse } from 'graphql';
import { beforeAll, describe, expect, it } from 'vitest';
import { estimateCost } from '../../src/graphql/engine/cost.ts';
import { MAX_COST } from '../../src/limits/response-meter.ts';
import { schema } from '../support/definition.ts';
import { useService } from '../support/harness.ts';

/** The dashboard queries of docs/graphql.md, by their operation's name. */
const page = readFileSync(join(import.meta.dirname, '../..', 'docs', 'graphql.md'), 'utf8');
const queries = new Map(
  [...page.matchAll(/```graphql\n(query (\w+)[\s\S]*?)```/g)].map(([, query, name]) => [name!, query!]),
);

const service = useService();
let token: string;
let variables: Record<string, string>;

beforeAll(async () => {
  token = await service.tokenOf('A');
  const from = new Date(service.clock.now()).toISOString();
  const until = new Date(service.clock.now() + 30 * 86_400_000).toISOString();
  variables = { builderId: service.findDemoClient('A').builderIds[0]!, from, until };
});

/** Returns the response and the statements of a query, except that of the token check. */
async function runOnce(name: string, page: Record<string, number> = {}) {
  const statements: string[] = [];
  const end = service.databases.au1.onStatement((statement) => statements.push(statement.name));
  const { data, errors } = await service.graphql(token, queries.get(name)!, { ...variables, ...page });
  end();
  expect(errors).toBeUndefined();
  return { data, statements: statements.filter((statement) => statement !== 'access.facts') };
}

/** Executes a query until it is compiled, and expects the same response as at first. */
async function run(name: string) {
  const first = await runOnce(name);
  await runOnce(name);
  const third = await runOnce(name);
  expect(third.data).toEqual(first.data);
  expect(third.statements.length).toBeLessThanOrEqual(first.statements.length);
  return third;
}

describe('the dashboards of docs/graphql.md', () => {
  it('are three', () => {
    expect([...queries.keys()]).toEqual(['Inductions', 'Waiting', 'Expiring']);
  });

  it.each(['Inductions', 'Waiting', 'Expiring'])('cost what the page says, far below the limit: %s', (name) => {
    const document = parse(queries.get(name)!);
    const { cost } = estimateCost(schema, document, getOperationAST(document)!, {});
    const said = page
      .slice(0, page.indexOf(`query ${name}`))
      .match(/Cost: at most ([\d,]+) of ([\d,]+)\./g)!
      .at(-1);
    expect(said).toBe(`Cost: at most ${cost.toLocaleString('en')} of ${MAX_COST.toLocaleString('en')}.`);
    expect(cost).toBeLessThan(MAX_COST / 5);
  });

  it('show attendance and inductions by project', async () => {
    const { data, statements } = await run('Inductions');
    const inductions = data.projects.data.flatMap(
      (project: { inductions: { data: unknown[] } }) => project.inductions.data,
    );
    expect(data.projects.data.length).toBeGreaterThan(1);
    expect(inductions.length).toBeGreaterThan(1);
    expect(inductions[0].worker.details.siteAccess.data[0]).toHaveProperty('revokedAt');
    expect(statements.length).toBe(4);
  });

  it('show the timesheets that wait for review', async () => {
    const { data, statements } = await run('Waiting');
    const timesheets = data.projects.data.flatMap(
      (project: { timesheets: { data: unknown[] } }) => project.timesheets.data,
    );
    expect(timesheets.length).toBeGreaterThan(1);
    expect(timesheets[0].costCode).toMatch(/^\S+ - /);
    expect(statements.length).toBe(2);
  });

  it('show the insurances that expire in 30 days', async () => {
    const { data, statements } = await run('Expiring');
    expect(data.insurances.data.length).toBeGreaterThan(0);
    for (const { expiry } of data.insurances.data) {
      expect(expiry >= variables.from! && expiry < variables.until!).toBe(true);
    }
    expect(statements.length).toBe(2);
  });

  it('show every timesheet that waits when their offset goes on to the total', async () => {
    const project = `select id, name from project where builder_id = ? and status = 'IN_PROGRESS' order by created_at, id limit 1`;
    const em = service.databases.au1.fork();
    const [{ id, name }] = (await em.execute(project, [variables.builderId])) as [{ id: string; name: string }];
    await em.execute(
      `insert into timesheet (id, created_at, updated_at, builder_id, project_id, profile_id, status, date, hours)
       select 'ts_page' || n, t.created_at, t.updated_at, t.builder_id, ?, t.profile_id, 'WAITING_REVIEW', t.date, n
       from generate_series(1, 61) n, (select * from timesheet where builder_id = ? limit 1) t`,
      [id, variables.builderId],
    );
    const hours: number[] = [];
    for (let offset = 0, total = 1; offset < total; offset += 25) {
      const { data } = await runOnce('Waiting', { offset });
      const { timesheets } = data.projects.data.find((shown: { name: string }) => shown.name === name);
      expect(timesheets.meta).toEqual({ totalCount: expect.any(Number), offset, limit: 25 });
      total = timesheets.meta.totalCount;
      hours.push(...timesheets.data.map((timesheet: { hours: number }) => timesheet.hours));
    }
    const [{ count }] = (await em.execute(
      `select count(*)::int from timesheet where project_id = ? and status = 'WAITING_REVIEW'`,
      [id],
    )) as [{ count: number }];
    expect(count).toBeGreaterThan(60);
    expect(hours).toHaveLength(count);
    await em.execute(`delete from timesheet where id like 'ts_page%'`);
  });

  it('show every project, page by page', async () => {
    const names: string[] = [];
    for (let projectOffset = 0, total = 1; projectOffset < total; projectOffset += 2) {
      const { projects } = (await runOnce('Inductions', { projectOffset, limit: 2 })).data;
      expect(projects.meta).toMatchObject({ offset: projectOffset, limit: 2 });
      total = projects.meta.totalCount;
      names.push(...projects.data.map((project: { name: string }) => project.name));
    }
    expect(names).toEqual((await runOnce('Inductions')).data.projects.data.map(({ name }: { name: string }) => name));
  });

  it('take a number of statements that does not grow with the data', async () => {
    const before = (await run('Waiting')).statements;
    await service.databases.au1.fork().execute(
      `insert into timesheet (id, created_at, updated_at, builder_id, project_id, profile_id, status, date, hours)
       select 'ts_more' || row_number() over (), t.created_at, t.updated_at, t.builder_id, t.project_id, t.profile_id,
         'WAITING_REVIEW', t.date, t.hours from timesheet t, generate_series(1, 20)`,
    );
    const after = await run('Waiting');
    expect(after.statements).toEqual(before);
    const most = Math.max(
      ...after.data.projects.data.map(
        (project: { timesheets: { meta: { totalCount: number } } }) => project.timesheets.meta.totalCount,
      ),
    );
    expect(most).toBeGreaterThan(50);
  });
});
