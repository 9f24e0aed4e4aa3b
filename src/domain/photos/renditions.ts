import { createHash } from 'node:crypto';
import type { Photo } from '../../../entities/photo.entity.ts';
import type { RenditionStatus } from '../../../entities/photo-rendition.entity.ts';
import type { RenditionSize } from '../../../schema/enums.ts';
import type { Database } from '../../database/database.ts';
import { statement } from '../../database/pool/pg-pipeline.ts';
import { PLACEHOLDER, RENDITION_TYPE, toRenditionDimensions } from '../../images/render.ts';
import type { Storage } from '../../storage/storage.ts';

/** The columns of a photo that its renditions depend on. */
export type RenderedPhoto = Pick<Photo, 'id' | 'builderId' | 'key'>;

/** State of the renditions of a photo. Dimensions are those of the upright photo, or of the placeholder of one that cannot be rendered. */
export interface RenditionState {
  status: RenditionStatus;
  width: number;
  height: number;
}

// SQL: lists of photos read it.
const SELECT = statement('renditions.select')`
  select photo_id, status, width, height from photo_rendition where photo_id = any($1::text[]) and status <> 'PENDING'`;

/** Returns the storage key of a rendition. It changes with the bytes of the photo, so that stored renditions never do. */
export const toRenditionKey = ({ id, builderId, key }: RenderedPhoto, size: RenditionSize): string =>
  `renditions/${builderId}/${id}/${hashOfKey(key)}-${size.toLowerCase()}.webp`;

const hashOfKey = (key: string): string => createHash('sha256').update(key).digest('hex').slice(0, 16);

/** Returns a signed rendition. Its URL answers a placeholder where the photo cannot be rendered. */
export function toRendition(storage: Storage, photo: RenderedPhoto, state: RenditionState, size: RenditionSize) {
  const url = storage.createDownloadUrl(toRenditionKey(photo, size), RENDITION_TYPE);
  const isPlaceholder = state.status === 'FAILED';
  return { url, contentType: RENDITION_TYPE, isPlaceholder, ...toRenditionDimensions(state, size) };
}

export type Rendition = ReturnType<typeof toRendition>;

/** Returns the states of the photos that are rendered or cannot be, by photo id. */
export async function findRenditions(database: Database, ids: readonly string[]): Promise<Map<string, RenditionState>> {
  const rows = await database.runner.run(SELECT, [ids]);
  return new Map(rows.map(([id, ...row]) => [id!, toState(row)]));
}

/** State of a photo that is not rendered yet: its dimensions are unknown. */
export const UNKNOWN: RenditionState = { status: 'PENDING', ...PLACEHOLDER };

/** Returns the state of a row's status, width and height. */
export const toState = ([status, width, height]: readonly (string | number | null | undefined)[]): RenditionState => {
  const dimensions = status === 'READY' ? { width: Number(width), height: Number(height) } : PLACEHOLDER;
  return { status: status as RenditionStatus, ...dimensions };
};
