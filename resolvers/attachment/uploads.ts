import { Upload } from '../../entities/upload.entity.ts';
import { invalidField } from '../../src/errors.ts';
import { IMAGE_TYPES, imageTypeOf } from '../../src/images/types.ts';
import { uploadKey } from '../../src/storage/keys.ts';
import { MAX_ATTACHMENT_BYTES } from '../../src/storage/storage.ts';
import type { Context } from '../context.ts';
import type { UploadIntent } from './attachment.type.ts';

export interface DeclaredFile {
  fileName: string;
  contentType: string;
  /** Bytes. */
  size: number;
}

/** The declared type in lower case; throws 400 unless it is one that a photo may have. */
export function declaredType(field: string, contentType: string): string {
  if (!imageTypeOf(contentType)) throw invalidField(field, `must be one of ${IMAGE_TYPES.join(', ')}`);
  return contentType.trim().toLowerCase();
}

/** Leave to upload one file; nothing but this is made. Part 4 of the specification. */
export async function createIntent(context: Context, builderId: string, file: DeclaredFile): Promise<UploadIntent> {
  const contentType = declaredType('contentType', file.contentType);
  const upload = { key: uploadKey(builderId), ...file, contentType };
  await recordUploads(context, builderId, [upload]);
  return {
    key: upload.key,
    type: 'attachment',
    contentType,
    fileName: file.fileName,
    maxSize: MAX_ATTACHMENT_BYTES,
    uploadHeaders: { 'Content-Length': String(file.size), 'Content-Type': contentType },
    uploadUrl: await context.storage.uploadUrl(upload.key, contentType, file.size),
    regionId: context.region,
  };
}

/** Makes the keys known, all of them or none: from now on each may be used once, by this integrator for this builder. */
export async function recordUploads(
  { caller, clock, database }: Context,
  builderId: string,
  uploads: (DeclaredFile & { key: string })[],
): Promise<void> {
  const createdAt = new Date(clock.now()).toISOString();
  const owner = { builderId, integratorId: caller.integratorId, createdAt, consumedAt: null, photoId: null };
  await database.transaction(async (em) => {
    await em.insertMany(
      Upload,
      uploads.map(({ key, fileName, contentType, size }) => ({ key, fileName, contentType, size, ...owner })),
    );
  });
}
