/**
 * How the service's answers grow with its data: the same requests over a large data set and over one of a thousandth of its size,
 * one after the other in turn, at one connection.
 */
import { INTERNAL_SCOPES, SCOPES } from '../../schema/scopes.ts';
import { Database } from '../../src/database/database.ts';
import { mapRegions, type RegionId } from '../../src/shared/regions.ts';
import { type GrowthCase, growthCases } from './growth-cases.ts';
import { BUILDERS, type GrowthData, type GrowthSize, growTo, INTERNAL_CLIENT } from './growth-data.ts';
import { figureCases } from './growth-figures.ts';
import type { Options } from './options.ts';
import { publish } from './publish.ts';
import { migrated, type Stage, say } from './stage.ts';
import { markdown } from './table.ts';

const FACTOR = 1000;
const ROWS = 10_000_000;
const LARGE: Required<GrowthSize> = {
  ...{ timesheets: ROWS, photos: ROWS, meetings: ROWS, defects: ROWS, inductions: ROWS },
  ...{ subcontractors: ROWS, visits: 1_000_000, photo_folders: 1_000_000 },
};
export const REQUESTS = 60;
const WARM_UP = 10;

/** The service takes the two sizes for its regions. */
export const DATABASES: Record<RegionId, { name: string; divisor: number }> = {
  us1: { name: 'growth_small', divisor: FACTOR },
  au1: { name: 'growth_large', divisor: 1 },
};

export interface Figure {
  name: string;
  /** Milliseconds, medians. */
  large: number;
  small: number;
  ratio: number;
  goal?: number;
}

export async function growth(stage: Stage, options: Options): Promise<void> {
  const { only, lists = Object.keys(LARGE) } = options;
  const unknown = lists.filter((list) => !(list in LARGE));
  if (unknown.length > 0)
    throw new Error(`--lists must name some of ${Object.keys(LARGE).join()}, not ${unknown.join()}.`);
  const isMeasured = ({ name }: { name: string }) =>
    name.includes(only) && (!options.lists || lists.some((list) => name.includes(list)));
  const cluster = await stage.openCluster(options.data);
  stage.urls = { au1: '', us1: '' };
  let data: GrowthData | undefined;
  for (const [region, { name, divisor }] of Object.entries(DATABASES)) {
    const parts = [name, ...(options.lists ?? []), ...(options.shrink === 1 ? [] : [options.shrink])];
    const url = await migrated(cluster, parts.join('_'));
    stage.urls[region as RegionId] = url;
    const part = (rows: number) => Math.max(BUILDERS, rows / divisor / options.shrink);
    const sizes = Object.entries(LARGE).map(([list, rows]) => [list, part(lists.includes(list) ? rows : 0)]);
    // Both have the same ids.
    data = await growTo(url, Object.fromEntries(sizes));
  }
  const { origin } = await stage.startOurs();
  const tokens = {
    own: await stage.sign('cli_bench', SCOPES),
    internal: await stage.sign(INTERNAL_CLIENT, [...SCOPES, ...INTERNAL_SCOPES]),
  };
  const figures: Figure[] = [];
  const requests = options.requests ?? REQUESTS;
  const add = async (figure: Promise<Figure>) => {
    figures.push(await figure);
    say(cells(figures.at(-1)!).join('  '));
  };
  for (const one of growthCases(data!).filter(isMeasured)) {
    await add(compare(origin, one.internal ? tokens.internal : tokens.own, one, requests));
  }
  const databases = mapRegions((region) => new Database(region, stage.urls[region]));
  for (const { name, read } of figureCases(data!).filter(isMeasured)) {
    await add(measure(name, requests, (region) => read(databases[region])));
  }
  await Promise.all(Object.values(databases).map((database) => database.close()));
  await publish(options, figures, table(figures));
  const missed = figures.filter(({ ratio, goal }) => goal !== undefined && ratio > goal);
  if (missed.length > 0) throw new Error(`Slower than the goal: ${missed.map(({ name }) => name).join('; ')}.`);
}

/** Returns the medians of a case over both sizes, in turn. */
export async function compare(origin: string, token: string, one: GrowthCase, requests: number): Promise<Figure> {
  const totals = { au1: 0, us1: 0 };
  const measured = await measure(one.name, requests, async (region, n) => {
    const { method = 'GET', path, body, headers } = one.request(n + WARM_UP, totals[region], region);
    const response = await fetch(origin + path, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        'x-service-region-id': region,
        ...headers,
        ...(body && { 'content-type': 'application/json' }),
      },
      body: body && JSON.stringify(body),
    });
    const text = await response.text();
    return () => {
      const answer = text === '' ? {} : JSON.parse(text);
      if (!response.ok || answer.errors) throw new Error(`${one.name}: ${response.status} ${text.slice(0, 300)}`);
      totals[region] = answer.meta?.totalCount ?? 0;
    };
  });
  return { ...measured, goal: one.goal };
}

/** Asks both sizes in turn. What `ask` returns is called after its time was taken. */
async function measure(
  name: string,
  requests: number,
  ask: (region: RegionId, n: number) => Promise<unknown>,
): Promise<Figure> {
  const times = { au1: [] as number[], us1: [] as number[] };
  for (let n = -WARM_UP; n < requests; n++) {
    for (const region of ['au1', 'us1'] as const) {
      const began = performance.now();
      const check = await ask(region, n);
      if (n >= 0) times[region].push(performance.now() - began);
      if (typeof check === 'function') check();
    }
  }
  const [large, small] = [median(times.au1), median(times.us1)];
  return { name, large, small, ratio: large / small };
}

const median = (values: number[]) => values.sort((a, b) => a - b)[values.length >> 1]!;

export const cells = ({ name, large, small, ratio, goal }: Figure) => [
  ...[name, large.toFixed(2), small.toFixed(2), ratio.toFixed(2)],
  goal === undefined ? '' : goal.toFixed(1),
];

const table = (figures: Figure[]) => `
${markdown(['request', 'large, ms', 'small, ms', 'ratio', 'at most'], figures.map(cells))}

Medians at one connection, the two sizes in turn. Large: ${ROWS.toLocaleString('en')} timesheets,
photos, meetings, defects, inductions and subcontractors each, and ${LARGE.visits.toLocaleString('en')} visits and folders each, of 20 builders; small: a thousandth. Pages are as long in both.
Figures are those of the console, read without HTTP.
`;
