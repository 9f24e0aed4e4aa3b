import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { json } from 'node:stream/consumers';
import { MAX_ATTACHMENT_BYTES } from '../../schema/scalars.ts';
import type { Config } from '../config.ts';
import type { Network } from '../network/guarded-network.ts';
import type { Clock } from '../shared/clock.ts';
import { OperatorError } from '../shared/operator-error.ts';
import { mapRegions, type RegionId } from '../shared/regions.ts';
import type { ByteStore } from './byte-store.ts';
import { toContentType } from './keys.ts';
import { LocalStore } from './local-store.ts';
import { measureStore } from './measured-store.ts';
import { RemoteDownloader } from './remote-downloader.ts';
import { S3Store } from './s3-store.ts';
import { Spool } from './spool.ts';
import { UrlSigner } from './url-signer.ts';

type ReceiveOptions = Parameters<Spool['receive']>[2];

export { MAX_ATTACHMENT_BYTES };

/** Lifetime of signed upload and download URLs in seconds. */
export const SIGNED_URL_SECONDS = 900;

/** The stored objects of one region, and their signed URLs. */
export class Storage {
  constructor(
    readonly region: RegionId,
    readonly byteStore: ByteStore,
    readonly spool: Spool,
    readonly signer: UrlSigner,
    /** Downloads images from other hosts. */
    readonly downloader: RemoteDownloader,
    /** Fair share that requests to the signed URLs are charged to. Default: that of the client's address. */
    readonly shareKey?: string,
  ) {}

  /** Returns the same storage with URLs that are charged to the share `shareKey`. */
  withShareKey(shareKey: string): Storage {
    return new Storage(this.region, this.byteStore, this.spool, this.signer, this.downloader, shareKey);
  }

  /** Returns a signed URL to which a client may PUT exactly `size` bytes of the type. */
  createUploadUrl(key: string, contentType: string, size: number): Promise<string> {
    const { shareKey } = this;
    return this.byteStore.presignUpload(key, { contentType, size, expiresInSeconds: SIGNED_URL_SECONDS, shareKey });
  }

  /**
   * Returns a signed URL to download an object, without checking that it exists. Downloads from an S3 store go through the service too,
   * because the store cannot send their security headers.
   */
  createDownloadUrl(key: string, contentType: string = toContentType(key), fileName?: string): string {
    const { region, shareKey } = this;
    return this.signer.sign({ method: 'GET', region, key, contentType, fileName, shareKey }, SIGNED_URL_SECONDS);
  }

  /** Deletes the objects of a folder, and returns how many there were. @param folder ends in a slash. */
  async removeFolder(folder: string): Promise<number> {
    const keys: string[] = [];
    for await (const { key } of this.byteStore.list(folder)) keys.push(key);
    await this.byteStore.remove(keys);
    return keys.length;
  }

  /** Runs the work with the object as a file that exists until the work ends. Returns null when there is no such object. */
  async withFile<T>(key: string, work: (path: string, size: number) => Promise<T>): Promise<T | null> {
    const found = await this.byteStore.stat(key);
    if (!found) return null;
    const path = this.byteStore.toLocalPath(key);
    if (path !== null) return work(path, found.size);
    const opened = await this.byteStore.open(key);
    if (!opened) return null;
    const file = await this.spool.receive(opened.stream, MAX_ATTACHMENT_BYTES);
    try {
      return await work(file.path, file.size);
    } finally {
      await this.spool.discard(file.path);
    }
  }

  /** Returns the JSON of an object; null without one. Throws `OperatorError` for other text. */
  async readJson<T>(key: string): Promise<T | null> {
    const found = await this.byteStore.open(key);
    try {
      return found && ((await json(found.stream)) as T);
    } catch (error) {
      throw error instanceof SyntaxError ? new OperatorError(`${key} in the store is no JSON.`) : error;
    }
  }

  /** Stores the stream as an object, and returns its size. Throws `SizeLimitError` for more than `limit` bytes. */
  async store(key: string, stream: Readable, contentType: string, limit: number, options?: ReceiveOptions) {
    const file = await this.spool.receive(stream, limit, options);
    try {
      await this.byteStore.put(key, file.path, contentType);
      return file.size;
    } finally {
      await this.spool.discard(file.path);
    }
  }
}

export type Storages = Record<RegionId, Storage>;

/**
 * Returns the storage of each region. Folders and connections are opened at their first use.
 *
 * @param options.secrets Keys of the service, of which the keys of the signed URLs are derived. The first signs, all verify.
 */
export function openStorages(
  config: Config,
  options: { secrets: readonly string[]; clock: Clock; network?: Network },
): Storages {
  const { secrets, clock, network } = options;
  const signer = new UrlSigner({ secrets, clock, baseUrl: config.baseUrl });
  const folder = join(config.dataDir, 'storage');
  const spool = new Spool(join(folder, 'spool'));
  const downloader = new RemoteDownloader(spool, network);
  const createStore = (region: RegionId): ByteStore =>
    config.s3
      ? new S3Store({ ...config.s3, region, clock })
      : new LocalStore({ folder: join(folder, 'objects'), region, signer });
  return mapRegions((region) => new Storage(region, measureStore(createStore(region)), spool, signer, downloader));
}
