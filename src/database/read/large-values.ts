import type { TextRow } from '../pool/pg-pipeline.ts';
import type { ReadDatabase } from './read-database.ts';
import type { PreparedRead } from './read-statement.ts';

/** Approximate maximum bytes of large values that one statement reads. */
const BATCH_BYTES = 4 * 1024 * 1024;

/**
 * Returns the rows of a read that omits large values, with those that have some replaced by rows that include them.
 *
 * @param prepareLargeRead Returns the read of a record with its large values.
 */
export async function addLargeValues(
  database: ReadDatabase,
  { mapper, kind }: PreparedRead,
  rowLists: TextRow[][],
  prepareLargeRead: () => PreparedRead,
): Promise<TextRow[][]> {
  const start = kind === 'one' || kind === 'all' ? 1 : 2;
  /** Bytes of each row's large values, by its id. */
  const sizes = new Map<string, number>();
  for (const rows of rowLists) {
    for (const row of rows) {
      const size = row.at(-1);
      if (size != null) sizes.set(row[start + mapper.idIndex]!, Number(size));
    }
  }
  await database.limits?.acquireLargeRead();
  const largeRows = await readLargeRows(database, prepareLargeRead(), sizes);
  return rowLists.map((rows) =>
    rows.flatMap((row) => {
      if (row.at(-1) == null) return [row];
      const values = largeRows.get(row[start + mapper.idIndex]!);
      if (values) return [[...row.slice(0, start), ...values.slice(1)]];
      // The record was deleted meanwhile. The row of a page keeps its total.
      return kind === 'one' ? [] : [row.map((value, index) => (index < start ? value : null))];
    }),
  );
}

async function readLargeRows(
  { slowRunner, limits }: ReadDatabase,
  { statement, parameterNames }: PreparedRead,
  sizes: Map<string, number>,
): Promise<Map<string, TextRow>> {
  const largeRows = new Map<string, TextRow>();
  for (const ids of toBatches(sizes)) {
    const rowLists = await slowRunner.executeRows(
      statement,
      ids.map((id) => parameterNames.map((name) => (name === 'id' ? id : null))),
    );
    for (const [index, [row]] of rowLists.entries()) {
      if (!row) continue;
      largeRows.set(ids[index]!, row);
      limits?.countLargeBytes(row.reduce((bytes, value) => bytes + (value?.length ?? 0), 0));
    }
  }
  return largeRows;
}

/** Groups the ids so that the large values that one statement reads have a bounded size. */
function toBatches(sizes: Map<string, number>): string[][] {
  const batches: string[][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const [id, size] of sizes) {
    if (bytes + size > BATCH_BYTES) {
      batches.push([]);
      bytes = 0;
    }
    batches.at(-1)!.push(id);
    bytes += size;
  }
  return batches;
}
