import assert from 'node:assert/strict';
import type { LoadRequest } from './load-generator-program.ts';
import type { Workload } from './workloads.ts';

/**
 * Throws unless PostGraphile returns the same data for the dashboards as the service.
 *
 * @param serviceOrigin Origin of the measured service.
 */
export async function requireEqualDashboards(
  serviceOrigin: string,
  postgraphileOrigin: string,
  workloads: Workload[],
): Promise<void> {
  for (const { name, requests, postgraphile } of workloads) {
    for (const [index, request] of (postgraphile ?? []).entries()) {
      const expected = normalize(await fetchData(serviceOrigin, requests[index]!));
      const actual = normalize(await fetchData(postgraphileOrigin, request));
      assert.deepEqual(actual, expected, `PostGraphile returns other data for ${name}.`);
    }
  }
}

async function fetchData(origin: string, { path, ...request }: LoadRequest): Promise<unknown> {
  const response = await fetch(`${origin}${path}`, request);
  const { data, errors } = (await response.json()) as { data: unknown; errors?: unknown };
  if (errors) throw new Error(`${origin}${path}: ${JSON.stringify(errors)}`);
  return data;
}

const INSTANT = /^\d{4}-\d{2}-\d{2}T[\d:.]+(Z|\+00:00)$/;

/** Returns the data in a common structure: the schemas nest some fields differently and write timestamps differently. */
function normalize(value: unknown): unknown {
  if (typeof value === 'string') return INSTANT.test(value) ? new Date(value).toISOString() : value;
  if (Array.isArray(value)) return value.map(normalize);
  if (value === null || typeof value !== 'object') return value;
  const { meta, details, ...fields } = value as Record<string, object>;
  // Only the service returns the offset and limit of a page.
  const { offset: _offset, limit: _limit, ...counts } = (meta ?? {}) as Record<string, unknown>;
  const entries = Object.entries({ ...fields, ...counts, ...details }).map(([name, field]) => [
    name,
    normalize(flattenReference(name, field)),
  ]);
  return Object.fromEntries(entries);
}

/** Returns a cost code or a time type as text, as in the schema of the service; other fields unchanged. */
function flattenReference(name: string, field: unknown): unknown {
  if (field === null || typeof field !== 'object') return field;
  const { code, description, name: timeType } = field as Record<string, string>;
  if (name === 'costCode') return `${code} - ${description}`;
  return name === 'timeType' ? timeType : field;
}
