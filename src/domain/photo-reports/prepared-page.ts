import { createHash } from 'node:crypto';
import { setImmediate as nextTick } from 'node:timers/promises';
import type { FieldError } from '../../shared/errors.ts';
import type { PageTree } from './page-tree.ts';
import type { PageDocument } from './report-inputs.ts';

/** Fields of a valid Page document that a sync stores. */
interface PageContent {
  title: string;
  tree: PageTree;
  /** Contains the canonical JSON from `start` to `end`, with free bytes before and after it. */
  buffer: ArrayBuffer;
  start: number;
  end: number;
}

/** A Page document that a worker thread has checked: either its errors or its content. */
export type CheckedPage = { errors: FieldError[] } | { content: PageContent };

/** Bytes to hash before yielding to the event loop. */
const HASH_SLICE = 4 * 1024 * 1024;

/**
 * A Page document of a large body, parsed and validated in a worker thread. Its fields are private, so that code that traverses
 * free-form JSON does not find the content.
 */
export class PreparedPage {
  readonly #errors: FieldError[];
  readonly #content: PageContent | null;

  constructor(checked: CheckedPage) {
    this.#errors = 'errors' in checked ? checked.errors : [];
    this.#content = 'content' in checked ? checked.content : null;
  }

  /** Errors of the document, at most `MAX_FIELD_ERRORS`. */
  get errors(): FieldError[] {
    return this.#errors;
  }

  get title(): string {
    return this.#content!.title;
  }

  get tree(): PageTree {
    return this.#content!.tree;
  }

  /**
   * Returns the document between two texts, as UTF-8. The result is valid until the next call, which may reuse its memory.
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
 * Returns a small valid document that carries the prepared one through GraphQL's input coercion, which copies the fields of input
 * objects and leaves free-form JSON unchanged.
 */
export const toCarrierDocument = (page: PreparedPage): PageDocument => ({
  schemaVersion: 1,
  title: '',
  blocks: [],
  contentMetadata: page as unknown as Record<string, unknown>,
});

/** Returns the prepared page that a document carries, or null for an ordinary document. */
export function findPreparedPage(document: unknown): PreparedPage | null {
  const { contentMetadata } = (document ?? {}) as { contentMetadata?: unknown };
  return contentMetadata instanceof PreparedPage ? contentMetadata : null;
}

/** Returns the SHA-256 in hexadecimal, yielding to the event loop between slices. */
export async function createFingerprintInSlices(bytes: Uint8Array): Promise<string> {
  const hash = createHash('sha256');
  for (let at = 0; at < bytes.length; at += HASH_SLICE) {
    hash.update(bytes.subarray(at, at + HASH_SLICE));
    await nextTick();
  }
  return hash.digest('hex');
}
