import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import type pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import type { Catalog } from './catalog.ts';
import { LineSplitter } from './lines.ts';
import type { Plan } from './plan.ts';
import { type Problem, RowReader } from './rows.ts';
import * as sql from './statements.ts';
import { type Claim, claimsOf, conflicts, repeats } from './uniqueness.ts';

/** What is being done with a file; `rows` and `bytes` count what was read. */
export type Phase = 'reading' | 'checking' | 'writing';

export interface ImportOptions {
  /**
   * Commit the good rows though others are bad. Without it a bad row takes everything back; and so does, either way, a record that
   * does not fit together with those of other files, because by then its rows are written.
   */
  keepGood?: boolean;
  onProgress?(file: string, rows: number, bytes: number, totalBytes: number, phase: Phase): void;
  /** Is told of every problem, and waited for; nothing is kept of it. */
  onBadRow?(problem: Problem): void | Promise<void>;
}

export interface FileResult {
  file: string;
  /** Lines that hold a row, bad ones included. */
  rows: number;
  inserted: number;
  updated: number;
  unchanged: number;
  bad: number;
}

export interface FileImport {
  client: pg.Client;
  plan: Plan;
  catalog: Catalog;
  path: string;
  size: number;
  options: ImportOptions;
}

/** From this many rows on, checking foreign keys once per file instead of once per row is worth its locks. */
const BULK_ROWS = 10_000;
/** COPY is sent in pieces of about this many characters. */
const PIECE = 65_536;
/** Problems that are fetched from the database at a time. */
const FETCHED = 1_000;
/** A row may wait for this many others to give up its unique values. */
const MAX_PASSES = 1_000;

/** Imports one file within the transaction of the client. Bad rows are reported and left out. */
export async function importFile(work: FileImport): Promise<FileResult> {
  const { client, plan, catalog, size, options } = work;
  const reader = new RowReader(plan, catalog.indexed);
  let bytes = 0;
  const progress = (phase: Phase) => options.onProgress?.(plan.file, reader.rows, bytes, size, phase);
  await client.query(sql.createStage(plan));
  const pieces = readPieces(work, reader, (read) => {
    bytes = read;
    progress('reading');
  });
  await pipeline(pieces, client.query(copyFrom(sql.copyToStage)));
  progress('checking');
  await client.query('analyze exchange_stage');
  const bulk = await canCheckInBulk(work, reader.rows);
  if (bulk) for (const reference of plan.references) await client.query(sql.lockParents(reference));
  const claims = claimsOf(plan, catalog);
  await findProblems(work, claims);
  progress('writing');
  if (bulk) await client.query('set local session_replication_role = replica');
  const { inserted, updated } = await write(work, claims);
  if (bulk) await client.query(`set local session_replication_role = origin; analyze ${plan.table}`);
  const bad = reader.bad + (await reportProblems(work));
  if (bad > 0 && plan.id) await client.query(sql.rememberRefused(plan));
  if (plan.whole) await client.query(sql.rememberTouched(plan, plan, plan.key[0]!));
  for (const { column, parent } of plan.references)
    if (parent.whole && parent !== plan) await client.query(sql.rememberTouched(plan, parent, column));
  await client.query(sql.clearTables);
  const unchanged = reader.rows - bad - inserted - updated;
  return { file: plan.file, rows: reader.rows, inserted, updated, unchanged, bad };
}

/** The file as COPY text. What is wrong with a row in itself is reported on the way. */
async function* readPieces({ path, options }: FileImport, reader: RowReader, onRead: (bytes: number) => void) {
  const splitter = new LineSplitter(reader);
  let bytes = 0;
  const tell = async () => {
    const problems = reader.problems;
    reader.problems = [];
    for (const problem of problems) await options.onBadRow?.(problem);
  };
  for await (const chunk of createReadStream(path)) {
    splitter.push(chunk);
    bytes += chunk.length;
    await tell();
    onRead(bytes);
    if (reader.text.length >= PIECE) yield reader.take();
  }
  splitter.end();
  await tell();
  yield reader.take();
}

/**
 * A foreign key trigger costs more than writing the row, and this import checks foreign keys itself: where it is allowed
 * to, it turns the triggers off for the rows of a large file and locks the parents as they would. Not where the table
 * has other triggers, which must run, or leads to itself.
 */
async function canCheckInBulk({ client, plan, catalog }: FileImport, rows: number): Promise<boolean> {
  if (rows < BULK_ROWS || catalog.triggers || plan.references.some(({ parent }) => parent === plan)) return false;
  const { rows: answers } = await client.query(
    `select has_parameter_privilege('session_replication_role', 'set') as allowed`,
  );
  return answers[0].allowed;
}

async function findProblems({ client, plan, catalog }: FileImport, claims: Claim[]): Promise<void> {
  const statements = [
    sql.referenceProblems(plan),
    sql.checkProblems(plan, catalog.checks),
    ...claims.map((claim) => repeats(claim)),
  ];
  for (const statement of statements) if (statement) await client.query(statement);
  for (const reference of plan.references.filter(({ parent }) => parent === plan)) {
    while ((await client.query(sql.orphans(plan, reference))).rowCount! > 0);
  }
}

/**
 * Writes in passes: a row whose unique value another record holds waits for the pass after the one that moves that
 * record. Rows that wait in vain become problems.
 */
async function write({ client, plan }: FileImport, claims: Claim[]) {
  let inserted = 0;
  let updated = 0;
  for (let pass = 0, before = Number.POSITIVE_INFINITY; ; pass++) {
    for (const claim of claims.filter(({ isKey }) => !isKey)) await client.query(conflicts(plan, claim, pass));
    const waiting = await client.query(
      'select count(distinct line)::int as count from exchange_waiting where pass = $1',
      [pass],
    );
    const { count } = waiting.rows[0];
    if (count < before) {
      const result = (await client.query(sql.upsert(plan, pass))).rows[0];
      inserted += result.inserted;
      updated += result.updated;
    }
    if (count === 0 || count === before || pass === MAX_PASSES) {
      if (count > 0) await client.query(sql.giveUpWaiting(pass));
      return { inserted, updated };
    }
    if (pass === 0) await client.query('create index on exchange_stage (__line)');
    before = count;
  }
}

/** Reports what the database found, by line, and gives the number of rows that are bad for it alone. */
async function reportProblems({ client, plan, options }: FileImport): Promise<number> {
  const { rows } = await client.query(sql.countFoundBad);
  if (rows[0].problems === 0) return 0;
  await client.query(`declare exchange_problems no scroll cursor for
    select line, field, message from exchange_problem order by line, field`);
  for (;;) {
    const fetched = await client.query(`fetch ${FETCHED} from exchange_problems`);
    for (const { line, field, message } of fetched.rows) {
      const problem: Problem = { file: plan.file, line: Number(line), field, message };
      await options.onBadRow?.(problem);
    }
    if (fetched.rows.length < FETCHED) break;
  }
  await client.query('close exchange_problems');
  return rows[0].bad;
}
