import type { Readable } from 'node:stream';

export interface UploadTerms {
  contentType: string;
  /** Bytes, exactly. */
  size: number;
  expiresInSeconds: number;
  /** Share that the upload is charged to. */
  issuer?: string;
}

/** Bytes of an object from the first to the last, both of them included. */
export interface ByteRange {
  first: number;
  last: number;
}

export interface StoredObject {
  key: string;
  size: number;
  /** Milliseconds since the epoch. */
  modifiedAt: number;
  /** Another one for other bytes under the same key. */
  version: string;
}

/** What came of an upload to a signed URL: `same` where these very bytes are stored, `conflict` where others are. */
export type PutOnceOutcome = 'stored' | 'same' | 'conflict';

/**
 * Bytes of one region by key. An object is there whole or not at all, and once a call has ended it survives a crash.
 * Two implementations pass the same tests: a folder (`LocalStore`) and any S3-compatible service (`S3Store`).
 */
export interface ByteStore {
  /** URL to which a client may PUT exactly that many bytes of that type, until it expires (UPL-5). */
  presignUpload(key: string, terms: UploadTerms): Promise<string>;
  /** Makes the file the object. The file is not needed afterwards, and may be gone. */
  put(key: string, path: string, contentType: string): Promise<void>;
  /** Makes the file the object, unless there is one: the first of several that do so at once wins, on any instance. */
  putOnce(key: string, path: string, contentType: string): Promise<PutOnceOutcome>;
  /**
   * Copies the object and returns the version of the source's bytes that were copied; null where there is no source. The copy is
   * what the source was at one moment, whatever becomes of it.
   */
  copy(from: string, to: string, contentType: string): Promise<string | null>;
  /** The whole object, or that part of it; the size is that of the stream. */
  open(key: string, range?: ByteRange): Promise<{ stream: Readable; size: number } | null>;
  stat(key: string): Promise<StoredObject | null>;
  /** Path of the object where it is a file of this machine; null elsewhere. */
  pathOf(key: string): string | null;
  remove(keys: readonly string[]): Promise<void>;
  list(prefix: string): AsyncIterable<StoredObject>;
}
