import { setTimeout as sleep } from 'node:timers/promises';
import { toKeyId } from './auth/access-tokens.ts';
import type { Databases } from './database/database.ts';
import { recordKeyChange } from './domain/audit/record-key-change.ts';
import { JOB_SOURCE, replayErasures } from './domain/privacy/replay-erasures.ts';
import { systemClock } from './shared/clock.ts';
import { REGIONS, type RegionId } from './shared/regions.ts';
import type { Storages } from './storage/storage.ts';

/** Milliseconds that a start waits for the replay of erasures: a store may hang, or there may be many. */
const REPLAY_MS = 30_000;

/**
 * Applies erasures before requests are served, because the database may have been restored from a backup that is older than an erasure.
 * The job repeats what fails, so that the service starts without its store.
 */
export async function replayErasuresAtStart(databases: Databases, storages: Storages, report: (line: string) => void) {
  const replay = async (region: RegionId) => {
    const context = { database: databases[region], storage: storages[region], clock: systemClock, source: JOB_SOURCE };
    const late = sleep(REPLAY_MS, undefined, { ref: false }).then(() => {
      throw new Error(`not done within ${REPLAY_MS / 1000} seconds`);
    });
    await Promise.race([replayErasures(context), late]).catch((thrown: Error) => {
      const error = (thrown.cause ?? thrown) as Error;
      report(`The erasures of ${region} could not be applied, and are tried again by the job: ${error.message}`);
    });
  };
  await Promise.all(REGIONS.map(replay));
}

/** Records a rotation of the token keys in the audit log. */
export async function recordKeysAtStart(
  databases: Databases,
  tokenKeys: readonly string[],
  report: (line: string) => void,
) {
  const now = new Date(systemClock.now()).toISOString();
  for (const region of REGIONS) {
    await recordKeyChange(databases[region], tokenKeys.map(toKeyId), now).catch((error: Error) => {
      report(`The token keys could not be recorded in the audit log of ${region}: ${error.message}`);
    });
  }
}
