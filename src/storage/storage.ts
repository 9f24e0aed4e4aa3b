import { join } from 'node:path';
import type { Readable } from 'node:stream';
import type { Config } from '../config.ts';
import type { Clock } from '../shared/clock.ts';
import { REGIONS, type RegionId } from '../shared/regions.ts';
import type { ByteStore, StoredObject } from './byte-store.ts';
import { contentTypeOfKey } from './keys.ts';
import { LocalStore } from './local-store.ts';
import { type Outside, RemoteFiles } from './remote.ts';
import { S3Store } from './s3-store.ts';
import { UrlSigner } from './signatures.ts';
import { Spool } from './spool.ts';

/** Largest attachment in bytes (UPL-2). */
export const MAX_ATTACHMENT_BYTES = 41_943_040;

/** Lifetime of signed upload and download URLs (UPL-4). */
export const SIGNED_URL_SECONDS = 900;

/** Stored bytes of one region, and the signed URLs under which clients reach them. */
export class Storage {
  constructor(
    readonly region: RegionId,
    readonly bytes: ByteStore,
    readonly spool: Spool,
    readonly signer: UrlSigner,
    /** Files of other hosts. */
    readonly remote: RemoteFiles,
    /** Share that requests to the signed URLs are charged to; that of the sender's address when it is not given. */
    readonly issuer?: string,
  ) {}

  /** The same storage, whose URLs are signed for that share. */
  issuedTo(issuer: string): Storage {
    return new Storage(this.region, this.bytes, this.spool, this.signer, this.remote, issuer);
  }

  uploadUrl(key: string, contentType: string, size: number): Promise<string> {
    const { issuer } = this;
    return this.bytes.presignUpload(key, { contentType, size, expiresInSeconds: SIGNED_URL_SECONDS, issuer });
  }

  /**
   * URL to read an object for 15 minutes; it asks the store nothing. Downloads go through the service whatever the store is,
   * because a store cannot be told to send their security headers.
   */
  downloadUrl(key: string, contentType: string = contentTypeOfKey(key), fileName?: string): string {
    const { region, issuer } = this;
    return this.signer.sign({ method: 'GET', region, key, contentType, fileName, issuer }, SIGNED_URL_SECONDS);
  }

  /** Gives the work the object's bytes as a file for as long as it runs; null when there is no such object. */
  async withFile<T>(key: string, work: (path: string, size: number) => Promise<T>): Promise<T | null> {
    const found = await this.bytes.stat(key);
    if (!found) return null;
    const path = this.bytes.pathOf(key);
    if (path !== null) return work(path, found.size);
    const opened = await this.bytes.open(key);
    if (!opened) return null;
    const file = await this.spool.receive(opened.stream, MAX_ATTACHMENT_BYTES);
    try {
      return await work(file.path, file.size);
    } finally {
      await this.spool.discard(file.path);
    }
  }

  /** Keeps what the stream gives as an object, never more than `limit` bytes. */
  async keep(key: string, stream: Readable, contentType: string, limit: number): Promise<number> {
    const file = await this.spool.receive(stream, limit);
    try {
      await this.bytes.put(key, file.path, contentType);
      return file.size;
    } finally {
      await this.spool.discard(file.path);
    }
  }
}

export type { ByteStore, StoredObject };
export type Storages = Record<RegionId, Storage>;

/** The storage of each region as the settings say. Nothing is opened before its first use. */
export function openStorages(config: Config, options: { secret: string; clock: Clock; outside?: Outside }): Storages {
  const { secret, clock, outside } = options;
  const signer = new UrlSigner({ secret, clock, baseUrl: config.baseUrl });
  const folder = join(config.dataDir, 'storage');
  const spool = new Spool(join(folder, 'spool'));
  const remote = new RemoteFiles(spool, outside);
  const storeOf = (region: RegionId): ByteStore =>
    config.s3
      ? new S3Store({ ...config.s3, region, clock })
      : new LocalStore({ folder: join(folder, 'objects'), region, signer });
  return Object.fromEntries(
    REGIONS.map((region) => [region, new Storage(region, storeOf(region), spool, signer, remote)]),
  ) as Storages;
}
