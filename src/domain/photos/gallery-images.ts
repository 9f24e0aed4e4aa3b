import type { Photo } from '../../../entities/photo.entity.ts';
import { NoCapacityError } from '../../images/capacity.ts';
import type { OperationContext } from '../operation-context.ts';
import { discard, ImageProblem, requireType } from '../uploads/prepare-image.ts';
import { findReusablePhotos, type SyncedPage } from './gallery-page.ts';
import { type ImageSources, loadImageSources, type ReadyImage } from './image-sources.ts';
import type { GalleryPhotoInput } from './photo-inputs.ts';

/** Images of one call that are prepared concurrently. */
const CONCURRENCY = 4;
/** Milliseconds for all downloads and checks of one call (PHO-26). */
export const DEADLINE_MS = 60_000;

/** Image of a synced photo. A shared one belongs to an earlier copy of the photo and must not be discarded. */
export interface GalleryImage extends ReadyImage {
  shared: boolean;
  /** File name if the photo has none. */
  fileName: string;
}

export type GalleryOutcome = GalleryImage | ImageProblem;

/**
 * Prepares the images of photos. Returns an image or a problem for each, by external id. Must not run inside a transaction, because
 * it may take a minute.
 */
export async function prepareImages(
  context: OperationContext,
  page: SyncedPage,
  photos: readonly GalleryPhotoInput[],
): Promise<Map<string, GalleryOutcome>> {
  const outcomes = new Map<string, GalleryOutcome>();
  const sources = await loadImageSources(context, page.builderId, photos);
  const earlier = await findReusableImages(context, page, sources, photos);
  const signal = AbortSignal.timeout(DEADLINE_MS);
  const waiting = [...photos];
  const failures: unknown[] = [];
  const work = async () => {
    for (let next = waiting.shift(); next && failures.length === 0; next = waiting.shift()) {
      const photo = next;
      try {
        const shared = earlier.get(photo.externalSourceId);
        if (shared) requireType(shared.facts.contentType, photo.contentType ?? null);
        outcomes.set(photo.externalSourceId, shared ?? (await prepareOne(sources, photo, signal)));
      } catch (error) {
        if (signal.aborted || error instanceof NoCapacityError)
          outcomes.set(photo.externalSourceId, new ImageProblem('', 'TIMEOUT', 'was not done in time; send it again'));
        else if (error instanceof ImageProblem) outcomes.set(photo.externalSourceId, error);
        else failures.push(error);
      }
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, work));
  if (failures.length > 0) {
    await discardImages(context, [...outcomes.values()]);
    throw failures[0];
  }
  return outcomes;
}

/** Removes the bytes of images that no photo uses, except shared ones. */
export async function discardImages({ storage }: OperationContext, outcomes: readonly GalleryOutcome[]): Promise<void> {
  const own = outcomes.filter((outcome) => !(outcome instanceof ImageProblem) && !outcome.shared) as GalleryImage[];
  await discard(storage, ...own.map(({ key }) => key));
}

async function prepareOne(sources: ImageSources, photo: GalleryPhotoInput, signal: AbortSignal): Promise<GalleryImage> {
  const { imageAttachment } = photo;
  const name = imageAttachment ? sources.requireUpload(imageAttachment).fileName : parseFileName(photo.imageUrl!);
  const image = await sources.prepare(photo, signal);
  return { ...image, shared: false, fileName: name };
}

/** Returns the last segment of the path if it is a valid file name, else `photo`. */
function parseFileName(imageUrl: string): string {
  const last = URL.canParse(imageUrl) ? new URL(imageUrl).pathname.split('/').pop()! : '';
  return /^[\w.-]{1,255}$/.test(last) ? last : 'photo';
}

/** Returns the checked images of photos that may reuse the upload of their own earlier copy, by external id. */
async function findReusableImages(
  { database, region }: OperationContext,
  page: SyncedPage,
  sources: ImageSources,
  photos: readonly GalleryPhotoInput[],
): Promise<Map<string, GalleryImage>> {
  const used = photos.flatMap(({ externalSourceId, imageAttachment }) => {
    const upload = imageAttachment?.regionId === region ? sources.uploads.get(imageAttachment.key) : null;
    return upload?.photoId ? [{ externalSourceId, key: upload.key, photoId: upload.photoId }] : [];
  });
  const reusable = await findReusablePhotos(database.fork(), page, used);
  return new Map([...reusable].map(([key, photo]) => [photo.externalSourceId!, toGalleryImage(photo, key)]));
}

function toGalleryImage(row: Photo, uploadKey: string): GalleryImage {
  const { width, height } = row.metadata as { width: number; height: number };
  const contentType = row.contentType as ReadyImage['facts']['contentType'];
  const facts = { contentType, size: row.fileSize, width, height, takenAt: row.photoTakenDate };
  return { key: row.key, facts, uploadKey, shared: true, fileName: row.fileName };
}
