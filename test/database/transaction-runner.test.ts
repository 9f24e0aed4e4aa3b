import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { BoundStatement } from '../../src/database/pool/pg-pipeline.ts';
import { TransactionRunner } from '../../src/database/write/transaction-runner.ts';
import { createDatabase } from '../setup/database.ts';

let createdDatabase: Awaited<ReturnType<typeof createDatabase>>;
let otherClient: pg.Client;
let runner: TransactionRunner;
/** Number of responses that PostgreSQL has ended: one for each Sync. */
let responses: number;

beforeAll(async () => {
  createdDatabase = await createDatabase('template1');
  otherClient = new pg.Client({ connectionString: createdDatabase.url });
  await otherClient.connect();
  await otherClient.query('create table item (id int primary key)');
  runner = new TransactionRunner(createdDatabase.url, 1);
  runner.pool.on('connect', (client) => {
    const { connection } = client as unknown as { connection: NodeJS.EventEmitter };
    connection.on('readyForQuery', () => responses++);
  });
});

beforeEach(async () => {
  await otherClient.query('truncate item');
  await runner.run((transaction) => transaction.commit([{ name: 'warm up', text: 'select 1' }, []]));
  responses = 0;
});

afterAll(async () => {
  await runner.close();
  await otherClient.end();
  await createdDatabase.drop();
});

const insert = (id: number): BoundStatement => [{ name: 'insert', text: 'insert into item values ($1)' }, [id]];
const divide = (by: number): BoundStatement => [{ name: 'divide', text: 'select 1 / $1::int as result' }, [by]];
const COUNT: BoundStatement = [{ name: 'count', text: 'select count(*)::int as items from item' }, []];
const LOCK: BoundStatement = [{ name: 'lock', text: 'select pg_advisory_xact_lock(1)' }, []];

const storedIds = async () => (await otherClient.query('select id from item order by id')).rows.map(({ id }) => id);

describe('a transaction whose statements are sent in one tick', () => {
  it('is committed with one response', async () => {
    await runner.run(async (transaction) => {
      const first = transaction.query(insert(1));
      await Promise.all([transaction.commit(insert(2)), first]);
    });
    expect(await storedIds()).toEqual([1, 2]);
    expect(responses).toBe(1);
  });

  it('keeps nothing when a statement fails, and leaves a connection that works', async () => {
    const running = runner.run(async (transaction) => {
      const first = transaction.query(insert(1));
      await Promise.all([transaction.commit(divide(0), insert(2)), first]);
    });
    await expect(running).rejects.toMatchObject({ code: '22012' });
    expect(await storedIds()).toEqual([]);
    const [divided] = await runner.run((transaction) => transaction.commit(divide(1), insert(3)));
    expect(divided).toEqual([{ result: 1 }]);
    expect(await storedIds()).toEqual([3]);
  });

  it('keeps nothing when a value cannot be sent', async () => {
    const circular: { self?: object } = {};
    circular.self = circular;
    const running = runner.run(async (transaction) => {
      const first = transaction.query(insert(1));
      await Promise.all([transaction.commit([{ name: 'object', text: 'select $1::jsonb' }, [circular]]), first]);
    });
    await expect(running).rejects.toThrow('circular');
    await runner.run((transaction) => transaction.commit(insert(2)));
    expect(await storedIds()).toEqual([2]);
  });

  it.each([
    ['is ended by PostgreSQL', 'select case when $1 then pg_terminate_backend(pg_backend_pid()) end'],
    ['does not answer in time', 'select case when $1 then pg_sleep(30) end'],
  ])('gives up a connection that %s, so that the next transaction has a new one', async (_, text) => {
    const fail = (value: boolean): BoundStatement => [{ name: 'fail', text }, [value]];
    const impatient = new TransactionRunner(createdDatabase.url, 1);
    impatient.pool.options.query_timeout = 2_000;
    // After an error, a connection with newly prepared statements is closed in any case.
    await impatient.run((transaction) => transaction.commit(insert(1), fail(false)));
    await expect(impatient.run((transaction) => transaction.commit(insert(2), fail(true)))).rejects.toThrow(
      /terminat|Query read timeout/,
    );
    await impatient.run((transaction) => transaction.commit(insert(3)));
    expect(await storedIds()).toEqual([1, 3]);
    await impatient.close();
    // The one that sleeps would keep its rows locked until PostgreSQL notices that its client is gone.
    const sleeping = `pg_stat_activity where datname = current_database() and wait_event = 'PgSleep'`;
    await otherClient.query(`select pg_terminate_backend(pid) from ${sleeping}`);
  });

  it('reads what was committed while it waited for a lock', async () => {
    await otherClient.query('begin; select pg_advisory_xact_lock(1)');
    const running = runner.run(async (transaction) => {
      const locked = transaction.query(LOCK);
      const [[counted]] = await Promise.all([transaction.commit(COUNT), locked]);
      return counted;
    });
    await otherClient.query('insert into item values (1)');
    await otherClient.query('commit');
    expect(await running).toEqual([{ items: 1 }]);
  });
});

describe('a transaction that sends further statements after a response', () => {
  it('keeps what it has read and written until it commits', async () => {
    await runner.run(async (transaction) => {
      const [[row]] = await Promise.all([transaction.query(COUNT), transaction.query(insert(1))]);
      expect(row).toEqual({ items: 0 });
      expect(await storedIds()).toEqual([]);
      await transaction.commit(insert(2));
    });
    expect(await storedIds()).toEqual([1, 2]);
    expect(responses).toBe(2);
  });

  it('keeps nothing when a value beside its commit cannot be sent', async () => {
    const circular: { self?: object } = {};
    circular.self = circular;
    const running = runner.run(async (transaction) => {
      await transaction.query(insert(1));
      await transaction.commit(insert(2), [{ name: 'object', text: 'select $1::jsonb' }, [circular]]);
    });
    await expect(running).rejects.toThrow('circular');
    expect(await storedIds()).toEqual([]);
  });

  it('rejects its commit after the work has ignored the error of a statement', async () => {
    const running = runner.run(async (transaction) => {
      await transaction.query(insert(1));
      await transaction.query(divide(0)).catch(() => undefined);
      await transaction.commit();
    });
    await expect(running).rejects.toMatchObject({ code: '22012' });
    expect(await storedIds()).toEqual([]);
  });

  it('is rolled back when its work fails without a commit', async () => {
    const running = runner.run(async (transaction) => {
      await transaction.query(insert(1));
      throw new Error('changed its mind');
    });
    await expect(running).rejects.toThrow('changed its mind');
    expect(await storedIds()).toEqual([]);
    await runner.run((transaction) => transaction.commit(insert(1)));
    expect(await storedIds()).toEqual([1]);
  });

  it('is rolled back when a statement fails beside its commit', async () => {
    const running = runner.run(async (transaction) => {
      await transaction.query(insert(1));
      await transaction.commit(divide(0));
    });
    await expect(running).rejects.toMatchObject({ code: '22012' });
    expect(await storedIds()).toEqual([]);
    await runner.run((transaction) => transaction.commit(insert(1)));
    expect(await storedIds()).toEqual([1]);
  });
});
