import fc from 'fast-check';
import pg from 'pg';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { createDatabase } from '../setup/database.ts';

const WRITERS = 4;
const RECORDS = 6;

let createdDatabase: Awaited<ReturnType<typeof createDatabase>>;
let client: pg.Client;
let otherSequencer: pg.Client;
let writers: pg.Client[];

beforeAll(async () => {
  createdDatabase = await createDatabase(inject('cluster').templates.au1);
  const connect = async () => {
    const connected = new pg.Client({ connectionString: createdDatabase.url });
    await connected.connect();
    return connected;
  };
  [client, otherSequencer, ...writers] = (await Promise.all(Array.from({ length: WRITERS + 2 }, connect))) as [
    pg.Client,
    pg.Client,
    ...pg.Client[],
  ];
  await client.query('do $$ begin while number_events(20000) > 0 loop end loop; end $$');
  // So low that each run exceeds it.
  const { rows } = await client.query(`select pg_get_functiondef('public.number_events'::regproc) as definition`);
  const definition = rows[0].definition.replace(
    'max_transactions constant int := 2000',
    'max_transactions constant int := 5',
  );
  expect(definition).not.toBe(rows[0].definition);
  await client.query(definition);
});

afterAll(async () => {
  await Promise.all([client, otherSequencer, ...(writers ?? [])].map((each) => each?.end()));
  await createdDatabase?.drop();
});

const writer = fc.nat(WRITERS - 1);
const batchSize = fc.integer({ min: 1, max: 12 });
const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant('write' as const), writer, record: fc.nat(RECORDS - 1) }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('writeMany' as const), writer, count: fc.integer({ min: 5, max: 40 }) }),
  },
  {
    weight: 5,
    arbitrary: fc.record({ do: fc.constant('end' as const), writer, commits: fc.integer({ min: 0, max: 3 }) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('writeAlone' as const), count: fc.integer({ min: 1, max: 15 }) }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('passIds' as const), count: fc.integer({ min: 1, max: 15 }) }) },
  { weight: 7, arbitrary: fc.record({ do: fc.constant('number' as const), batchSize }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('numberAtOnce' as const), batchSize, cancels: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('renewEpoch' as const) }) },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** Changes by record, in the order of their commits, and transactions that are open. The lock of a record is its writer's. */
class NumberingModel {
  readonly committed = new Map<string, string[]>();
  readonly open = new Map<number, Map<string, string>>();
  #count = 0;

  nextChange = () => `change${++this.#count}`;

  isLocked = (record: string, by: number | null = null) =>
    [...this.open].some(([writer, changes]) => writer !== by && changes.has(record));

  commit(record: string, change: string) {
    this.committed.set(record, [...(this.committed.get(record) ?? []), change]);
  }
}

const INSERT = `insert into event_pending (resource, change, record_id, builder_id, parent_id)
  select 'timesheet', 'updated', key, 'buil_x', value from json_each_text($1)`;
const numberBatch = async (by: pg.Client, batchSize: number): Promise<number | null> =>
  (await by.query('select number_events($1) as count', [batchSize])).rows[0].count;

async function write(model: NumberingModel, by: number, changes: Record<string, string>) {
  const known = model.open.get(by);
  if (!known) await writers[by]!.query('begin');
  const transaction = known ?? new Map<string, string>();
  model.open.set(by, transaction);
  const added = Object.entries(changes).filter(([record]) => !transaction.has(record) && !model.isLocked(record, by));
  for (const [record, change] of added) transaction.set(record, change);
  await writers[by]!.query(INSERT, [JSON.stringify(Object.fromEntries(added))]);
}

async function end(model: NumberingModel, by: number, commits: boolean) {
  for (const [record, change] of commits ? (model.open.get(by) ?? []) : []) model.commit(record, change);
  model.open.delete(by);
  await writers[by]!.query(commits ? 'commit' : 'rollback');
}

async function run(model: NumberingModel, step: Step): Promise<unknown> {
  switch (step.do) {
    case 'write':
      return write(model, step.writer, { [`shared${step.record}`]: model.nextChange() });
    case 'writeMany': {
      const changes = Array.from({ length: step.count }, () => model.nextChange());
      return write(model, step.writer, Object.fromEntries(changes.map((change) => [`of ${change}`, change])));
    }
    case 'end':
      return model.open.has(step.writer) && end(model, step.writer, step.commits > 0);
    case 'writeAlone':
      for (let index = 0; index < step.count; index++) {
        const record = `shared${index % RECORDS}`;
        if (model.isLocked(record)) continue;
        const change = model.nextChange();
        await client.query(INSERT, [JSON.stringify({ [record]: change })]);
        model.commit(record, change);
      }
      return;
    case 'passIds':
      return client.query(
        `do $$ begin for n in 1..${step.count} loop perform pg_current_xact_id(); commit; end loop; end $$`,
      );
    case 'number':
      return numberBatch(client, step.batchSize);
    case 'numberAtOnce': {
      await otherSequencer.query('begin');
      const counted = await numberBatch(otherSequencer, step.batchSize);
      // It holds the lock unless there was nothing to number.
      expect(counted === 0 ? [0, null] : [null]).toContain(await numberBatch(client, step.batchSize));
      return otherSequencer.query(step.cancels ? 'rollback' : 'commit');
    }
    case 'renewEpoch':
      return client.query('select renew_event_epoch()');
  }
}

it('numbers each committed change once, in the order of its record, whatever the order of transactions and calls (EVT-5, EVT-6)', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 40, maxLength: 80 }), async (steps) => {
      const model = new NumberingModel();
      const {
        rows: [{ last }],
      } = await client.query('select last_number::int as last from event_log');
      try {
        for (const one of steps) await run(model, one);
      } finally {
        await otherSequencer.query('rollback');
        for (const by of [...model.open.keys()]) await end(model, by, true);
      }
      const total = [...model.committed.values()].flat().length;
      for (let calls = 0; calls < total + 20; calls++) await numberBatch(client, 50);
      const { rows } = await client.query(
        'select number::int - $1 as number, record_id, parent_id from event where number > $1 order by number',
        [last],
      );
      expect(rows.map((row) => row.number)).toEqual(Array.from({ length: total }, (_, index) => index + 1));
      const numbered = new Map<string, string[]>();
      for (const row of rows) numbered.set(row.record_id, [...(numbered.get(row.record_id) ?? []), row.parent_id]);
      expect(numbered).toEqual(model.committed);
      const { rows: left } = await client.query(
        'select transaction_id from event_pending union all select transaction_id from event_backlog',
      );
      expect(left).toEqual([]);
    }),
    { seed: 20261122, numRuns: 10 },
  );
});
