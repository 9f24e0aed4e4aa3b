import type { Upload } from '../../entities/upload.entity.ts';
import { inspectImage } from '../../src/images/inspect.ts';
import { BadImage, type ImageFacts, type ImageType, imageTypeOf, isSameType } from '../../src/images/types.ts';
import { finalKey } from '../../src/storage/keys.ts';
import { hostOf, RemoteProblem } from '../../src/storage/remote.ts';
import { MAX_ATTACHMENT_BYTES, type Storage } from '../../src/storage/storage.ts';

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

/**
 * Checks an upload's bytes. They are copied first and the copy is checked, so that what was checked is what is kept, however
 * often the client sends other bytes. Part 8 of the decisions.
 *
 * @param declared Type that the request itself gives, if any.
 */
export async function prepareUpload(
  storage: Storage,
  upload: Upload,
  declared: string | null,
  signal?: AbortSignal,
): Promise<PreparedImage> {
  signal?.throwIfAborted();
  const intended = imageTypeOf(upload.contentType)!;
  const key = finalKey('photos', upload.builderId, intended);
  if (!(await storage.bytes.copy(upload.key, key, intended))) {
    throw new ImageProblem(KEY, 'INVALID_REFERENCE', 'has no uploaded bytes');
  }
  try {
    const facts = await storage.withFile(key, (path, size) => {
      if (size !== upload.size) throw new BadImage(`has ${size} bytes instead of ${upload.size}`);
      return inspectImage(path, size, signal);
    });
    if (!facts) throw new Error(`The copy ${key} is not there.`);
    requireType(facts, intended, KEY);
    if (declared !== null) requireType(facts, declared, 'contentType');
    return { key, facts };
  } catch (error) {
    await discard(storage, key);
    throw error instanceof BadImage ? new ImageProblem(KEY, 'INVALID_IMAGE', error.message) : error;
  }
}

/** Downloads an image of an approved host, and checks it the same way. */
export async function prepareDownload(
  storage: Storage,
  request: { imageUrl: string; builderId: string; declared: string | null; isApproved: (host: string) => boolean },
  signal?: AbortSignal,
): Promise<PreparedImage> {
  try {
    if (!request.isApproved(hostOf(request.imageUrl))) {
      throw new RemoteProblem('HOST_NOT_APPROVED', 'is on a host that is not approved');
    }
    const file = await storage.remote.fetch(request.imageUrl, MAX_ATTACHMENT_BYTES, signal);
    try {
      const facts = await inspectImage(file.path, file.size, signal);
      if (request.declared !== null) requireType(facts, request.declared, 'contentType');
      const key = finalKey('photos', request.builderId, facts.contentType);
      await storage.bytes.put(key, file.path, facts.contentType);
      return { key, facts };
    } finally {
      await storage.spool.discard(file.path);
    }
  } catch (error) {
    if (error instanceof BadImage) throw new ImageProblem('imageUrl', 'INVALID_IMAGE', error.message);
    if (error instanceof RemoteProblem) throw new ImageProblem('imageUrl', error.code, error.message);
    throw error;
  }
}

/** Best effort: what stays behind is swept. */
export async function discard(storage: Storage, ...keys: string[]): Promise<void> {
  await storage.bytes.remove(keys).catch(() => undefined);
}

function requireType({ contentType }: ImageFacts, declared: ImageType | string, field: string): void {
  const type = imageTypeOf(declared);
  if (type && isSameType(type, contentType)) return;
  throw new ImageProblem(field, 'INVALID_IMAGE', `is ${contentType} by its bytes, not ${declared}`);
}
