import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import type { S3Client } from '@aws-sdk/client-s3';
import type { S3Settings } from '../config.ts';
import type { Clock } from '../shared/clock.ts';
import { unavailable } from '../shared/errors.ts';
import type { RegionId } from '../shared/regions.ts';
import type { ByteRange, ByteStore, PutOnceOutcome, StoredObject, UploadTerms } from './byte-store.ts';
import { counted } from './collector.ts';

type Sdk = typeof import('@aws-sdk/client-s3');

/** How often a read or copy is tried again before it counts as failed. */
const ATTEMPTS = 4;

/** Milliseconds that one attempt waits for a connection, and for the next byte: a store that hangs holds no request for long. */
const TIMEOUTS = { connectionTimeout: 3_000, socketTimeout: 5_000 };

/** Objects in a bucket of any S3-compatible service, under the region's name; clients upload to it directly. */
export class S3Store implements ByteStore {
  readonly #settings: S3Settings;
  #opened: Promise<{ sdk: Sdk; client: S3Client }> | null = null;
  readonly #bucket: string;
  readonly #prefix: string;
  readonly #clock: Clock;

  constructor(options: S3Settings & { region: RegionId; clock: Clock }) {
    this.#bucket = options.bucket;
    this.#prefix = `${options.region}/`;
    this.#clock = options.clock;
    this.#settings = options;
  }

  async presignUpload(key: string, { contentType, size, expiresInSeconds }: UploadTerms): Promise<string> {
    const { sdk, client } = await this.#open();
    const { getSignedUrl } = await import('@aws-sdk/s3-request-presigner');
    const command = new sdk.PutObjectCommand({ ...this.#at(key), ContentType: contentType, ContentLength: size });
    return getSignedUrl(client, command, {
      expiresIn: expiresInSeconds,
      signingDate: new Date(this.#clock.now()),
      // The presigner signs the host alone unless told; then any length and type would do.
      signableHeaders: new Set(['host', 'content-length', 'content-type']),
      unhoistableHeaders: new Set(['content-length', 'content-type']),
    });
  }

  async put(key: string, path: string, contentType: string): Promise<void> {
    const { sdk, client } = await this.#open();
    const { size } = await stat(path);
    const body = counted(createReadStream(path));
    try {
      await answer(
        client.send(
          new sdk.PutObjectCommand({ ...this.#at(key), Body: body, ContentLength: size, ContentType: contentType }),
        ),
      );
    } finally {
      body.destroy();
    }
  }

  /** Clients send their uploads to the store itself, so that nothing else writes the key. */
  async putOnce(key: string, path: string, contentType: string): Promise<PutOnceOutcome> {
    await this.put(key, path, contentType);
    return 'stored';
  }

  /** The bytes that the version names, or none: a client may replace them at any moment while its upload URL is valid. */
  async copy(from: string, to: string, contentType: string): Promise<string | null> {
    for (let attempt = 1; ; attempt++) {
      const source = await this.stat(from);
      if (!source) return null;
      try {
        return (await this.#copyVersion(source, to, contentType)) ? source.version : null;
      } catch (error) {
        if (!isReplaced(error)) throw error;
        if (attempt === ATTEMPTS) throw unavailable(error);
      }
    }
  }

  async #copyVersion({ key: from, version }: StoredObject, to: string, contentType: string): Promise<boolean> {
    const { sdk, client } = await this.#open();
    const source = `${this.#bucket}/${this.#prefix}${from}`;
    try {
      await answer(
        client.send(
          new sdk.CopyObjectCommand({
            ...this.#at(to),
            CopySource: source.split('/').map(encodeURIComponent).join('/'),
            CopySourceIfMatch: version,
            ContentType: contentType,
            MetadataDirective: 'REPLACE',
          }),
        ),
      );
      return true;
    } catch (error) {
      if (isMissing(error)) return false;
      throw error;
    }
  }

  async open(key: string, range?: ByteRange) {
    const { sdk, client } = await this.#open();
    const part = range && { Range: `bytes=${range.first}-${range.last}` };
    try {
      const command = new sdk.GetObjectCommand({ ...this.#at(key), ...part });
      const { Body, ContentLength } = await answer(client.send(command));
      return { stream: Body as Readable, size: ContentLength ?? 0 };
    } catch (error) {
      if (isMissing(error)) return null;
      throw error;
    }
  }

  async stat(key: string): Promise<StoredObject | null> {
    const { sdk, client } = await this.#open();
    try {
      const found = await answer(client.send(new sdk.HeadObjectCommand(this.#at(key))));
      const modifiedAt = found.LastModified?.getTime() ?? 0;
      return { key, size: found.ContentLength ?? 0, modifiedAt, version: found.ETag ?? '' };
    } catch (error) {
      if (isMissing(error)) return null;
      throw error;
    }
  }

  pathOf(): null {
    return null;
  }

  /** One by one: the batch call wants a checksum that not every service takes. */
  async remove(keys: readonly string[]): Promise<void> {
    const { sdk, client } = await this.#open();
    for (const key of keys) await answer(client.send(new sdk.DeleteObjectCommand(this.#at(key))));
  }

  async *list(prefix: string): AsyncGenerator<StoredObject> {
    const { sdk, client } = await this.#open();
    let token: string | undefined;
    do {
      const page = await client.send(
        new sdk.ListObjectsV2Command({
          Bucket: this.#bucket,
          Prefix: `${this.#prefix}${prefix}`,
          ContinuationToken: token,
        }),
      );
      for (const { Key, Size, LastModified, ETag } of page.Contents ?? []) {
        const modifiedAt = LastModified?.getTime() ?? 0;
        yield { key: Key!.slice(this.#prefix.length), size: Size ?? 0, modifiedAt, version: ETag ?? '' };
      }
      token = page.IsTruncated ? page.NextContinuationToken : undefined;
    } while (token);
  }

  /** The SDK is loaded where it is used: a service with a local store has no use for it in memory. */
  #open() {
    this.#opened ??= import('@aws-sdk/client-s3').then((sdk) => {
      const { awsRegion, endpoint, credentials } = this.#settings;
      const client = new sdk.S3Client({
        region: awsRegion,
        ...(endpoint && { endpoint, forcePathStyle: true }),
        ...(credentials && { credentials }),
        maxAttempts: ATTEMPTS,
        requestHandler: TIMEOUTS,
        // A checksum of the SDK's own choice would become part of what the client has to send.
        requestChecksumCalculation: 'WHEN_REQUIRED',
        responseChecksumValidation: 'WHEN_REQUIRED',
      });
      return { sdk, client };
    });
    return this.#opened;
  }

  #at(key: string) {
    return { Bucket: this.#bucket, Key: `${this.#prefix}${key}` };
  }
}

/** What the store answers. One that is away, slow, busy or at fault is 503: nothing is wrong with the request. */
async function answer<T>(sent: Promise<T>): Promise<T> {
  try {
    return await sent;
  } catch (error) {
    const { httpStatusCode: status } = (error as { $metadata?: { httpStatusCode?: number } }).$metadata ?? {};
    throw status === undefined || status >= 500 || status === 429 ? unavailable(error) : error;
  }
}

/** The source is no longer the version that was to be copied. */
function isReplaced(error: unknown): boolean {
  return (error as { $metadata?: { httpStatusCode?: number } }).$metadata?.httpStatusCode === 412;
}

function isMissing(error: unknown): boolean {
  const { name, $metadata } = error as { name?: string; $metadata?: { httpStatusCode?: number } };
  return name === 'NoSuchKey' || name === 'NotFound' || $metadata?.httpStatusCode === 404;
}
