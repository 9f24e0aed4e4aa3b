import { ImageHost } from '../../../entities/image-host.entity.ts';
import { Upload } from '../../../entities/upload.entity.ts';
import type { OperationContext } from '../operation-context.ts';
import { ImageProblem, type PreparedImage, prepareDownload, prepareUpload } from '../uploads/prepare-image.ts';
import type { AttachmentReference, ImageReference } from './photo-inputs.ts';

export interface ReadyImage extends PreparedImage {
  /** The upload that it uses up. */
  uploadKey: string | null;
}

/** What has to be known before images are prepared, read at once for all of them. */
export class ImageSources {
  readonly #context: OperationContext;
  readonly #builderId: string;
  readonly #uploads: Map<string, Upload>;
  readonly #hosts: Set<string>;

  private constructor(context: OperationContext, builderId: string, uploads: Upload[], hosts: ImageHost[]) {
    this.#context = context;
    this.#builderId = builderId;
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
    return new ImageSources(context, builderId, uploads, hosts);
  }

  /** The upload that the reference names, used or not; throws unless it is this integrator's, for this builder. */
  upload({ key, regionId }: AttachmentReference): Upload {
    const { region } = this.#context;
    if (regionId !== region) {
      throw new ImageProblem('imageAttachment.regionId', 'INVALID_REFERENCE', `must be ${region}`);
    }
    const upload = this.#uploads.get(key);
    if (!upload) throw new ImageProblem('imageAttachment.key', 'INVALID_REFERENCE', 'is not an upload of yours');
    return upload;
  }

  /** The integrator's upload of that key for the builder, if there is one. */
  known(key: string): Upload | null {
    return this.#uploads.get(key) ?? null;
  }

  /** Copies and checks the image. Throws `ImageProblem`. */
  async prepare(request: ImageReference, signal?: AbortSignal): Promise<ReadyImage> {
    const options = { declared: request.contentType ?? null, signal };
    if (!request.imageAttachment) {
      const isApproved = (host: string) => this.#hosts.has(host);
      const wanted = { imageUrl: request.imageUrl!, builderId: this.#builderId, isApproved };
      return { ...(await prepareDownload(this.#context, wanted, options)), uploadKey: null };
    }
    const upload = this.upload(request.imageAttachment);
    if (upload.consumedAt !== null) {
      throw new ImageProblem('imageAttachment.key', 'INVALID_REFERENCE', 'has been used before');
    }
    return { ...(await prepareUpload(this.#context, upload, options)), uploadKey: upload.key };
  }
}

export async function prepareImage(
  context: OperationContext,
  builderId: string,
  request: ImageReference,
): Promise<ReadyImage> {
  return (await ImageSources.load(context, builderId, [request])).prepare(request);
}
