import { readFile } from 'node:fs/promises';
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DECISION_TABLE } from '../../src/domain/attendance/decision-table.ts';
import { type Service, startService } from '../support/harness.ts';
import { drawStateGraph } from './model/diagram.ts';
import { search } from './model/search.ts';
import { ServiceCheck } from './model/service-check.ts';
import { createTableMachine } from './model/table-machine.ts';

/** Longest order of arrival. `npm run proof -- attendance-model` searches orders of five. */
const DEPTH = Number(process.env.MODEL_DEPTH ?? 3);
const IS_WHOLE = DEPTH >= 5;

let service: Service;
let token: string;
let instances: FastifyInstance[];

beforeAll(async () => {
  service = await startService();
  instances = [service.app, await service.startInstance()];
  token = await service.tokenOf('A');
});

afterAll(() => service?.stop());

const report = (text: string, startedAt: number) => {
  if (IS_WHOLE) console.info(`${text} in ${Math.round((performance.now() - startedAt) / 1000)} s`);
};

describe('the decision table, beside a model that was written from the specification', () => {
  it('decides the same in every order of arrival', () => {
    const startedAt = performance.now();
    const { states, transitions, differences } = search(createTableMachine(), DEPTH);
    report(`${states.length} states, ${transitions} transitions`, startedAt);
    expect(differences).toEqual([]);
    expect(states.length).toBeGreaterThan(500);
  });

  const swapped = (index: number) => {
    const rows = [...DECISION_TABLE];
    rows.splice(index, 2, rows[index + 1]!, rows[index]!);
    return rows;
  };
  /** Rows that may change places with the next one: both give the same code, or no visit is in both states. */
  const INDEPENDENT = ['it names none', 'Second distinct sign-off', 'manually closed'];
  const isFound = (table: typeof DECISION_TABLE): boolean => {
    try {
      return search(createTableMachine(table), Math.max(DEPTH, 4), { stopsAtFirst: true }).differences.length > 0;
    } catch {
      return true;
    }
  };

  it.each(DECISION_TABLE.map(([situation], index) => [situation, index] as const))(
    'is noticed without the row: %s',
    (_, index) => expect(isFound(DECISION_TABLE.toSpliced(index, 1))).toBe(true),
  );

  it.each(DECISION_TABLE.slice(0, -1).map(([situation], index) => [situation, index] as const))(
    'is noticed when a row changes places with the next one, unless they are independent: %s',
    (situation, index) => {
      const isIndependent = INDEPENDENT.some((name) => situation.includes(name));
      expect(isFound(swapped(index))).toBe(!isIndependent);
    },
  );
});

describe('the service over PostgreSQL, beside the model', () => {
  it('answers and stores the same in every state', async () => {
    const startedAt = performance.now();
    const check = new ServiceCheck(service, instances, token);
    const { states } = search(createTableMachine(), IS_WHOLE ? DEPTH : 2);
    expect(await check.compareRuns(states)).toEqual([]);
    report(`${states.length} states of the service, ${check.steps} requests`, startedAt);
  });

  it('gives two instances that receive two events at once the result of one of their orders', async () => {
    const startedAt = performance.now();
    const check = new ServiceCheck(service, instances, token);
    const { states } = search(createTableMachine(), IS_WHOLE ? 2 : 0);
    expect(await check.comparePairs(states)).toEqual([]);
    report(`pairs at once after ${states.length} states, ${check.steps} requests`, startedAt);
  });

  it.runIf(IS_WHOLE)('is noticed without the lock of events', async () => {
    const em = service.databases.au1.fork();
    const [{ name }] = await em.execute<[{ name: string }]>('select current_database() as name');
    await em.execute(`create function public.pg_advisory_xact_lock(bigint) returns void language sql as ''`);
    await em.execute(`alter database "${name}" set search_path = public, pg_catalog`);
    const check = new ServiceCheck(service, [await service.startInstance(), await service.startInstance()], token);
    const { states } = search(createTableMachine(), 1);
    expect(await check.comparePairs(states)).not.toEqual([]);
    await em.execute(`alter database "${name}" reset search_path`);
    await em.execute('drop function public.pg_advisory_xact_lock(bigint)');
  });
});

describe('the diagram of docs/attendance.md', () => {
  it('has every change of a visit that the search finds (update it with `npx vitest run test/attendance/attendance-model.test.ts -u`)', async () => {
    const path = 'docs/attendance.md';
    const text = await readFile(path, 'utf8');
    const graph = drawStateGraph(search(createTableMachine(), 3).states);
    const [before] = text.split('<!-- attendance-states:begin -->');
    const [, after] = text.split('<!-- attendance-states:end -->');
    await expect(
      `${before}<!-- attendance-states:begin -->\n${graph}<!-- attendance-states:end -->${after}`,
    ).toMatchFileSnapshot(`../../${path}`);
  });
});
