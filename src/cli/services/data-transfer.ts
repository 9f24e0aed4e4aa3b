import type pg from 'pg';
import { Builder } from '../../../entities/builder.entity.ts';
import type { AccessChange } from '../../data-transfer/access-changes.ts';
import { createLeftOutPredicate } from '../../data-transfer/builder-rows.ts';
import { exportFolder } from '../../data-transfer/export.ts';
import { requireStoredFiles } from '../../data-transfer/file-definitions.ts';
import { importFolder } from '../../data-transfer/import.ts';
import type { ImportOptions } from '../../data-transfer/import-file.ts';
import type { RowProblem } from '../../data-transfer/row-reader.ts';
import { withAdvisoryLock } from '../../database/write/advisory-lock.ts';
import { isOfErased, parseId } from '../../domain/access/access-values.ts';
import { recordAuditOnConnection } from '../../domain/audit/record-audit.ts';
import { type ChangeContext, inTransaction, requireRow } from '../../domain/change-context.ts';
import { eraseDueBuilders, replayErasures } from '../../domain/privacy/replay-erasures.ts';
import { SWEEP_LOCK } from '../../domain/uploads/sweep.ts';
import type { Message } from '../../mail/mailer.ts';
import { createAddressChangeMessages } from '../../mail/messages.ts';
import { Folder } from '../../shared/folder.ts';
import type { Storage } from '../../storage/storage.ts';
import { CliError } from '../cli-error.ts';
import type { ProgressReporter } from '../io/progress.ts';
import { importStoredFiles } from './stored-files.ts';

/** Maximum problems in the output of `--json`. Further ones are only counted. */
const MAX_PROBLEMS = 10_000;

interface ImportRequest extends Pick<ImportOptions, 'keepGood' | 'allowUserChanges'> {
  folder: string;
  /** Imports only the rows of this builder. */
  builder?: string;
  /** Whether problems are collected for the result instead of logged as they are found. */
  collect: boolean;
  /** Target of the files that the rows refer to. */
  storage: Storage;
  /** Sends the messages about changed addresses after the commit, also where erasures that the folder has undone cannot be applied again. */
  send?(messages: readonly Message[]): Promise<void>;
}

/** Imports a folder. Throws `CliError` and rolls everything back if a row is invalid, unless `keepGood`. */
export async function importData(
  { database, clock, source }: ChangeContext,
  { folder, keepGood, builder, allowUserChanges, collect, storage, send }: ImportRequest,
  progress: ProgressReporter,
) {
  const builderId = builder === undefined ? undefined : parseId('builder', 'builder', builder);
  const problems: RowProblem[] = [];
  const messages: Message[] = [];
  let count = 0;
  const onProblem = (problem: RowProblem) => {
    count++;
    if (!collect) progress.log(`${problem.file}:${problem.line}: ${problem.field ?? 'row'}: ${problem.message}`);
    else if (problems.length < MAX_PROBLEMS) problems.push(problem);
  };
  const onProgress = (file: string, rows: number, bytes: number, totalBytes: number, phase: string) =>
    progress.update(file, bytes, totalBytes, `${phase}, ${rows} rows`);
  const record = { ...source, actor: { type: 'IMPORT' as const, id: source.actor.id } };
  const beforeCommit: ImportOptions['beforeCommit'] = async (client, files, changes) => {
    const at = new Date(clock.now()).toISOString();
    await recordAuditOnConnection(client, {
      ...record,
      at,
      action: 'region.imported',
      objectId: database.region,
      builderId,
      after: { files: files.map(({ file, inserted, updated }) => ({ file, inserted, updated })) },
    });
    for (const change of changes) {
      await recordAuditOnConnection(client, { ...record, at, ...toAuditedChange(change) });
      await endAccess(client, change, at);
      messages.push(...toMessages(change));
    }
    // Fails when the command was interrupted, which has closed the database and not the connection of the import.
    await database.now();
  };
  try {
    // Files are stored before the rows that refer to them. The upload sweep deletes those of rejected rows.
    const opened = await Folder.open(folder);
    const isLeftOut = builderId ? await createLeftOutPredicate(database.metadata, opened, builderId) : () => false;
    const options = { keepGood, builderId, allowUserChanges, onProgress, onProblem };
    const { files, committed } = await withAdvisoryLock(database.url, SWEEP_LOCK, async (signal) => {
      const fileDefinitions = requireStoredFiles(await importStoredFiles(storage, opened, isLeftOut));
      const commit: typeof beforeCommit = (...work) => beforeCommit(...work).then(() => signal.throwIfAborted());
      return importFolder(database, folder, { ...options, beforeCommit: commit }, fileDefinitions);
    });
    const found = collect ? { problems, problemsLeftOut: count - problems.length } : {};
    if (!committed) {
      const bad = files.reduce((sum, file) => sum + file.bad, 0);
      throw new CliError(`Nothing was imported: ${bad} bad ${bad === 1 ? 'row' : 'rows'}.`, found);
    }
    // The folder may be older than an erasure.
    const context = { database, storage, clock, source };
    try {
      await replayErasures(context);
      await eraseDueBuilders(context);
    } finally {
      await send?.(messages);
    }
    return { files, ...found };
  } finally {
    progress.stop();
  }
}

function toAuditedChange({ kind, key, builderId, before, after }: AccessChange) {
  const change = { objectId: key.join('/'), builderId, before, after };
  if (kind === 'builder') return { ...change, action: 'builder.updated' as const };
  if (kind === 'integrator') return { ...change, action: 'integrator.updated' as const, integratorId: key[0] };
  const ofPerson = { ...change, personId: key[0] };
  if (kind === 'membership') return { ...ofPerson, action: 'membership.updated' as const };
  const ofAccess = after.revokedAt ? ('site_access.revoked' as const) : ('site_access.granted' as const);
  if (kind === 'site_access') return { ...ofPerson, action: ofAccess };
  const isDisabled = before.disabledAt === null && after.disabledAt !== null;
  return { ...ofPerson, action: isDisabled ? ('user.disabled' as const) : ('user.updated' as const) };
}

/** Returns the messages about a changed address, to both addresses. An import of an erased person changes it until the erasure is applied. */
function toMessages({ before, after }: AccessChange): Message[] {
  const [previousEmail, email] = [String(before.email), String(after.email)];
  if (before.email === undefined || isOfErased(previousEmail)) return [];
  return createAddressChangeMessages({ name: String(after.name), email, previousEmail });
}

/**
 * Ends sessions and password links of a user whose address has changed or who was disabled, and then the tokens too. SQL: it is part of the
 * import's transaction.
 */
async function endAccess(client: pg.ClientBase, { key: [userId], before, after }: AccessChange, at: string) {
  if (before.email === after.email && before.disabledAt === after.disabledAt) return;
  for (const table of ['oauth_session', 'console_session', 'password_link']) {
    await client.query(`delete from ${table} where user_id = $1`, [userId]);
  }
  if (before.disabledAt === after.disabledAt) return;
  await client.query('update oauth_token_family set revoked_at = $2 where user_id = $1 and revoked_at is null', [
    userId,
    at,
  ]);
}

/**
 * Exports the records of a region, or of one of its builders, to a folder. The export is recorded before anything leaves the database, so that
 * none is unrecorded.
 */
export async function exportData(
  context: ChangeContext,
  storage: Storage,
  { folder, builder }: { folder: string; builder?: string },
  progress: ProgressReporter,
) {
  const { database } = context;
  const builderId = builder === undefined ? undefined : parseId('builderId', 'builder', builder);
  const onProgress = (file: string, rows: number) => progress.update(file, rows, null, `${rows} rows`);
  try {
    await inTransaction(context, async (em, _now, record) => {
      if (builderId === undefined) return record({ action: 'region.exported', objectId: database.region, after: {} });
      const { name } = await requireRow(context, em, Builder, 'builder', builderId, { field: 'builder' });
      await record({ action: 'builder.exported', objectId: builderId, builderId, after: { name } });
    });
    const exported = await exportFolder(database, folder, { builderId, storage, onProgress });
    return { ...(builderId !== undefined && { builderId }), folder, ...exported };
  } finally {
    progress.stop();
  }
}
