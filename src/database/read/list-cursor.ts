import { createHash } from 'node:crypto';
import { invalidField } from '../../shared/errors.ts';
import { getErrorCode } from '../errors.ts';

/** Position in a list: after the record with that value of the list's order, as text of PostgreSQL, and that id. */
export interface ListPosition {
  afterValue: string;
  afterId: string;
  /** Total of the first page; empty where it was not counted. */
  total: string;
}

/** The list, its order and the filters that a cursor is bound to. */
export interface CursorScope {
  list: string;
  isDescending?: boolean;
  filters: Record<string, unknown>;
}

const CHECKSUM_BYTES = 8;

/** Returns the cursor of a position. It is valid for the same list, order and filters only (LST-13). */
export function encodeListCursor(scope: CursorScope, { afterValue, afterId, total }: ListPosition): string {
  const position = Buffer.from(`${afterValue}\n${afterId}\n${total}`);
  return Buffer.concat([computeChecksum(scope, position), position]).toString('base64url');
}

/** The error of a cursor that no page of the list has returned. */
const invalidCursor = () =>
  invalidField('cursor', 'must be empty, or the nextCursor of a page of this list with the same filters and order');

/** Returns the position of a cursor; null for the empty one of the first page. Throws a `ValidationError` on `cursor` for any other text. */
export function decodeListCursor(scope: CursorScope, cursor: string): ListPosition | null {
  if (cursor === '') return null;
  const bytes = Buffer.from(cursor, 'base64url');
  const position = bytes.subarray(CHECKSUM_BYTES);
  const [afterValue, afterId, total = ''] = position.toString().split('\n');
  const isIntact =
    bytes.toString('base64url') === cursor &&
    computeChecksum(scope, position).equals(bytes.subarray(0, CHECKSUM_BYTES));
  if (!isIntact || !afterValue || !afterId || !/^\d{0,9}$/.test(total)) throw invalidCursor();
  return { afterValue, afterId, total };
}

/** Returns the rows after a position. The checksum of a cursor is no secret: a made-up one may contain a value of another type. */
export const readAfter = <T>(position: ListPosition | null | undefined, read: Promise<T>): Promise<T> =>
  read.catch((error) => {
    throw position && getErrorCode(error)?.startsWith('22') ? invalidCursor() : error;
  });

function computeChecksum({ list, isDescending, filters }: CursorScope, position: Buffer): Buffer {
  const appliedFilters = Object.entries(filters)
    .filter(([, value]) => value != null)
    .map(([name, value]) => [name, Array.isArray(value) ? [...new Set(value)].sort() : value] as const);
  const sortedFilters = appliedFilters.sort(([one], [other]) => (one < other ? -1 : 1));
  const key = JSON.stringify([list, sortedFilters, ...(isDescending ? ['desc'] : [])]);
  return createHash('sha256').update(key).update(position).digest().subarray(0, CHECKSUM_BYTES);
}
