import { Readable } from 'node:stream';
import type { Erasure } from '../../../entities/erasure.entity.ts';
import { loadConfig } from '../../config.ts';
import { parseId } from '../../domain/access/access-values.ts';
import { type ChangeContext, inTransaction } from '../../domain/change-context.ts';
import {
  BuilderErasureError,
  cancelBuilderErasure,
  listErasures,
  scheduleBuilderErasure,
} from '../../domain/privacy/erase-builder.ts';
import { erasePerson, type PrivacyContext, previewErasure } from '../../domain/privacy/erase-person.ts';
import { exportPerson } from '../../domain/privacy/export-person.ts';
import { listErasedTexts, replaceErasedText, TextReplacementError } from '../../domain/privacy/listed-texts.ts';
import { findPeople, UnknownPersonError } from '../../domain/privacy/person.ts';
import { listPersonalTables } from '../../domain/privacy/personal-tables.ts';
import { eraseDueBuilders, replayErasures } from '../../domain/privacy/replay-erasures.ts';
import { Folder } from '../../shared/folder.ts';
import type { Storage } from '../../storage/storage.ts';
import { CliError } from '../cli-error.ts';
import type { CliIo } from '../io/cli-io.ts';
import type { ProgressReporter } from '../io/progress.ts';
import { exportWithStoredFiles } from './stored-files.ts';

/** Finds the records of people by full name or e-mail address, in any case. */
export async function searchPeople({ database }: ChangeContext, text: string) {
  return { people: await findPeople(database.fork(), listPersonalTables(database.metadata), text) };
}

/** Writes what identifies a person to `person.json` and `files/` of the folder, after the export was recorded. */
export async function exportPersonTo(context: ChangeContext, storage: Storage, folder: string, ids: string[]) {
  const person = await withOperatorErrors(() => exportPerson(context, ids));
  const missing: string[] = [];
  const target = await Folder.create(folder);
  for (const key of person.files) {
    const found = await storage.byteStore.open(key);
    if (found) await target.writeFile(`files/${key}`, found.stream);
    else missing.push(key);
  }
  await target.writeFile('person.json', Readable.from([Buffer.from(`${JSON.stringify(person, null, 2)}\n`)]));
  const rows = Object.fromEntries(Object.entries(person.records).map(([type, records]) => [type, records.length]));
  return { folder, rows, mentionedIn: person.mentionedIn.length, files: person.files.length, missingFiles: missing };
}

/** Returns the texts that an erasure of the person would leave. */
export const previewPersonErasure = (context: ChangeContext, storage: Storage, ids: string[]) =>
  withOperatorErrors(() => previewErasure({ ...context, storage }, ids));

/** Erases a person. */
export const erasePersonRecords = (context: ChangeContext, storage: Storage, ids: string[], reason?: string) =>
  withOperatorErrors(() => erasePerson({ ...context, storage }, ids, reason ?? null));

/** Lists the texts of an erased person, or replaces the name in one of them. */
export const manageErasedTexts = (
  context: ChangeContext,
  id: string,
  replacement: { place: string; name: string } | null,
) =>
  withOperatorErrors(async () => ({
    texts: replacement
      ? [await replaceErasedText(context, id, replacement.place, replacement.name)]
      : await listErasedTexts(context, id),
  }));

/** Applies the list of erasures. */
export async function replayErasureList(context: ChangeContext, storage: Storage) {
  const people = await replayErasures({ ...context, storage });
  const erased = await eraseDueBuilders({ ...context, storage });
  return { applied: people.applied + (erased?.builders ?? 0), stored: people.stored };
}

/** Exports the records of one builder to a folder, in the format of `import`. */
export async function exportBuilder(
  context: ChangeContext,
  storage: Storage,
  { builder, folder }: { builder: string; folder: string },
  progress: ProgressReporter,
) {
  const builderId = parseId('builderId', 'builder', builder);
  const { database } = context;
  const [found] = await database
    .fork()
    .execute<{ name: string }[]>('select name from builder where id = ?', [builderId]);
  if (!found) throw CliError.forOption('BUILDER', `there is no builder ${builderId} in ${database.region}`);
  const onProgress = (file: string, rows: number) => progress.update(file, rows, null, `${rows} rows`);
  try {
    // Before anything leaves the database, so that no export is unrecorded.
    await inTransaction(context, (_em, _now, record) =>
      record({ action: 'builder.exported', objectId: builderId, builderId, after: { name: found.name } }),
    );
    return {
      builderId,
      folder,
      ...(await exportWithStoredFiles(database, storage, folder, { onProgress, builderId })),
    };
  } finally {
    progress.stop();
  }
}

/** Schedules the erasure of a builder after the days of `ERASURE_GRACE_DAYS`. */
export async function scheduleErasure(io: CliIo, context: PrivacyContext, builder: string, reason?: string) {
  const builderId = parseId('builderId', 'builder', builder);
  const { erasureGraceDays } = loadConfig(io.env);
  const { erasure, changed } = await withOperatorErrors(() =>
    scheduleBuilderErasure(context, builderId, erasureGraceDays, reason ?? null),
  );
  return { ...toListedErasure(erasure), builderId, changed };
}

/** Cancels the scheduled erasure of a builder. */
export async function cancelErasure(context: PrivacyContext, builder: string) {
  const builderId = parseId('builderId', 'builder', builder);
  return { ...toListedErasure(await withOperatorErrors(() => cancelBuilderErasure(context, builderId))), builderId };
}

/** Lists the erasures of the region, newest first. */
export async function listErasureRecords({ database }: ChangeContext) {
  return { erasures: (await listErasures(database)).map(toListedErasure) };
}

const toListedErasure = ({ id, kind, subjectIds, pseudonym, ...times }: Erasure) => ({
  ...{ id, kind, subjectIds, pseudonym, requestedAt: times.requestedAt, dueAt: times.dueAt },
  ...{ cancelledAt: times.cancelledAt, completedAt: times.completedAt },
});

/** Converts errors that the operator can correct to `CliError`. */
async function withOperatorErrors<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof UnknownPersonError) throw new CliError(`IDS: ${error.message}`);
    if (error instanceof TextReplacementError) throw CliError.forOption('--replace', error.message);
    if (error instanceof BuilderErasureError) throw CliError.forOption('BUILDER', error.message);
    throw error;
  }
}
