import { type FailedImageCheck, Upload } from '../../../entities/upload.entity.ts';
import { acquireInTime } from '../../images/capacity.ts';
import { inspectImage } from '../../images/inspect.ts';
import { BadImage, type ImageFacts, type ImageType, imageTypeOf, isSameType } from '../../images/types.ts';
import { createObjectKey } from '../../storage/keys.ts';
import { DownloadError, parseImageHost } from '../../storage/remote-downloader.ts';
import { MAX_ATTACHMENT_BYTES, type Storage } from '../../storage/storage.ts';
import type { OperationContext } from '../operation-context.ts';

/** An image whose checked bytes stand under a final key. No row names it yet: whoever does not use it discards it. */
export interface PreparedImage {
  key: string;
  facts: ImageFacts;
}

/** Why an image cannot be used. */
export class ImageProblem extends Error {
  override name = 'ImageProblem';
  constructor(
    /** Of the input: `imageAttachment.key`, `imageUrl`, `contentType`. */
    readonly field: string,
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

const KEY = 'imageAttachment.key';

/** What an image is checked for. */
export interface PrepareOptions {
  /** Type that the request itself gives, if any. */
  declared: string | null;
  signal?: AbortSignal;
}

/**
 * Checks an upload's bytes. They are copied first and the copy is checked, so that what was checked is what is kept, however
 * often the client sends other bytes. A failed check is recorded, and not repeated on the same bytes (UPL-17, UPL-23).
 */
export async function prepareUpload(
  context: OperationContext,
  upload: Upload,
  { declared, signal }: PrepareOptions,
): Promise<PreparedImage> {
  signal?.throwIfAborted();
  const { bytes } = context.storage;
  const stored = await bytes.stat(upload.key);
  if (!stored) throw new ImageProblem(KEY, 'INVALID_REFERENCE', 'has no uploaded bytes');
  const { failedCheck } = upload;
  if (failedCheck?.version === stored.version) throw new ImageProblem(KEY, 'INVALID_IMAGE', failedCheck.message);
  const intended = imageTypeOf(upload.contentType)!;
  const key = createObjectKey('photos', upload.builderId, intended);
  const version = await bytes.copy(upload.key, key, intended);
  if (version === null) throw new ImageProblem(KEY, 'INVALID_REFERENCE', 'has no uploaded bytes');
  try {
    return { key, facts: await checkCopy(context, upload, key, { declared, signal }) };
  } catch (error) {
    await discard(context.storage, key);
    if (!(error instanceof BadImage)) throw error;
    await recordFailure(context, upload, { version, message: error.message });
    throw new ImageProblem(KEY, 'INVALID_IMAGE', error.message);
  }
}

async function checkCopy(context: OperationContext, upload: Upload, key: string, { declared, signal }: PrepareOptions) {
  const requireDeclared = (detected: ImageType) => {
    if (!isDeclared(detected, upload.contentType)) throw new BadImage(differs(detected, upload.contentType));
    requireType(detected, declared);
  };
  const facts = await context.storage.withFile(key, (path, size) => {
    if (size !== upload.size) throw new BadImage(`has ${size} bytes instead of ${upload.size}`);
    return inspectImage(path, size, { requireType: requireDeclared, share: context, signal });
  });
  if (!facts) throw new Error(`The copy ${key} is not there.`);
  return facts;
}

/** Best effort: without it the check is made again. */
async function recordFailure(
  { database }: OperationContext,
  { key }: Upload,
  failedCheck: FailedImageCheck,
): Promise<void> {
  await database
    .fork()
    .nativeUpdate(Upload, { key }, { failedCheck })
    .catch(() => undefined);
}

/** Downloads an image of an approved host, and checks it the same way. */
export async function prepareDownload(
  context: OperationContext,
  request: { imageUrl: string; builderId: string; isApproved: (host: string) => boolean },
  { declared, signal }: PrepareOptions,
): Promise<PreparedImage> {
  const { storage, shares, shareKey } = context;
  try {
    if (!request.isApproved(parseImageHost(request.imageUrl))) {
      throw new DownloadError('HOST_NOT_APPROVED', 'is on a host that is not approved');
    }
    const release = await acquireInTime((ends) => shares.imageDownloads.acquire(shareKey, 1, ends), { signal });
    const file = await storage.downloader.download(request.imageUrl, MAX_ATTACHMENT_BYTES, signal).finally(release);
    try {
      const requireDeclared = (detected: ImageType) => requireType(detected, declared);
      const facts = await inspectImage(file.path, file.size, { requireType: requireDeclared, share: context, signal });
      const key = createObjectKey('photos', request.builderId, facts.contentType);
      await storage.bytes.put(key, file.path, facts.contentType);
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

/** Best effort: what stays behind is swept. */
export async function discard(storage: Storage, ...keys: string[]): Promise<void> {
  await storage.bytes.remove(keys).catch(() => undefined);
}

/** Throws where the request gives a type and the bytes have another. */
function requireType(detected: ImageType, declared: string | null): void {
  if (declared === null || isDeclared(detected, declared)) return;
  throw new ImageProblem('contentType', 'INVALID_IMAGE', differs(detected, declared));
}

function isDeclared(detected: ImageType, declared: string): boolean {
  const type = imageTypeOf(declared);
  return type !== null && isSameType(type, detected);
}

const differs = (detected: ImageType, declared: string) => `is ${detected} by its bytes, not ${declared}`;
