import { type FailedImageCheck, Upload } from '../../../entities/upload.entity.ts';
import { acquireInTime } from '../../images/capacity.ts';
import { inspectImage } from '../../images/inspect.ts';
import { BadImage, type ImageFacts, type ImageType, isSameType, parseImageType } from '../../images/types.ts';
import { createObjectKey } from '../../storage/keys.ts';
import { DownloadError, parseImageHost } from '../../storage/remote-downloader.ts';
import { MAX_ATTACHMENT_BYTES, type Storage } from '../../storage/storage.ts';
import type { OperationContext } from '../operation-context.ts';

/** A checked image, stored under its final key. No row refers to it yet: a caller that does not use it must discard it. */
export interface PreparedImage {
  key: string;
  facts: ImageFacts;
}

/** Thrown for an image that cannot be used. */
export class ImageProblem extends Error {
  override name = 'ImageProblem';
  constructor(
    /** Input field: `imageAttachment.key`, `imageUrl` or `contentType`. */
    readonly field: string,
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

const KEY = 'imageAttachment.key';

interface PrepareOptions {
  /** Media type that the request requires, if any. */
  declared: string | null;
  /** Time zone of the builder. */
  timeZone: string;
  signal?: AbortSignal;
}

/**
 * Copies and checks the bytes of an upload. Checks the copy, because the client may overwrite the upload at any time. Records a failed
 * check, to not repeat it for the same bytes (UPL-17, UPL-23). Throws `ImageProblem`.
 */
export async function prepareUpload(
  context: OperationContext,
  upload: Upload,
  { declared, ...options }: PrepareOptions,
): Promise<PreparedImage> {
  options.signal?.throwIfAborted();
  const { byteStore } = context.storage;
  const stored = await byteStore.stat(upload.key);
  if (!stored) throw new ImageProblem(KEY, 'INVALID_REFERENCE', 'has no uploaded bytes');
  const { failedCheck } = upload;
  if (failedCheck?.version === stored.version) throw new ImageProblem(KEY, 'INVALID_IMAGE', failedCheck.message);
  const intended = parseImageType(upload.contentType)!;
  const key = createObjectKey('photos', upload.builderId, intended);
  const version = await byteStore.copy(upload.key, key, intended);
  if (version === null) throw new ImageProblem(KEY, 'INVALID_REFERENCE', 'has no uploaded bytes');
  try {
    return { key, facts: await checkCopy(context, upload, key, { declared, ...options }) };
  } catch (error) {
    await discard(context.storage, key);
    if (!(error instanceof BadImage)) throw error;
    await recordFailure(context, upload, { version, message: error.message });
    throw new ImageProblem(KEY, 'INVALID_IMAGE', error.message);
  }
}

async function checkCopy(
  context: OperationContext,
  upload: Upload,
  key: string,
  { declared, ...options }: PrepareOptions,
) {
  const requireDeclared = (detected: ImageType) => {
    if (!matchesDeclared(detected, upload.contentType))
      throw new BadImage(mismatchMessage(detected, upload.contentType));
    requireType(detected, declared);
  };
  const facts = await context.storage.withFile(key, (path, size) => {
    if (size !== upload.size) throw new BadImage(`has ${size} bytes instead of ${upload.size}`);
    return inspectImage(path, size, { requireType: requireDeclared, share: context, ...options });
  });
  if (!facts) throw new Error(`The copy ${key} is not there.`);
  return facts;
}

/** Records a failed check. Best effort: without the record the check is repeated. */
async function recordFailure(
  { database }: OperationContext,
  { key }: Upload,
  failedCheck: FailedImageCheck,
): Promise<void> {
  await database.transaction((em) => em.nativeUpdate(Upload, { key }, { failedCheck })).catch(() => undefined);
}

/** Downloads an image from an approved host and checks it. Throws `ImageProblem`. */
export async function prepareDownload(
  context: OperationContext,
  request: { imageUrl: string; builderId: string; isApproved: (host: string) => boolean },
  { declared, ...options }: PrepareOptions,
): Promise<PreparedImage> {
  const { storage, shares, shareKey } = context;
  try {
    if (!request.isApproved(parseImageHost(request.imageUrl)))
      throw new DownloadError('HOST_NOT_APPROVED', 'is on a host that is not approved');
    const release = await acquireInTime(
      (ends) => shares.transfers.acquire(shareKey, MAX_ATTACHMENT_BYTES / 2 ** 20, ends),
      options,
    );
    const file = await storage.downloader
      .download(request.imageUrl, MAX_ATTACHMENT_BYTES, options.signal)
      .finally(release);
    try {
      const requireDeclared = (detected: ImageType) => requireType(detected, declared);
      const facts = await inspectImage(file.path, file.size, {
        requireType: requireDeclared,
        share: context,
        ...options,
      });
      const key = createObjectKey('photos', request.builderId, facts.contentType);
      await storage.byteStore.put(key, file.path, facts.contentType);
      return { key, facts };
    } finally {
      await storage.spool.discard(file.path);
    }
  } catch (error) {
    if (error instanceof BadImage) throw new ImageProblem('imageUrl', 'INVALID_IMAGE', error.message);
    if (error instanceof DownloadError) throw new ImageProblem('imageUrl', error.code, error.message);
    throw error;
  }
}

/** Removes stored objects. Best effort: the hourly sweep removes the rest. */
export async function discard(storage: Storage, ...keys: string[]): Promise<void> {
  await storage.byteStore.remove(keys).catch(() => undefined);
}

/** Throws `ImageProblem` if the request requires another type than that of the bytes. */
export function requireType(detected: ImageType, declared: string | null): void {
  if (declared === null || matchesDeclared(detected, declared)) return;
  throw new ImageProblem('contentType', 'INVALID_IMAGE', mismatchMessage(detected, declared));
}

function matchesDeclared(detected: ImageType, declared: string): boolean {
  const type = parseImageType(declared);
  return type !== null && isSameType(type, detected);
}

const mismatchMessage = (detected: ImageType, declared: string) => `is ${detected} by its bytes, not ${declared}`;
