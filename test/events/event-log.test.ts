import { PassThrough } from 'node:stream';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import { runCli } from '../../src/cli/run.ts';
import { Database } from '../../src/database/database.ts';
import { decodeEventCursor, encodeEventCursor } from '../../src/domain/events/event-cursor.ts';
import { EventFilter } from '../../src/domain/events/event-filter.ts';
import {
  findPositionBefore,
  type LogHead,
  MAX_SCANNED,
  numberEvents,
  numberNextEvents,
  readHead,
  readLogPage,
  UNSEEN,
} from '../../src/domain/events/event-log.ts';
import { EventTail } from '../../src/domain/events/event-tail.ts';
import { toResourcePath } from '../../src/domain/events/event-types.ts';
import { maintainPartitions } from '../../src/domain/events/retention.job.ts';
import { systemClock } from '../../src/shared/clock.ts';
import { createDatabase } from '../setup/database.ts';
import { ConcurrentTransaction } from '../support/concurrent-transaction.ts';

let createdDatabase: Awaited<ReturnType<typeof createDatabase>>;
let database: Database;
let client: pg.Client;
let otherClient: pg.Client;
let head: LogHead;

const ALL = new EventFilter(
  {
    internal: true,
    scopes: new Set(['read:timesheets', 'read:photos', 'read:subcontractors']),
    connections: new Map(),
  },
  { types: null, builderIds: null },
);

const connect = async () => {
  const connected = new pg.Client({ connectionString: createdDatabase.url });
  // One test ends a connection.
  connected.on('error', () => undefined);
  await connected.connect();
  return connected;
};

beforeAll(async () => {
  createdDatabase = await createDatabase(inject('cluster').templates.au1);
  database = new Database('au1', createdDatabase.url);
  [client, otherClient] = [await connect(), await connect()];
  await client.query(`insert into photo (id, created_at, updated_at, builder_id, source, file_name, content_type, key, file_size, sort_date)
    select 'att_event' || n, now(), now(), b.id, case n % 2 when 0 then 'GALLERY' else 'DEFECT' end,
      'a.jpg', 'image/jpeg', 'photos/' || b.id || '/' || n, 1, now()
    from generate_series(1, 9) n, (select min(id) as id from builder) b`);
  while ((await numberEvents(database))! > 0);
});

afterAll(async () => {
  await Promise.all([client?.end(), otherClient?.end(), database?.close()]);
  await createdDatabase?.drop();
});

beforeEach(async () => {
  head = await readHead(database);
});

/** Type and record of each event after the beginning of the test, once all committed ones are numbered. */
const readNew = async () => {
  while ((await numberEvents(database))! > 0);
  const { events } = await readLogPage(database, head, ALL.toParameters(), 100);
  expect(events.map(({ number }) => number)).toEqual(events.map((_, index) => head.number + 1 + index));
  return events.map(({ type, recordId }) => `${type} ${recordId}`);
};

const selectId = async (table: string, where = 'true') =>
  (await client.query(`select id from ${table} where ${where} order by id limit 1`)).rows[0].id as string;
const pickPhoto = (source = 'GALLERY') =>
  selectId('photo', `archived_at is null and source = '${source}' and id ~ '^att_event'`);

describe('the event of a change', () => {
  it('is one per record and transaction, regardless of the number of statements (EVT-2)', async () => {
    const id = await selectId('timesheet');
    await client.query(`begin; update timesheet set hours = 2 where id = '${id}';
      update timesheet set hours = 3 where id = '${id}'; update timesheet set hours = 4; commit`);
    const total = (await client.query('select count(*)::int as total from timesheet')).rows[0].total;
    while ((await numberEvents(database))! > 0);
    expect((await readHead(database)).number - head.number).toBe(total);
  });

  it.each([
    ['archived_at = now()', 'archived_at = archived_at', 'photo.archived'],
    ['archived_at = now()', 'archived_at = null', 'photo.updated'],
    ['description = $$a$$', 'archived_at = now()', 'photo.archived'],
    ['description = $$a$$', 'description = $$b$$', 'photo.updated'],
  ])('is the effect of all its changes: %s, then %s (EVT-3)', async (first, second, type) => {
    const id = await pickPhoto();
    await client.query(
      `begin; update photo set ${first} where id = '${id}'; update photo set ${second} where id = '${id}'; commit`,
    );
    expect(await readNew()).toEqual([`${type} ${id}`]);
  });

  it('is `restored` when an archived record is active again, and an archived record has no other events', async () => {
    const id = await pickPhoto();
    await client.query(`update photo set archived_at = now() where id = '${id}'`);
    await client.query(`update photo set description = 'unseen' where id = '${id}'`);
    await client.query(
      `begin; update photo set archived_at = null where id = '${id}'; update photo set description = 'c' where id = '${id}'; commit`,
    );
    await client.query(`delete from photo where id = '${id}'`);
    expect(await readNew()).toEqual([`photo.archived ${id}`, `photo.restored ${id}`, `photo.archived ${id}`]);
  });

  it('is none after a rollback, whole or to a savepoint', async () => {
    const id = await selectId('timesheet');
    await client.query(`begin; update timesheet set hours = 1 where id = '${id}'; rollback`);
    await client.query(`begin; savepoint a; update timesheet set hours = 1 where id = '${id}'; rollback to a; commit`);
    expect(await readNew()).toEqual([]);
  });

  it('is that of the subcontractor when its statuses on a project change', async () => {
    const { rows } = await client.query('select id, subcontractor_id from subcontractor_project order by id limit 1');
    await client.query(`update subcontractor_project set statuses = '{INVITED}' where id = ${rows[0].id}`);
    expect(await readNew()).toEqual([`subcontractor.updated ${rows[0].subcontractor_id}`]);
  });

  it('has the path that reads the record', async () => {
    const id = await pickPhoto('DEFECT');
    await client.query(`update photo set description = 'd' where id = '${id}'`);
    await readNew();
    const { events } = await readLogPage(database, head, ALL.toParameters(), 1);
    expect(toResourcePath(events[0]!)).toBe(`/builders/${events[0]!.builderId}/photos/${id}?source=DEFECT`);
  });
});

describe('numbers of events', () => {
  it('are not delayed by an open transaction, except those of its own (EVT-5)', async () => {
    const [slow, fast] = [await selectId('timesheet'), await pickPhoto()];
    await otherClient.query(`begin; update timesheet set hours = 5 where id = '${slow}'`);
    await client.query(`update photo set description = 'e' where id = '${fast}'`);
    expect(await readNew()).toEqual([`photo.updated ${fast}`]);
    await otherClient.query('commit');
    expect(await readNew()).toEqual([`photo.updated ${fast}`, `timesheet.updated ${slow}`]);
  });

  it('preserve the order of the transactions that wait for one record (EVT-6)', async () => {
    const id = await pickPhoto();
    const neighbour = await selectId('timesheet');
    await otherClient.query(`begin; update photo set archived_at = now() where id = '${id}'`);
    // It gets its number before the row is unlocked, because it is of another record.
    await client.query(`begin; update timesheet set hours = 6 where id = '${neighbour}'`);
    const waiting = client.query(`update photo set archived_at = null where id = '${id}'`);
    await numberEvents(database);
    await otherClient.query('commit');
    await waiting;
    await numberEvents(database);
    await client.query('commit');
    expect(await readNew()).toEqual([`photo.archived ${id}`, `timesheet.updated ${neighbour}`, `photo.restored ${id}`]);
  });

  it('are given by one process at a time, and by another when that one is gone', async () => {
    const id = await selectId('timesheet');
    await client.query(`update timesheet set hours = 7 where id = '${id}'`);
    await otherClient.query('begin; select number_events(1000)');
    expect(await numberEvents(database)).toBeNull();
    expect((await readHead(database)).number).toBe(head.number);
    // Returns when the process has ended.
    await client.query('select pg_terminate_backend($1, 20000)', [
      (otherClient as unknown as { processID: number }).processID,
    ]);
    otherClient = await connect();
    expect(await readNew()).toEqual([`timesheet.updated ${id}`]);
  });

  it('have no gaps when several processes number batches at once', async () => {
    await client.query('update timesheet set hours = 8');
    const total = (await client.query('select count(*)::int as total from timesheet')).rows[0].total;
    const number = async () => {
      while ((await numberEvents(database, 7)) !== 0);
    };
    await Promise.all([number(), number(), number()]);
    const { rows } = await client.query('select number::int from event where number > $1 order by number', [
      head.number,
    ]);
    expect(rows.map((row) => row.number)).toEqual(Array.from({ length: total }, (_, index) => head.number + 1 + index));
  });
});

describe('a page of the log', () => {
  it('passes over a bounded number of events that do not match, and goes on after them (EVT-9)', async () => {
    await client.query(
      `insert into event (day, number, id, type, record_id, builder_id, occurred_at)
      select $1::date, $2 + n, 'evt_x' || n, 'defect.updated', 'defect_x', 'buil_x', now() from generate_series(1, $3::int) n`,
      [head.day, head.number, MAX_SCANNED + 1],
    );
    await client.query('update event_log set last_number = last_number + $1', [MAX_SCANNED + 1]);
    const id = await selectId('timesheet');
    await client.query(`update timesheet set hours = 9 where id = '${id}'`);
    while ((await numberEvents(database))! > 0);
    const first = await readLogPage(database, head, ALL.toParameters(), 10);
    expect(first).toMatchObject({ events: [], hasMore: true, next: { number: head.number + MAX_SCANNED } });
    const second = await readLogPage(database, first.next, ALL.toParameters(), 10);
    expect(second.events.map(({ recordId }) => recordId)).toEqual([id]);
    expect(second.hasMore).toBe(false);
  });
});

describe('the position before an instant', () => {
  it('is that before the first event since then, of several', async () => {
    const { rows } = await client.query<{ id: string }>('select id from timesheet order by id limit 3');
    for (const { id } of rows) await client.query('update timesheet set hours = hours + 1 where id = $1', [id]);
    while ((await numberEvents(database))! > 0);
    const { events } = await readLogPage(database, head, ALL.toParameters(), 10);
    expect(await findPositionBefore(database, events[0]!.occurredAt)).toMatchObject({ number: head.number });
  });
});

describe('a wait for events', () => {
  it('ends by an event after its own position, and by none before it (EVT-13)', async () => {
    const tail = new EventTail({ au1: database, us1: database }, () => false);
    await client.query(`update timesheet set hours = hours + 1 where id = '${await selectId('timesheet')}'`);
    while ((await numberEvents(database))! > 0);
    const { signal } = new AbortController();
    const end = await readHead(database);
    // The other wait begins at the position before, so that the event is read for both.
    const none = new EventFilter(
      { internal: true, scopes: new Set(), connections: new Map() },
      { types: null, builderIds: null },
    );
    const [later] = await Promise.all([
      tail.wait('au1', end, ALL, { timeoutMs: 500, signal }),
      tail.wait('au1', head, none, { timeoutMs: 500, signal }),
    ]);
    expect(later.reason).toBe('timeout');
    expect((await tail.wait('au1', head, ALL, { timeoutMs: 20_000, signal })).reason).toBe('events');
  });
});

/** What a process saw of the log. */
interface State {
  origin: string;
  epoch: string;
  number: number;
}

describe('the epoch of the log', () => {
  it('is renewed when the log was restored into another cluster, or its cluster was promoted (EVT-12)', async () => {
    await client.query(`update event_log set origin = '1/00000001'`);
    await numberEvents(database);
    const renewed = await readHead(database);
    expect([renewed.epoch === head.epoch, renewed.secret === head.secret]).toEqual([false, false]);
    expect(renewed.number).toBe(head.number);
  });

  /** Simulates the promotion of a standby: the log was numbered on another timeline. */
  const promote = async (synchronous: boolean) => {
    await client.query(
      `update event_log set synchronous = $1, origin = regexp_replace(origin, '/[0-9A-F]{8}/', '/00000000/')`,
      [synchronous],
    );
    return (await numberNextEvents(database, null, 0)).state!;
  };

  it('is kept when a synchronous standby was promoted, for a process that saw the log before', async () => {
    const seen = await promote(true);
    expect((await numberNextEvents(database, seen)).numbered).toBe(0);
    expect((await readHead(database)).epoch).toBe(head.epoch);
    // Without a standby, the next promotion may lose events.
    expect((await client.query('select synchronous from event_log')).rows).toEqual([{ synchronous: false }]);
  });

  it('waits for such a process while one may come', async () => {
    await promote(true);
    expect((await numberNextEvents(database, null)).numbered).toBeNull();
    expect((await numberNextEvents(database, UNSEEN)).numbered).toBe(0);
    expect((await readHead(database)).epoch).not.toBe(head.epoch);
  });

  it.each([
    ['the standby was not synchronous', false, () => ({})],
    ['the process saw a longer log', true, ({ number }: State) => ({ number: number + 1 })],
    ['the process saw another epoch', true, () => ({ epoch: 'other' })],
    [
      'the process saw another timeline',
      true,
      ({ origin }: State) => ({ origin: origin.replace('/00000000/', '/1/') }),
    ],
  ])('is renewed by a promotion when %s', async (_, synchronous, change) => {
    const seen: State = JSON.parse(await promote(synchronous));
    await numberNextEvents(database, JSON.stringify({ ...seen, ...change(seen) }));
    expect((await readHead(database)).epoch).not.toBe(head.epoch);
  });

  it('has expired for a cursor beyond the end of a log that a promotion has shortened (EVT-12)', () => {
    const cursor = encodeEventCursor('au1', head, { ...head, number: head.number + 1 });
    expect(() => decodeEventCursor('au1', head, cursor)).toThrow(expect.objectContaining({ code: 'CURSOR_EXPIRED' }));
  });

  it('is renewed by `events renew-epoch`', async () => {
    const io = {
      env: { DATABASE_URL_AU1: createdDatabase.url, DATABASE_URL_US1: createdDatabase.url },
      clock: systemClock,
      stdin: process.stdin,
    };
    const output = new PassThrough();
    expect(
      await runCli(['events', 'renew-epoch', '--region', 'au1', '--json'], {
        ...io,
        stdout: output,
        stderr: process.stderr,
      }),
    ).toBe(0);
    const { epoch } = await readHead(database);
    expect(epoch).not.toBe(head.epoch);
    expect(JSON.parse(String(output.read()))).toEqual({ epochs: { au1: epoch } });
  });

  it('begins after the numbers that connections keep, and on the last day of the events, without a restored log', async () => {
    const active = head.number + 1_000;
    await client.query('update connection set active_after = $1', [active]);
    await client.query(`select create_event_partition('2100-01-01')`);
    await client.query(
      `insert into event (day, number, id, type, record_id, builder_id, occurred_at) values
       ('2100-01-01', $1, 'evt_x', 'timesheet.updated', 'time_x', 'buil_x', now())`,
      [head.number + 1],
    );
    await client.query('begin; delete from event_log; select renew_event_epoch()');
    expect((await client.query('select last_number::int, last_day::text from event_log')).rows).toEqual([
      { last_number: active, last_day: '2100-01-01' },
    ]);
    await client.query(`rollback; delete from event where number > ${head.number}`);
    // As in a process that was started before the restore.
    await client.query('begin; select renew_event_epoch()');
    expect((await client.query('select last_number::int from event_log')).rows).toEqual([{ last_number: active }]);
    await client.query('rollback; update connection set active_after = null; drop table event_21000101');
  });

  it('continues after the stored events when the state of the log was not restored', async () => {
    const id = await selectId('timesheet');
    await client.query(`delete from event_log; update timesheet set hours = 1 where id = '${id}'`);
    expect(await readNew()).toEqual([`timesheet.updated ${id}`]);
  });
});

describe('the partitions of the log', () => {
  const DAY_MS = 86_400_000;

  it('are created by two processes at the same time without an error', async () => {
    const create = `select create_event_partition('2100-01-01')`;
    const transaction = await ConcurrentTransaction.open(createdDatabase.url);
    try {
      const [second] = await transaction.whileOpen(create, [], async () => {
        const waiting = client.query(create).catch((error: Error) => error.message);
        await transaction.untilWaiting(1);
        return [waiting];
      });
      expect(await second).toMatchObject({ rowCount: 1 });
    } finally {
      await transaction.close();
    }
    await client.query('drop table event_21000101');
  });

  it('are kept while a cursor of 30 days may be on them: on the day before the thirtieth, too (EVT-11)', async () => {
    const now = Date.now() + 50 * DAY_MS;
    const toDay = (ago: number) => new Date(now - ago * DAY_MS).toISOString().slice(0, 10);
    for (const ago of [31, 32]) await client.query('select create_event_partition($1::date)', [toDay(ago)]);
    await maintainPartitions(database, now);
    const { rows } = await client.query(
      `select relname from pg_inherits join pg_class on oid = inhrelid where inhparent = 'event'::regclass order by 1 limit 1`,
    );
    expect(rows[0].relname).toMatch(toDay(31).replaceAll('-', ''));
  });

  it('exist before their day, and are dropped after 30 days with a note of their last number (EVT-11)', async () => {
    const now = Date.now() + 100 * DAY_MS;
    const days = async () =>
      (
        await client.query(`select relname from pg_inherits join pg_class on oid = inhrelid
      where inhparent = 'event'::regclass order by 1`)
      ).rows.map(({ relname }) => relname as string);
    const today = await days();
    expect(await maintainPartitions(database, now)).toEqual({ created: 4, dropped: today.length });
    expect(await days()).toHaveLength(4);
    expect(await maintainPartitions(database, now)).toEqual({ created: 0, dropped: 0 });
    const { droppedNumber, number } = await readHead(database);
    expect(droppedNumber).toBe(number);
  });
});
