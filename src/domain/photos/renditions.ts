import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RenditionStatus } from '../../../entities/photo-rendition.entity.ts';
import type { RenditionSize } from '../../../schema/enums.ts';
import type { Database } from '../../database/database.ts';
import type { Statement } from '../../database/pool/pg-pipeline.ts';
import { acquireInTime, MAX_WAIT_MS, NoCapacityError } from '../../images/capacity.ts';
import {
  PLACEHOLDER,
  RENDITION_SIZES,
  RENDITION_TYPE,
  type RenderedImage,
  renderCounts,
  renderImage,
  toRenditionDimensions,
} from '../../images/render.ts';
import { BadImage } from '../../images/types.ts';
import type { Backlog } from '../../shared/backlog.ts';
import { notFound, unavailable } from '../../shared/errors.ts';
import type { FairShares } from '../../shared/fair-shares.ts';
import type { Storage } from '../../storage/storage.ts';

/** The columns of a photo that its renditions depend on. */
export interface RenderedPhoto {
  id: string;
  builderId: string;
  key: string;
}

/** State of the renditions of a photo. Dimensions are those of the upright photo, or of the placeholder of one that cannot be rendered. */
export interface RenditionState {
  status: RenditionStatus;
  width: number;
  height: number;
}

/** A rendition of a photo that was rendered. */
export interface Rendition {
  url: string;
  width: number;
  height: number;
  contentType: string;
  isPlaceholder: boolean;
}

/** What rendering needs. */
export interface RenditionContext {
  database: Database;
  storage: Storage;
  /** Shares that the work is charged to; without them it begins at once. */
  shares?: FairShares;
  shareKey?: string;
  /** Milliseconds to wait until the share may render; 10 seconds by default. */
  maxWaitMs?: number;
}

/** Processes that may begin to render a photo: one that crashes every process is given up. */
const MAX_ATTEMPTS = 3;
/** Milliseconds until another process may render a photo whose process was killed. Waiting for a slot and decoding take at most 40 s. */
const CLAIM_MS = 60_000;
/** Milliseconds between two looks at a photo that another request renders. */
const POLL_MS = 100;
/** The widest WebP files of 1600 pixels have about 2 MB. */
const MAX_RENDITION_BYTES = 16 * 1024 * 1024;

const SELECT: Statement = {
  name: 'renditions.select',
  text: `select photo_id, status, width, height from photo_rendition where photo_id = any($1::text[]) and status <> 'PENDING'`,
};

const isFree = (row: string) =>
  `${row}.status = 'PENDING' and (${row}.claimed_until is null or ${row}.claimed_until < clock_timestamp())`;
const CLAIMED_UNTIL = `clock_timestamp() + interval '${CLAIM_MS} ms'`;

/** Photos that were created before there were renditions have no row. */
const CLAIM: Statement = {
  name: 'renditions.claim',
  text: `insert into photo_rendition as r (photo_id, share_key, attempts, claimed_until)
    select id, coalesce(integrator_id, builder_id), 1, ${CLAIMED_UNTIL} from photo where id = $1 and builder_id = $2 and key = $3
    on conflict (photo_id) do update set attempts = r.attempts + 1, claimed_until = excluded.claimed_until where ${isFree('r')}
    returning attempts`,
};

/** The oldest of the share after the given one, so that the shares take turns. */
const CLAIM_NEXT: Statement = {
  name: 'renditions.claim-next',
  text: `update photo_rendition r set attempts = r.attempts + 1, claimed_until = ${CLAIMED_UNTIL}
    from photo p where p.id = r.photo_id and r.photo_id = (
      select n.photo_id from photo_rendition n where n.share_key > $1 and ${isFree('n')}
        order by n.share_key, n.created_at, n.photo_id limit 1 for update skip locked)
    returning r.attempts, p.id, p.builder_id, p.key, r.share_key`,
};

/** Has no effect on a photo whose bytes were replaced meanwhile. */
const FINISH: Statement = {
  name: 'renditions.finish',
  text: `update photo_rendition set status = $3, width = $4::int, height = $5::int, problem = $6, claimed_until = null
    where photo_id = $1 and exists (select from photo where id = $1 and key = $2)`,
};

/** An attempt that fails for a reason outside of the photo does not count. */
const RELEASE: Statement = {
  name: 'renditions.release',
  text: `update photo_rendition set attempts = attempts - 1, claimed_until = case when $2::boolean then claimed_until end
    where photo_id = $1 and status = 'PENDING'`,
};

/** Work that waits for the jobs. */
export const pendingRenditions: Backlog = {
  name: 'photo_renditions',
  statement: {
    name: 'backlog.photo_renditions',
    text: `select count(*), extract(epoch from now() - min(created_at)) from photo_rendition where status = 'PENDING'`,
  },
};

/** Returns the storage key of a rendition. It changes with the bytes of the photo, so that stored renditions never do. */
export const toRenditionKey = ({ id, builderId, key }: RenderedPhoto, size: RenditionSize): string =>
  `renditions/${builderId}/${id}/${hashOfKey(key)}-${size.toLowerCase()}.webp`;

const hashOfKey = (key: string): string => createHash('sha256').update(key).digest('hex').slice(0, 16);

/** Returns a signed rendition. Its URL answers a placeholder where the photo cannot be rendered. */
export function toRendition(
  storage: Storage,
  photo: RenderedPhoto,
  state: RenditionState,
  size: RenditionSize,
): Rendition {
  const url = storage.createDownloadUrl(toRenditionKey(photo, size), RENDITION_TYPE);
  const isPlaceholder = state.status === 'FAILED';
  return { url, contentType: RENDITION_TYPE, isPlaceholder, ...toRenditionDimensions(state, size) };
}

/** Returns the states of the photos that are rendered or cannot be, by photo id. */
export async function findRenditions(database: Database, ids: readonly string[]): Promise<Map<string, RenditionState>> {
  const rows = await database.runner.run(SELECT, [ids]);
  return new Map(rows.map(([id, status, width, height]) => [id!, toState(status as RenditionStatus, width, height)]));
}

/** State of a photo that is not rendered yet: its dimensions are unknown. */
export const UNKNOWN: RenditionState = { status: 'PENDING', ...PLACEHOLDER };

const toState = (
  status: RenditionStatus,
  width?: string | number | null,
  height?: string | number | null,
): RenditionState =>
  status === 'READY' ? { status, width: Number(width), height: Number(height) } : { status, ...PLACEHOLDER };

/**
 * Renders the photo unless it was rendered before. Of concurrent calls, on any instance, one renders and the others wait for it, at most
 * 10 seconds. Rejects with 429 or 503 when there is no capacity.
 */
export async function ensureRenditions(
  context: RenditionContext,
  photo: RenderedPhoto,
  signal?: AbortSignal,
): Promise<RenditionState> {
  const { runner } = context.database;
  for (let waitedMs = 0; waitedMs < MAX_WAIT_MS; waitedMs += POLL_MS) {
    const found = (await findRenditions(context.database, [photo.id])).get(photo.id);
    if (found) return found;
    const [claim] = await runner.run(CLAIM, [photo.id, photo.builderId, photo.key]);
    if (claim) return renderClaimed(context, photo, Number(claim[0]), signal);
    await sleep(POLL_MS, undefined, { signal });
  }
  throw unavailable(new Error(`The renditions of ${photo.id} are not ready.`));
}

/** The share whose photo was rendered last; the empty text in the beginning. */
export interface ShareCursor {
  after: string;
}

/**
 * Claims and renders the photo that waits longest of the next share, and moves the cursor there, also when it fails. Returns whether a photo
 * waited.
 */
export async function renderNext(
  context: RenditionContext,
  cursor: ShareCursor,
  signal?: AbortSignal,
): Promise<boolean> {
  const { runner } = context.database;
  const [claim] = (await runner.run(CLAIM_NEXT, [cursor.after])) as string[][];
  if (!claim) {
    if (cursor.after === '') return false;
    cursor.after = '';
    return renderNext(context, cursor, signal);
  }
  const [attempts, id, builderId, key, shareKey] = claim as [string, string, string, string, string];
  cursor.after = shareKey;
  await renderClaimed({ ...context, shareKey }, { id, builderId, key }, Number(attempts), signal);
  return true;
}

const SELECT_KEY: Statement = {
  name: 'renditions.photo-key',
  text: 'select key from photo where id = $1 and builder_id = $2',
};

/** Makes a photo pending whose renditions are lost. */
const RENEW: Statement = {
  name: 'renditions.renew',
  text: `update photo_rendition set status = 'PENDING', attempts = 0 where photo_id = $1 and status = 'READY'`,
};

/**
 * Renders the photo of a rendition that is not stored, for a URL that was signed before. Returns the size of the placeholder to answer
 * where the photo cannot be rendered, else null. Throws 404 where the photo no longer exists or has other bytes.
 */
export async function storeRendition(context: RenditionContext, renditionKey: string): Promise<RenditionSize | null> {
  const { database, storage } = context;
  const [, builderId = '', id = '', name = ''] = renditionKey.split('/');
  const [row] = await database.runner.run(SELECT_KEY, [id, builderId]);
  const photo = { id, builderId, key: row?.[0] ?? '' };
  const size = RENDITION_SIZES.find((each) => name.endsWith(`-${each.toLowerCase()}.webp`));
  if (!row || !size || toRenditionKey(photo, size) !== renditionKey) throw notFound('File');
  let { status } = await ensureRenditions(context, photo);
  if (status === 'READY' && !(await storage.bytes.stat(renditionKey))) {
    await database.runner.run(RENEW, [id]);
    ({ status } = await ensureRenditions(context, photo));
  }
  return status === 'READY' ? null : size;
}

async function renderClaimed(
  context: RenditionContext,
  photo: RenderedPhoto,
  attempts: number,
  signal?: AbortSignal,
): Promise<RenditionState> {
  const { runner } = context.database;
  const finish = async (status: RenditionStatus, rendered: RenderedImage | null, problem: string | null) => {
    const { width = null, height = null } = rendered ?? {};
    await runner.run(FINISH, [photo.id, photo.key, status, width, height, problem]);
    return toState(status, width, height);
  };
  if (attempts > MAX_ATTEMPTS) return finish('FAILED', null, 'ended every process that began to render it');
  try {
    const rendered = await renderAndStore(context, photo, signal);
    return await finish('READY', rendered, null);
  } catch (error) {
    if (error instanceof BadImage) return finish('FAILED', null, error.message);
    // Without capacity, and when this process stops, another may try at once; after another failure, none does until the claim ends.
    const isDelayed = !(error instanceof NoCapacityError || signal?.aborted);
    await runner.run(RELEASE, [photo.id, String(isDelayed)]).catch(() => undefined);
    throw error;
  }
}

/** Throws `BadImage` for a photo that cannot be rendered, and `NoCapacityError`. */
async function renderAndStore(
  { storage, shares, shareKey, maxWaitMs }: RenditionContext,
  photo: RenderedPhoto,
  signal?: AbortSignal,
): Promise<RenderedImage> {
  if (!shares || shareKey === undefined) return renderInSlot(storage, photo);
  const release = await acquireInTime((ends) => shares.renditions.acquire(shareKey, 1, ends), { signal, maxWaitMs });
  return renderInSlot(storage, photo, { share: { shares, shareKey }, signal }).finally(release);
}

async function renderInSlot(
  storage: Storage,
  photo: RenderedPhoto,
  options: Parameters<typeof renderImage>[1] = {},
): Promise<RenderedImage> {
  const rendered = await storage.withFile(photo.key, (path) => renderImage(path, options));
  if (!rendered) {
    renderCounts.add('missing', 'error', 0);
    throw new BadImage('has no stored bytes');
  }
  for (const size of RENDITION_SIZES) {
    const bytes = Readable.from([rendered.files[size]]);
    await storage.store(toRenditionKey(photo, size), bytes, RENDITION_TYPE, MAX_RENDITION_BYTES);
  }
  return rendered;
}
