import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { to as copyTo } from 'pg-copy-streams';
import type { Database } from '../database/database.ts';
import type { CurrentReplica } from '../database/replicas/replica-set.ts';
import { type Draft, Folder } from '../shared/folder.ts';
import { createBuilderFilter } from './builder-rows.ts';
import { fileDefinitions } from './file-definitions.ts';
import { createFileMappings, type FileMapping } from './file-mapping.ts';
import { withTransaction } from './transaction.ts';

export interface ExportOptions {
  /** Exports the records of one builder, with its members and the integrators that its records name. Default: all records. */
  builderId?: string;
  onProgress?(file: string, rows: number, bytes: number): void;
  /** Runs when every file is written under a temporary name, before the first one gets its name. */
  beforeRename?(folder: Folder, drafts: ReadonlyMap<string, Draft>): Promise<void>;
}

interface ExportResult {
  files: { file: string; rows: number; bytes: number }[];
}

const LINE_FEED = 10;

/** Milliseconds between two probes of the standby that an export reads, each of which may take a second. */
const PROBE_INTERVAL_MS = 1_000;
const MAX_FAILED_PROBES = 5;

const HAS_APPLIED = `select pg_is_in_recovery() and pg_last_wal_replay_lsn() - '0/0'::pg_lsn >= $1::numeric as applied`;

/**
 * Writes every file of the format into the folder, which must be missing or empty: one consistent state of the database, the
 * same bytes for the same rows. No file has its name before all of them are written. docs/data-transfer-format.md describes the format.
 */
export async function exportFolder(
  database: Pick<Database, 'metadata' | 'url' | 'replicas'>,
  folder: string,
  options: ExportOptions = {},
): Promise<ExportResult> {
  const mappings = createFileMappings(database.metadata, fileDefinitions);
  const { builderId } = options;
  const conditionOf =
    builderId === undefined ? () => 'true' : createBuilderFilter(database.metadata, mappings, builderId);
  const target = await Folder.create(folder);
  let drafts = new Map<string, Draft>();
  const removeDrafts = async () => {
    for (const draft of drafts.values()) await draft.discard();
    drafts = new Map();
  };
  const exportAll = async (client: pg.Client) => {
    await client.query(`set local statement_timeout = 0; set local jit = off`);
    const files: ExportResult['files'] = [];
    for (const mapping of mappings) {
      const draft = await target.createDraft(mapping.file);
      drafts.set(mapping.file, draft);
      files.push(
        await exportFile(
          client,
          mapping,
          exportSql(mapping, `(${conditionOf(mapping)}) and ${mapping.exported}`),
          draft,
          options,
        ),
      );
    }
    return { files, commit: true };
  };
  const exportFrom = (url: string, prepare?: (client: pg.Client) => Promise<void>) =>
    withTransaction(url, 'begin isolation level repeatable read read only', exportAll, prepare);
  try {
    // The operator may have erased a person just before.
    const current = await database.replicas?.findCurrent();
    // A standby may stall, or cancel a long read, because it conflicts with what the primary has removed.
    const exported = current && (await withStandby(current, exportFrom).catch(removeDrafts));
    const { files } = exported ?? (await exportFrom(database.url));
    await options.beforeRename?.(target, drafts);
    for (const draft of drafts.values()) await draft.complete();
    return { files };
  } catch (error) {
    await removeDrafts();
    throw error;
  }
}

/** Runs an export from the standby. Rejects where that has not applied the position, or no longer answers. */
async function withStandby<T>(
  { replica, position }: CurrentReplica,
  exportFrom: (url: string, prepare: (client: pg.Client) => Promise<void>) => Promise<T>,
): Promise<T> {
  const finished = new AbortController();
  try {
    return await exportFrom(replica.url, async (client) => {
      endWhenStalled(client, replica, finished.signal);
      // Before the transaction, whose snapshot would be older than the position that its first statement reads.
      const { rows } = await client.query<{ applied: boolean }>(HAS_APPLIED, [position]);
      if (!rows[0]!.applied) throw new Error('The standby has not applied what was committed before.');
    });
  } finally {
    finished.abort();
  }
}

/**
 * Ends the connection once the standby has failed to answer several times in a row. Its lag is no sign of a failure, because the export may
 * cause it.
 */
async function endWhenStalled(
  client: pg.Client,
  replica: CurrentReplica['replica'],
  signal: AbortSignal,
): Promise<void> {
  for (let failures = 0; failures < MAX_FAILED_PROBES; ) {
    await sleep(PROBE_INTERVAL_MS, undefined, { signal, ref: false }).catch(() => undefined);
    if (signal.aborted) return;
    failures = (await replica.readPosition()) === null ? failures + 1 : 0;
  }
  if (!signal.aborted) await client.end().catch(() => undefined);
}

async function exportFile(client: pg.Client, mapping: FileMapping, sql: string, draft: Draft, options: ExportOptions) {
  let rows = 0;
  let bytes = 0;
  async function* countRows(source: AsyncIterable<Buffer>) {
    for await (const chunk of source) {
      bytes += chunk.length;
      for (let at = chunk.indexOf(LINE_FEED); at !== -1; at = chunk.indexOf(LINE_FEED, at + 1)) rows++;
      options.onProgress?.(mapping.file, rows, bytes);
      yield chunk;
    }
  }
  await draft.write(countRows(client.query(copyTo(sql))));
  return { file: mapping.file, rows, bytes };
}

/**
 * One JSON object per line, as PostgreSQL formats it. JSON escapes control characters, so CSV with control characters as quote and
 * delimiter leaves the lines unchanged. The order is by code points, independent of the database's collation.
 */
function exportSql({ table, columns, key }: FileMapping, condition: string): string {
  const fields = columns.map(({ field, name, type }) => `${type.json(name)} as "${field}"`);
  const order = key.map(({ name }) => `${name} collate "C"`);
  const select = `select row_to_json(r) from (select ${fields.join(', ')} from ${table} where ${condition} order by ${order.join(', ')}) r`;
  return `copy (${select}) to stdout (format csv, quote E'\\x01', delimiter E'\\x02')`;
}
