import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ConcurrentTransaction } from '../support/concurrent-transaction.ts';
import { useService } from '../support/harness.ts';
import { useLongerTimeLimits } from '../support/longer-time-limits.ts';

const service = useService();
let token: string;
let builderId: string;
let admin: pg.Client;

useLongerTimeLimits();
beforeAll(async () => {
  token = await service.tokenOf('A');
  builderId = service.findDemoClient('A').builderIds[0]!;
  admin = new pg.Client({ connectionString: service.databases.au1.url });
  await admin.connect();
});

afterAll(() => admin.end());

const timesheets = () => service.get('/timesheets?limit=1', token, { 'x-service-builder-id': builderId });

const terminateConnections = () =>
  admin.query(
    'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
  );

it('answers reads whose connections are lost, and leaves no connection behind', async () => {
  for (let round = 0; round < 5; round++) {
    const reads = Array.from({ length: 20 }, timesheets);
    await terminateConnections();
    const answers = await Promise.all([...reads, timesheets()]);
    expect(answers.map(({ statusCode }) => statusCode)).toEqual(answers.map(() => 200));
  }
  const countOthers = async () => {
    const { rows } = await admin.query(
      'select count(*)::int as open from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
    );
    return rows[0].open;
  };
  // A terminated process of PostgreSQL exits a moment later.
  await expect.poll(countOthers).toBeLessThanOrEqual(6);
});

it('replaces every connection that a unit of work has lost', async () => {
  const { au1 } = service.databases;
  // More than a pool has.
  for (let round = 0; round < 12; round++) {
    const lost = au1.transaction(async (em) => {
      await em.execute('select 1');
      await terminateConnections();
      await em.execute('select 1');
    });
    await expect(lost).rejects.toThrow();
  }
  expect(await au1.transaction((em) => em.execute('select 1 as one'))).toEqual([{ one: 1 }]);
});

it('responds to other requests while a statement waits', async () => {
  const transaction = await ConcurrentTransaction.open(service.databases.au1.url);
  const reads = await transaction.whileOpen('lock table timesheet in access exclusive mode', [], async () => {
    const waiting = Promise.all(Array.from({ length: 2 }, timesheets));
    await transaction.untilWaiting(1);
    const answers = await Promise.all(Array.from({ length: 8 }, () => service.get('/builders', token)));
    expect(answers.map(({ statusCode }) => statusCode)).toEqual(answers.map(() => 200));
    return { waiting };
  });
  expect((await reads.waiting).map(({ statusCode }) => statusCode)).toEqual([200, 200]);
  await transaction.close();
});
