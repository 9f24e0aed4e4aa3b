import type { RegionId } from '../../src/shared/regions.ts';
import { dashboards } from './dashboards.ts';
import type { GrowthData } from './growth-data.ts';
import { listCases } from './growth-lists.ts';

interface GrowthRequest {
  method?: string;
  path: string;
  headers?: Record<string, string>;
  body?: object;
}

/** One request that is asked of both sizes. */
export interface GrowthCase {
  name: string;
  /** At most that much slower over the large data. */
  goal?: number;
  /** Asked by a dashboard of our own. */
  internal?: boolean;
  /** The nth request; `total` is what the answer before said of the list. */
  request(n: number, total: number, region: RegionId): GrowthRequest;
}

export const GOAL = 1.5;

export function growthCases(data: GrowthData): GrowthCase[] {
  const builder = data.builders[0]!;
  const header = { 'x-service-builder-id': builder.id };
  const [projectId] = builder.projectIds as [string];
  const photos = `/builders/${builder.id}/photos`;
  const list = (name: string, path: string, goal?: number): GrowthCase[] => {
    const at = (offset: (total: number) => number) => (_: number, total: number) => ({
      path: `${path}&offset=${Math.max(0, Math.floor(offset(total)))}`,
      headers: header,
    });
    const limit = Number(/limit=(\d+)/.exec(path)![1]);
    return [
      { name: `${name}, first page`, goal, request: at(() => 0) },
      { name: `${name}, last page`, goal, request: at((total) => total - limit) },
      { name: `${name}, in the middle`, goal, request: at((total) => total / 2) },
    ];
  };
  const one = (name: string, request: GrowthCase['request'], goal?: number): GrowthCase => ({ name, request, goal });
  const graphql = (body: object) => ({ method: 'POST', path: '/graphql', body });
  return [
    ...listCases(data).flatMap(({ name, path, goal }) => list(name, path, goal)),
    one('GET /builders', () => ({ path: '/builders' })),
    one('GET /subcontractors/{id}', (n) => ({ path: `/subcontractors/${builder.subcontractorIds[n % 50]}` })),
    one('GET /builders/{id}/projects', () => ({ path: `/builders/${builder.id}/projects` })),
    one('GET a photo', () => ({ path: `${photos}/${data.photoId}` })),
    one('GET a timesheet', () => ({ path: `/timesheets/${data.timesheetId}`, headers: header })),
    ...dashboards.map(({ name, ours }) => {
      const { query, variables } = ours(builder.id);
      // The same number of rows in both.
      const equal = query.replace('timesheets(status: WAITING_REVIEW)', 'timesheets(status: WAITING_REVIEW, limit: 3)');
      return one(`GraphQL ${name}`, () => graphql({ query: equal, variables }), GOAL);
    }),
    {
      name: 'GraphQL attendance of a day',
      internal: true,
      request: () =>
        graphql({
          query: `query ($id: BuilderId!) { projects(builderId: $id) { data { attendance(date: "2026-03-03", limit: 5)
            { meta { totalCount } data { signedOnAt worker { fullName } } } openVisits(limit: 2) { meta { totalCount } } } } }`,
          variables: { id: builder.id },
        }),
    },
    {
      name: 'GraphQL timesheets of a cost code',
      internal: true,
      request: () =>
        graphql({
          query: `query ($id: CostCodeId!, $builder: BuilderId!) { builder(builderId: $builder) {
          timesheets(costCodeId: $id, limit: 1) { meta { totalCount } data { id } } } }`,
          variables: { id: data.costCodeId, builder: builder.id },
        }),
    },
    {
      name: 'GraphQL photoReports and openVisits',
      internal: true,
      request: () =>
        graphql({
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
    ].map(([name, path]) => one(`GET ${name}, by cursor`, () => ({ path: `${path}&cursor=`, headers: header }), GOAL)),
    one('POST sign-on event', (n) => ({
      method: 'POST',
      path: `/builders/${builder.id}/projects/${data.projectId}/sign-on-events`,
      body: {
        sourceEventId: `growth-${process.pid}-${n}`,
        workerId: data.gateWorkerIds[n % data.gateWorkerIds.length],
        type: 'SIGN_ON',
        occurredAt: new Date(Date.now() - 3_600_000).toISOString(),
      },
    })),
    one('POST photo folder', (n) => ({
      method: 'POST',
      path: `/builders/${builder.id}/photo-folders`,
      body: { name: `Level ${process.pid} ${n}`, projectId, parentId: null },
    })),
    one('POST meeting', (n) => ({
      method: 'POST',
      path: `/builders/${builder.id}/meetings`,
      body: { title: `Weekly site meeting ${n}`, projectId },
    })),
    one('POST photo report', (n) => ({
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
    one('DELETE the photos of a page', (n) => ({
      method: 'DELETE',
      path: `/builders/${builder.id}/photo-gallery/bulk-upsert`,
      body: { externalSourceId: `page ${process.pid} ${n}`, sourceApp: 'walker' },
    })),
  ];
}
