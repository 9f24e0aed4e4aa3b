import type { Readable } from 'node:stream';
import type { DurationCounts } from '../shared/duration-counts.ts';

export interface UploadUrlOptions {
  contentType: string;
  /** Exact number of bytes. */
  size: number;
  expiresInSeconds: number;
  /** Fair share that the upload is charged to. */
  shareKey?: string;
}

/** Byte range of an object, both ends inclusive. */
export interface ByteRange {
  first: number;
  last: number;
}

export interface StoredObject {
  key: string;
  size: number;
  /** Milliseconds since the epoch. */
  modifiedAt: number;
  /** Differs when other bytes are stored under the same key. */
  version: string;
}

/** Outcome of `putOnce`: `same` when the object exists with the same bytes, `conflict` when it has others. */
export type PutOnceOutcome = 'stored' | 'same' | 'conflict';

/**
 * The stored objects of one region by key. Writes are atomic, and durable once the call returns. Two implementations pass the same
 * tests: a folder (`LocalStore`) and any S3-compatible service (`S3Store`).
 */
export interface ByteStore {
  /** Operations by name, for metrics; absent for a store that is not measured. */
  readonly operations?: DurationCounts;
  /** Returns a URL to which a client may PUT bytes of exactly this size and type until it expires. UPL-5. */
  presignUpload(key: string, terms: UploadUrlOptions): Promise<string>;
  /** Stores the file as the object, replacing an existing one. May move the file. */
  put(key: string, path: string, contentType: string): Promise<void>;
  /** Stores the file as the object unless the object exists. Of concurrent calls, on any instance, one succeeds. */
  putOnce(key: string, path: string, contentType: string): Promise<PutOnceOutcome>;
  /** Copies one version of the object, and returns that version; null when there is no source. */
  copy(from: string, to: string, contentType: string): Promise<string | null>;
  /** Opens the object, or the range of it, for reading; `size` is the stream's. Returns null when there is no such object. */
  open(key: string, range?: ByteRange): Promise<{ stream: Readable; size: number } | null>;
  stat(key: string): Promise<StoredObject | null>;
  /** Returns the path of the object if it is a local file, else null. */
  toLocalPath(key: string): string | null;
  remove(keys: readonly string[]): Promise<void>;
  list(prefix: string): AsyncIterable<StoredObject>;
}
