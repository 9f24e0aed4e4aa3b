import type { RegionId } from '../../src/shared/regions.ts';
import { dashboards } from './dashboards.ts';
import type { GrowthData } from './growth-data.ts';
import { createListCases } from './growth-lists.ts';

interface GrowthRequest {
  method?: string;
  path: string;
  headers?: Record<string, string>;
  body?: object;
}

/** A kind of request that is sent to both sizes. */
export interface GrowthCase {
  name: string;
  /** Maximum ratio of the times over large and small data. */
  goal?: number;
  /** Whether an internal client sends it. */
  internal?: boolean;
  /** Returns the nth request. `total` is the total count in the previous response. */
  request(n: number, total: number, region: RegionId): GrowthRequest;
}

/** Maximum ratio of the times over large and small data. */
export const GOAL = 1.5;

/** Returns the requests that are measured: every large list, single records, dashboards and writes. */
export function createGrowthCases(data: GrowthData): GrowthCase[] {
  const builder = data.builders[0]!;
  const header = { 'x-service-builder-id': builder.id };
  const [projectId] = builder.projectIds as [string];
  const photos = `/builders/${builder.id}/photos`;
  const toPageCases = (name: string, path: string, goal?: number): GrowthCase[] => {
    const toRequest = (offset: (total: number) => number) => (_: number, total: number) => ({
      path: `${path}&offset=${Math.max(0, Math.floor(offset(total)))}`,
      headers: header,
    });
    const limit = Number(/limit=(\d+)/.exec(path)![1]);
    return [
      { name: `${name}, first page`, goal, request: toRequest(() => 0) },
      { name: `${name}, last page`, goal, request: toRequest((total) => total - limit) },
      { name: `${name}, in the middle`, goal, request: toRequest((total) => total / 2) },
    ];
  };
  const toCase = (name: string, request: GrowthCase['request'], goal?: number): GrowthCase => ({ name, request, goal });
  const createGraphqlRequest = (body: object) => ({ method: 'POST', path: '/graphql', body });
  return [
    ...createListCases(data).flatMap(({ name, path, goal }) => toPageCases(name, path, goal)),
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
    ...[
      ['timesheets, a year', `/timesheets?startDate=2025-03-01&endDate=2026-03-01&limit=1`],
      ['timesheets, a status', '/timesheets?status=REJECTED&limit=1'],
      ['photos of a rare source', `${photos}?source=ITP&limit=1`],
      ['defects of a rare status', `/builders/${builder.id}/defects?status=IN_PROGRESS&limit=1`],
    ].map(([name, path]) =>
      toCase(`GET ${name}, by cursor`, () => ({ path: `${path}&cursor=`, headers: header }), GOAL),
    ),
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
