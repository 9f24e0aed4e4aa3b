import { setTimeout as sleep } from 'node:timers/promises';
import { loadConfig } from '../../src/config.ts';
import { openStorages } from '../../src/storage/storage.ts';
import { countBy } from './exchange.ts';
import { MixedLoad } from './load.ts';
import { residentOf } from './memory.ts';
import { ProofSite, type Say } from './site.ts';

interface SoakOptions {
  minutes: number;
  say: Say;
}

const EVERY_MS = 2_000;
/** Samples between one line of progress and the next. */
const MINUTE = 30;
const MANY = 100_000;
/** How much more the least of the last third may be than that of the second: the least is what is kept, the rest comes and goes. */
const MOST_GROWTH = 1.1;

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
      if (samples.length % MINUTE === 0) say(`${all.length} requests, ${samples.at(-1)} MiB`);
    }
    await load.end();
    const end = await residentOf(pid);
    const wrong = all
      .filter(({ status }) => status < 200 || status > 299)
      .map(({ operation, status, problem }) => `${operation}: ${status} ${problem}`);
    // In the first third the service warms up.
    const third = Math.floor(samples.length / 3);
    const [second, last] = [Math.min(...samples.slice(third, 2 * third)), Math.min(...samples.slice(2 * third))];
    if (last > second * MOST_GROWTH) wrong.push(`the least resident size rose from ${second} to ${last} MiB`);
    const storage = openStorages(loadConfig(site.env), { secrets: [site.env.TOKEN_KEY!], clock: Date }).au1;
    wrong.push(...(await load.differences(site.database(), storage)));
    const many = afterMany === null ? `no ${MANY} requests were reached` : `${afterMany} after ${MANY} requests`;
    const sizes = `${rest} MiB at rest, ${many}, ${end} at the end, ${Math.max(...samples)} at most`;
    const statuses = JSON.stringify(countBy(all, ({ status }) => status));
    return {
      wrong,
      figures: `${minutes} minutes, ${all.length} requests ${statuses}; ${sizes}; at least ${second} in the second third, ${last} in the last`,
    };
  } finally {
    await site.close(say);
  }
}
