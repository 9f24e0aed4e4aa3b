import assert from 'node:assert/strict';
import type { LoadRequest } from './load.ts';
import type { Work } from './works.ts';

/** Throws unless PostGraphile's answers to the dashboards say what ours say. */
export async function requireSameDashboards(ours: string, theirs: string, works: Work[]): Promise<void> {
  for (const { name, requests, postgraphile } of works) {
    for (const [index, request] of (postgraphile ?? []).entries()) {
      const expected = levelled(await dataOf(ours, requests[index]!));
      assert.deepEqual(levelled(await dataOf(theirs, request)), expected, `PostGraphile shows ${name} otherwise.`);
    }
  }
}

async function dataOf(origin: string, { path, ...request }: LoadRequest): Promise<unknown> {
  const answer = await fetch(`${origin}${path}`, request);
  const { data, errors } = (await answer.json()) as { data: unknown; errors?: unknown };
  if (errors) throw new Error(`${origin}${path}: ${JSON.stringify(errors)}`);
  return data;
}

const INSTANT = /^\d{4}-\d{2}-\d{2}T[\d:.]+(Z|\+00:00)$/;

/** What an answer says, whatever the shape: their names differ where one schema nests and the other does not. */
function levelled(value: unknown): unknown {
  if (typeof value === 'string') return INSTANT.test(value) ? new Date(value).toISOString() : value;
  if (Array.isArray(value)) return value.map(levelled);
  if (value === null || typeof value !== 'object') return value;
  const { meta, details, ...fields } = value as Record<string, object>;
  // Where a page begins and ends is in the request of one schema and in the answer of the other.
  const { offset: _offset, limit: _limit, ...counts } = (meta ?? {}) as Record<string, unknown>;
  const entries = Object.entries({ ...fields, ...counts, ...details }).map(([name, field]) => [
    name,
    levelled(plain(name, field)),
  ]);
  return Object.fromEntries(entries);
}

/** A cost code and a time type, which are texts in our schema. */
function plain(name: string, field: unknown): unknown {
  if (field === null || typeof field !== 'object') return field;
  const { code, description, name: called } = field as Record<string, string>;
  if (name === 'costCode') return `${code} - ${description}`;
  return name === 'timeType' ? called : field;
}
