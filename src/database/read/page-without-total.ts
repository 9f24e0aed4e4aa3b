import type { Page, PageMeta } from '../../../schema/page.ts';

/** A page whose total was not counted. Reading its `meta` is a mistake of the caller, and throws. */
export class PageWithoutTotal<T> implements Page<T> {
  readonly data: T[];

  constructor(data: T[]) {
    this.data = data;
  }

  get meta(): PageMeta {
    throw new Error('The total was not counted, because the selection does not include it.');
  }
}
