import { Upload } from '../../../entities/upload.entity.ts';
import { IMAGE_TYPES, parseImageType } from '../../images/types.ts';
import type { FieldError } from '../../shared/errors.ts';
import { createUploadKey } from '../../storage/keys.ts';
import { MAX_ATTACHMENT_BYTES, SIGNED_URL_SECONDS } from '../../storage/storage.ts';
import type { OperationContext } from '../operation-context.ts';
import { reserveQuota, retryAfterFreeingQuota } from './quota.ts';

type DeclaredFile = Pick<Upload, 'fileName' | 'contentType' | 'size'>;

/** Returns the error of a declared type that is not an image type. */
export const findTypeErrors = (fieldName: string, contentType: string): FieldError[] =>
  parseImageType(contentType) ? [] : [{ fieldName, message: `must be one of ${IMAGE_TYPES.join(', ')}` }];

/** Returns the declared type as it is stored. */
export const toStoredType = (contentType: string): string => contentType.trim().toLowerCase();

/** Announces an upload and returns its signed request (UPL-3). */
export async function createUploadIntent(context: OperationContext, builderId: string, file: DeclaredFile) {
  const contentType = toStoredType(file.contentType);
  const upload = { key: createUploadKey(builderId), ...file, contentType };
  const expiresAt = new Date(context.clock.now() + SIGNED_URL_SECONDS * 1000).toISOString();
  await recordUploads(context, builderId, [upload], expiresAt);
  return {
    key: upload.key,
    type: 'attachment' as const,
    contentType,
    fileName: file.fileName,
    maxSize: MAX_ATTACHMENT_BYTES,
    uploadHeaders: { 'Content-Length': String(file.size), 'Content-Type': contentType },
    uploadUrl: await context.storage.createUploadUrl(upload.key, contentType, file.size),
    regionId: context.region,
  };
}

/**
 * Stores uploads, all or none. Each may then be used once, by this integrator for this builder. Throws `UPLOAD_QUOTA` if they exceed the
 * quota.
 *
 * @param expiresAt expiry of the upload URL; null if the bytes are stored.
 */
export async function recordUploads(
  context: OperationContext,
  builderId: string,
  uploads: (DeclaredFile & { key: string })[],
  expiresAt: string | null,
): Promise<void> {
  const { caller, clock, database } = context;
  const createdAt = new Date(clock.now()).toISOString();
  const unused = { consumedAt: null, photoId: null, releasedAt: null, failedCheck: null };
  const owner = { builderId, integratorId: caller.integratorId, createdAt, expiresAt, ...unused };
  const bytes = uploads.reduce((sum, { size }) => sum + size, 0);
  await retryAfterFreeingQuota(context, () =>
    database.transaction(async (em) => {
      await reserveQuota(em, context, bytes);
      await em.insertMany(
        Upload,
        uploads.map(({ key, fileName, contentType, size }) => ({ key, fileName, contentType, size, ...owner })),
      );
    }),
  );
}
