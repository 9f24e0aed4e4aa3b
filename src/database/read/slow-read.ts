import type { Statement, TextRow } from '../pool/pg-pipeline.ts';
import type { ReadDatabase } from './read-database.ts';

/** Returns the rows of a statement that may visit many rows. It runs beside the small reads of requests, within the caller's share. */
export function runSlowStatement(
  { slowRunner, limits }: Pick<ReadDatabase, 'slowRunner' | 'limits'>,
  statement: Statement,
  values: unknown[],
): Promise<TextRow[]> {
  const read = () => slowRunner.run(statement, values);
  return limits ? limits.runSlowRead(read) : read();
}
