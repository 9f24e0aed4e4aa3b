import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

type CollectGarbage = (options: { type: 'minor' | 'major'; flavor?: 'last-resort' }) => void;

let collect: CollectGarbage | undefined;

/** Runs a garbage collection of V8: a minor one takes about a millisecond, a major one of the started service about 100. */
export const collectGarbage = (type: 'minor' | 'major'): void => garbageCollector()({ type });

/**
 * Frees what only the start of the process needed, and returns the free pages of the heap to the system at once. Idle processes start
 * no collection of their own, and V8 keeps free pages for a while after any other one.
 */
export const releaseStartMemory = (): void => garbageCollector()({ type: 'major', flavor: 'last-resort' });

function garbageCollector(): CollectGarbage {
  if (!collect) {
    setFlagsFromString('--expose-gc');
    collect = runInNewContext('gc') as CollectGarbage;
  }
  return collect;
}
