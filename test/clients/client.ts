import type { components, paths } from './openapi.d.ts';

/*
 * A small client whose paths, parameters and bodies have the types that openapi-typescript generates from the
 * OpenAPI document, so that a breaking change of the contract is a compile error.
 */

/** Paths that can be read. */
type ReadPath = { [P in keyof paths]: paths[P] extends { get: object } ? P : never }[keyof paths];

type Read<P extends ReadPath> = paths[P]['get'];
type Parameters<P extends ReadPath> = Read<P> extends { parameters: infer T } ? T : never;
type ResponseBody<P extends ReadPath> =
  Read<P> extends { responses: { 200: { content: { 'application/json': infer T } } } } ? T : never;

/** Paths that can be posted to with JSON. */
type WritePath = { [P in keyof paths]: paths[P] extends { post: { requestBody: object } } ? P : never }[keyof paths];
type Write<P extends WritePath> = paths[P]['post'];
type Body<P extends WritePath> =
  Write<P> extends { requestBody: { content: { 'application/json': infer T } } } ? T : never;
type CreatedBody<P extends WritePath> =
  Write<P> extends { responses: { 201: { content: { 'application/json': infer T } } } } ? T : never;

/** Body of every error but a failed validation. */
type ErrorBody = paths['/me']['get']['responses'][401 | 403 | 429 | 500 | 503]['content']['application/json'];

export type Page<T> = { data: T[]; meta: components['schemas']['PageMeta'] };

/** An error response, with the documented body. */
export class ApiError extends Error {
  readonly status: number;
  readonly body: ErrorBody | components['schemas']['ValidationErrors'];

  constructor(status: number, body: ApiError['body']) {
    super('code' in body ? `${body.code}: ${body.message}` : `${status}`);
    this.status = status;
    this.body = body;
  }
}

/** Requests an access token by the client credentials grant. */
export async function fetchToken(
  baseUrl: string,
  credentials: { clientId: string; clientSecret: string; scope: string },
): Promise<components['schemas']['Token']> {
  const request: components['schemas']['TokenRequest'] = {
    grant_type: 'client_credentials',
    client_id: credentials.clientId,
    client_secret: credentials.clientSecret,
    audience: baseUrl,
    scope: credentials.scope,
  };
  const response = await fetch(`${baseUrl}/oauth/token`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(request),
  });
  if (!response.ok) throw new Error(await response.text());
  return (await response.json()) as components['schemas']['Token'];
}

export class Client {
  readonly #baseUrl: string;
  readonly #token: string;

  constructor(baseUrl: string, token: string) {
    this.#baseUrl = baseUrl;
    this.#token = token;
  }

  async get<P extends ReadPath>(path: P, parameters: Parameters<P>): Promise<ResponseBody<P>> {
    const given = parameters as { path?: object; query?: object; header?: object };
    const values: Record<string, unknown> = { ...given.path };
    const url = new URL(
      this.#baseUrl + path.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(String(values[name]))),
    );
    for (const [name, value] of Object.entries(given.query ?? {})) {
      for (const item of [value].flat()) url.searchParams.append(name, String(item));
    }
    const response = await fetch(url, { headers: { ...given.header, Authorization: `Bearer ${this.#token}` } });
    const body = await response.json();
    if (response.status !== 200) throw new ApiError(response.status, body as ApiError['body']);
    return body as ResponseBody<P>;
  }

  /** Posts a body; the response is 201 for a new record and 200 for an existing one. */
  async post<P extends WritePath>(
    path: P,
    { path: values = {}, body }: { path?: Record<string, string>; body: Body<P> },
  ): Promise<CreatedBody<P>> {
    const url = this.#baseUrl + path.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(values[name] ?? ''));
    const headers = { Authorization: `Bearer ${this.#token}`, 'Content-Type': 'application/json' };
    const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
    const created = await response.json();
    if (!response.ok) throw new ApiError(response.status, created as ApiError['body']);
    return created as CreatedBody<P>;
  }

  /** Iterates over the items of all pages of a list. */
  async *all<T>(read: (window: { offset: number; limit: number }) => Promise<Page<T>>): AsyncGenerator<T> {
    const limit = 25;
    for (let offset = 0; ; offset += limit) {
      const { data, meta } = await read({ offset, limit });
      yield* data;
      if (offset + limit >= meta.totalCount) return;
    }
  }
}

/** Returns the hours that wait for review, by project name. */
export async function sumWaitingHours(client: Client, builderId: string): Promise<Map<string, number>> {
  const hours = new Map<string, number>();
  const timesheets = client.all((window) =>
    client.get('/timesheets', {
      query: { status: 'WAITING_REVIEW', startDate: '2026-03-01', ...window },
      header: { 'X-Service-Builder-Id': builderId },
    }),
  );
  for await (const { project, hours: hoursOfSheet } of timesheets) {
    hours.set(project.name, (hours.get(project.name) ?? 0) + hoursOfSheet);
  }
  return hours;
}

/** Describes the open defects of a project with their assignees, a union that `type` discriminates. */
export async function describeOpenDefects(client: Client, builderId: string, projectId: string): Promise<string[]> {
  const { data } = await client.get('/builders/{builderId}/defects', {
    path: { builderId },
    query: { projectId, status: 'OPEN' },
  });
  return data.map(({ title, location, assignees }) => {
    const names = assignees.map((assignee) => (assignee.type === 'TAG' ? `#${assignee.name}` : assignee.name));
    return `${title} (${location?.name ?? 'no location'}): ${names.join(', ')}`;
  });
}

/** Returns the URL of the builder's logo. `logoUrl` is left out when the builder has none. */
export async function readLogoUrl(client: Client, builderId: string): Promise<string | undefined> {
  const { logoUrl } = await client.get('/builders/{id}', { path: { id: builderId } });
  return logoUrl;
}

// The compiler must reject calls that the contract does not allow.
export const invalidCalls = (client: Client) => [
  // @ts-expect-error there is no such path
  client.get('/workers', {}),
  // @ts-expect-error a limit is a number
  client.get('/timesheets', { query: { limit: '5' } }),
  // @ts-expect-error no status of a defect
  client.get('/builders/{builderId}/defects', { path: { builderId: 'buil_a' }, query: { status: 'DONE' } }),
];
