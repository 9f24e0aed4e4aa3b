import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Database } from '../../src/database/database.ts';
import { ConcurrentUpdateError } from '../../src/database/write/retry.ts';
import { createDatabase } from '../setup/database.ts';

/** Runs SQL without parameters in the transaction of either runner, and returns the rows. */
type Query = (sql: string) => Promise<unknown>;

let createdDatabase: Awaited<ReturnType<typeof createDatabase>>;
let database: Database;
let otherClient: pg.Client;
let observer: pg.Client;

beforeAll(async () => {
  createdDatabase = await createDatabase('template1');
  database = new Database('au1', createdDatabase.url);
  [otherClient, observer] = [1, 2].map(() => new pg.Client({ connectionString: createdDatabase.url })) as [
    pg.Client,
    pg.Client,
  ];
  await Promise.all([otherClient.connect(), observer.connect()]);
  await otherClient.query('create table counter (id int primary key, value int not null)');
});

beforeEach(async () => {
  await otherClient.query('delete from counter');
  await otherClient.query('insert into counter values (1, 0), (2, 0)');
});

afterAll(async () => {
  await Promise.all([otherClient.end(), observer.end(), database.close()]);
  await createdDatabase.drop();
});

const runners: [name: string, run: <T>(work: (query: Query) => Promise<T>) => Promise<T>][] = [
  ['Database.transaction', (work) => database.transaction((em) => work((sql) => em.execute(sql)))],
  [
    'TransactionRunner.run',
    (work) =>
      database.writer.run(async (transaction) => {
        const result = await work((text) => transaction.query([{ name: `test ${text}`, text }, []]));
        await transaction.commit();
        return result;
      }),
  ],
];

const add = (id: number) => `update counter set value = value + 1 where id = ${id}`;
const values = async () => (await observer.query('select value from counter order by id')).rows.map((row) => row.value);

/** Resolves once the other connection waits for a lock. */
async function waitForBlockedClient(): Promise<void> {
  const { processID } = otherClient as pg.Client & { processID: number };
  const sql = `select 1 from pg_stat_activity where pid = $1 and wait_event_type = 'Lock'`;
  await expect.poll(async () => (await observer.query(sql, [processID])).rows.length).toBe(1);
}

describe.each(runners)('%s', (_name, run) => {
  it('runs all of the work again after a deadlock (40P01)', async () => {
    let attempts = 0;
    let ended: Promise<unknown> = Promise.resolve();
    // The other transaction holds row 2 and then waits for row 1; PostgreSQL must choose this one as the deadlock's victim.
    await otherClient.query(`begin; set local deadlock_timeout = '1min'`);
    await otherClient.query(add(2));
    await run(async (query) => {
      attempts++;
      await query(`set local deadlock_timeout = '10ms'`);
      await query(add(1));
      if (attempts === 1) {
        ended = otherClient.query(add(1)).then(() => otherClient.query('commit'));
        await waitForBlockedClient();
      }
      await query(add(2));
    });
    await ended;
    expect(attempts).toBe(2);
    expect(await values()).toEqual([2, 2]);
  });

  it.each([
    ['a serialization failure (40001)', () => Object.assign(new Error('serialize'), { code: '40001' })],
    ['a concurrent update', () => new ConcurrentUpdateError('outdated')],
  ])('runs the work again after %s, and keeps nothing of the first attempt', async (_case, problem) => {
    let attempts = 0;
    await run(async (query) => {
      await query(add(1));
      if (++attempts < 3) throw problem();
    });
    expect([attempts, await values()]).toEqual([3, [1, 0]]);
  });

  it('runs the work again after a unique violation (23505), so that it finds the row of the other transaction', async () => {
    const found: boolean[] = [];
    await run(async (query) => {
      const rows = (await query('select 1 from counter where id = 3')) as unknown[];
      found.push(rows.length > 0);
      if (rows.length > 0) return;
      await otherClient.query('insert into counter values (3, 0)');
      await query('insert into counter values (3, 0)');
    });
    expect(found).toEqual([false, true]);
  });

  it('fails with 503 after the fifth attempt (ERR-20)', async () => {
    let attempts = 0;
    const running = run(async () => {
      attempts++;
      throw new ConcurrentUpdateError('always');
    });
    await expect(running).rejects.toMatchObject({ status: 503, code: 'UNAVAILABLE' });
    expect(attempts).toBe(5);
  });

  it('does not repeat the work after any other error', async () => {
    let attempts = 0;
    const running = run(async (query) => {
      attempts++;
      await query('select 1 / 0');
    });
    await expect(running).rejects.toMatchObject({ code: '22012' });
    expect(attempts).toBe(1);
  });
});

describe('a closed database', () => {
  it('has left no connection open, of any of its pools', async () => {
    const own = await createDatabase('template1');
    const closed = new Database('au1', own.url);
    const statement = { name: 'one', text: 'select 1' };
    for (const runner of [closed.runner, closed.slowRunner, closed.backgroundRunner]) await runner.run(statement, []);
    await closed.write((transaction) => transaction.commit([statement, []]));
    await closed.transaction((em) => em.execute('select 1'));
    const countConnections = async () => {
      const sql = 'select count(*)::int as connections from pg_stat_activity where datname = $1';
      return (await observer.query(sql, [new URL(own.url).pathname.slice(1)])).rows[0].connections;
    };
    expect(await countConnections()).toBe(5);
    await closed.close();
    await expect.poll(() => countConnections()).toBe(0);
    await own.drop();
  });
});
