import { type CrossRecordRule, type FileDefinition, requireStoredFiles } from '../../data-transfer/file-definitions.ts';
import { importFolder } from '../../data-transfer/import.ts';
import type { ImportOptions } from '../../data-transfer/import-file.ts';
import type { RowProblem } from '../../data-transfer/row-reader.ts';
import { recordAuditOnConnection } from '../../domain/audit/record-audit.ts';
import { type ChangeContext, inTransaction } from '../../domain/change-context.ts';
import {
  normalizeReportRow,
  REPORTS_WITH_PAGES,
  validatePageRow,
  validateReportRow,
  validateReportWithPages,
} from '../../domain/photo-reports/stored-report.ts';
import { findRowsBeforeErasures, type RowsBeforeErasure } from '../../domain/privacy/imported-mentions.ts';
import { listPersonalTables } from '../../domain/privacy/personal-tables.ts';
import { eraseDueBuilders, replayErasures } from '../../domain/privacy/replay-erasures.ts';
import type { Storage } from '../../storage/storage.ts';
import { CliError } from '../cli-error.ts';
import type { ProgressReporter } from '../io/progress.ts';
import { exportWithStoredFiles, importStoredFiles } from './stored-files.ts';

/** Validation of photo reports, with the same rules as a sync. */
const REPORT_RULES: Record<string, Pick<FileDefinition, 'normalizeRow' | 'validateRow' | 'crossRecordRule'>> = {
  'photo-reports': {
    normalizeRow: normalizeReportRow,
    validateRow: validateReportRow,
    crossRecordRule: { select: REPORTS_WITH_PAGES, validate: validateReportWithPages as CrossRecordRule['validate'] },
  },
  'photo-report-pages': { validateRow: validatePageRow },
};

const withReportRules = (definition: FileDefinition): FileDefinition => ({
  ...definition,
  ...REPORT_RULES[definition.file],
});

/** Maximum problems in the output of `--json`. Further ones are only counted. */
const MAX_PROBLEMS = 10_000;

interface ImportRequest {
  folder: string;
  /** Whether valid rows are committed although others are invalid. */
  keepGood: boolean;
  /** Whether problems are collected for the result instead of logged as they are found. */
  collect: boolean;
  /** Target of the files that the rows refer to. */
  storage: Storage;
}

/** Imports a folder. Throws `CliError` and rolls everything back if a row is invalid, unless `keepGood`. */
export async function importData(
  { database, clock, source }: ChangeContext,
  { folder, keepGood, collect, storage }: ImportRequest,
  progress: ProgressReporter,
) {
  const problems: RowProblem[] = [];
  let count = 0;
  const onProblem = (problem: RowProblem) => {
    count++;
    if (!collect) progress.log(`${problem.file}:${problem.line}: ${problem.field ?? 'row'}: ${problem.message}`);
    else if (problems.length < MAX_PROBLEMS) problems.push(problem);
  };
  const onProgress = (file: string, rows: number, bytes: number, totalBytes: number, phase: string) =>
    progress.update(file, bytes, totalBytes, `${phase}, ${rows} rows`);
  const beforeCommit: ImportOptions['beforeCommit'] = async (client, files) => {
    rejectRowsBeforeErasures(await findRowsBeforeErasures(client, listPersonalTables(database.metadata)));
    await recordAuditOnConnection(client, {
      ...{ ...source, actor: { type: 'IMPORT', id: source.actor.id }, at: new Date(clock.now()).toISOString() },
      ...{ action: 'region.imported', objectId: database.region },
      after: { files: files.map(({ file, inserted, updated }) => ({ file, inserted, updated })) },
    });
  };
  try {
    // Files are stored before the rows that refer to them. The upload sweep deletes those of rejected rows.
    const fileDefinitions = requireStoredFiles(await importStoredFiles(storage, folder)).map(withReportRules);
    const { files, committed } = await importFolder(
      database,
      folder,
      { keepGood, onProgress, onProblem, beforeCommit },
      fileDefinitions,
    );
    const found = collect ? { problems, problemsLeftOut: count - problems.length } : {};
    if (!committed) {
      const bad = files.reduce((sum, file) => sum + file.bad, 0);
      throw new CliError(`Nothing was imported: ${bad} bad ${bad === 1 ? 'row' : 'rows'}.`, found);
    }
    // The folder may be older than an erasure.
    const context = { database, storage, clock, source };
    await replayErasures(context);
    await eraseDueBuilders(context);
    return { files, ...found };
  } finally {
    progress.stop();
  }
}

/** Throws `CliError` for rows that may bring back the name of an erased person. */
function rejectRowsBeforeErasures(found: readonly RowsBeforeErasure[]): void {
  if (found.length === 0) return;
  const places = found.map(
    ({ table, builderId, rows, erasedAt }) => `${rows} of ${table} of ${builderId} (${erasedAt})`,
  );
  throw new CliError(
    'Nothing was imported: these rows are older than the erasure of a person, and may name this person. Import them together with ' +
      `the users, workers, profiles and contacts of the same export, or export them again: ${places.join(', ')}.`,
  );
}

/** Exports the data of the region to a folder, and records it before the files are complete, so that no export is unrecorded. */
export async function exportData(context: ChangeContext, storage: Storage, folder: string, progress: ProgressReporter) {
  const { database } = context;
  const onProgress = (file: string, rows: number) => progress.update(file, rows, null, `${rows} rows`);
  try {
    await inTransaction(context, (_em, _now, record) =>
      record({ action: 'region.exported', objectId: database.region, after: {} }),
    );
    return await exportWithStoredFiles(database, storage, folder, { onProgress });
  } finally {
    progress.stop();
  }
}
