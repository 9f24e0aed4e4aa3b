import type { ListOrder } from '../../../schema/enums.ts';
import { invalidField } from '../../shared/errors.ts';

/** Maximum rows of a page of the console. */
const MAX_ROWS = 200;

/** Returns the number of rows of a list. Throws 400 for one that is out of bounds. */
export function toLimit(limit?: number | null): number {
  const rows = limit ?? 50;
  if (rows < 1 || rows > MAX_ROWS) throw invalidField('limit', `must be from 1 to ${MAX_ROWS}`);
  return rows;
}

/** The window of a list. */
export interface PageArgs {
  limit: number;
  cursor: string | undefined;
  order: ListOrder | undefined;
}

export const toPage = <T>(data: T[], nextCursor: string | null) => ({ data, meta: { nextCursor } });

/** Returns the page of a list of the domain, which has its rows under a name of their own. */
export const toNamedPage = <T>({ nextCursor, ...rows }: { nextCursor: string | null }) =>
  toPage(Object.values(rows)[0] as T[], nextCursor);

/** Returns the arguments without those that are null: an argument that is null means what an absent one does. */
export const withoutNull = (values: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value != null)) as Record<string, never>;
