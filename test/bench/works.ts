import { dashboards } from './dashboards.ts';
import type { DataSet } from './data.ts';
import type { LoadRequest } from './load.ts';
import type { Options } from './options.ts';
import { reportOf } from './report.ts';
import { BASE_URL, type Tokens } from './stage.ts';

/** One kind of work that is measured. */
export interface Work {
  name: string;
  /** Sent in turn, so that no service is measured on one row alone. */
  requests: LoadRequest[];
  /** Whether each request commits. */
  commits?: boolean;
  /** The same for PostGraphile, which is then what ours is compared with. */
  postgraphile?: LoadRequest[];
}

/** Requests of each work, at most. */
const VARIANTS = 100;
const STATUSES = ['WAITING_REVIEW', 'APPROVED_1', 'APPROVED_2', 'REJECTED'];

export function worksOf(data: DataSet, tokens: Pick<Tokens, 'all'>): Work[] {
  const authorization = `Bearer ${tokens.all}`;
  const get = (path: string, headers = {}): LoadRequest => ({
    method: 'GET',
    path,
    headers: { authorization, ...headers },
  });
  const post = (path: string, body: object, headers: Record<string, string> = { authorization }): LoadRequest => ({
    method: 'POST',
    path,
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const vary = (make: (n: number, builder: DataSet['builders'][number]) => LoadRequest) =>
    Array.from({ length: VARIANTS }, (_, n) => make(n, data.builders[n % data.builders.length]!));
  const occurredAt = new Date(Date.now() - 3_600_000).toISOString();
  const graphql = (query: { query: string; variables: object }) => post('/graphql', query);
  return [
    { name: 'GET /builders', requests: [get('/builders')] },
    {
      name: 'GET /timesheets',
      requests: vary((n, { id, projectIds }) =>
        get(`/timesheets?projectId=${at(projectIds, n * 7)}&status=${at(STATUSES, n >> 2)}`, {
          'x-service-builder-id': id,
        }),
      ),
    },
    {
      name: 'GET /subcontractors/{id}',
      requests: vary((n, { subcontractorIds }) => get(`/subcontractors/${at(subcontractorIds, n * 7)}`)),
    },
    { name: 'GET photos', requests: data.builders.map(({ id }) => get(`/builders/${id}/photos`)) },
    {
      name: 'POST sign-on event',
      commits: true,
      requests: vary((n) =>
        post(`/builders/${data.builderId}/projects/${data.projectId}/sign-on-events`, {
          sourceEventId: 'gate-[<id>]',
          workerId: at(data.gateWorkerIds, n),
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
        post(`/builders/${builder.id}/photo-reports/sync`, reportOf('walk-[<id>]', builder.photoIds)),
      ),
    },
    {
      name: 'POST /oauth/token',
      requests: [
        post(
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
    ...dashboards.map(({ name, ours, postgraphile }) => ({
      name: `GraphQL ${name}`,
      requests: data.builders.map(({ id }) => graphql(ours(id))),
      postgraphile: data.builders.map(({ id }) => graphql(postgraphile(id))),
    })),
  ];
}

/** The works whose name holds what `--only` says; throws when none does. */
export function selectedWorks(data: DataSet, tokens: Pick<Tokens, 'all'>, { only }: Pick<Options, 'only'>): Work[] {
  const all = worksOf(data, tokens);
  const selected = all.filter(({ name }) => name.includes(only));
  if (selected.length > 0) return selected;
  throw new Error(`No work's name holds "${only}". There are: ${all.map(({ name }) => name).join(', ')}.`);
}

const at = <T>(list: readonly T[], index: number): T => list[index % list.length]!;
