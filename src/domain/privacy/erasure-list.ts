import { Readable } from 'node:stream';
import type { EntityManager } from '@mikro-orm/postgresql';
import { Erasure } from '../../../entities/erasure.entity.ts';
import { type IdKind, isId } from '../../../schema/ids.ts';
import { OperatorError } from '../../shared/operator-error.ts';
import type { Storage } from '../../storage/storage.ts';

/** Folder of the storage with one object for each erasure that was begun or scheduled. It must not be restored to an older state. */
const FOLDER = 'erasures';
const MAX_BYTES = 1024 * 1024;

/** An erasure as the storage keeps it. It contains no name. */
export type ListedErasure = Pick<Erasure, (typeof STORED_FIELDS)[number]>;

export const STORED_FIELDS = [
  'id',
  'kind',
  'subjectIds',
  'builderIds',
  'pseudonym',
  'requestedAt',
  'dueAt',
  'cancelledAt',
] as const;

const isPseudonym = (text: unknown): boolean => typeof text === 'string' && /^Erased person [0-9a-f]{10}$/.test(text);

const isInstant = (time: unknown): boolean => typeof time === 'string' && !Number.isNaN(Date.parse(time));

const toKey = (id: string): string => `${FOLDER}/${id}.json`;

/** Stores the erasure outside of the database, and replaces the object that there is. */
export async function storeErasure(storage: Storage, erasure: ListedErasure): Promise<void> {
  const bytes = Buffer.from(JSON.stringify(erasure, [...STORED_FIELDS]));
  await storage.store(toKey(erasure.id), Readable.from([bytes]), 'application/json', MAX_BYTES);
}

/** Lists the ids of the stored erasures, oldest first: a later one of the same person has the pseudonym of an earlier one. */
export async function listStoredErasures({ byteStore }: Storage): Promise<string[]> {
  const ids: string[] = [];
  for await (const { key } of byteStore.list(`${FOLDER}/`)) {
    const [, id] = /^erasures\/(era_[a-z0-9]+)\.json$/.exec(key) ?? [];
    if (id) ids.push(id);
  }
  return ids.sort();
}

/** Reads a stored erasure; null if there is none. Throws for an object that this service has not written. */
export async function readStoredErasure(storage: Storage, id: string): Promise<ListedErasure | null> {
  const erasure = await storage.readJson<ListedErasure>(toKey(id));
  if (!erasure) return null;
  const kinds: IdKind[] = erasure.kind === 'BUILDER' ? ['builder'] : ['user', 'worker', 'profile', 'contact'];
  const isValid =
    erasure.id === id &&
    (erasure.kind === 'BUILDER' ? erasure.pseudonym === null : isPseudonym(erasure.pseudonym)) &&
    Array.isArray(erasure.subjectIds) &&
    erasure.subjectIds.every((subject) => kinds.some((kind) => isId(kind, subject))) &&
    Array.isArray(erasure.builderIds) &&
    erasure.builderIds.every((builderId) => isId('builder', builderId)) &&
    [erasure.requestedAt, erasure.dueAt, erasure.cancelledAt ?? erasure.dueAt].every((time) => isInstant(time));
  if (!isValid) throw new OperatorError(`${toKey(id)} in the store is no erasure that this service has written.`);
  return erasure;
}

/** Returns the erasures of the person with these records, oldest first. */
export const findErasures = (em: EntityManager, ids: readonly string[]): Promise<Erasure[]> =>
  em.find(
    Erasure,
    { kind: 'PERSON', subjectIds: { $overlap: [...ids] } },
    { orderBy: { requestedAt: 'asc', id: 'asc' } },
  );
