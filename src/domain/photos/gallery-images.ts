import { Photo } from '../../../entities/photo.entity.ts';
import { NoCapacityError } from '../../images/capacity.ts';
import type { OperationContext } from '../operation-context.ts';
import { discard, ImageProblem } from '../uploads/prepare-image.ts';
import { reusableUploads, type SyncedPage } from './gallery-page.ts';
import { ImageSources, type ReadyImage } from './image.ts';
import type { GalleryPhotoInput } from './photo-inputs.ts';

/** Photos of one call that are worked on at a time. */
const AT_A_TIME = 4;
/** For all downloads and checks of one call (PHO-26). */
export const DEADLINE_MS = 60_000;

/** An image of a synced photo; a shared one is that of an earlier copy of the photo, and must not be discarded. */
export interface GalleryImage extends ReadyImage {
  shared: boolean;
  /** Name of the file, where the photo does not give one. */
  fileName: string;
}

export type GalleryOutcome = GalleryImage | ImageProblem;

/**
 * Prepares the images of many photos; what goes wrong with one is that one's outcome. By the photos' external ids. Must not
 * run inside a transaction: it may take a minute.
 */
export async function prepareImages(
  context: OperationContext,
  page: SyncedPage,
  wanted: readonly GalleryPhotoInput[],
  deadlineMs = DEADLINE_MS,
): Promise<Map<string, GalleryOutcome>> {
  const outcomes = new Map<string, GalleryOutcome>();
  const sources = await ImageSources.load(context, page.builderId, wanted);
  const earlier = await earlierCopies(context, page, sources, wanted);
  const signal = AbortSignal.timeout(deadlineMs);
  const waiting = withoutRepeats(wanted, outcomes);
  const failures: unknown[] = [];
  const work = async () => {
    for (let next = waiting.shift(); next && failures.length === 0; next = waiting.shift()) {
      const photo = next;
      try {
        const shared = earlier.get(photo.externalSourceId);
        outcomes.set(photo.externalSourceId, shared ?? (await prepareOne(sources, photo, signal)));
      } catch (error) {
        if (signal.aborted || error instanceof NoCapacityError)
          outcomes.set(photo.externalSourceId, new ImageProblem('', 'TIMEOUT', 'was not done in time; send it again'));
        else if (error instanceof ImageProblem) outcomes.set(photo.externalSourceId, error);
        else failures.push(error);
      }
    }
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, work));
  if (failures.length > 0) {
    await discardImages(context, [...outcomes.values()]);
    throw failures[0];
  }
  return outcomes;
}

/** Removes the bytes of images that no row has come to name. */
export async function discardImages({ storage }: OperationContext, outcomes: readonly GalleryOutcome[]): Promise<void> {
  const own = outcomes.filter((outcome) => !(outcome instanceof ImageProblem) && !outcome.shared) as GalleryImage[];
  await discard(storage, ...own.map(({ key }) => key));
}

async function prepareOne(sources: ImageSources, photo: GalleryPhotoInput, signal: AbortSignal): Promise<GalleryImage> {
  const { imageAttachment } = photo;
  const name = imageAttachment ? sources.upload(imageAttachment).fileName : nameIn(photo.imageUrl!);
  const image = await sources.prepare(photo, signal);
  return { ...image, shared: false, fileName: name };
}

/** The last part of the path, if that is a name. */
function nameIn(imageUrl: string): string {
  const last = URL.canParse(imageUrl) ? new URL(imageUrl).pathname.split('/').pop()! : '';
  return /^[\w.-]{1,255}$/.test(last) ? last : 'photo';
}

/** One upload makes one photo: of two that name it in one call, the first has it. */
function withoutRepeats(
  wanted: readonly GalleryPhotoInput[],
  outcomes: Map<string, GalleryOutcome>,
): GalleryPhotoInput[] {
  const taken = new Set<string>();
  return wanted.filter((photo) => {
    const key = photo.imageAttachment?.key;
    if (key === undefined || !taken.has(key)) {
      if (key !== undefined) taken.add(key);
      return true;
    }
    const problem = new ImageProblem('imageAttachment.key', 'INVALID_REFERENCE', 'is that of another photo too');
    outcomes.set(photo.externalSourceId, problem);
    return false;
  });
}

/** Images of photos that may use again the upload of their own earlier copy: they need no second check. By the photos' external ids. */
async function earlierCopies(
  { database, region }: OperationContext,
  page: SyncedPage,
  sources: ImageSources,
  wanted: readonly GalleryPhotoInput[],
): Promise<Map<string, GalleryImage>> {
  const used = wanted.flatMap(({ externalSourceId, imageAttachment }) => {
    const upload = imageAttachment?.regionId === region ? sources.known(imageAttachment.key) : null;
    return upload?.photoId ? [{ externalSourceId, key: upload.key }] : [];
  });
  const em = database.fork();
  const reusable = await reusableUploads(em, page, used);
  if (reusable.size === 0) return new Map();
  const rows = new Map((await em.find(Photo, { id: { $in: [...reusable.values()] } })).map((row) => [row.id, row]));
  return new Map(
    used.flatMap(({ externalSourceId, key }) => {
      const row = rows.get(reusable.get(key) ?? '');
      return row ? [[externalSourceId, imageOf(row, key)] as const] : [];
    }),
  );
}

function imageOf(row: Photo, uploadKey: string): GalleryImage {
  const { width, height } = row.metadata as { width: number; height: number };
  const contentType = row.contentType as ReadyImage['facts']['contentType'];
  const facts = { contentType, size: row.fileSize, width, height, takenAt: row.photoTakenDate };
  return { key: row.key, facts, uploadKey, shared: true, fileName: row.fileName };
}
