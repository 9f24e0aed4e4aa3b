import { createPatternScalar } from './scalars.ts';

/** A position takes at least 32 characters. Whether it is one of the list is known only when its page is read. */
const LIST_CURSOR = /^([A-Za-z0-9_-]{32,300})?$/;

/** Position in a list, opaque to clients; empty for the first page (LST-13). */
export const ListCursor = createPatternScalar(
  'ListCursor',
  'A position in a list with its filters; empty for the first page.',
  LIST_CURSOR,
  '',
  'must be empty or the nextCursor of a page',
);
