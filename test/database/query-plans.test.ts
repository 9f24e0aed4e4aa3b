import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type GraphQLNamedType, getNamedType, isEnumType } from 'graphql';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildServiceSchema } from '../../resolvers/service-schema.ts';
import { createRouteTable } from '../../schema/route-table.ts';
import type { Statement } from '../../src/database/pool/pg-pipeline.ts';
import { connectWithSettings, READER_SETTINGS } from '../../src/database/pool/session-settings.ts';
import { readAttendanceByDay, readSignOnsByHour, readWorkersOnSite } from '../../src/domain/figures/attendance.ts';
import {
  readHoursByCostCode,
  readHoursByProject,
  readHoursByStatus,
  readHoursByWeek,
} from '../../src/domain/figures/hours.ts';
import {
  readInductionsByStatus,
  readInsurancesByMonth,
  readItemsAwaitingAction,
  readPhotosByDay,
} from '../../src/domain/figures/records.ts';
import { locateArguments } from '../../src/rest/input.ts';
import { type Service, startService } from '../support/harness.ts';
import { requireSample, type Samples, samplesOf } from '../support/samples.ts';

const SNAPSHOT = join(import.meta.dirname, '../samples', 'plans.txt');
const schema = buildServiceSchema();
const page = readFileSync(join(import.meta.dirname, '../..', 'docs', 'graphql.md'), 'utf8');
const dashboards = [...page.matchAll(/```graphql\n(query \w+[\s\S]*?)```/g)].map(([, query]) => query!);

/** Figures over a range of days. */
const FIGURES = [
  ...[readHoursByWeek, readHoursByStatus, readHoursByProject, readHoursByCostCode],
  ...[readAttendanceByDay, readInsurancesByMonth, readPhotosByDay],
];

let service: Service;
let samples: Samples;
let statements: Map<string, Statement>;

beforeAll(async () => {
  service = await startService();
  samples = await samplesOf(service.databases.au1, service.demo('A').builderIds[0]!);
  statements = await recordReads();
});

afterAll(() => service?.stop());

/** Returns a value of an optional filter. */
function toSampleValue(type: GraphQLNamedType): string | undefined {
  if (isEnumType(type)) return type.getValues()[0]!.name;
  const others: Record<string, string> = { Boolean: 'true', Timestamp: '2026-01-01T00:00:00Z', String: 'a' };
  return samples[type.name] ?? others[type.name] ?? (/Date|Day|Range/.test(type.name) ? '2026-01-01' : undefined);
}

/** Returns every prepared read of the operations: without filters, with each, with all of them, and at a large offset. */
async function recordReads(): Promise<Map<string, Statement>> {
  const recorded = new Map<string, Statement>();
  const removeListener = service.databases.au1.onStatement((statement) => recorded.set(statement.name, statement));
  const token = await service.as('A');
  for (const operation of createRouteTable(schema).filter(({ method }) => method === 'GET')) {
    const locations = locateArguments(operation, schema);
    const named = (location: string) => locations.filter((one) => one.location === location);
    const path = operation.path.replace(/\{(\w+)\}/g, (_, name: string) => {
      const { argument } = locations.find((one) => one.name === name)!;
      return requireSample(samples, getNamedType(argument.type).name);
    });
    const filters = named('query').flatMap(({ name, argument }) => {
      const value = toSampleValue(getNamedType(argument.type));
      return name === 'limit' || name === 'offset' || value === undefined
        ? []
        : [`${name}=${encodeURIComponent(value)}`];
    });
    const paged = named('query').some(({ name }) => name === 'offset');
    const queries = new Set(['', ...filters, filters.join('&'), ...(paged ? ['offset=1000'] : [])]);
    const headers = named('header').length > 0 ? { 'x-service-builder-id': samples.BuilderId! } : {};
    for (const query of queries) {
      const response = await service.request({
        url: `${path}?${query}`,
        headers: { authorization: `Bearer ${token}`, ...headers },
      });
      if (![200, 404].includes(response.statusCode)) throw new Error(`${path}?${query}: ${response.body}`);
    }
  }
  const [from, until] = [0, 30].map((days) => new Date(service.clock.now() + days * 86_400_000).toISOString());
  for (const query of dashboards) {
    // From its third use on, an operation reads only the selected columns.
    for (let use = 0; use < 3; use++) {
      await service.graphql(token, query, { builderId: samples.BuilderId, from, until });
    }
  }
  const filter = { builderId: samples.BuilderId!, projectId: null, timeZone: 'Australia/Sydney' };
  for (const read of FIGURES) await read(service.databases.au1, filter, { startDate: from!, endDate: until! });
  await readSignOnsByHour(service.databases.au1, filter, from!);
  await readWorkersOnSite(service.databases.au1, filter, from!);
  await readInductionsByStatus(service.databases.au1, filter);
  await readItemsAwaitingAction(service.databases.au1, filter, from!, 30);
  removeListener();
  return recorded;
}

/** Repeats `vacuum` until every page is all-visible, which the plans depend on: it skips pages that open transactions changed. */
async function vacuum(client: pg.Client): Promise<void> {
  for (let left = 1; left > 0; ) {
    await client.query('vacuum analyze');
    const { rows } = await client.query(
      `select count(*)::int as left from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace and relallvisible < relpages`,
    );
    left = rows[0].left;
  }
}

/** Returns the scan of each table, in the order of the plan. */
async function explainScans(client: pg.Client, { text }: Statement): Promise<string[]> {
  const { rows } = await client.query(`explain (generic_plan, costs off) ${text}`);
  return (
    rows
      .map((row) => row['QUERY PLAN'] as string)
      .filter((line) => /\bScan\b/.test(line))
      // Partitions of the event log are named by their day.
      .map((line) => line.replace(/^[\s>-]*/, '').replace(/event_\d{8}/g, 'event_DAY'))
      .filter((line) => !/^(Subquery|Function|CTE|Values) Scan|^Bitmap Heap/.test(line))
  );
}

describe('the plans of the prepared reads', () => {
  it('use indexes and no sequential scan (`-u` writes the snapshot)', async () => {
    const client = await connectWithSettings(service.databases.au1.url, READER_SETTINGS);
    await vacuum(client);
    const plans = new Map<string, string[]>();
    for (const name of [...statements.keys()].sort())
      plans.set(name, await explainScans(client, statements.get(name)!));
    await client.end();
    const sequential = [...plans].filter(([, scans]) => scans.some((scan) => scan.includes('Seq Scan')));
    expect(sequential).toEqual([]);
    const text = [...plans]
      // A call of a function has no scan, and is there only where the first read of the log came too early.
      .filter(([, scans]) => scans.length > 0)
      .map(([name, scans]) => `${name}\n${scans.map((scan) => `  ${scan}\n`).join('')}`)
      .join('\n');
    await expect(text).toMatchFileSnapshot(SNAPSHOT);
  });
});
