import type { Balancer } from './balancer.ts';
import type { Log, ProofEnvironment } from './proof-environment.ts';

/**
 * Replaces every instance, one after the other: a new one is ready before an old one stops. Returns the duration of the longest stop in
 * milliseconds.
 *
 * @param settings Settings of the new instances, which override those of the environment.
 */
export async function restartInstances(
  environment: ProofEnvironment,
  balancer: Balancer,
  settings: Record<string, string>,
  problems: string[],
  log: Log,
): Promise<number> {
  let longest = 0;
  for (const old of [...environment.instances]) {
    environment.instances.shift();
    const fresh = await environment.addInstance(settings);
    await balancer.add(fresh.origin);
    const begun = performance.now();
    const code = await old.stop();
    const milliseconds = Math.round(performance.now() - begun);
    balancer.remove(old.origin);
    longest = Math.max(longest, milliseconds);
    if (code !== 0) problems.push(`a stopped instance ended with ${code}: ${old.output.slice(-300)}`);
    log(`an instance was replaced; it stopped in ${milliseconds} ms`);
  }
  return longest;
}
