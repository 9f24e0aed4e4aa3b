import { setTimeout as sleep } from 'node:timers/promises';
import type { RenditionStatus } from '../../../entities/photo-rendition.entity.ts';
import type { Database } from '../../database/database.ts';
import type { Statement } from '../../database/pool/pg-pipeline.ts';
import { ApiError } from '../../shared/errors.ts';
import type { Storage } from '../../storage/storage.ts';
import { renderPhoto } from './render-photo.ts';

const BATCH_SIZE = 100;

const UNRENDERED = `from photo p where not exists (
  select from photo_rendition r where r.photo_id = p.id and r.status = any($1::text[]))`;

const COUNT: Statement = { name: 'renditions.count-unrendered', text: `select count(*) ${UNRENDERED}` };

const SELECT: Statement = {
  name: 'renditions.select-unrendered',
  text: `select p.id, p.builder_id, p.key ${UNRENDERED} and p.id > $2 order by p.id limit ${BATCH_SIZE}`,
};

/** Bytes may be there now, or a newer release may read them. One photo at a time, because the jobs render without the pauses. */
const RENEW_FAILED: Statement = {
  name: 'renditions.renew-failed',
  text: `update photo_rendition set status = 'PENDING', problem = null, attempts = 0, failures = 0, claimed_until = null
    where photo_id = $1 and (status = 'FAILED' or (status = 'PENDING' and problem is not null))`,
};

interface BackfillOptions {
  /** Percent of one processor. */
  share: number;
  /** Whether photos are tried again that could not be rendered. */
  retry?: boolean;
  onProgress?: (done: number, total: number) => void;
}

interface BackfillResult {
  rendered: number;
  /** Photos that cannot be rendered. */
  failed: number;
  /** Photos that another process is rendering, or that were deleted meanwhile. */
  skipped: number;
  /** Photos that the jobs try again later, after a failure of the machine or the store. */
  postponed: number;
}

/**
 * Renders every photo of the region that has no renditions, one at a time in the order of their ids. After each it pauses so that the
 * work takes its share of the time. After an interruption the next call continues with the photos that have no renditions.
 */
export async function backfillRenditions(
  context: { database: Database; storage: Storage },
  { share, retry = false, onProgress }: BackfillOptions,
): Promise<BackfillResult> {
  const { slowRunner } = context.database;
  const finished: RenditionStatus[] = retry ? ['READY'] : ['READY', 'FAILED'];
  const [counted] = await slowRunner.run(COUNT, [finished]);
  const total = Number(counted![0]);
  const result: BackfillResult = { rendered: 0, failed: 0, skipped: 0, postponed: 0 };
  let done = 0;
  let after = '';
  for (;;) {
    const rows = (await slowRunner.run(SELECT, [finished, after])) as string[][];
    for (const [id, builderId, key] of rows) {
      const startedAt = performance.now();
      if (retry) await slowRunner.run(RENEW_FAILED, [id]);
      result[await renderOne(context, { id: id!, builderId: builderId!, key: key! })]++;
      onProgress?.(++done, total);
      await sleep((performance.now() - startedAt) * (100 / share - 1));
    }
    if (rows.length < BATCH_SIZE) return result;
    after = rows.at(-1)![0]!;
  }
}

async function renderOne(
  context: { database: Database; storage: Storage },
  photo: { id: string; builderId: string; key: string },
): Promise<keyof BackfillResult> {
  try {
    const state = await renderPhoto(context, photo);
    if (!state) return 'skipped';
    return state.status === 'READY' ? 'rendered' : 'failed';
  } catch (error) {
    if (error instanceof ApiError && error.status === 503) return 'postponed';
    throw error;
  }
}
