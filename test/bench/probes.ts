import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { DataSet } from './data.ts';
import type { Tokens } from './stage.ts';
import type { Work } from './works.ts';

export interface Probe {
  method?: 'GET' | 'POST';
  path: string;
  headers?: Record<string, string>;
  body?: string;
  /** A token other than the one that may do everything. */
  token?: string | null;
}

const DEADLINE_MS = 10_000;

/** Headers that tell of the connection or the moment, not of the answer. */
const PASSING = ['connection', 'date', 'keep-alive'];

/** Made anew by each that answers: identifiers of what was written, and tokens. */
const FRESH = /\b(saevt|signon|phrep|page)_[a-z0-9]+|"access_token":"[\w.-]+"/g;

async function answerOf(origin: string, probe: Probe) {
  return sendProbe(origin, probe).catch((error) => {
    throw new Error(`${origin} does not answer ${probe.method ?? 'GET'} ${probe.path}: ${error.message}`, {
      cause: error,
    });
  });
}

async function sendProbe(origin: string, { method, path, headers, body, token }: Probe) {
  const authorization: Record<string, string> = token ? { authorization: `Bearer ${token}` } : {};
  // Each writes its own.
  const id = randomUUID();
  const response = await fetch(`${origin}${path}`, {
    method,
    body: body?.replaceAll('[<id>]', id),
    signal: AbortSignal.timeout(DEADLINE_MS),
    // The others do not compress.
    headers: { 'x-request-id': 'probe', 'accept-encoding': 'identity', ...authorization, ...headers },
  });
  const kept = [...response.headers].filter(([name]) => !PASSING.includes(name));
  const text = await response.text();
  const answer = method === 'POST' ? text.replaceAll(FRESH, '$1').replaceAll(id, 'id') : text;
  return { status: response.status, headers: Object.fromEntries(kept), body: answer };
}

/**
 * Throws unless both answer every probe alike: status, headers, and the body byte for byte, but for identifiers and tokens that a
 * write has made.
 */
export async function requireSameAnswers(origins: [string, string], probes: Probe[]): Promise<void> {
  for (const probe of probes) {
    for (let attempt = 1; ; attempt++) {
      const [ours, twin] = await Promise.all(origins.map((origin) => answerOf(origin, probe)));
      try {
        assert.deepEqual(twin, ours, `${origins[1]} answers ${probe.path} otherwise.`);
        break;
      } catch (error) {
        // A signed URL says when it ends, in seconds: two may have been signed on either side of one.
        if (attempt === 3) throw error;
      }
    }
  }
}

/** Requests that the checks of all must answer alike, beside those that are measured. */
export function probesOf(data: DataSet, tokens: Tokens, works: Work[]): Probe[] {
  const builder = { 'x-service-builder-id': data.builderId };
  const timesheets = `/timesheets?projectId=${data.projectId}`;
  const photos = `/builders/${data.builderId}/photos`;
  const good: Probe[] = [
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
  const bad: Probe[] = [
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
  const everyone: Probe[] = [null, 'garbage', tokens.narrow, tokens.expired, tokens.revoked].flatMap((token) => [
    { path: '/builders', token },
    { path: timesheets, headers: builder, token },
    { path: `/subcontractors/${data.subcontractorId}`, token },
    { path: photos, token },
  ]);
  const measured = works.filter(({ postgraphile }) => !postgraphile).flatMap(({ requests }) => requests.slice(0, 8));
  return [
    ...[...good, ...bad].map((probe) => ({ ...probe, token: tokens.all })),
    ...everyone,
    ...measured,
    ...writesOf(data, tokens, works),
  ];
}

/** Writes that are not taken, and tokens that are not given. */
function writesOf(data: DataSet, tokens: Tokens, works: Work[]): Probe[] {
  const write = (name: string) => works.find((work) => work.name === name)!.requests[0]!;
  const event = write('POST sign-on event');
  const report = write('POST photo report');
  const token = write('POST /oauth/token');
  const elsewhere = (path: string) => path.replace(data.builderId, data.unconnectedBuilderId);
  const as = (authorization: string) => ({ headers: { ...event.headers, authorization: `Bearer ${authorization}` } });
  const events: Probe[] = [
    { ...event, path: elsewhere(event.path) },
    { ...event, path: event.path.replace(data.projectId, 'proj_none') },
    { ...event, path: event.path.replace(data.projectId, 'nonsense') },
    { ...event, body: event.body!.replace(/wkr_\w+/, 'wkr_none') },
    { ...event, body: event.body!.replace('gate 2', 'gate \\u0000') },
    { ...event, body: event.body!.replace('"deviceId":', '"__proto__":{},"deviceId":') },
    { ...event, ...as(tokens.narrow) },
    { ...event, ...as(tokens.expired) },
  ];
  const reports: Probe[] = [
    { ...report, path: elsewhere(report.path) },
    { ...report, body: report.body!.replace('"title":"Level 3"', '"title":3').replaceAll('"level":2', '"level":9') },
    { ...report, body: report.body!.replace('Level 3', 'Level \\ud800') },
    { ...report, ...as(tokens.narrow) },
    { ...report, ...as('garbage') },
  ];
  const sent: Probe[] = [
    { ...token, body: token.body!.replace(data.clientSecret, 'wrong') },
    { ...token, body: token.body!.replace(data.clientId, 'cli_none') },
    { ...token, body: token.body!.replace('{', '{"scope":"read:photos",') },
    { ...token, body: token.body!.replace(/"read:builders[^"]*"/, '7') },
    { ...token, body: token.body!.replace('read:projects', 'read:nothing') },
    { ...token, body: token.body!.replace('read:projects', '\\u0000') },
    { ...token, headers: { ...token.headers, 'x-service-api-version': 'v2' } },
    { ...token, headers: { ...token.headers, 'x-service-region-id': 'us1' } },
  ];
  return [...events, ...reports, ...sent];
}
