import pg from 'pg';
import { afterAll, beforeAll, describe, inject, it } from 'vitest';
import { Database } from '../../src/database/database.ts';
import { toApiError } from '../../src/database/errors.ts';
import { costCodes } from '../../src/domain/readers/timesheet.reader.ts';
import { createDatabase } from '../setup/database.ts';
import { InterruptibleProxy } from '../support/interruptible-proxy.ts';

let createdDatabase: Awaited<ReturnType<typeof createDatabase>>;
let database: Database;

beforeAll(async () => {
  createdDatabase = await createDatabase(inject('cluster').templates.au1);
  database = new Database('au1', createdDatabase.url);
});

afterAll(async () => {
  await database.close();
  await createdDatabase.drop();
});

const statement = (text: string) => ({ name: text.slice(0, 60), text });

/** Runs a statement on each of the three kinds of connection that a request uses. */
const connectionKinds: [string, (text: string, over?: Database) => Promise<unknown>][] = [
  ['a read', (text, { runner } = database) => runner.run(statement(text), [])],
  ['a short write', (text, { writer } = database) => writer.run((open) => open.query([statement(text), []]))],
  ['a transaction', (text, over = database) => over.transaction((em) => em.execute(text))],
];

const toClientError = (error: unknown) => {
  const { status, code, headers } = toApiError(error);
  return { status, code, retryAfter: headers['Retry-After'] };
};

const UNAVAILABLE = { status: 503, code: 'UNAVAILABLE', retryAfter: '1' };

// Each test has an `expect` of its own: the global one counts the assertions of concurrent tests for any of them.
describe.concurrent.each(connectionKinds)('%s', (_, run) => {
  it('limits the statement, its wait for locks, and an idle transaction (LIM-25)', async ({ expect }) => {
    const setting = (name: string) => `select current_setting('${name}') as value`;
    const values = ['statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout'].map(async (name) => {
      const [row] = (await run(setting(name))) as [string[] | { value: string }];
      return Object.values(row)[0];
    });
    expect(await Promise.all(values)).toEqual(['6s', '4s', '10s']);
  });

  it('is 503 after the statement timeout (ERR-19, LIM-25)', async ({ expect }) => {
    expect(await run('select pg_sleep(60)').catch(toClientError)).toEqual(UNAVAILABLE);
  });

  it('is 503 after the lock timeout (LIM-25)', async ({ expect }) => {
    const holder = new pg.Client({ connectionString: createdDatabase.url });
    await holder.connect();
    await holder.query('begin; lock table timesheet in access exclusive mode');
    expect(await run('select count(*) from timesheet').catch(toClientError)).toEqual(UNAVAILABLE);
    await holder.end();
  });
});

it.concurrent('a batch of reads is 503 for all when their table is locked, and is not sent again', async ({
  expect,
}) => {
  const holder = new pg.Client({ connectionString: createdDatabase.url });
  await holder.connect();
  await holder.query('begin; lock table timesheet_cost_code in access exclusive mode');
  const sent: string[] = [];
  const end = database.onStatement(({ name }) => name.startsWith('CostCode') && sent.push(name));
  const builders = ['buil_a', 'buil_b', 'buil_c', 'buil_d'];
  const answers = builders.map((builderId) => costCodes.findAll(database, { builderId }).catch(toClientError));
  expect(await Promise.all(answers)).toEqual(builders.map(() => UNAVAILABLE));
  expect(sent).toHaveLength(1);
  end();
  await holder.end();
});

it.concurrent('ends an idle transaction and releases its locks', async ({ expect }) => {
  const work = database.writer.run(async (transaction) => {
    await transaction.query([statement('lock table meeting in access exclusive mode'), []]);
    const other = new pg.Client({ connectionString: createdDatabase.url });
    await other.connect();
    // Returns once the lock is released.
    await other.query('select count(*) from meeting').finally(() => other.end());
    await transaction.query([statement('select 1'), []]);
  });
  expect(await work.catch(toClientError)).toEqual(UNAVAILABLE);
});

it.concurrent('is 503 while the database hangs, on every kind of connection, and works at once afterwards (LIM-25)', async ({
  expect,
}) => {
  const proxy = await InterruptibleProxy.start(createdDatabase.url);
  const proxied = new Database('au1', proxy.url);
  const answers = () =>
    Promise.all(connectionKinds.map(([, run]) => run('select 1', proxied).then(() => 'answered', toClientError)));
  expect(await answers()).toEqual(['answered', 'answered', 'answered']);
  proxy.stopResponses();
  expect(await answers()).toEqual([UNAVAILABLE, UNAVAILABLE, UNAVAILABLE]);
  proxy.resumeResponses();
  expect(await answers()).toEqual(['answered', 'answered', 'answered']);
  await proxied.close();
});
