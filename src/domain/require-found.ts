import { notFound } from '../shared/errors.ts';

/** Returns the record; throws `NOT_FOUND` with the name of its type if there is none. */
export async function requireFound<T extends object>(record: Promise<T | null>, type: string): Promise<T> {
  const found = await record;
  if (!found) throw notFound(type);
  return found;
}
