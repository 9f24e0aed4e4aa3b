import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

type CollectGarbage = (options: { type: 'minor' | 'major' }) => void;

let collect: CollectGarbage | undefined;

/** Runs a garbage collection of V8: a minor one takes about a millisecond, a major one of the started service about 100. */
export function collectGarbage(type: 'minor' | 'major'): void {
  if (!collect) {
    setFlagsFromString('--expose-gc');
    collect = runInNewContext('gc') as CollectGarbage;
  }
  collect({ type });
}

/**
 * Frees what only the start of the process needed. Idle processes start no collection of their own. After this one V8 returns the free pages
 * of its heap to the system within ten seconds without load.
 */
export const releaseStartMemory = (): void => collectGarbage('major');
