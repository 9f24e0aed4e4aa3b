import type { Migration } from '@mikro-orm/migrations';
import type { Database } from './database.ts';
import { migrations } from './migrations/index.ts';

/** Table lock modes that statements of migrations take and that block others, from weak to strong. */
const MODES = ['ROW EXCLUSIVE', 'SHARE UPDATE EXCLUSIVE', 'SHARE', 'SHARE ROW EXCLUSIVE', 'ACCESS EXCLUSIVE'] as const;
type LockMode = (typeof MODES)[number];

/** What a lock keeps other transactions from. */
const BLOCKED: Record<LockMode, string> = {
  'ROW EXCLUSIVE': 'blocks writers of the same rows',
  'SHARE UPDATE EXCLUSIVE': 'blocks neither reads nor writes',
  SHARE: 'blocks writes',
  'SHARE ROW EXCLUSIVE': 'blocks writes',
  'ACCESS EXCLUSIVE': 'blocks reads and writes',
};

/** What a statement does while it holds its lock: change the catalogue, which takes milliseconds, or visit every row. */
type Work = 'catalogue' | 'scan' | 'rewrite';

interface TableLock {
  table: string;
  mode: LockMode;
  work: Work;
}

/** A lock of a pending migration on a table that exists, with the size that determines how long it is held. */
export interface PendingLock extends TableLock {
  blocks: string;
  /** PostgreSQL's estimate. */
  rows: number;
  /** Upper estimate of the seconds for which the lock is held; 0 for less than a second. */
  seconds: number;
}

/** The locks of one pending migration. */
export interface MigrationLocks {
  migration: string;
  /** Locks are held until the whole migration ends; otherwise until their statement ends. */
  transactional: boolean;
  locks: PendingLock[];
}

const TABLE = '(?:"?public"?\\.)?"?(\\w+)"?';
const pattern = (text: string) => new RegExp(text.replaceAll('TABLE', TABLE), 'gi');

/** Statements, in the order in which they are recognized, with the lock on the table of their first group. */
const STATEMENTS: [statement: RegExp, mode: LockMode, work: Work][] = [
  [pattern('^create (?:unique )?index concurrently .*? on TABLE'), 'SHARE UPDATE EXCLUSIVE', 'scan'],
  [pattern('^create (?:unique )?index .*? on TABLE'), 'SHARE', 'scan'],
  [
    pattern('^(?:create|alter) (?:or replace )?(?:constraint )?trigger .*? on TABLE'),
    'SHARE ROW EXCLUSIVE',
    'catalogue',
  ],
  [pattern('^drop trigger .*? on TABLE'), 'ACCESS EXCLUSIVE', 'catalogue'],
  [pattern('^update (?:only )?TABLE'), 'ROW EXCLUSIVE', 'rewrite'],
  [pattern('^insert into TABLE'), 'ROW EXCLUSIVE', 'catalogue'],
  [pattern('^delete from TABLE'), 'ROW EXCLUSIVE', 'rewrite'],
  [pattern('^truncate (?:table )?TABLE'), 'ACCESS EXCLUSIVE', 'catalogue'],
  [pattern('^drop table (?:if exists )?TABLE'), 'ACCESS EXCLUSIVE', 'catalogue'],
  [pattern('^lock table TABLE in access exclusive mode'), 'ACCESS EXCLUSIVE', 'catalogue'],
  [pattern('^lock table TABLE in share row exclusive mode'), 'SHARE ROW EXCLUSIVE', 'catalogue'],
];

const ALTER_TABLE = new RegExp(`^alter table (?:if exists )?(?:only )?${TABLE} (.*)$`, 'is');
const REFERENCES = new RegExp(`\\breferences ${TABLE}`, 'gi');

/** Returns the locks that a statement of a migration takes on tables, as PostgreSQL documents them. */
export function findTableLocks(sql: string): TableLock[] {
  const statement = sql.trim();
  const alter = ALTER_TABLE.exec(statement);
  if (alter) return [toAlterLock(alter[1]!, alter[2]!), ...findReferenced(alter[2]!)];
  if (/^create table/i.test(statement)) return findReferenced(statement);
  for (const [expression, mode, work] of STATEMENTS) {
    const [match] = statement.replace(/\s+/g, ' ').matchAll(expression);
    if (match) return [{ table: match[1]!, mode, work }];
  }
  return [];
}

/** A foreign key locks the table that it refers to against writes. */
const findReferenced = (text: string): TableLock[] =>
  [...text.matchAll(REFERENCES)].map(([, table]) => ({
    table: table!,
    mode: 'SHARE ROW EXCLUSIVE',
    work: 'catalogue',
  }));

function toAlterLock(table: string, actions: string): TableLock {
  const isAll = (action: RegExp) => actions.split(/,(?![^(]*\))/).every((each) => action.test(each.trim()));
  if (isAll(/^validate constraint/i)) return { table, mode: 'SHARE UPDATE EXCLUSIVE', work: 'scan' };
  if (isAll(/^(?:re)?set \(/i)) return { table, mode: 'SHARE UPDATE EXCLUSIVE', work: 'catalogue' };
  if (isAll(/^(?:enable|disable) (?:always |replica )?trigger/i))
    return { table, mode: 'SHARE ROW EXCLUSIVE', work: 'catalogue' };
  if (isAll(/^add constraint \S+ foreign key/i)) {
    return { table, mode: 'SHARE ROW EXCLUSIVE', work: /not valid/i.test(actions) ? 'catalogue' : 'scan' };
  }
  const isRewrite =
    /\b(?:set data )?type\b/i.test(actions.replace(/"[^"]*"/g, '')) ||
    /\b(?:serial|bigserial|generated (?:always|by default))\b/i.test(actions) ||
    /\bdefault (?:gen_random_uuid|random|clock_timestamp|nextval)/i.test(actions);
  const isScan = /\bset not null\b|\badd (?:constraint \S+ )?(?:check|unique|primary key)/i.test(actions);
  const work = isRewrite ? 'rewrite' : isScan && !/not valid/i.test(actions) ? 'scan' : 'catalogue';
  return { table, mode: 'ACCESS EXCLUSIVE', work };
}

const chooseStrongerLock = (one: TableLock, other: TableLock): TableLock => {
  const works: Work[] = ['catalogue', 'scan', 'rewrite'];
  return {
    table: one.table,
    mode: MODES[Math.max(MODES.indexOf(one.mode), MODES.indexOf(other.mode))]!,
    work: works[Math.max(works.indexOf(one.work), works.indexOf(other.work))]!,
  };
};

/** Returns the SQL of a migration, without running it. */
export async function listStatements(
  { orm }: Database,
  name: string,
): Promise<{ statements: string[]; transactional: boolean }> {
  const found = migrations.find((migration) => migration.name === name);
  if (!found) throw new Error(`There is no migration ${name}.`);
  const migration: Migration = new found(orm.em.getDriver(), orm.config);
  await migration.up();
  return { statements: migration.getQueries().map(String), transactional: migration.isTransactional() };
}

/** Returns the strongest lock on each table, by table. */
export function collectTableLocks(statements: readonly string[]): Map<string, TableLock> {
  const locks = new Map<string, TableLock>();
  for (const lock of statements.flatMap(findTableLocks)) {
    const other = locks.get(lock.table);
    locks.set(lock.table, other ? chooseStrongerLock(lock, other) : lock);
  }
  return locks;
}

/** Bytes per second that a migration reads, or writes, at least on a slow disk. */
const BYTES_PER_SECOND = { catalogue: Number.POSITIVE_INFINITY, scan: 20e6, rewrite: 5e6 };

/** Returns the locks that pending migrations will take on the tables of this database, with upper estimates of their duration. */
export async function findMigrationLocks(database: Database, pending: readonly string[]): Promise<MigrationLocks[]> {
  const tables = await database.fork().execute<{ name: string; rows: number; bytes: number }[]>(
    `select relname as name, greatest(reltuples, 0)::float8 as rows, pg_total_relation_size(oid)::float8 as bytes
     from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace`,
  );
  const found: MigrationLocks[] = [];
  for (const migration of pending) {
    const { statements, transactional } = await listStatements(database, migration);
    const existing = tables.flatMap(({ name, rows, bytes }) => {
      const lock = collectTableLocks(statements).get(name);
      return lock ? [{ ...lock, rows, seconds: Math.floor(bytes / BYTES_PER_SECOND[lock.work]) }] : [];
    });
    const total = existing.reduce((sum, { seconds }) => sum + seconds, 0);
    const locks = existing.map(
      (lock): PendingLock => ({
        ...lock,
        blocks: BLOCKED[lock.mode],
        // In one transaction a lock is held until the last statement has ended.
        seconds: transactional ? total : lock.seconds,
      }),
    );
    found.push({ migration, transactional, locks });
  }
  return found;
}
