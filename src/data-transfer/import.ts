import type pg from 'pg';
import type { Database } from '../database/database.ts';
import { waitForAdvisoryLock } from '../database/write/advisory-lock.ts';
import { readCatalog } from './catalog.ts';
import { findFiles } from './files.ts';
import { type FileResult, type ImportOptions, importFile } from './import-file.ts';
import { buildPlans, type Plan } from './plan.ts';
import { resources as allResources, type Resource } from './resources.ts';
import { ExchangeError, inTransaction } from './session.ts';
import { createTables, takeTouched } from './statements.ts';

export interface ImportResult {
  /** In the order of import; a missing file has no entry. What was not committed is counted as if it had been. */
  files: FileResult[];
  committed: boolean;
}

/** Imports follow one another, because two at once could wait for each other's rows for ever. */
const LOCK = 'builder-integration-api import';
/** Sorts and hashes of a whole file; what does not fit goes to disk. */
const MEMORY = `set local work_mem = '64MB'; set local jit = off; set local lock_timeout = 0; set local statement_timeout = 0`;

/**
 * Upserts the rows of every file of the folder in one transaction: all or nothing, unless `keepGood`. The format is
 * described in docs/data-transfer-format.md. Throws `ExchangeError` when the folder cannot be imported at all.
 */
export async function importFolder(
  database: Pick<Database, 'metadata' | 'url'>,
  folder: string,
  options: ImportOptions = {},
  resources: Resource[] = allResources,
): Promise<ImportResult> {
  const plans = buildPlans(database.metadata, resources);
  const found = await findFiles(folder, plans);
  const { files, commit } = await inTransaction(database.url, 'begin', async (client) => {
    await client.query(MEMORY);
    await waitForAdvisoryLock(client, LOCK);
    await client.query(createTables);
    const files: FileResult[] = [];
    for (const { plan, path, size } of found) {
      const catalog = await readCatalog(client, plan.table);
      const work = importFile({ client, plan, catalog, path, size, options });
      files.push(await work.catch((error) => refuseViolation(plan.file, error)));
    }
    const torn = await inspectWholes(client, plans, files, options);
    return { files, commit: torn === 0 && (options.keepGood === true || files.every(({ bad }) => bad === 0)) };
  });
  return { files, committed: commit };
}

/** Records that are looked at together. */
const WHOLES = 20;

/** Looks at the records that the import has touched together with what belongs to them; answers how many do not fit. */
async function inspectWholes(
  client: pg.Client,
  plans: Plan[],
  files: FileResult[],
  { onBadRow }: ImportOptions,
): Promise<number> {
  let torn = 0;
  for (const { file: whole, whole: rule } of plans) {
    for (let taken = WHOLES; rule && taken === WHOLES; ) {
      const { rows: touched } = await client.query(takeTouched, [whole, WHOLES]);
      taken = touched.length;
      const { rows } = await client.query(rule.select, [touched.map(({ id }) => id)]);
      const found = new Map(rows.map((row) => [row.id, row]));
      for (const { id, file, line } of touched.toSorted((a, b) => a.line - b.line)) {
        const errors = rule.inspect(found.get(id) as never);
        for (const { fieldName, message } of errors) await onBadRow?.({ file, line, field: fieldName, message });
        if (errors.length === 0) continue;
        torn++;
        files.find((result) => result.file === file)!.bad++;
      }
    }
  }
  return torn;
}

/** Every row was checked, so a constraint (SQLSTATE class 23) can only be broken by what others wrote since. */
function refuseViolation(file: string, error: Error & { code?: string }): never {
  if (!error.code?.startsWith('23')) throw error;
  throw new ExchangeError(`${file}: ${error.message}. Others wrote to the database meanwhile: import again.`, {
    cause: error,
  });
}
