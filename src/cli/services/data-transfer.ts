import { exportFolder } from '../../data-transfer/export.ts';
import { importFolder } from '../../data-transfer/import.ts';
import { type Resource, resourcesOver, type Whole } from '../../data-transfer/resources.ts';
import type { Problem } from '../../data-transfer/rows.ts';
import {
  inspectStoredPage,
  inspectStoredReport,
  inspectWholeReport,
  WHOLE_REPORTS,
} from '../../domain/photo-reports/stored-report.ts';
import type { Storage } from '../../storage/storage.ts';
import { Refusal } from '../cli-error.ts';
import type { Progress } from '../io/progress.ts';
import type { Place } from './command-context.ts';
import { exportFiles, importFiles } from './transfer-files.ts';

/** The rules of a sync for reports that are imported. */
const REPORT_RULES: Record<string, Pick<Resource, 'inspect' | 'whole'>> = {
  'photo-reports': {
    inspect: inspectStoredReport,
    whole: { select: WHOLE_REPORTS, inspect: inspectWholeReport as Whole['inspect'] },
  },
  'photo-report-pages': { inspect: inspectStoredPage },
};

const withReportRules = (resource: Resource): Resource => ({ ...resource, ...REPORT_RULES[resource.file] });

/** Problems that `--json` holds on to, to print them in its one object; more are counted. */
const MAX_PROBLEMS = 10_000;

export interface ImportRequest {
  folder: string;
  /** Whether good rows are committed though others are bad. */
  keepGood: boolean;
  /** Whether problems are collected for the answer; else each is said when it is found. */
  collect: boolean;
  /** Where the bytes go that the rows name. */
  storage: Storage;
}

/** Imports a folder, and tells of every bad row. Nothing is kept of it when one is bad, unless `keepGood`. */
export async function importData(
  { database }: Place,
  { folder, keepGood, collect, storage }: ImportRequest,
  progress: Progress,
) {
  const problems: Problem[] = [];
  let count = 0;
  const onBadRow = (problem: Problem) => {
    count++;
    if (!collect) progress.say(`${problem.file}:${problem.line}: ${problem.field ?? 'row'}: ${problem.message}`);
    else if (problems.length < MAX_PROBLEMS) problems.push(problem);
  };
  const onProgress = (file: string, rows: number, bytes: number, totalBytes: number, phase: string) =>
    progress.show(file, bytes, totalBytes, `${phase}, ${rows} rows`);
  try {
    // Bytes come before the rows that name them; those of rows that are refused are swept.
    const resources = resourcesOver(await importFiles(storage, folder)).map(withReportRules);
    const { files, committed } = await importFolder(database, folder, { keepGood, onProgress, onBadRow }, resources);
    const found = collect ? { problems, problemsLeftOut: count - problems.length } : {};
    if (!committed) {
      const bad = files.reduce((sum, file) => sum + file.bad, 0);
      throw new Refusal(`Nothing was imported: ${bad} bad ${bad === 1 ? 'row' : 'rows'}.`, found);
    }
    return { files, ...found };
  } finally {
    progress.end();
  }
}

/** Writes the region's data as the same folder. */
export async function exportData({ database }: Place, storage: Storage, folder: string, progress: Progress) {
  const onProgress = (file: string, rows: number) => progress.show(file, rows, null, `${rows} rows`);
  try {
    const exported = await exportFolder(database, folder, { onProgress });
    return { ...exported, storedFiles: await exportFiles(storage, folder) };
  } finally {
    progress.end();
  }
}
