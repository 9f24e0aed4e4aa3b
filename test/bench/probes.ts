import assert from 'node:assert/strict';
import type { DataSet } from './data.ts';

export interface Probe {
  path: string;
  headers?: Record<string, string>;
  /** A token other than the one that may read everything. */
  token?: string | null;
}

const DEADLINE_MS = 10_000;

/** Headers that tell of the connection or the moment, not of the answer. */
const PASSING = ['connection', 'date', 'keep-alive'];

async function answerOf(origin: string, { path, headers, token }: Probe) {
  const authorization: Record<string, string> = token ? { authorization: `Bearer ${token}` } : {};
  const response = await fetch(`${origin}${path}`, {
    signal: AbortSignal.timeout(DEADLINE_MS),
    headers: { 'x-request-id': 'probe', ...authorization, ...headers },
  });
  const kept = [...response.headers].filter(([name]) => !PASSING.includes(name));
  return { status: response.status, headers: Object.fromEntries(kept), body: await response.text() };
}

/** Throws unless both answer every probe alike: status, headers, and the body byte for byte. */
export async function requireSameAnswers(origins: [string, string], probes: Probe[]): Promise<void> {
  for (const probe of probes) {
    const [ours, twin] = await Promise.all(origins.map((origin) => answerOf(origin, probe)));
    assert.deepEqual(twin, ours, `The twin answers ${probe.path} ${JSON.stringify(probe.headers ?? {})} otherwise.`);
  }
}

/** Requests that the checks of both must answer alike, beside those that are measured. */
export function probesOf(
  data: DataSet,
  tokens: { all: string; narrow: string; expired: string; revoked: string },
): Probe[] {
  const builder = { 'x-service-builder-id': data.builderId };
  const timesheets = `/timesheets?projectId=${data.projectId}`;
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
  ];
  const everyone: Probe[] = [null, 'garbage', tokens.narrow, tokens.expired, tokens.revoked].flatMap((token) => [
    { path: '/builders', token },
    { path: timesheets, headers: builder, token },
    { path: `/subcontractors/${data.subcontractorId}`, token },
  ]);
  return [...[...good, ...bad].map((probe) => ({ ...probe, token: tokens.all })), ...everyone];
}
