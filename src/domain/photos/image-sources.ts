import { Builder } from '../../../entities/builder.entity.ts';
import { ImageHost } from '../../../entities/image-host.entity.ts';
import { Upload } from '../../../entities/upload.entity.ts';
import { getTimeZone } from '../../../schema/time-zone.ts';
import type { OperationContext } from '../operation-context.ts';
import { ImageProblem, type PreparedImage, prepareDownload, prepareUpload } from '../uploads/prepare-image.ts';
import type { AttachmentReference, ImageReference } from './photo-inputs.ts';

export interface ReadyImage extends PreparedImage {
  /** Upload that the photo consumes; null for a downloaded image. */
  uploadKey: string | null;
}

/** Uploads and approved hosts for the images of several requests, loaded with one query each. */
export class ImageSources {
  readonly #context: OperationContext;
  readonly #builder: Builder;
  readonly #uploads: Map<string, Upload>;
  readonly #hosts: Set<string>;

  private constructor(context: OperationContext, builder: Builder, uploads: Upload[], hosts: ImageHost[]) {
    this.#context = context;
    this.#builder = builder;
    this.#uploads = new Map(uploads.map((upload) => [upload.key, upload]));
    this.#hosts = new Set(hosts.map(({ host }) => host));
  }

  static async load(
    context: OperationContext,
    builderId: string,
    requests: readonly ImageReference[],
  ): Promise<ImageSources> {
    const em = context.database.fork();
    const keys = requests.flatMap(({ imageAttachment }) => imageAttachment?.key ?? []);
    const owner = { builderId, integratorId: context.caller.integratorId };
    const uploads = keys.length > 0 ? await em.find(Upload, { key: { $in: keys }, ...owner }) : [];
    const hosts = requests.some(({ imageUrl }) => imageUrl) ? await em.find(ImageHost, {}) : [];
    const builder = await em.findOneOrFail(Builder, { id: builderId });
    return new ImageSources(context, builder, uploads, hosts);
  }

  /** Returns the referenced upload, consumed or not. Throws `ImageProblem` unless it belongs to this integrator and builder. */
  requireUpload({ key, regionId }: AttachmentReference): Upload {
    const { region } = this.#context;
    if (regionId !== region) {
      throw new ImageProblem('imageAttachment.regionId', 'INVALID_REFERENCE', `must be ${region}`);
    }
    const upload = this.#uploads.get(key);
    if (!upload) throw new ImageProblem('imageAttachment.key', 'INVALID_REFERENCE', 'is not an upload of yours');
    return upload;
  }

  /** Returns the integrator's upload for the builder by key, or null. */
  findUpload(key: string): Upload | null {
    return this.#uploads.get(key) ?? null;
  }

  /** Copies or downloads the image and checks it. Throws `ImageProblem`. */
  async prepare(request: ImageReference, signal?: AbortSignal): Promise<ReadyImage> {
    const timeZone = getTimeZone(this.#builder, this.#context.region);
    const options = { declared: request.contentType ?? null, timeZone, signal };
    if (!request.imageAttachment) {
      const isApproved = (host: string) => this.#hosts.has(host);
      const source = { imageUrl: request.imageUrl!, builderId: this.#builder.id, isApproved };
      return { ...(await prepareDownload(this.#context, source, options)), uploadKey: null };
    }
    const upload = this.requireUpload(request.imageAttachment);
    if (upload.consumedAt !== null) {
      throw new ImageProblem('imageAttachment.key', 'INVALID_REFERENCE', 'has been used before');
    }
    return { ...(await prepareUpload(this.#context, upload, options)), uploadKey: upload.key };
  }
}

/** Prepares the image of a single request. Throws `ImageProblem`. */
export async function prepareImage(
  context: OperationContext,
  builderId: string,
  request: ImageReference,
): Promise<ReadyImage> {
  return (await ImageSources.load(context, builderId, [request])).prepare(request);
}
