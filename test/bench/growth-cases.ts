import type { RegionId } from '../../src/shared/regions.ts';
import { dashboards } from './dashboards.ts';
import type { GrowthData } from './growth-data.ts';
import { createListCases, type ListCase } from './growth-lists.ts';

interface GrowthRequest {
  method?: string;
  path: string;
  headers?: Record<string, string>;
  body?: object;
}

/** What the previous response of a case says about its list. */
export interface LastPage {
  total: number;
  /** The cursor of the next page; empty for the first. */
  cursor: string;
}

/** A kind of request that is sent to both sizes. */
export interface GrowthCase {
  name: string;
  /** Maximum ratio of the times over large and small data. */
  goal?: number;
  /** Maximum milliseconds over the large data. */
  maxMs?: number;
  /** Whether an internal client sends it. */
  internal?: boolean;
  /** Returns the nth request. */
  request(n: number, last: LastPage, region: RegionId): GrowthRequest;
}

/** Maximum ratio of the times over large and small data, of first pages, pages by cursor and ranges of a week. */
export const GOAL = 1.5;

/** Maximum milliseconds of a page of a week, and of one that counts, sorts or skips up to 2,500,000 rows. */
const WEEK_MS = 10;
const SLOW_MS = 300;

/** Returns the requests that are measured: every large list, single records, dashboards and writes. */
export function createGrowthCases(data: GrowthData): GrowthCase[] {
  const builder = data.builders[0]!;
  const header = { 'x-service-builder-id': builder.id };
  const [projectId] = builder.projectIds as [string];
  const photos = `/builders/${builder.id}/photos`;
  const toPageCases = ({ name, path, range, isCounted }: ListCase): GrowthCase[] => {
    const limit = Number(/limit=(\d+)/.exec(path)![1]);
    const at = (offset: (total: number) => number): GrowthCase['request'] => {
      return (_, { total }) => ({ path: `${path}&offset=${Math.max(0, Math.floor(offset(total)))}`, headers: header });
    };
    // A year is counted and sorted, and a week costs the same at every offset.
    const [goal, maxMs] =
      range === 'week'
        ? [GOAL, WEEK_MS]
        : range === 'year'
          ? [undefined, SLOW_MS]
          : [isCounted ? undefined : GOAL, SLOW_MS];
    const deepGoal = range === 'week' ? GOAL : undefined;
    return [
      { name: `${name}, first page`, goal, maxMs, request: at(() => 0) },
      { name: `${name}, last page`, goal: deepGoal, maxMs, request: at((total) => total - limit) },
      { name: `${name}, in the middle`, goal: deepGoal, maxMs, request: at((total) => total / 2) },
      {
        name: `${name}, by cursor`,
        goal,
        maxMs,
        request: (_, { cursor }) => ({ path: `${path}&cursor=${cursor}`, headers: header }),
      },
    ];
  };
  const toCase = (name: string, request: GrowthCase['request'], goal?: number): GrowthCase => ({ name, request, goal });
  const createGraphqlRequest = (body: object) => ({ method: 'POST', path: '/graphql', body });
  return [
    ...createListCases(data).flatMap(toPageCases),
    toCase('GET /builders', () => ({ path: '/builders' })),
    toCase('GET /subcontractors/{id}', (n) => ({ path: `/subcontractors/${builder.subcontractorIds[n % 50]}` })),
    toCase('GET /builders/{id}/projects', () => ({ path: `/builders/${builder.id}/projects` })),
    toCase('GET a photo', () => ({ path: `${photos}/${data.photoId}` })),
    toCase('GET a timesheet', () => ({ path: `/timesheets/${data.timesheetId}`, headers: header })),
    ...dashboards.map(({ name, createQuery }) => {
      const { query, variables } = createQuery(builder.id);
      // The limit makes the number of returned rows equal for both sizes.
      const limitedQuery = query.replace(
        'timesheets(status: WAITING_REVIEW)',
        'timesheets(status: WAITING_REVIEW, limit: 3)',
      );
      return toCase(`GraphQL ${name}`, () => createGraphqlRequest({ query: limitedQuery, variables }), GOAL);
    }),
    {
      name: 'GraphQL attendance of a day',
      internal: true,
      request: () =>
        createGraphqlRequest({
          query: `query ($id: BuilderId!) { projects(builderId: $id) { data { attendance(date: "2026-03-03", limit: 5)
            { meta { totalCount } data { signedOnAt worker { fullName } } } openVisits(limit: 2) { meta { totalCount } } } } }`,
          variables: { id: builder.id },
        }),
    },
    {
      name: 'GraphQL timesheets of a cost code',
      internal: true,
      request: () =>
        createGraphqlRequest({
          query: `query ($id: CostCodeId!, $builder: BuilderId!) { builder(builderId: $builder) {
          timesheets(costCodeId: $id, limit: 1) { meta { totalCount } data { id } } } }`,
          variables: { id: data.costCodeId, builder: builder.id },
        }),
    },
    {
      name: 'GraphQL photoReports and openVisits',
      internal: true,
      request: () =>
        createGraphqlRequest({
          query: `query ($id: BuilderId!) { builder(builderId: $id) {
          photoReports(limit: 1) { meta { totalCount } } openVisits(limit: 1) { meta { totalCount } } } }`,
          variables: { id: builder.id },
        }),
    },
    toCase('POST sign-on event', (n) => ({
      method: 'POST',
      path: `/builders/${builder.id}/projects/${data.projectId}/sign-on-events`,
      body: {
        sourceEventId: `growth-${process.pid}-${n}`,
        workerId: data.gateWorkerIds[n % data.gateWorkerIds.length],
        type: 'SIGN_ON',
        occurredAt: new Date(Date.now() - 3_600_000).toISOString(),
      },
    })),
    toCase('POST photo folder', (n) => ({
      method: 'POST',
      path: `/builders/${builder.id}/photo-folders`,
      body: { name: `Level ${process.pid} ${n}`, projectId, parentId: null },
    })),
    toCase('POST meeting', (n) => ({
      method: 'POST',
      path: `/builders/${builder.id}/meetings`,
      body: { title: `Weekly site meeting ${n}`, projectId },
    })),
    toCase('POST photo report', (n) => ({
      method: 'POST',
      path: `/builders/${builder.id}/photo-reports/sync`,
      body: {
        sourceApp: 'sitewalk',
        sourceExternalId: `walk-${process.pid}-${n}`,
        sourceRevision: 1,
        sourceCreatedAt: '2026-05-04T06:30:00Z',
        walkthroughDate: '2026-05-04T06:00:00Z',
        sourceAuthor: { externalId: 'author-118', name: 'Mia Tran' },
        projectId,
        page: { schemaVersion: 1, title: 'Level 3', blocks: [] },
      },
    })),
    toCase('DELETE the photos of a page', (n) => ({
      method: 'DELETE',
      path: `/builders/${builder.id}/photo-gallery/bulk-upsert`,
      body: { externalSourceId: `page ${process.pid} ${n}`, sourceApp: 'walker' },
    })),
  ];
}
