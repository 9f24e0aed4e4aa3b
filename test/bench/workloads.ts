import type { BenchData } from './bench-data.ts';
import { BASE_URL, type Tokens } from './bench-environment.ts';
import type { BenchOptions } from './bench-options.ts';
import { dashboards } from './dashboards.ts';
import type { LoadRequest } from './load-generator-program.ts';
import { createPhotoReportBody } from './photo-report-body.ts';

/** Requests of one operation that are measured together. */
export interface Workload {
  name: string;
  /** Sent in rotation, so that no measurement depends on a single row. */
  requests: LoadRequest[];
  /** Whether each request commits. */
  commits?: boolean;
  /** Equivalent requests for PostGraphile; present where the service is compared with PostGraphile. */
  postgraphile?: LoadRequest[];
}

/** Maximum different requests of a workload. */
const VARIANTS = 100;
const STATUSES = ['WAITING_REVIEW', 'APPROVED_1', 'APPROVED_2', 'REJECTED'];

/** Returns all workloads, with the token that has all scopes. */
export function createWorkloads(data: BenchData, tokens: Pick<Tokens, 'all'>): Workload[] {
  const authorization = `Bearer ${tokens.all}`;
  const createGet = (path: string, headers = {}): LoadRequest => ({
    method: 'GET',
    path,
    headers: { authorization, ...headers },
  });
  const createPost = (
    path: string,
    body: object,
    headers: Record<string, string> = { authorization },
  ): LoadRequest => ({
    method: 'POST',
    path,
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const createVariants = (createRequest: (n: number, builder: BenchData['builders'][number]) => LoadRequest) =>
    Array.from({ length: VARIANTS }, (_, n) => createRequest(n, data.builders[n % data.builders.length]!));
  const occurredAt = new Date(Date.now() - 3_600_000).toISOString();
  const createGraphqlRequest = (query: { query: string; variables: object }) => createPost('/graphql', query);
  return [
    { name: 'GET /builders', requests: [createGet('/builders')] },
    {
      name: 'GET /timesheets',
      requests: createVariants((n, { id, projectIds }) =>
        createGet(`/timesheets?projectId=${getCyclic(projectIds, n * 7)}&status=${getCyclic(STATUSES, n >> 2)}`, {
          'x-service-builder-id': id,
        }),
      ),
    },
    {
      name: 'GET /subcontractors/{id}',
      requests: createVariants((n, { subcontractorIds }) =>
        createGet(`/subcontractors/${getCyclic(subcontractorIds, n * 7)}`),
      ),
    },
    { name: 'GET photos', requests: data.builders.map(({ id }) => createGet(`/builders/${id}/photos`)) },
    {
      name: 'POST sign-on event',
      commits: true,
      requests: createVariants((n) =>
        createPost(`/builders/${data.builderId}/projects/${data.projectId}/sign-on-events`, {
          sourceEventId: 'gate-[<id>]',
          workerId: getCyclic(data.gateWorkerIds, n),
          type: 'SIGN_ON',
          occurredAt,
          deviceId: 'gate 2',
        }),
      ),
    },
    {
      name: 'POST photo report',
      commits: true,
      requests: data.builders.map((builder) =>
        createPost(
          `/builders/${builder.id}/photo-reports/sync`,
          createPhotoReportBody('walk-[<id>]', builder.photoIds),
        ),
      ),
    },
    {
      name: 'POST /oauth/token',
      requests: [
        createPost(
          '/oauth/token',
          {
            grant_type: 'client_credentials',
            client_id: data.clientId,
            client_secret: data.clientSecret,
            audience: BASE_URL,
            scope: 'read:builders read:projects read:timesheets',
          },
          {},
        ),
      ],
    },
    ...dashboards.map(({ name, createQuery, createPostgraphileQuery }) => ({
      name: `GraphQL ${name}`,
      requests: data.builders.map(({ id }) => createGraphqlRequest(createQuery(id))),
      postgraphile: data.builders.map(({ id }) => createGraphqlRequest(createPostgraphileQuery(id))),
    })),
  ];
}

/** Returns the workloads whose name contains the text of `--only`. Throws where there is none. */
export function selectWorkloads(
  data: BenchData,
  tokens: Pick<Tokens, 'all'>,
  { only }: Pick<BenchOptions, 'only'>,
): Workload[] {
  const all = createWorkloads(data, tokens);
  const selected = all.filter(({ name }) => name.includes(only));
  if (selected.length > 0) return selected;
  throw new Error(`No workload's name contains "${only}". There are: ${all.map(({ name }) => name).join(', ')}.`);
}

const getCyclic = <T>(list: readonly T[], index: number): T => list[index % list.length]!;
