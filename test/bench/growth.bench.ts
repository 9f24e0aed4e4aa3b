import { INTERNAL_SCOPES, SCOPES } from '../../schema/scopes.ts';
import { Database } from '../../src/database/database.ts';
import { mapRegions, type RegionId } from '../../src/shared/regions.ts';
import { type BenchEnvironment, createMigratedDatabase, logProgress } from './bench-environment.ts';
import type { BenchOptions } from './bench-options.ts';
import { createGrowthCases, type GrowthCase, type LastPage } from './growth-cases.ts';
import { BUILDERS, type GrowthData, type GrowthSize, INTERNAL_CLIENT, loadGrowthData } from './growth-data.ts';
import { createFigureCases } from './growth-figures.ts';
import { toMarkdownTable } from './markdown-table.ts';
import { publishFigures } from './publish-figures.ts';
import { upperMedian } from './statistics.ts';

/** Rows of a region of five years: a quarter are those of one builder with 2,000 people. */
const LARGE: Required<GrowthSize> = {
  timesheets: 10_000_000,
  photos: 10_000_000,
  visits: 4_000_000,
  defects: 2_000_000,
  meetings: 400_000,
  inductions: 400_000,
  photo_folders: 200_000,
  subcontractors: 20_000,
};
export const DEFAULT_REQUESTS = 60;
const WARM_UP_REQUESTS = 10;

/** The service serves each size as a region. The small data are one week of the large ones, so that a week has as many rows in both. */
export const GROWTH_DATABASES = {
  us1: { name: 'growth_week', begin: '2026-03-02', days: 7 },
  au1: { name: 'growth_years', begin: '2022-01-03', days: 1825 },
} satisfies Record<RegionId, { name: string; begin: string; days: number }>;

/** Times of one request over both sizes. The keys are those of `--json`. */
export interface SizeComparison {
  name: string;
  /** Medians in milliseconds. */
  large: number;
  small: number;
  ratio: number;
  /** Maximum ratio. */
  goal?: number;
  /** Maximum milliseconds over the large data. */
  maxMs?: number;
}

/** Measures how response times grow with the data: the same requests over large and small data, alternating, on one connection. */
export async function measureGrowth(environment: BenchEnvironment, options: BenchOptions): Promise<void> {
  const { only, lists = Object.keys(LARGE) } = options;
  const unknownLists = lists.filter((list) => !(list in LARGE));
  if (unknownLists.length > 0)
    throw new Error(`--lists must name some of ${Object.keys(LARGE).join()}, not ${unknownLists.join()}.`);
  const isMeasured = ({ name }: { name: string }) =>
    name.includes(only) && (!options.lists || lists.some((list) => name.includes(list)));
  const cluster = await environment.openCluster(options.data);
  environment.urls = { au1: '', us1: '' };
  let data: GrowthData | undefined;
  for (const [region, { name, begin, days }] of Object.entries(GROWTH_DATABASES)) {
    const nameParts = [name, ...(options.lists ?? []), ...(options.shrink === 1 ? [] : [options.shrink])];
    const url = await createMigratedDatabase(cluster, nameParts.join('_'));
    environment.urls[region as RegionId] = url;
    const share = days / GROWTH_DATABASES.au1.days / options.shrink;
    const toSize = (rows: number) => Math.max(BUILDERS, Math.floor(rows * share));
    const sizes = Object.entries(LARGE).map(([list, rows]) => [list, toSize(lists.includes(list) ? rows : 0)]);
    // Both databases have the same ids.
    data = await loadGrowthData(url, Object.fromEntries(sizes), { begin, days });
  }
  const { origin } = await environment.startService();
  const tokens = {
    integrator: environment.signRegionalTokens('cli_bench', SCOPES),
    internal: environment.signRegionalTokens(INTERNAL_CLIENT, [...SCOPES, ...INTERNAL_SCOPES]),
  };
  const comparisons: SizeComparison[] = [];
  const requests = options.requests ?? DEFAULT_REQUESTS;
  const add = async (comparison: Promise<SizeComparison>) => {
    comparisons.push(await comparison);
    logProgress(toTableCells(comparisons.at(-1)!).join('  '));
  };
  for (const growthCase of createGrowthCases(data!).filter(isMeasured)) {
    await add(compareSizes(origin, growthCase.internal ? tokens.internal : tokens.integrator, growthCase, requests));
  }
  const databases = mapRegions((region) => new Database(region, environment.urls[region]));
  for (const { name, read } of createFigureCases(data!).filter(isMeasured)) {
    await add(measure(name, requests, (region) => read(databases[region])));
  }
  await Promise.all(Object.values(databases).map((database) => database.close()));
  await publishFigures(options, comparisons, toTable(comparisons));
  const tooSlow = comparisons.filter(
    ({ ratio, large, goal = Number.POSITIVE_INFINITY, maxMs = Number.POSITIVE_INFINITY }) =>
      ratio > goal || large > maxMs,
  );
  if (tooSlow.length > 0) throw new Error(`Slower than the goal: ${tooSlow.map(({ name }) => name).join('; ')}.`);
}

/** Sends the requests of a case to both sizes and returns the medians. */
export async function compareSizes(
  origin: string,
  tokens: Record<RegionId, string>,
  growthCase: GrowthCase,
  requests: number,
): Promise<SizeComparison> {
  const last: Record<RegionId, LastPage> = { au1: { total: 0, cursor: '' }, us1: { total: 0, cursor: '' } };
  const comparison = await measure(growthCase.name, requests, async (region, n) => {
    const { method = 'GET', path, body, headers } = growthCase.request(n + WARM_UP_REQUESTS, last[region], region);
    const response = await fetch(origin + path, {
      method,
      headers: {
        authorization: `Bearer ${tokens[region]}`,
        'x-service-region-id': region,
        ...headers,
        ...(body && { 'content-type': 'application/json' }),
      },
      body: body && JSON.stringify(body),
    });
    const text = await response.text();
    return () => {
      const result = text === '' ? {} : JSON.parse(text);
      if (!response.ok || result.errors)
        throw new Error(`${growthCase.name}: ${response.status} ${text.slice(0, 300)}`);
      last[region] = { total: result.meta?.totalCount ?? 0, cursor: result.meta?.nextCursor ?? '' };
    };
  });
  return { ...comparison, goal: growthCase.goal, maxMs: growthCase.maxMs };
}

/**
 * Measures an operation over both sizes, alternating.
 *
 * @param execute Executes the nth operation. A function that it returns checks the result and is not part of the measured time.
 */
async function measure(
  name: string,
  requests: number,
  execute: (region: RegionId, n: number) => Promise<unknown>,
): Promise<SizeComparison> {
  const times = { au1: [] as number[], us1: [] as number[] };
  for (let n = -WARM_UP_REQUESTS; n < requests; n++) {
    for (const region of ['au1', 'us1'] as const) {
      const startedAt = performance.now();
      const check = await execute(region, n);
      if (n >= 0) times[region].push(performance.now() - startedAt);
      if (typeof check === 'function') check();
    }
  }
  const [large, small] = [upperMedian(times.au1), upperMedian(times.us1)];
  return { name, large, small, ratio: large / small };
}

export const toTableCells = ({ name, large, small, ratio, goal, maxMs }: SizeComparison) => [
  name,
  large.toFixed(2),
  small.toFixed(2),
  ratio.toFixed(2),
  [goal === undefined ? '' : goal.toFixed(1), maxMs === undefined ? '' : `${maxMs} ms`].filter(Boolean).join(', '),
];

const toTable = (comparisons: SizeComparison[]) => `
${toMarkdownTable(['request', 'large, ms', 'small, ms', 'ratio', 'at most'], comparisons.map(toTableCells))}

Medians at one connection, the two sizes in turn. Large: a region of five years with ${LARGE.timesheets.toLocaleString('en')} timesheets and photos, ${LARGE.visits.toLocaleString('en')} visits,
${LARGE.defects.toLocaleString('en')} defects, ${LARGE.meetings.toLocaleString('en')} meetings and inductions, of 20 builders, one of which has a quarter of the rows and 2,000 people, and sends the requests; small: a week of it.
Figures are those of the console, read without HTTP.
`;
