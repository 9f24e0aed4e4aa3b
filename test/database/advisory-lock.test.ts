import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { Database } from '../../src/database/database.ts';
import { runPendingMigrations } from '../../src/database/run-migrations.ts';
import { acquireRecordLock, tryWithAdvisoryLock, withAdvisoryLock } from '../../src/database/write/advisory-lock.ts';
import { createDatabase } from '../setup/database.ts';
import { Pooler } from '../support/pooler.ts';

const NAME = 'builder-integration-api test';

let createdDatabase: Awaited<ReturnType<typeof createDatabase>>;
let pooler: Pooler;

beforeAll(async () => {
  createdDatabase = await createDatabase();
  pooler = await Pooler.start(createdDatabase.url, 'transaction');
});

afterAll(async () => {
  await pooler.close();
  await createdDatabase.drop();
});

const executeAsAdministrator = async (sql: string) => {
  const client = new pg.Client({ connectionString: createdDatabase.url });
  await client.connect();
  return client.query(sql).finally(() => client.end());
};

describe('the lock of a record', () => {
  it('is waited for as long as other locks, 4 seconds (LIM-25)', async () => {
    const database = new Database('au1', createdDatabase.url);
    await database.transaction(async (holder) => {
      await acquireRecordLock(holder, NAME);
      const waiting = database.transaction(async (em) => {
        expect(await em.execute('show lock_timeout')).toEqual([{ lock_timeout: '4s' }]);
        await em.execute(`set local lock_timeout = '50ms'`);
        await acquireRecordLock(em, NAME);
      });
      await expect(waiting).rejects.toMatchObject({ code: '55P03' });
    });
    await database.close();
  });
});

/** Returns a function that counts the transactions that it has seen so far on connections for the lock. */
function createTransactionCounter(): () => Promise<number> {
  const begun = new Set<number>();
  return async () => {
    const { rows } = await executeAsAdministrator(
      `select xact_start from pg_stat_activity where application_name like '${NAME}%' and xact_start is not null`,
    );
    for (const { xact_start } of rows) begun.add(xact_start.getTime());
    return begun.size;
  };
}

describe('withAdvisoryLock', () => {
  it.each([
    ['directly', () => createdDatabase.url],
    ['through a pooler that keeps the session', () => pooler.url],
  ])('releases the lock when the work ends, %s', async (_, urlOf) => {
    for (let round = 0; round < 3; round++) {
      expect(await withAdvisoryLock(urlOf(), NAME, async () => round)).toBe(round);
      expect(await tryWithAdvisoryLock(urlOf(), NAME, async () => 'free')).toBe('free');
    }
    await expect(withAdvisoryLock(urlOf(), NAME, () => Promise.reject(new Error('failed')))).rejects.toThrow('failed');
    expect(await tryWithAdvisoryLock(createdDatabase.url, NAME, async () => 'free')).toBe('free');
  });

  it('excludes other holders', async () => {
    const entered = Promise.withResolvers<void>();
    const finished = Promise.withResolvers<void>();
    const first = withAdvisoryLock(createdDatabase.url, NAME, async () => {
      entered.resolve();
      await finished.promise;
    });
    await entered.promise;
    expect(await tryWithAdvisoryLock(createdDatabase.url, NAME, async () => 'free')).toBeNull();
    finished.resolve();
    await first;
  });

  it('holds no snapshot, so that an index can be built concurrently', async () => {
    const created = withAdvisoryLock(createdDatabase.url, NAME, () =>
      executeAsAdministrator('create index concurrently while_locked on meeting (title)'),
    );
    await expect(created).resolves.not.toThrow();
  });

  it('waits in a new transaction for each attempt, because a concurrent index build may wait for the end of one', async () => {
    const countTransactions = createTransactionCounter();
    let waiting: Promise<void> | undefined;
    await withAdvisoryLock(createdDatabase.url, NAME, async () => {
      waiting = withAdvisoryLock(createdDatabase.url, NAME, async () => undefined);
      // Only the holder has a transaction. A waiter that kept one open would be counted too.
      await expect.poll(countTransactions).toBeGreaterThan(2);
    }).finally(() => waiting);
  });

  it('fails, and its signal aborts, when the lock is lost', async () => {
    let workSignal: AbortSignal | undefined;
    const work = withAdvisoryLock(createdDatabase.url, NAME, async (signal) => {
      workSignal = signal;
      await executeAsAdministrator(`select pg_terminate_backend(l.pid) from pg_locks l join pg_database d on d.oid = l.database
        where l.locktype = 'advisory' and d.datname = current_database()`);
      await new Promise(() => {});
    });
    await expect(work).rejects.toThrow(`the lock "${NAME}" is lost`);
    expect(workSignal?.aborted).toBe(true);
  });
});

describe('waiting for an advisory lock', () => {
  it('is reported after five seconds, with the lock, its holder and the time', async () => {
    const holder = new pg.Client({ connectionString: createdDatabase.url, application_name: 'a forgotten console' });
    await holder.connect();
    await holder.query('begin');
    await holder.query(`select pg_advisory_xact_lock(hashtext('${NAME}'))`);
    const { rows } = await holder.query('select pg_backend_pid() as pid, now() as since');
    // Whole ones: the sums of others are rounded.
    let milliseconds = Math.floor(performance.now());
    const timer = vi.spyOn(performance, 'now').mockImplementation(() => milliseconds);
    onTestFinished(() => timer.mockRestore());
    const lines: string[] = [];
    const waiting = withAdvisoryLock(
      createdDatabase.url,
      NAME,
      async () => 'done',
      (line) => lines.push(line),
    );
    const untilTriedAgain = () => expect.poll(createTransactionCounter()).toBeGreaterThan(2);
    await untilTriedAgain();
    milliseconds += 4_999;
    await untilTriedAgain();
    expect(lines).toEqual([]);
    milliseconds += 1;
    await expect.poll(() => lines.length).toBe(1);
    await holder.end();
    expect(await waiting).toBe('done');
    const [{ pid, since }] = rows;
    expect(lines).toEqual([
      `Waiting for the lock "${NAME}" for 5 seconds: process ${pid} ("a forgotten console") of PostgreSQL has held it since ${since.toISOString()}.`,
    ]);
  });

  it('is reported by a start that waits for the migrations of another process', async () => {
    const empty = await createDatabase('template1');
    const database = new Database('au1', empty.url);
    const entered = Promise.withResolvers<void>();
    const finished = Promise.withResolvers<void>();
    const other = withAdvisoryLock(empty.url, 'builder-integration-api migrations', async () => {
      entered.resolve();
      await finished.promise;
    });
    await entered.promise;
    let milliseconds = performance.now();
    const timer = vi.spyOn(performance, 'now').mockImplementation(() => {
      milliseconds += 5_000;
      return milliseconds;
    });
    onTestFinished(() => timer.mockRestore());
    const applied = runPendingMigrations(database, 'auto', (line) => {
      expect(line).toMatch(
        /^Waiting for the lock "builder-integration-api migrations" for \d+ seconds: process \d+ \("builder-integration-api migrations/,
      );
      finished.resolve();
    });
    expect(await applied).toHaveLength(1);
    await other;
    await database.close();
    await empty.drop();
  });
});

describe('migrations through a pooler that keeps the session', () => {
  it('can be applied', async () => {
    const empty = await createDatabase('template1');
    const url = new URL(pooler.url);
    url.pathname = new URL(empty.url).pathname;
    const database = new Database('au1', url.href);
    expect(await runPendingMigrations(database, 'auto')).toHaveLength(1);
    expect(await runPendingMigrations(database, 'auto')).toEqual([]);
    await database.close();
    await empty.drop();
  });
});
