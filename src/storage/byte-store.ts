import type { Readable } from 'node:stream';

export interface UploadTerms {
  contentType: string;
  /** Bytes, exactly. */
  size: number;
  expiresInSeconds: number;
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
}

/**
 * Bytes of one region by key. An object is there whole or not at all, and once a call has ended it survives a crash.
 * Two implementations pass the same tests: a folder (`LocalStore`) and any S3-compatible service (`S3Store`).
 */
export interface ByteStore {
  /** URL to which a client may PUT exactly that many bytes of that type, until it expires. Part 4 of the specification. */
  presignUpload(key: string, terms: UploadTerms): Promise<string>;
  /** Makes the file the object. The file is not needed afterwards, and may be gone. */
  put(key: string, path: string, contentType: string): Promise<void>;
  /** Whether there was something to copy. The copy is what the source was at one moment, whatever becomes of it. */
  copy(from: string, to: string, contentType: string): Promise<boolean>;
  /** The whole object, or that part of it; the size is that of the stream. */
  open(key: string, range?: ByteRange): Promise<{ stream: Readable; size: number } | null>;
  stat(key: string): Promise<StoredObject | null>;
  /** Path of the object where it is a file of this machine; null elsewhere. */
  pathOf(key: string): string | null;
  remove(keys: readonly string[]): Promise<void>;
  list(prefix: string): AsyncIterable<StoredObject>;
}
