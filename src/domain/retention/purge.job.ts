import type { QueryResult } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import type { Database, Databases } from '../../database/database.ts';
import { tryWithAdvisoryLock } from '../../database/write/advisory-lock.ts';
import { DAY_MS } from '../../shared/clock.ts';
import type { Job } from '../../shared/jobs.ts';
import { MAX_ROWS, RETENTION_RULES, type RetentionRule } from './retention-rules.ts';

const INTERVAL_MS = 10 * 60_000;
/** Time after which a rule starts no further batch; the next run continues. */
const MAX_RULE_MS = 20_000;
/** One instance purges a region at a time; others skip their run. */
const LOCK = 'builder-integration-api purge';

/** Number of deleted rows by rule. */
type PurgeCounts = Record<string, number>;

/**
 * Deletes the rows of one region whose time is over, by `RETENTION_RULES`; returns null while another instance purges it. A rule that
 * fails does not prevent the others; its error is thrown at the end.
 */
export const purgeExpired = (database: Database, now: number): Promise<PurgeCounts | null> =>
  tryWithAdvisoryLock(database.url, LOCK, async () => {
    const failures: unknown[] = [];
    const deleted: PurgeCounts = {};
    for (const [name, { purge: statement, days }] of Object.entries<RetentionRule>(RETENTION_RULES)) {
      if (statement === undefined) continue;
      const end = performance.now() + MAX_RULE_MS;
      deleted[name] = 0;
      try {
        let rows: number;
        do {
          rows = await database.transaction((em) => purge(em, statement, now, days));
          deleted[name] += rows;
        } while (rows === MAX_ROWS && performance.now() < end);
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw failures[0];
    return deleted;
  });

async function purge(
  em: EntityManager,
  statement: NonNullable<RetentionRule['purge']>,
  now: number,
  days: number,
): Promise<number> {
  const instants = { now: new Date(now).toISOString(), before: new Date(now - days * DAY_MS).toISOString() };
  if (typeof statement === 'function') return statement(em, instants.before);
  const names = [...statement.matchAll(/:(now|before)/g)].map(([, name]) => name as keyof typeof instants);
  const values = names.map((name) => instants[name]);
  const { affectedRows } = await em.execute<QueryResult>(statement.replace(/:(now|before)/g, '?'), values, 'run');
  return affectedRows;
}

/**
 * Creates the job that purges every region every ten minutes.
 *
 * @param now milliseconds since the epoch; by default the database's clock, because an instance whose own clock is wrong
 *   must not delete valid sessions
 */
export const createPurgeJob = (databases: Databases, now = (database: Database) => database.now()): Job => ({
  name: 'purge',
  everyMs: INTERVAL_MS,
  run: async (region) => purgeExpired(databases[region], await now(databases[region])),
});
