import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import type { S3Settings } from '../config.ts';
import type { Clock } from '../shared/clock.ts';
import { type ApiError, unavailable } from '../shared/errors.ts';
import { loadOnce } from '../shared/load-once.ts';
import { OperatorError } from '../shared/operator-error.ts';
import type { RegionId } from '../shared/regions.ts';
import { toTerminalLine } from '../shared/terminal-text.ts';
import type { ByteRange, ByteStore, PutOnceOutcome, StoredObject, UploadUrlOptions } from './byte-store.ts';

/** Maximum attempts of a request to the store. */
const MAX_ATTEMPTS = 4;

/** Milliseconds that one attempt waits for a connection, and for the next byte. */
const TIMEOUTS = { connectionTimeout: 3_000, socketTimeout: 5_000 };

/** Stores objects in a bucket of an S3-compatible service, under the region's prefix. Clients upload to it directly. */
export class S3Store implements ByteStore {
  readonly #settings: S3Settings;
  /** Loads the SDK at the first use, so that a service with a local store does not hold it in memory. */
  readonly #getClient = loadOnce(async () => {
    const sdk = await import('@aws-sdk/client-s3');
    const { awsRegion, endpoint, credentials } = this.#settings;
    const client = new sdk.S3Client({
      region: awsRegion,
      ...(endpoint && { endpoint, forcePathStyle: true }),
      ...(credentials && { credentials }),
      maxAttempts: MAX_ATTEMPTS,
      requestHandler: TIMEOUTS,
      // Otherwise the client would have to send the SDK's checksum with a presigned upload.
      requestChecksumCalculation: 'WHEN_REQUIRED',
      responseChecksumValidation: 'WHEN_REQUIRED',
    });
    return { sdk, client };
  });
  readonly #bucket: string;
  readonly #prefix: string;
  readonly #clock: Clock;

  constructor(options: S3Settings & { region: RegionId; clock: Clock }) {
    this.#bucket = options.bucket;
    this.#prefix = `${options.region}/`;
    this.#clock = options.clock;
    this.#settings = options;
  }

  async presignUpload(key: string, { contentType, size, expiresInSeconds }: UploadUrlOptions): Promise<string> {
    const { sdk, client } = await this.#getClient();
    const { getSignedUrl } = await import('@aws-sdk/s3-request-presigner');
    const command = new sdk.PutObjectCommand({ ...this.#locate(key), ContentType: contentType, ContentLength: size });
    return getSignedUrl(client, command, {
      expiresIn: expiresInSeconds,
      signingDate: new Date(this.#clock.now()),
      // By default the presigner signs only the host, and the store would accept any length and type.
      signableHeaders: new Set(['host', 'content-length', 'content-type']),
      unhoistableHeaders: new Set(['content-length', 'content-type']),
    });
  }

  async put(key: string, path: string, contentType: string): Promise<void> {
    const { sdk, client } = await this.#getClient();
    const { size } = await stat(path);
    const body = createReadStream(path);
    const object = { ...this.#locate(key), Body: body, ContentLength: size, ContentType: contentType };
    try {
      await sendToStore(client.send(new sdk.PutObjectCommand(object)));
    } finally {
      body.destroy();
    }
  }

  /** Does not check for an existing object: clients upload to the store directly, so nothing else writes the key. */
  async putOnce(key: string, path: string, contentType: string): Promise<PutOnceOutcome> {
    await this.put(key, path, contentType);
    return 'stored';
  }

  /** Copies on condition of the version, because a client may replace the source while its upload URL is valid. */
  async copy(from: string, to: string, contentType: string): Promise<string | null> {
    for (let attempt = 1; ; attempt++) {
      const source = await this.stat(from);
      if (!source) return null;
      try {
        return (await this.#copyVersion(source, to, contentType)) ? source.version : null;
      } catch (error) {
        if (!isPreconditionFailure(error)) throw error;
        if (attempt === MAX_ATTEMPTS) throw unavailable(error);
      }
    }
  }

  async #copyVersion({ key: from, version }: StoredObject, to: string, contentType: string): Promise<boolean> {
    const { sdk, client } = await this.#getClient();
    const source = `${this.#bucket}/${this.#prefix}${from}`;
    const command = new sdk.CopyObjectCommand({
      ...this.#locate(to),
      CopySource: source.split('/').map(encodeURIComponent).join('/'),
      CopySourceIfMatch: version,
      ContentType: contentType,
      MetadataDirective: 'REPLACE',
    });
    return (await sendToStore(client.send(command), null)) !== null;
  }

  async open(key: string, range?: ByteRange) {
    const { sdk, client } = await this.#getClient();
    const part = range && { Range: `bytes=${range.first}-${range.last}` };
    const command = new sdk.GetObjectCommand({ ...this.#locate(key), ...part });
    const found = await sendToStore(client.send(command), null);
    return found && { stream: nameStore(found.Body as Readable), size: found.ContentLength ?? 0 };
  }

  async stat(key: string): Promise<StoredObject | null> {
    const { sdk, client } = await this.#getClient();
    const found = await sendToStore(client.send(new sdk.HeadObjectCommand(this.#locate(key))), null);
    const modifiedAt = found?.LastModified?.getTime() ?? 0;
    return found && { key, size: found.ContentLength ?? 0, modifiedAt, version: found.ETag ?? '' };
  }

  toLocalPath(): null {
    return null;
  }

  /** Deletes one by one, because the batch request needs a checksum that not every service supports. */
  async remove(keys: readonly string[]): Promise<void> {
    const { sdk, client } = await this.#getClient();
    for (const key of keys) await sendToStore(client.send(new sdk.DeleteObjectCommand(this.#locate(key))), null);
  }

  async *list(prefix: string): AsyncGenerator<StoredObject> {
    const { sdk, client } = await this.#getClient();
    const location = { Bucket: this.#bucket, Prefix: `${this.#prefix}${prefix}` };
    const pages = sdk.paginateListObjectsV2({ client }, location);
    for (let page = await sendToStore(pages.next()); !page.done; page = await sendToStore(pages.next())) {
      for (const { Key, Size, LastModified, ETag } of page.value.Contents ?? []) {
        const modifiedAt = LastModified?.getTime() ?? 0;
        yield { key: Key!.slice(this.#prefix.length), size: Size ?? 0, modifiedAt, version: ETag ?? '' };
      }
    }
  }

  #locate(key: string) {
    return { Bucket: this.#bucket, Key: `${this.#prefix}${key}` };
  }
}

/**
 * Returns the store's response, or `missing`, if it is given, where there is no such object. Throws `UNAVAILABLE` when the store is unreachable,
 * slow or fails, or takes neither the credentials nor the bucket; another error says that the object is no longer the version to copy.
 */
async function sendToStore<T, M = never>(sent: Promise<T>, ...missing: M[]): Promise<T | M> {
  try {
    return await sent;
  } catch (error) {
    const { name } = error as Error;
    if (missing.length > 0 && getStatus(error) === 404 && name !== 'NoSuchBucket') return missing[0]!;
    throw isPreconditionFailure(error) ? error : toStoreError(error);
  }
}

function toStoreError(error: unknown): ApiError {
  const { code, name, message } = error as NodeJS.ErrnoException;
  const reason = toTerminalLine(code ?? `${name === 'Unknown' ? `HTTP ${getStatus(error)}` : name}: ${message}`);
  const text = `The store of S3_ENDPOINT and S3_BUCKET cannot be used (${reason}).`;
  return unavailable(new OperatorError(text, { cause: error }));
}

/** Has an object that ends early or stalls say that it is the store, whose connection is lost like one of the database. */
function nameStore(stream: Readable): Readable {
  const destroy = stream.destroy.bind(stream);
  return Object.assign(stream, { destroy: (error?: Error) => destroy(error && toStoreError(error)) });
}

const getStatus = (error: unknown) => (error as { $metadata?: { httpStatusCode?: number } }).$metadata?.httpStatusCode;

/** Whether the source is no longer the version to copy. */
const isPreconditionFailure = (error: unknown): boolean => getStatus(error) === 412;
