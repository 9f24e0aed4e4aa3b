import type { RenditionStatus } from '../../../entities/photo-rendition.entity.ts';
import type { Database } from '../../database/database.ts';
import { statement } from '../../database/pool/pg-pipeline.ts';
import { InterruptedDecode } from '../../images/types.ts';
import { type RenderedPhoto, type RenditionState, toState } from './renditions.ts';

/** A photo that this process renders. For a minute no other process can claim it. */
export interface Claim {
  photo: RenderedPhoto;
  /** Times that a process began to render it, without those that failed for a reason outside of the photo. */
  attempts: number;
  /** Times that rendering failed for a reason outside of the photo. */
  failures: number;
}

/** Processes that may begin to render a photo: one that ends every process or decoder is given up. */
const MAX_ATTEMPTS = 3;
/** Failures for reasons outside of the photo until it is given up, after about 13 hours. */
const MAX_FAILURES = 10;
/** Milliseconds until a photo is tried again after its first failure. Each further pause is three times as long, up to four hours. */
const RETRY_MS = 15_000;
const MAX_RETRY_MS = 4 * 3_600_000;
/** Milliseconds until another process may render a photo whose process was killed. Waiting for a slot and decoding take at most 40 s. */
const CLAIM_MS = 60_000;
const MAX_PROBLEM_LENGTH = 500;

// SQL: claims are locks, by the clock of the database.

/** When the photo may be claimed. Its index has this expression; it is compared with a stable function, as indexes need. */
const toDueSql = (row: string) => `coalesce(${row}.claimed_until, ${row}.created_at)`;
const isFree = (row: string) => `${row}.status = 'PENDING' and ${toDueSql(row)} <= statement_timestamp()`;
const BEGIN = `attempts = r.attempts + 1, problem = null, claimed_until = clock_timestamp() + interval '${CLAIM_MS} ms'`;

const CLAIM = statement('renditions.claim')`update photo_rendition r set ${BEGIN}
  from photo p where p.id = r.photo_id and p.id = $1 and p.builder_id = $2 and p.key = $3 and ${isFree('r')}
  returning r.attempts, r.failures`;

/** Reads two entries of the index for each share whose photos are all tried later, however many they are. */
export const FIND_SHARE = statement('renditions.find-share')`with recursive share (key, is_due) as (
    select $1::text, false
    union all
    select next.share_key, (
        select ${isFree('d')} from photo_rendition d where d.status = 'PENDING' and d.share_key = next.share_key
          order by ${toDueSql('d')} limit 1)
      from share cross join lateral (
        select n.share_key from photo_rendition n where n.status = 'PENDING' and n.share_key > share.key order by n.share_key limit 1) next
      where not share.is_due)
  select key from share where is_due`;

/** Claims the photo of the share that has been due for longest. */
export const CLAIM_NEXT = statement('renditions.claim-next')`update photo_rendition r set ${BEGIN}
  from photo p where p.id = r.photo_id and r.photo_id = (
    select n.photo_id from photo_rendition n where n.share_key = $1 and ${isFree('n')}
      order by ${toDueSql('n')}, n.photo_id limit 1 for update skip locked)
  returning r.attempts, r.failures, p.id, p.builder_id, p.key`;

/** Has no effect on a photo whose bytes were replaced meanwhile. */
const FINISH = statement('renditions.finish')`
  update photo_rendition set status = $3, width = $4::int, height = $5::int, problem = $6, claimed_until = null
  where photo_id = $1 and exists (select from photo where id = $1 and key = $2)`;

const POSTPONE = statement('renditions.postpone')`
  update photo_rendition set attempts = $3::int, failures = $4::int, problem = $5,
    claimed_until = clock_timestamp() + $6::int * interval '1 ms'
  where photo_id = $1 and status = 'PENDING' and exists (select from photo where id = $1 and key = $2)`;

const SELECT_PROGRESS = statement('renditions.select-progress')`
  select r.status, r.width, r.height, ${isFree('r')}, r.problem from photo_rendition r where r.photo_id = $1`;

/** Makes the photos pending and due that failed or are tried later. */
const RETRY = statement('renditions.retry')`with retried as (
    update photo_rendition set status = 'PENDING', problem = null, attempts = 0, failures = 0, claimed_until = null
    where status = 'FAILED' or (status = 'PENDING' and problem is not null) returning 1)
  select count(*) from retried`;

/**
 * Has the jobs of the service render the photos of the region again that could not be rendered, and returns their number. Their bytes may
 * be there now, or a newer release may read them.
 */
export async function retryRenditions({ slowRunner }: Database): Promise<number> {
  const [row] = await slowRunner.run(RETRY, []);
  return Number(row![0]);
}

/** Claims the photo; null where another process renders it, it is to be tried later, or it no longer exists with these bytes. */
export async function claimPhoto({ runner }: Database, photo: RenderedPhoto): Promise<Claim | null> {
  const [row] = await runner.run(CLAIM, [photo.id, photo.builderId, photo.key]);
  return row ? { photo, attempts: Number(row[0]), failures: Number(row[1]) } : null;
}

/** Returns the first share after the given one that has a photo to render; null for none. */
export async function findShare({ runner }: Database, after: string): Promise<string | null> {
  const [row] = await runner.run(FIND_SHARE, [after]);
  return row?.[0] ?? null;
}

/** Claims the photo of the share that waits longest; null for none. */
export async function claimNext({ runner }: Database, shareKey: string): Promise<Claim | null> {
  const [row] = (await runner.run(CLAIM_NEXT, [shareKey])) as string[][];
  if (!row) return null;
  const [attempts, failures, id, builderId, key] = row as [string, string, string, string, string];
  return { photo: { id, builderId, key }, attempts: Number(attempts), failures: Number(failures) };
}

/** Whether a photo is rendered or cannot be, may be claimed, is rendered by a process, or is tried again later. */
export type Progress = RenditionState | 'FREE' | 'CLAIMED' | 'POSTPONED';

export async function findProgress({ runner }: Database, photoId: string): Promise<Progress> {
  const [row] = await runner.run(SELECT_PROGRESS, [photoId]);
  if (!row) return 'FREE';
  const [status, width, height, isClaimable, problem] = row;
  if (status !== 'PENDING') return toState([status, width, height]);
  if (isClaimable === 't') return 'FREE';
  return problem === null ? 'CLAIMED' : 'POSTPONED';
}

/** Ends the claim: the photo is rendered, or cannot be. */
export async function finish(
  { runner }: Database,
  { photo }: Claim,
  status: Exclude<RenditionStatus, 'PENDING'>,
  {
    width = null,
    height = null,
    problem = null,
  }: { [name in 'width' | 'height']?: number | null } & { problem?: string | null },
): Promise<RenditionState> {
  await runner.run(FINISH, [photo.id, photo.key, status, width, height, problem]);
  return toState([status, width, height]);
}

/** Ends a claim whose work was not begun. */
export async function release({ runner }: Database, { photo, attempts, failures }: Claim): Promise<void> {
  await runner.run(POSTPONE, [photo.id, photo.key, attempts - 1, failures, null, 0]);
}

/** Whether an earlier attempt was the last. */
export const isGivenUp = ({ attempts }: Claim): boolean => attempts > MAX_ATTEMPTS;

/**
 * Ends a claim after a failure that may not be the photo's: another attempt follows later. Returns false where this was the last. A decode
 * that was interrupted counts as an attempt, because the photo may be the reason.
 */
export async function postpone({ runner }: Database, { photo, ...counts }: Claim, error: Error): Promise<boolean> {
  const isAttempt = error instanceof InterruptedDecode;
  const attempts = counts.attempts - (isAttempt ? 0 : 1);
  const failures = counts.failures + (isAttempt ? 0 : 1);
  if (attempts >= MAX_ATTEMPTS || failures >= MAX_FAILURES) return false;
  const pauseMs = Math.min(MAX_RETRY_MS, RETRY_MS * 3 ** (attempts + failures - 1));
  const problem = error.message.slice(0, MAX_PROBLEM_LENGTH);
  await runner.run(POSTPONE, [photo.id, photo.key, attempts, failures, problem, pauseMs]);
  return true;
}
