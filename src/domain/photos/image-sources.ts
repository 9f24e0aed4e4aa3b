import { Builder } from '../../../entities/builder.entity.ts';
import { ImageHost } from '../../../entities/image-host.entity.ts';
import { Upload } from '../../../entities/upload.entity.ts';
import { getTimeZone } from '../../../schema/time-zone.ts';
import type { OperationContext } from '../operation-context.ts';
import { requireFound } from '../require-found.ts';
import { ImageProblem, type PreparedImage, prepareDownload, prepareUpload } from '../uploads/prepare-image.ts';
import type { AttachmentReference, ImageReference } from './photo-inputs.ts';

export interface ReadyImage extends PreparedImage {
  /** Upload that the photo consumes; null for a downloaded image. */
  uploadKey: string | null;
}

export type ImageSources = Awaited<ReturnType<typeof loadImageSources>>;

/** Loads uploads and approved hosts for the images of several requests, with one query each. */
export async function loadImageSources(
  context: OperationContext,
  builderId: string,
  requests: readonly ImageReference[],
) {
  const { region, caller } = context;
  const em = context.database.fork();
  const keys = requests.flatMap(({ imageAttachment }) => imageAttachment?.key ?? []);
  const owner = { builderId, integratorId: caller.integratorId };
  const found = keys.length > 0 ? await em.find(Upload, { key: { $in: keys }, ...owner }) : [];
  const uploads = new Map(found.map((upload) => [upload.key, upload]));
  const rows = requests.some(({ imageUrl }) => imageUrl) ? await em.find(ImageHost, {}) : [];
  const hosts = new Set(rows.map(({ host }) => host));
  const timeZone = getTimeZone(await requireFound(em.findOne(Builder, { id: builderId }), 'Builder'), region);

  /** Returns the referenced upload, consumed or not. Throws `ImageProblem` unless it belongs to this integrator and builder. */
  function requireUpload({ key, regionId }: AttachmentReference): Upload {
    if (regionId !== region)
      throw new ImageProblem('imageAttachment.regionId', 'INVALID_REFERENCE', `must be ${region}`);
    const upload = uploads.get(key);
    if (!upload) throw new ImageProblem('imageAttachment.key', 'INVALID_REFERENCE', 'is not an upload of yours');
    return upload;
  }

  /** Copies or downloads the image and checks it. Throws `ImageProblem`. */
  async function prepare(request: ImageReference, signal?: AbortSignal): Promise<ReadyImage> {
    const options = { declared: request.contentType ?? null, timeZone, signal };
    if (!request.imageAttachment) {
      const source = { imageUrl: request.imageUrl!, builderId, isApproved: (host: string) => hosts.has(host) };
      return { ...(await prepareDownload(context, source, options)), uploadKey: null };
    }
    const upload = requireUpload(request.imageAttachment);
    if (upload.consumedAt !== null)
      throw new ImageProblem('imageAttachment.key', 'INVALID_REFERENCE', 'has been used before');
    return { ...(await prepareUpload(context, upload, options)), uploadKey: upload.key };
  }

  return { uploads, requireUpload, prepare };
}
