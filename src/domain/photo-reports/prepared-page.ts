import { createHash } from 'node:crypto';
import { setImmediate as nextTick } from 'node:timers/promises';
import type { FieldError } from '../../shared/errors.ts';
import type { Tree } from './page-tree.ts';
import type { PageDocument } from './report-inputs.ts';

/** What a sync needs of a valid Page document. */
export interface PageContent {
  title: string;
  tree: Tree;
  /** Its canonical JSON, within a buffer that has room before and after it. */
  buffer: ArrayBuffer;
  start: number;
  end: number;
}

/** A Page document that a worker thread has checked: either its errors or its content. */
export type CheckedPage = { errors: FieldError[] } | { content: PageContent };

/** Bytes that are hashed before other work of the event loop goes on. */
const HASH_SLICE = 4 * 1024 * 1024;

/**
 * A Page document of a large body. Its tree exists in the worker thread only, so that this thread neither parses nor walks it. Its
 * fields are private: nothing that walks over free-form JSON finds the content.
 */
export class PreparedPage {
  readonly #errors: FieldError[];
  readonly #content: PageContent | null;

  constructor(checked: CheckedPage) {
    this.#errors = 'errors' in checked ? checked.errors : [];
    this.#content = 'content' in checked ? checked.content : null;
  }

  /** Every error of the document, at most as many as one answer holds. */
  get errors(): FieldError[] {
    return this.#errors;
  }

  get title(): string {
    return this.#content!.title;
  }

  get tree(): Tree {
    return this.#content!.tree;
  }

  /**
   * Returns the document between two texts, as UTF-8. The result is valid until the next call, which may use the same memory.
   */
  embed(before: string, after: string): Buffer {
    const { buffer, start, end } = this.#content!;
    const [head, tail] = [Buffer.from(before), Buffer.from(after)];
    const bytes = Buffer.from(buffer);
    const [first, last] = [start - head.length, end + tail.length];
    if (first < 0 || last > bytes.length) return Buffer.concat([head, bytes.subarray(start, end), tail]);
    head.copy(bytes, first);
    tail.copy(bytes, end);
    return bytes.subarray(first, last);
  }
}

/**
 * A small valid document that carries the prepared one through GraphQL's coercion of inputs, which copies every field of an input
 * object and leaves free-form JSON as it is.
 */
export const carrierOf = (page: PreparedPage): PageDocument => ({
  schemaVersion: 1,
  title: '',
  blocks: [],
  contentMetadata: page as unknown as Record<string, unknown>,
});

/** The prepared page that a document carries; null where the document is one itself. */
export function preparedPageOf(document: unknown): PreparedPage | null {
  const { contentMetadata } = (document ?? {}) as { contentMetadata?: unknown };
  return contentMetadata instanceof PreparedPage ? contentMetadata : null;
}

/** SHA-256 in hexadecimal, computed in slices between which other requests are served. */
export async function fingerprintInSlices(bytes: Uint8Array): Promise<string> {
  const hash = createHash('sha256');
  for (let at = 0; at < bytes.length; at += HASH_SLICE) {
    hash.update(bytes.subarray(at, at + HASH_SLICE));
    await nextTick();
  }
  return hash.digest('hex');
}
