import { ApiError } from './errors.ts';
import type { Api, OPERATIONS, Parameters } from './operations.ts';
import type { CallOptions, Transport } from './transport.ts';

type CreateParameters = Parameters<{ method: 'post'; path: '/builders/{builderId}/photos'; kind: 'key' }>;
type Announcement = Parameters<typeof OPERATIONS.photos.presign>;
type Photo = Awaited<ReturnType<Api['photos']['create']>>;

/** An image: a path (Node), a `File`, or bytes with the option `fileName`. */
export type ImageSource = string | File | Blob;

/** Properties of the new photo. `fileName` and `contentType` are those of the file where they are absent. */
export type UploadOptions = Omit<CreateParameters, 'imageAttachment' | 'imageUrl' | 'fileName'> & { fileName?: string };

export interface UploadAllOptions extends Omit<UploadOptions, 'externalSourceId' | 'fileName'> {
  /** Returns the id of a file in your system, with which a repeated upload makes no second photo. */
  externalSourceId?: (source: ImageSource) => string;
  /** Uploads at the same time. Default 4. */
  concurrency?: number;
  onProgress?: (progress: { done: number; failed: number; total: number }) => void;
}

/** What became of one file of `uploadAll`. */
export type UploadResult = { source: ImageSource; photo: Photo } | { source: ImageSource; error: Error };

export function createPhotoUploads(api: Api, transport: Transport) {
  return { upload, uploadAll };

  /** Uploads an image and creates its photo. A retry of any step, or of the whole with the same `externalSourceId`, creates one photo. */
  async function upload(source: ImageSource, options: UploadOptions, callOptions: CallOptions = {}): Promise<Photo> {
    const blob = typeof source === 'string' ? await readFile(source) : source;
    const sourceName =
      typeof source === 'string' ? source.split(/[\\/]/).pop() : source instanceof File ? source.name : undefined;
    const fileName = options.fileName ?? sourceName;
    if (fileName === undefined) throw new TypeError('The option fileName is required for bytes without a name.');
    const contentType = options.contentType ?? (blob.type || toContentType(fileName));
    if (!contentType) throw new TypeError(`The option contentType is required: ${fileName} does not say its type.`);
    const { builderId } = options;
    const announcement = { builderId, type: 'attachment' as const, fileName, contentType, size: blob.size };
    const imageAttachment = await store(blob, announcement, callOptions);
    return api.photos.create({ ...options, fileName, contentType, imageAttachment } as CreateParameters, callOptions);
  }

  /** Uploads images, some at the same time. A file that fails does not stop the others; the results are in the order of the sources. */
  async function uploadAll(
    sources: readonly ImageSource[],
    { concurrency = 4, onProgress, externalSourceId, ...options }: UploadAllOptions,
    callOptions: CallOptions = {},
  ): Promise<UploadResult[]> {
    const results: UploadResult[] = [];
    const progress = { done: 0, failed: 0, total: sources.length };
    const remaining = sources.entries();
    const uploadNext = async () => {
      for (const [index, source] of remaining) {
        callOptions.signal?.throwIfAborted();
        try {
          const ownOptions = { ...options, externalSourceId: externalSourceId?.(source) };
          results[index] = { source, photo: await upload(source, ownOptions, callOptions) };
          progress.done++;
        } catch (error) {
          results[index] = { source, error: error as Error };
          progress.failed++;
        }
        onProgress?.({ ...progress });
      }
    };
    await Promise.all(Array.from({ length: concurrency }, uploadNext));
    return results;
  }

  /** Announces the bytes and puts them; once more with a new URL when the first one has expired meanwhile. */
  async function store(blob: Blob, announcement: Announcement, options: CallOptions) {
    for (let attempt = 0; ; attempt++) {
      const { key, regionId, type, uploadUrl, uploadHeaders } = await api.photos.presign(announcement, options);
      // The platform sets the length itself.
      const headers = new Headers(uploadHeaders as Record<string, string>);
      headers.delete('content-length');
      try {
        await transport.send(new Request(uploadUrl, { method: 'PUT', headers, body: blob }), 'always', options);
        return { key, regionId, type };
      } catch (error) {
        if (attempt > 0 || !(error instanceof ApiError) || error.status !== 403) throw error;
      }
    }
  }
}

/** Returns the bytes of a file. Browsers have no paths. */
async function readFile(path: string): Promise<Blob> {
  const fs = globalThis.process?.getBuiltinModule?.('node:fs');
  if (!fs) throw new TypeError(`This platform cannot open ${JSON.stringify(path)}: pass a File.`);
  return new Blob([await fs.promises.readFile(path)]);
}

/** Returns the type of an image by the end of its name. */
function toContentType(name: string): string | undefined {
  const [, end] = /\.(jpe?g|png|webp|gif|hei[cf])$/i.exec(name) ?? [];
  return end && `image/${end.toLowerCase().replace('jpg', 'jpeg')}`;
}
