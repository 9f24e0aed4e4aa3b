import { once } from 'node:events';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RenditionSize } from '../../../schema/enums.ts';
import type { Database } from '../../database/database.ts';
import { statement } from '../../database/pool/pg-pipeline.ts';
import { acquireInTime, MAX_WAIT_MS, NoCapacityError } from '../../images/capacity.ts';
import {
  RENDITION_SIZES,
  RENDITION_TYPE,
  type RenderedImage,
  type RenderProcess,
  renderCounts,
  renderImage,
} from '../../images/render.ts';
import { BadImage, InterruptedDecode } from '../../images/types.ts';
import type { FairShares } from '../../limits/fair-shares.ts';
import { notFound, unavailable } from '../../shared/errors.ts';
import type { Storage } from '../../storage/storage.ts';
import {
  type Claim,
  claimNext,
  claimPhoto,
  findProgress,
  findShare,
  finish,
  isGivenUp,
  postpone,
  release,
} from './rendition-claims.ts';
import { type RenderedPhoto, type RenditionState, toRenditionKey } from './renditions.ts';

/** Dependencies of rendering, and the share that it is charged to. */
export interface RenditionContext {
  database: Database;
  storage: Storage;
  /** Shares that the work is charged to; without them it begins at once. */
  shares?: FairShares;
  shareKey?: string;
  /** Milliseconds to wait until the share may render; 10 seconds by default. */
  maxWaitMs?: number;
  /** Default: that of this process. */
  renderProcess?: RenderProcess;
}

/** Milliseconds between two checks of a photo that another process renders. */
const POLL_MS = 200;
/** Checks after which a photo that is free, and cannot be claimed, counts as deleted or replaced. */
const MAX_MISSES = 3;
/** The widest WebP files of 1600 pixels have about 2 MB. */
const MAX_RENDITION_BYTES = 16 * 1024 * 1024;

/**
 * Renders the photo unless it was rendered before. Of concurrent calls, on any instance, one renders. Rejects with `NOT_FOUND` for a photo
 * that no longer exists with these bytes, with `RATE_LIMITED` or `UNAVAILABLE` when there is no capacity, and with the latter after 10
 * seconds, and for a photo that is tried again later. A decode that has begun is completed.
 *
 * @param signal ends the wait; rejects with its reason.
 */
export async function ensureRenditions(
  context: RenditionContext,
  photo: RenderedPhoto,
  signal?: AbortSignal,
): Promise<RenditionState> {
  signal?.throwIfAborted();
  const deadline = AbortSignal.timeout(MAX_WAIT_MS);
  const ended = signal ? AbortSignal.any([signal, deadline]) : deadline;
  const rejectAtEnd = once(ended, 'abort').then(() => Promise.reject(ended.reason));
  try {
    return await Promise.race([renderOrWait(context, photo, ended), rejectAtEnd]);
  } catch (error) {
    if (deadline.aborted) throw unavailable(new Error(`The renditions of ${photo.id} are not ready.`));
    throw error;
  }
}

async function renderOrWait(
  context: RenditionContext,
  photo: RenderedPhoto,
  signal: AbortSignal,
): Promise<RenditionState> {
  for (let misses = 0; ; ) {
    const progress = await findProgress(context.database, photo.id);
    if (typeof progress === 'object') return progress;
    if (progress === 'POSTPONED') throw unavailable(new Error(`${photo.id} is rendered later.`));
    if (progress === 'FREE') {
      const state = await renderPhoto(context, photo, signal);
      if (state) return state;
      if (++misses === MAX_MISSES) throw notFound('Photo');
    }
    await sleep(POLL_MS, undefined, { signal });
  }
}

/** Renders the photo; null where another process does, it is to be tried later, or it no longer exists with these bytes. */
export const renderPhoto = (
  context: RenditionContext,
  photo: RenderedPhoto,
  signal?: AbortSignal,
): Promise<RenditionState | null> =>
  inShare(context, signal, async () => {
    const claim = await claimPhoto(context.database, photo);
    return claim && renderClaimed(context, claim, signal);
  });

/**
 * Claims and renders the photo that waits longest of the next share, and moves the cursor there, also when it fails. Returns whether a photo
 * waited. The cursor has the share whose photo a job has rendered last; '' at first.
 */
export async function renderNext(
  context: RenditionContext,
  cursor: { share: string },
  signal?: AbortSignal,
): Promise<boolean> {
  const shareKey = (await findShare(context.database, cursor.share)) ?? (await findShare(context.database, ''));
  if (shareKey === null) return false;
  cursor.share = shareKey;
  const charged = { ...context, shareKey };
  await inShare(charged, signal, async () => {
    const claim = await claimNext(context.database, shareKey);
    if (claim) await renderClaimed(charged, claim, signal);
  });
  return true;
}

/** Runs the work once the share may render. Rejects with `NoCapacityError`. */
async function inShare<T>(
  { shares, shareKey, maxWaitMs }: RenditionContext,
  signal: AbortSignal | undefined,
  work: () => Promise<T>,
): Promise<T> {
  if (!shares || shareKey === undefined) return work();
  const end = await acquireInTime((ends) => shares.largeImages.acquire(shareKey, 1, ends), { signal, maxWaitMs });
  return work().finally(end);
}

// SQL: a page of a gallery can request as many renditions as it shows photos.
const SELECT_KEY = statement('renditions.photo-key')`select key from photo where id = $1 and builder_id = $2`;

/** Makes a photo pending whose renditions are lost. */
const RENEW = statement('renditions.renew')`
  update photo_rendition set status = 'PENDING', attempts = 0, failures = 0 where photo_id = $1 and status = 'READY'`;

/**
 * Renders the photo of a rendition that is not stored, for a URL that was signed before. Returns the size of the placeholder to answer
 * where the photo cannot be rendered, else null. Throws `NOT_FOUND` where the photo no longer exists or has other bytes.
 *
 * @param signal ends the wait; rejects with its reason.
 */
export async function storeRendition(
  context: RenditionContext & { shares: FairShares; shareKey: string },
  renditionKey: string,
  signal: AbortSignal,
): Promise<RenditionSize | null> {
  const { database, storage, shares, shareKey } = context;
  const [, builderId = '', id = '', name = ''] = renditionKey.split('/');
  const [row] = await database.runner.run(SELECT_KEY, [id, builderId]);
  const photo = { id, builderId, key: row?.[0] ?? '' };
  const size = RENDITION_SIZES.find((each) => name.endsWith(`-${each.toLowerCase()}.webp`));
  if (!row || !size || toRenditionKey(photo, size) !== renditionKey) throw notFound('File');
  const ensure = async () => (await ensureRenditions(context, photo, signal)).status;
  const status = await shares.waits.run(
    shareKey,
    1,
    async () => {
      const found = await ensure();
      if (found !== 'READY' || (await storage.byteStore.stat(renditionKey))) return found;
      await database.runner.run(RENEW, [id]);
      return ensure();
    },
    signal,
  );
  return status === 'READY' ? null : size;
}

async function renderClaimed(context: RenditionContext, claim: Claim, signal?: AbortSignal): Promise<RenditionState> {
  const { database } = context;
  const giveUp = (problem: string) => {
    renderCounts.add('given_up', 'error', 0);
    return finish(database, claim, 'FAILED', { problem });
  };
  if (isGivenUp(claim)) return giveUp('ended every process that began to render it');
  let rendered: RenderedImage;
  try {
    rendered = await renderAndStore(context, claim.photo);
  } catch (error) {
    if (error instanceof BadImage && !(error instanceof InterruptedDecode))
      return finish(database, claim, 'FAILED', { problem: error.message });
    // There was no capacity, or no request waits any longer: this was no attempt.
    if (error instanceof NoCapacityError || error === signal?.reason) {
      await release(database, claim);
      throw error;
    }
    if (!(await postpone(database, claim, error as Error))) return giveUp((error as Error).message);
    throw unavailable(error);
  }
  return finish(database, claim, 'READY', rendered);
}

/** Throws `BadImage` for a photo that cannot be rendered. */
async function renderAndStore(
  { storage, renderProcess }: RenditionContext,
  photo: RenderedPhoto,
): Promise<RenderedImage> {
  const rendered = await storage.withFile(photo.key, (path) => renderImage(path, renderProcess));
  if (!rendered) {
    renderCounts.add('missing', 'error', 0);
    throw new Error('has no stored bytes');
  }
  for (const size of RENDITION_SIZES) {
    const bytes = Readable.from([rendered.files[size]]);
    await storage.store(toRenditionKey(photo, size), bytes, RENDITION_TYPE, MAX_RENDITION_BYTES);
  }
  return rendered;
}
