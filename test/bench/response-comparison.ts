import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { BenchData } from './bench-data.ts';
import type { Tokens } from './bench-environment.ts';
import type { Workload } from './workloads.ts';

/** A request whose response must be the same from all services. */
export interface Probe {
  method?: 'GET' | 'POST';
  path: string;
  headers?: Record<string, string>;
  body?: string;
  /** Access token, where the headers contain none; null for no token. */
  token?: string | null;
}

const TIMEOUT_MS = 10_000;

/** Headers that depend on the connection or the time, and one that the services written by hand do without. */
const IGNORED_HEADERS = ['connection', 'date', 'keep-alive', 'link'];

/** Values that each service generates: identifiers of written records, and access tokens. */
const GENERATED_VALUES = /\b(saevt|signon|phrep|page)_[a-z0-9]+|"access_token":"[\w.-]+"/g;

async function fetchResponse(origin: string, probe: Probe) {
  return sendProbe(origin, probe).catch((error) => {
    throw new Error(`${origin}, ${probe.method ?? 'GET'} ${probe.path}: ${error.message}`, {
      cause: error,
    });
  });
}

async function sendProbe(origin: string, { method, path, headers, body, token }: Probe) {
  const authorization: Record<string, string> = token ? { authorization: `Bearer ${token}` } : {};
  // All services write to the same database: each needs an id of its own.
  const id = randomUUID();
  const response = await fetch(`${origin}${path}`, {
    method,
    body: body?.replaceAll('[<id>]', id),
    signal: AbortSignal.timeout(TIMEOUT_MS),
    // The comparison services do not compress responses.
    headers: { 'x-request-id': 'probe', 'accept-encoding': 'identity', ...authorization, ...headers },
  });
  const comparedHeaders = [...response.headers].filter(([name]) => !IGNORED_HEADERS.includes(name));
  const text = await response.text();
  const comparedBody = method === 'POST' ? text.replaceAll(GENERATED_VALUES, '$1').replaceAll(id, 'id') : text;
  return { status: response.status, headers: Object.fromEntries(comparedHeaders), body: comparedBody };
}

/**
 * Throws unless both services return the same response to every probe: the same status and headers, and the same body byte for byte except
 * generated identifiers and tokens.
 *
 * @param origins The measured service and a comparison service.
 */
export async function requireEqualResponses(origins: [string, string], probes: Probe[]): Promise<void> {
  for (const probe of probes) {
    for (let attempt = 1; ; attempt++) {
      const [expected, actual] = await Promise.all(origins.map((origin) => fetchResponse(origin, probe)));
      try {
        assert.deepEqual(actual, expected, `${origins[1]} returns another response to ${probe.path}.`);
        break;
      } catch (error) {
        // A signed URL contains its expiry in seconds; the two URLs may be signed in different seconds.
        if (attempt === 3) throw error;
      }
    }
  }
}

/** Returns valid and invalid requests that cover the checks of all services, and some requests of each workload. */
export function createProbes(data: BenchData, tokens: Tokens, workloads: Workload[]): Probe[] {
  const builder = { 'x-service-builder-id': data.builderId };
  const timesheets = `/timesheets?projectId=${data.projectId}`;
  const photos = `/builders/${data.builderId}/photos`;
  const validRequests: Probe[] = [
    { path: '/builders' },
    { path: '/builders?limit=1&offset=2' },
    { path: '/builders?offset=1000' },
    { path: timesheets, headers: builder },
    { path: `${timesheets}&offset=30&limit=7&unknown=1`, headers: builder },
    { path: `${timesheets}&status=APPROVED_1`, headers: builder },
    { path: `${timesheets}&offset=100000`, headers: builder },
    { path: '/timesheets', headers: { ...builder, 'x-service-region-id': 'au1', 'x-service-api-version': 'v1' } },
    { path: `/subcontractors/${data.subcontractorId}` },
    { path: `/subcontractors/${data.subcontractorId}?projectId=${data.projectId}`, headers: builder },
    { path: `/subcontractors/${data.companySubcontractorId}?includeBuilderCompany=true` },
    { path: photos },
    { path: `${photos}?limit=3&offset=1799`, headers: builder },
    { path: `${photos}?projectId=${data.projectId}` },
    { path: `${photos}?folderId=fold_none` },
  ];
  const invalidRequests: Probe[] = [
    { path: '/builders?limit=0' },
    { path: '/builders?limit=26&offset=-1' },
    { path: '/builders?limit=1e1&offset=1&offset=2' },
    { path: '/builders?limit=' },
    { path: '/builders', headers: { 'x-service-region-id': 'uk1' } },
    { path: '/builders', headers: { 'x-service-region-id': 'us1' } },
    { path: '/builders', headers: { 'x-service-api-version': 'v2' } },
    { path: '/builders', headers: { 'x-service-builder-id': 'nonsense' } },
    { path: '/timesheets' },
    { path: '/timesheets?projectId=nonsense&status=nonsense&limit=99', headers: builder },
    { path: '/timesheets', headers: { 'x-service-builder-id': data.unconnectedBuilderId } },
    { path: '/timesheets', headers: { 'x-service-builder-id': 'buil_none' } },
    { path: '/subcontractors/nonsense' },
    { path: '/subcontractors/sub_none' },
    { path: `/subcontractors/${data.archivedSubcontractorId}` },
    { path: `/subcontractors/${data.companySubcontractorId}` },
    { path: `/subcontractors/${data.unconnectedSubcontractorId}` },
    { path: `/subcontractors/${data.subcontractorId}?projectId=nonsense` },
    {
      path: `/subcontractors/${data.subcontractorId}`,
      headers: { 'x-service-builder-id': data.unconnectedBuilderId },
    },
    { path: '/builders/nonsense/photos' },
    { path: '/builders/buil_none/photos' },
    { path: `/builders/${data.unconnectedBuilderId}/photos` },
    { path: photos, headers: { 'x-service-builder-id': data.unconnectedBuilderId } },
    { path: `${photos}?projectId=nonsense&folderId=nonsense&limit=0` },
  ];
  const tokenProbes: Probe[] = [null, 'garbage', tokens.narrow, tokens.expired, tokens.revoked].flatMap((token) => [
    { path: '/builders', token },
    { path: timesheets, headers: builder, token },
    { path: `/subcontractors/${data.subcontractorId}`, token },
    { path: photos, token },
  ]);
  const measuredRequests = workloads
    .filter(({ postgraphile }) => !postgraphile)
    .flatMap(({ requests }) => requests.slice(0, 8));
  return [
    ...[...validRequests, ...invalidRequests].map((probe) => ({ ...probe, token: tokens.all })),
    ...tokenProbes,
    ...measuredRequests,
    ...createInvalidWrites(data, tokens, workloads),
  ];
}

/** Returns writes and token requests that must fail. */
function createInvalidWrites(data: BenchData, tokens: Tokens, workloads: Workload[]): Probe[] {
  const findRequest = (name: string) => workloads.find((workload) => workload.name === name)!.requests[0]!;
  const event = findRequest('POST sign-on event');
  const report = findRequest('POST photo report');
  const token = findRequest('POST /oauth/token');
  const withUnconnectedBuilder = (path: string) => path.replace(data.builderId, data.unconnectedBuilderId);
  const withToken = (accessToken: string) => ({
    headers: { ...event.headers, authorization: `Bearer ${accessToken}` },
  });
  const events: Probe[] = [
    { ...event, path: withUnconnectedBuilder(event.path) },
    { ...event, path: event.path.replace(data.projectId, 'proj_none') },
    { ...event, path: event.path.replace(data.projectId, 'nonsense') },
    { ...event, body: event.body!.replace(/wkr_\w+/, 'wkr_none') },
    { ...event, body: event.body!.replace('gate 2', 'gate \\u0000') },
    { ...event, body: event.body!.replace('"deviceId":', '"__proto__":{},"deviceId":') },
    { ...event, ...withToken(tokens.narrow) },
    { ...event, ...withToken(tokens.expired) },
  ];
  const reports: Probe[] = [
    { ...report, path: withUnconnectedBuilder(report.path) },
    { ...report, body: report.body!.replace('"title":"Level 3"', '"title":3').replaceAll('"level":2', '"level":9') },
    { ...report, body: report.body!.replace('Level 3', 'Level \\ud800') },
    { ...report, ...withToken(tokens.narrow) },
    { ...report, ...withToken('garbage') },
  ];
  const tokenRequests: Probe[] = [
    { ...token, body: token.body!.replace(data.clientSecret, 'wrong') },
    { ...token, body: token.body!.replace(data.clientId, 'cli_none') },
    { ...token, body: token.body!.replace('{', '{"scope":"read:photos",') },
    { ...token, body: token.body!.replace(/"read:builders[^"]*"/, '7') },
    { ...token, body: token.body!.replace('read:projects', 'read:nothing') },
    { ...token, body: token.body!.replace('read:projects', '\\u0000') },
    { ...token, headers: { ...token.headers, 'x-service-api-version': 'v2' } },
    { ...token, headers: { ...token.headers, 'x-service-region-id': 'us1' } },
  ];
  return [...events, ...reports, ...tokenRequests];
}
