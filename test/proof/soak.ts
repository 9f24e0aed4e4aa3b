import { setTimeout as sleep } from 'node:timers/promises';
import { loadConfig } from '../../src/config.ts';
import { openStorages } from '../../src/storage/storage.ts';
import { countBy } from './exchange.ts';
import { MixedLoad } from './load.ts';
import { residentOf } from './memory.ts';
import { ProofSite, type Say } from './site.ts';

export interface SoakOptions {
  minutes: number;
  say: Say;
}

const EVERY_MS = 2_000;
/** Samples that make one point: the least of a minute is what the service keeps, the rest comes and goes. */
const POINT = 30;
const MANY = 100_000;
/** MiB that the least may rise in ten minutes, by the line through the second half. */
const MOST_GROWTH = 15;

/** Mixed requests to one instance, for as long as told, while its resident size is watched. */
export async function soak({ minutes, say }: SoakOptions) {
  const site = await ProofSite.start();
  try {
    const { pid, origin } = await site.addInstance();
    await sleep(5_000);
    const rest = await residentOf(pid);
    const options = { origins: () => [origin], run: 'soak', atATime: 3, pause: 40, readsPerSecond: 150 };
    const load = await MixedLoad.start(site, options);
    const samples: number[] = [];
    let afterMany: number | null = null;
    const { all } = load.exchanges;
    for (const end = Date.now() + minutes * 60_000; Date.now() < end; await sleep(EVERY_MS)) {
      samples.push(await residentOf(pid));
      if (all.length >= MANY) afterMany ??= samples.at(-1)!;
      if (samples.length % POINT === 0) say(`${all.length} requests, ${samples.at(-1)} MiB`);
    }
    await load.end();
    const end = await residentOf(pid);
    const growth = growthOf(samples);
    const wrong = all
      .filter(({ status }) => status < 200 || status > 299)
      .map(({ operation, status, problem }) => `${operation}: ${status} ${problem}`);
    if (growth > MOST_GROWTH) wrong.push(`the least resident size rises by ${growth} MiB in ten minutes`);
    const storage = openStorages(loadConfig(site.env), { secret: site.env.TOKEN_KEY!, clock: Date }).au1;
    wrong.push(...(await load.differences(site.database(), storage)));
    const many = afterMany === null ? `no ${MANY} requests were reached` : `${afterMany} after ${MANY} requests`;
    const sizes = `${rest} MiB at rest, ${many}, ${end} at the end, ${Math.max(...samples)} at most`;
    const statuses = JSON.stringify(countBy(all, ({ status }) => status));
    return {
      points: pointsOf(samples),
      wrong,
      figures: `${minutes} minutes, ${all.length} requests ${statuses}; ${sizes}; the least rises by ${growth} MiB in ten minutes (at most ${MOST_GROWTH})`,
    };
  } finally {
    await site.close(say);
  }
}

/** The least of each minute. */
function pointsOf(samples: readonly number[]): number[] {
  const points: number[] = [];
  for (let at = 0; at + POINT <= samples.length; at += POINT) points.push(Math.min(...samples.slice(at, at + POINT)));
  return points;
}

/** MiB in ten minutes: the slope of the line through the points of the second half, by least squares. */
function growthOf(samples: readonly number[]): number {
  const points = pointsOf(samples);
  const half = points.slice(Math.floor(points.length / 2));
  const mean = (numbers: readonly number[]) => numbers.reduce((sum, number) => sum + number, 0) / numbers.length;
  const [x, y] = [mean(half.map((_, at) => at)), mean(half)];
  const above = half.reduce((sum, point, at) => sum + (at - x) * (point - y), 0);
  const below = half.reduce((sum, _, at) => sum + (at - x) ** 2, 0);
  const perPoint = below === 0 ? 0 : above / below;
  return Math.round((perPoint * 600_000) / (POINT * EVERY_MS));
}
