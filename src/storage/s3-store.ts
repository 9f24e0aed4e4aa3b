import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import {
  CopyObjectCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import type { Clock } from '../clock.ts';
import type { S3Settings } from '../config.ts';
import type { RegionId } from '../context.ts';
import type { ByteStore, StoredObject, UploadTerms } from './byte-store.ts';

/** How often a read or copy is tried again before it counts as failed. */
const ATTEMPTS = 4;

/** Objects in a bucket of any S3-compatible service, under the region's name; clients upload to it directly. */
export class S3Store implements ByteStore {
  readonly #client: S3Client;
  readonly #bucket: string;
  readonly #prefix: string;
  readonly #clock: Clock;

  constructor(options: S3Settings & { region: RegionId; clock: Clock }) {
    this.#bucket = options.bucket;
    this.#prefix = `${options.region}/`;
    this.#clock = options.clock;
    this.#client = new S3Client({
      region: options.awsRegion,
      ...(options.endpoint && { endpoint: options.endpoint, forcePathStyle: true }),
      ...(options.credentials && { credentials: options.credentials }),
      maxAttempts: ATTEMPTS,
      // A checksum of the SDK's own choice would become part of what the client has to send.
      requestChecksumCalculation: 'WHEN_REQUIRED',
      responseChecksumValidation: 'WHEN_REQUIRED',
    });
  }

  presignUpload(key: string, { contentType, size, expiresInSeconds }: UploadTerms): Promise<string> {
    const command = new PutObjectCommand({ ...this.#at(key), ContentType: contentType, ContentLength: size });
    return getSignedUrl(this.#client, command, {
      expiresIn: expiresInSeconds,
      signingDate: new Date(this.#clock.now()),
      // The presigner signs the host alone unless told; then any length and type would do.
      signableHeaders: new Set(['host', 'content-length', 'content-type']),
      unhoistableHeaders: new Set(['content-length', 'content-type']),
    });
  }

  async put(key: string, path: string, contentType: string): Promise<void> {
    const { size } = await stat(path);
    const body = createReadStream(path);
    try {
      await this.#client.send(
        new PutObjectCommand({ ...this.#at(key), Body: body, ContentLength: size, ContentType: contentType }),
      );
    } finally {
      body.destroy();
    }
  }

  async copy(from: string, to: string, contentType: string): Promise<boolean> {
    const source = `${this.#bucket}/${this.#prefix}${from}`;
    try {
      await this.#client.send(
        new CopyObjectCommand({
          ...this.#at(to),
          CopySource: source.split('/').map(encodeURIComponent).join('/'),
          ContentType: contentType,
          MetadataDirective: 'REPLACE',
        }),
      );
      return true;
    } catch (error) {
      if (isMissing(error)) return false;
      throw error;
    }
  }

  async open(key: string) {
    try {
      const { Body, ContentLength } = await this.#client.send(new GetObjectCommand(this.#at(key)));
      return { stream: Body as Readable, size: ContentLength ?? 0 };
    } catch (error) {
      if (isMissing(error)) return null;
      throw error;
    }
  }

  async stat(key: string): Promise<StoredObject | null> {
    try {
      const found = await this.#client.send(new HeadObjectCommand(this.#at(key)));
      return { key, size: found.ContentLength ?? 0, modifiedAt: found.LastModified?.getTime() ?? 0 };
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
    for (const key of keys) await this.#client.send(new DeleteObjectCommand(this.#at(key)));
  }

  async *list(prefix: string): AsyncGenerator<StoredObject> {
    let token: string | undefined;
    do {
      const page = await this.#client.send(
        new ListObjectsV2Command({
          Bucket: this.#bucket,
          Prefix: `${this.#prefix}${prefix}`,
          ContinuationToken: token,
        }),
      );
      for (const { Key, Size, LastModified } of page.Contents ?? []) {
        yield { key: Key!.slice(this.#prefix.length), size: Size ?? 0, modifiedAt: LastModified?.getTime() ?? 0 };
      }
      token = page.IsTruncated ? page.NextContinuationToken : undefined;
    } while (token);
  }

  #at(key: string) {
    return { Bucket: this.#bucket, Key: `${this.#prefix}${key}` };
  }
}

function isMissing(error: unknown): boolean {
  const { name, $metadata } = error as { name?: string; $metadata?: { httpStatusCode?: number } };
  return name === 'NoSuchKey' || name === 'NotFound' || $metadata?.httpStatusCode === 404;
}
