import type { FieldError } from '../../shared/errors.ts';
import type { PageTree } from './page-tree.ts';

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

  /** Errors of the document, at most `MAX_FIELD_ERRORS`, each with its path in the document. */
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
