import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { EntityManager } from '@mikro-orm/postgresql';
import { Erasure, type ErasureKind } from '../../../entities/erasure.entity.ts';
import type { Storage } from '../../storage/storage.ts';
import { toArray } from './person.ts';

/** Folder of the storage with one object for each erasure that was begun. It must not be restored to an older state. */
const FOLDER = 'erasures';
const MAX_BYTES = 1024 * 1024;

/** An erasure as the storage keeps it. It contains no name. */
export interface ListedErasure {
  id: string;
  kind: ErasureKind;
  subjectIds: string[];
  pseudonym: string | null;
  requestedAt: string;
}

const keyOf = (id: string): string => `${FOLDER}/${id}.json`;

/** Stores the erasure outside of the database, before the database changes. */
export async function storeErasure({ bytes, spool }: Storage, erasure: ListedErasure): Promise<void> {
  const { id, kind, subjectIds, pseudonym, requestedAt } = erasure;
  const json = JSON.stringify({ id, kind, subjectIds, pseudonym, requestedAt });
  const file = await spool.receive(Readable.from([Buffer.from(json)]), MAX_BYTES);
  try {
    await bytes.put(keyOf(id), file.path, 'application/json');
  } finally {
    await spool.discard(file.path);
  }
}

/** Lists the ids of the stored erasures. */
export async function listStoredErasures({ bytes }: Storage): Promise<string[]> {
  const ids: string[] = [];
  for await (const { key } of bytes.list(`${FOLDER}/`)) {
    const [, id] = /^erasures\/(era_[a-z0-9]+)\.json$/.exec(key) ?? [];
    if (id) ids.push(id);
  }
  return ids;
}

/** Reads a stored erasure; null if there is none. */
export async function readStoredErasure({ bytes }: Storage, id: string): Promise<ListedErasure | null> {
  const opened = await bytes.open(keyOf(id));
  return opened && (JSON.parse(await text(opened.stream)) as ListedErasure);
}

/** Inserts the row of an erasure unless it exists. */
export async function insertErasure(em: EntityManager, erasure: ListedErasure, dueAt: string): Promise<void> {
  const row = { ...erasure, dueAt, cancelledAt: null, completedAt: null, pendingKeys: [] };
  await em.upsert(Erasure, row, { onConflictFields: ['id'], onConflictAction: 'ignore' });
}

/** Returns the pseudonym that an earlier erasure gave one of the records; null if there is none. */
export async function findPseudonym(em: EntityManager, ids: readonly string[]): Promise<string | null> {
  const [row] = await em.execute<{ pseudonym: string }[]>(
    `select pseudonym from erasure where kind = 'PERSON' and subject_ids && ?::text[] order by requested_at, id limit 1`,
    [toArray(ids)],
  );
  return row?.pseudonym ?? null;
}
