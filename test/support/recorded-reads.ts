import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type GraphQLNamedType, getNamedType, isEnumType } from 'graphql';
import type { BatchStatement } from '../../src/database/pool/statement-runner.ts';
import {
  readAttendanceAwaitingAction,
  readAttendanceByDay,
  readSignOnsByHour,
  readUsualEnd,
  readWorkersOnSite,
} from '../../src/domain/dashboard-figures/attendance.ts';
import { readHoursByCostCode, readHoursByProject, readHoursByWeek } from '../../src/domain/dashboard-figures/hours.ts';
import {
  readInductionsByStatus,
  readInsurancesByMonth,
  readItemsAwaitingAction,
} from '../../src/domain/dashboard-figures/records.ts';
import { locateArguments } from '../../src/rest/input.ts';
import { operations, schema } from './definition.ts';
import type { Service } from './harness.ts';
import { requireSample, type Samples } from './samples.ts';

const page = readFileSync(join(import.meta.dirname, '../..', 'docs', 'graphql.md'), 'utf8');
const dashboards = [...page.matchAll(/```graphql\n(query \w+[\s\S]*?)```/g)].map(([, query]) => query!);

/** Figures over a range of days. */
const FIGURES = [
  ...[readHoursByWeek, readHoursByProject, readHoursByCostCode],
  ...[readAttendanceByDay, readInsurancesByMonth],
];

/** Returns a value of an optional filter. */
function toSampleValue(samples: Samples, type: GraphQLNamedType): string | undefined {
  if (isEnumType(type)) return type.getValues()[0]!.name;
  const others: Record<string, string> = { Boolean: 'true', Timestamp: '2026-01-01T00:00:00Z', String: 'a' };
  return samples[type.name] ?? others[type.name] ?? (/Date|Day|Range/.test(type.name) ? '2026-01-01' : undefined);
}

/**
 * Returns every prepared read of the operations: without filters, with each, with all of them, by days of a time zone, at a large offset, by
 * cursor, and in descending order.
 */
export async function recordReads(service: Service, samples: Samples): Promise<Map<string, BatchStatement>> {
  const recorded = new Map<string, BatchStatement>();
  const removeListener = service.databases.au1.onStatement((statement) => recorded.set(statement.name, statement));
  const token = await service.tokenOf('A');
  for (const operation of operations.filter(({ method }) => method === 'GET')) {
    const locations = locateArguments(operation, schema);
    const named = (location: string) => locations.filter((one) => one.location === location);
    const path = operation.path.replace(/\{(\w+)\}/g, (_, name: string) => {
      const { argument } = locations.find((one) => one.name === name)!;
      return requireSample(samples, getNamedType(argument.type).name);
    });
    const filters = named('query').flatMap(({ name, argument }) => {
      const value = toSampleValue(samples, getNamedType(argument.type));
      return name === 'limit' || name === 'offset' || value === undefined
        ? []
        : [`${name}=${encodeURIComponent(value)}`];
    });
    const paged = named('query').some(({ name }) => name === 'offset');
    const byCursor = ['', ...filters].map((filter) => `${filter}&cursor=`);
    const newestFirst = ['', 'offset=1000', 'cursor='].map((window) => `order=desc&${window}`);
    const all = filters.join('&');
    const byDay = named('query').some(({ name }) => name === 'timeZone') ? [`${all}&timeZone=America/New_York`] : [];
    const windows = paged ? ['offset=1000', ...byCursor, ...newestFirst] : [];
    const queries = new Set(['', ...filters, all, ...byDay, ...windows]);
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
  await readUsualEnd(service.databases.au1, { ...filter, projectId: samples.ProjectId! }, from!);
  await readAttendanceAwaitingAction(service.databases.au1, filter);
  await readInductionsByStatus(service.databases.au1, filter);
  await readItemsAwaitingAction(service.databases.au1, filter, from!, 30);
  removeListener();
  return recorded;
}
