import pg from 'pg';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { Database } from '../../src/database/database.ts';
import { EventFilter } from '../../src/domain/events/event-filter.ts';
import { type LogHead, numberEvents, readHead, readLogPage } from '../../src/domain/events/event-log.ts';
import { createDatabase } from '../setup/database.ts';

const BACKLOG = 40_000;

let createdDatabase: Awaited<ReturnType<typeof createDatabase>>;
let database: Database;
let client: pg.Client;
let otherClient: pg.Client;

const ALL = new EventFilter(
  { internal: true, scopes: new Set(['read:timesheets', 'read:meetings']), connections: new Map() },
  { types: null, builderIds: null },
).toParameters();

beforeAll(async () => {
  createdDatabase = await createDatabase(inject('cluster').templates.au1);
  database = new Database('au1', createdDatabase.url);
  [client, otherClient] = [
    new pg.Client({ connectionString: createdDatabase.url }),
    new pg.Client({ connectionString: createdDatabase.url }),
  ];
  await Promise.all([client.connect(), otherClient.connect()]);
  await numberUntilIdle();
});

afterAll(async () => {
  await Promise.all([client?.end(), otherClient?.end(), database?.close()]);
  await createdDatabase?.drop();
});

async function numberUntilIdle(): Promise<void> {
  while ((await numberEvents(database))! > 0);
}

const readAfter = async (head: LogHead) => (await readLogPage(database, head, ALL, 100)).events;

/** Buffers of the database that one statement reads. */
async function countBuffers(sql: string): Promise<number> {
  const { rows } = await client.query(`explain (analyze, buffers, format json) ${sql}`);
  const { Plan: plan } = rows[0]['QUERY PLAN'][0];
  return plan['Shared Hit Blocks'] + plan['Shared Read Blocks'];
}

const addEvents = (to: pg.Client, count: number, record = 'many') =>
  to.query(
    `insert into event_pending (resource, change, record_id, builder_id)
     select 'timesheet', 'updated', $2 || n, 'buil_x' from generate_series(1, $1::int) n`,
    [count, record],
  );

const countEvents = async (after: LogHead) => {
  const { rows } = await client.query(
    'select count(*)::int as count, count(distinct record_id)::int as records, max(number)::int as last from event where number > $1',
    [after.number],
  );
  return rows[0];
};

const changeTimesheet = async (index: number) => {
  const { rows } = await client.query(
    `update timesheet set hours = hours + 1 where id = (select id from timesheet order by id offset $1 limit 1) returning id`,
    [index],
  );
  return rows[0].id as string;
};

describe('numbering, beside a transaction with many events', () => {
  it('reads none of them while it is open, and numbers those of others (EVT-5)', async () => {
    // Fills the caches of the connection, whose reads count too.
    await changeTimesheet(0);
    await client.query('select number_events(1000)');
    const head = await readHead(database);
    await otherClient.query('begin');
    await addEvents(otherClient, BACKLOG);
    for (let index = 0; index < 3; index++) {
      const id = await changeTimesheet(index);
      // Passing over the rows would read each of them.
      expect(await countBuffers('select number_events(1000)')).toBeLessThan(BACKLOG / 10);
      expect((await readAfter(head)).at(-1)!.recordId).toBe(id);
    }
    expect(await countBuffers('select number_events(1000)')).toBeLessThan(100);
    await otherClient.query('rollback');
  });

  it('numbers other changes in between after its commit, and all of them in the end, without gaps', async () => {
    const head = await readHead(database);
    await otherClient.query('begin');
    await addEvents(otherClient, BACKLOG);
    await otherClient.query('commit');
    for (let index = 0; index < 3; index++) {
      const id = await changeTimesheet(index);
      await numberEvents(database);
      const found = await client.query('select from event where number > $1 and record_id = $2', [head.number, id]);
      expect(found.rowCount).toBe(1);
    }
    expect((await client.query('select count(*)::int as left from event_pending')).rows[0].left).toBeGreaterThan(
      BACKLOG - 4_000,
    );
    await client.query('do $$ begin while number_events(20000) > 0 loop end loop; end $$');
    expect(await countEvents(head)).toEqual({
      count: BACKLOG + 3,
      records: BACKLOG + 3,
      last: head.number + BACKLOG + 3,
    });
  });

  it('keeps an event behind the earlier one of its record, which is not numbered yet (EVT-6)', async () => {
    const head = await readHead(database);
    const id = await changeTimesheet(0);
    await otherClient.query('begin');
    await addEvents(otherClient, 50, 'first');
    await otherClient.query('update timesheet set hours = 1 where id = $1', [id]);
    await otherClient.query('commit');
    await client.query('delete from timesheet where id = $1', [id]);
    for (let step = 0; step < 60; step++) await numberEvents(database, 4);
    const { rows } = await client.query('select type from event where number > $1 and record_id = $2 order by number', [
      head.number,
      id,
    ]);
    expect(rows.map(({ type }) => type)).toEqual(['timesheet.updated', 'timesheet.updated', 'timesheet.archived']);
    expect((await client.query('select from event_pending')).rowCount).toBe(0);
    expect((await client.query('select from event_backlog')).rowCount).toBe(0);
  });

  it('numbers its events in large steps although many others wait for them (EVT-6)', async () => {
    const head = await readHead(database);
    await addEvents(client, 3_000, 'import');
    await client.query(`do $$ begin for n in 2801..3000 loop
      insert into event_pending (resource, change, record_id, builder_id) values ('timesheet', 'updated', 'import' || n, 'buil_x');
      commit; end loop; end $$`);
    for (let step = 0; step < 40; step++) await numberEvents(database);
    expect(await countEvents(head)).toMatchObject({ count: 3_200, records: 3_000 });
  });

  it('numbers what was committed while it was not running, however many transactions', async () => {
    const head = await readHead(database);
    await client.query(`do $$ begin for n in 1..6000 loop
      insert into event_pending (resource, change, record_id, builder_id) values ('timesheet', 'updated', 'each' || n, 'buil_x');
      commit; end loop; end $$`);
    await numberUntilIdle();
    expect((await countEvents(head)).count).toBe(6_000);
  });
});

describe('numbering, after a transaction that was open while thousands of others began', () => {
  it('numbers its events beside those of a large one that is not finished, each once (EVT-5)', async () => {
    const head = await readHead(database);
    await otherClient.query('begin');
    await addEvents(otherClient, 1, 'long');
    await client.query(`do $$ begin for n in 1..2500 loop perform pg_current_xact_id(); commit; end loop; end $$`);
    await addEvents(client, 3_000, 'large');
    expect(await numberEvents(database)).toBe(1_000);
    await otherClient.query('commit');
    await addEvents(client, 1, 'later');
    // The open transaction does not delay those that began after it.
    expect(await numberEvents(database)).toBeGreaterThan(2);
    const { rows: first } = await client.query(
      `select record_id from event where number > $1 and record_id in ('long1', 'later1') order by number`,
      [head.number],
    );
    expect(first.map((row) => row.record_id)).toEqual(['long1', 'later1']);
    await numberUntilIdle();
    expect(await countEvents(head)).toEqual({ count: 3_002, records: 3_002, last: head.number + 3_002 });
  });

  it('continues where the snapshot of an earlier release has gone back behind the backlog', async () => {
    const head = await readHead(database);
    const { rows } = await client.query('select seen from event_log');
    await addEvents(client, 3_000, 'twice');
    await numberEvents(database);
    await client.query('update event_log set seen = $1', [rows[0].seen]);
    await numberUntilIdle();
    expect(await countEvents(head)).toEqual({ count: 3_000, records: 3_000, last: head.number + 3_000 });
  });
});

describe('numbering, of many transactions', () => {
  const TRANSACTIONS = 6_000;

  /** Ids of transactions of another cluster, below and above those of this one; the snapshot is not known. */
  const restore = async (record: string) => {
    await client.query(
      `insert into event_pending (transaction_id, resource, change, record_id, builder_id)
       select (n * 1000000::bigint)::text::xid8, 'timesheet', 'updated', ${record}, 'buil_x' from generate_series(1, $1::int) n`,
      [TRANSACTIONS],
    );
    await client.query('update event_log set seen = null');
  };

  it.each([
    ['a restore, of different records', `'restored' || n`, TRANSACTIONS],
    ['a restore, of one record', `'restored'`, 1],
  ])('reads a bounded number of rows in each step after %s', async (_, record, records) => {
    const head = await readHead(database);
    await restore(record);
    for (let step = 0; step < 3; step++) {
      expect(await countBuffers('select number_events(1000)')).toBeLessThan(60_000);
    }
    await numberUntilIdle();
    expect(await countEvents(head)).toEqual({ count: TRANSACTIONS, records, last: head.number + TRANSACTIONS });
    expect((await client.query('select from event_log where seen is null')).rowCount).toBe(0);
  });
});

describe('the time of an event', () => {
  it('is when its record was written, so that a list since then has it, however late the commit (EVT-4)', async () => {
    const head = await readHead(database);
    const { rows } = await client.query(
      `insert into meeting select (jsonb_populate_record(meeting, jsonb_build_object('id', 'meet_late', 'changed_at',
         now() - interval '1 hour', 'external_source_id', 'late'))).* from meeting limit 1 returning changed_at`,
    );
    await numberUntilIdle();
    const [event] = await readAfter(head);
    expect(event).toMatchObject({ recordId: 'meet_late', occurredAt: rows[0].changed_at.toISOString() });
  });
});

describe('a truncated table', () => {
  it('has an `archived` event for each of its records (EVT-1)', async () => {
    const { rows } = await client.query('select id from meeting_note where archived_at is null order by id');
    expect(rows.length).toBeGreaterThan(0);
    const head = await readHead(database);
    await client.query('truncate meeting_note cascade');
    await numberUntilIdle();
    const events = (await readAfter(head)).filter(({ type }) => type === 'meeting_note.archived');
    expect(events.map(({ recordId }) => recordId).sort()).toEqual(rows.map(({ id }) => id));
  });
});
