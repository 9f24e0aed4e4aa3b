import type { Balancer } from './balancer.ts';
import type { ProofSite, Say } from './site.ts';

/**
 * Replaces every instance of the site, one after the other: a new one is ready before an old one stops. Returns the duration of the
 * longest stop in milliseconds.
 *
 * @param settings of the new instances, over the site's
 */
export async function restartInstances(
  site: ProofSite,
  balancer: Balancer,
  settings: Record<string, string>,
  wrong: string[],
  say: Say,
): Promise<number> {
  let longest = 0;
  for (const old of [...site.instances]) {
    site.instances.shift();
    const fresh = await site.addInstance(settings);
    await balancer.add(fresh.origin);
    const begun = performance.now();
    const code = await old.stop();
    const milliseconds = Math.round(performance.now() - begun);
    balancer.remove(old.origin);
    longest = Math.max(longest, milliseconds);
    if (code !== 0) wrong.push(`a stopped instance ended with ${code}: ${old.output.slice(-300)}`);
    say(`an instance was replaced; it stopped in ${milliseconds} ms`);
  }
  return longest;
}
