import type { Statement } from '../pool/pg-pipeline.ts';
import type { ReadDatabase } from './read-database.ts';

/** Runs a statement whose rows are one JSON object each, and returns the objects. Lists and frequent reads take columns as text instead. */
export async function selectObjects<T>(
  { runner }: Pick<ReadDatabase, 'runner'>,
  statement: Statement,
  values: unknown[],
): Promise<T[]> {
  const rows = await runner.run(statement, values);
  return rows.map(([object]) => JSON.parse(object!) as T);
}
