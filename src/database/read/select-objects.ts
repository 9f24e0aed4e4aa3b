import type { Statement, TextRow } from '../pool/pg-pipeline.ts';
import type { ReadDatabase } from './read-database.ts';

/** Runs a statement whose rows are one JSON object each, and returns the objects. Lists and frequent reads take columns as text instead. */
export const selectObjects = async <T>(
  { runner }: Pick<ReadDatabase, 'runner'>,
  statement: Statement,
  values: unknown[],
): Promise<T[]> => parseObjects(await runner.run(statement, values));

/** Returns the objects of rows that are one JSON object each. */
export const parseObjects = <T>(rows: readonly TextRow[]): T[] => rows.map(([object]) => JSON.parse(object!));
