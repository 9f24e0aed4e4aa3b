import type { Databases } from '../../database/database.ts';
import { NoCapacityError } from '../../images/capacity.ts';
import type { FairShares } from '../../limits/fair-shares.ts';
import type { Storages } from '../../storage/storage.ts';
import { repeatInRegions, type TaskLog } from '../repeated-task.ts';
import { renderNext } from './render-photo.ts';

/** Milliseconds until a process looks again when no photo waits. */
const POLL_MS = 1_000;
/** Milliseconds after which the next share has its turn, when requests of a share use all that it may render. */
const MAX_WAIT_MS = 500;

/**
 * Renders waiting photos until it is stopped, one of each region at a time: the shares take turns, and requests keep the other slots. Every
 * process that serves takes part. Stopping waits for the photo that is being rendered.
 */
export const startRendering = (
  databases: Databases,
  { storages, shares }: { storages: Storages; shares: FairShares },
  log: TaskLog,
): (() => Promise<void>) =>
  repeatInRegions('render photos', log, (region, signal) => {
    const context = { database: databases[region], storage: storages[region], shares, maxWaitMs: MAX_WAIT_MS };
    const cursor = { share: '' };
    return async () => {
      try {
        return (await renderNext(context, cursor, signal)) ? 0 : POLL_MS;
      } catch (error) {
        if (error instanceof NoCapacityError || signal.aborted) return MAX_WAIT_MS;
        throw error;
      }
    };
  });
