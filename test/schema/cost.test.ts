import { getIntrospectionQuery, getOperationAST, parse } from 'graphql';
import { describe, expect, it } from 'vitest';
import { estimateCost } from '../../src/graphql/engine/cost.ts';
import { PreparedOperation } from '../../src/graphql/engine/prepared-operation.ts';
import { MAX_COST, MAX_RESPONSE_BYTES, ResponseMeter } from '../../src/limits/response-meter.ts';
import { schema } from '../support/definition.ts';

function costOf(query: string, variables = {}): number {
  const document = parse(query);
  return estimateCost(schema, document, getOperationAST(document)!, variables).cost;
}

describe('the estimate of a prepared operation', () => {
  const prepare = (query: string, name?: string) => {
    const document = parse(query);
    return new PreparedOperation(schema, document, getOperationAST(document, name)!);
  };

  it('is made once where variables do not change it', () => {
    const operation = prepare('query ($id: ID!) { projects(builderId: $id, limit: 3) { data { id } } }');
    const estimate = operation.estimateCost({ id: 'buil_a' });
    expect(estimate.cost).toBe(3);
    expect(operation.estimateCost({ id: 'buil_b' })).toBe(estimate);
  });

  it('is made again where a limit is a variable, also one within a fragment (LIM-15)', () => {
    const operation = prepare(
      `query ($limit: PageLimit) { ...Projects } fragment Projects on Query { projects(builderId: "buil_a", limit: $limit) { data { id } } }`,
    );
    const limits = [2, 4, undefined];
    expect(limits.map((limit) => operation.estimateCost({ limit }).cost)).toEqual([2, 4, 25]);
  });

  it('is made again where what a list is read by is a variable (LIM-15)', () => {
    const operation = prepare(
      'query ($since: RangeStart) { builders(updatedSince: $since, limit: 1) { data { id } } }',
    );
    const variables = [{}, { since: '2026-01-01' }];
    expect(variables.map((each) => operation.estimateCost(each).cost)).toEqual([1, 501]);
  });

  it('is made for each operation of a document', () => {
    const query = 'query One { me { id } } query Two { me { id name } }';
    expect(['One', 'Two'].map((name) => prepare(query, name).estimateCost({}).cost)).toEqual([1, 2]);
  });
});

describe('the root fields of a prepared operation', () => {
  it('are those that the variables of this execution leave', () => {
    const document = parse('query ($a: Boolean = true) { one: me @include(if: $a) { id } two: me { id } }');
    const operation = new PreparedOperation(schema, document, getOperationAST(document)!);
    const listKeys = (variables: object) =>
      operation.listRootFields(operation.withDefaults({ ...variables })).map(({ key }) => key);
    expect([listKeys({}), listKeys({ a: false }), operation.rootCount]).toEqual([['one', 'two'], ['two'], 2]);
  });
});

describe('the estimated cost of an operation', () => {
  it('is the number of selected fields where there is one record', () => {
    expect(costOf('{ me { id name } }')).toBe(2);
  });

  it('counts the fields of a page as often as it may hold records (LIM-15)', () => {
    expect(costOf('{ projects(builderId: "buil_a") { meta { totalCount } data { id name } } }')).toBe(2 * 25);
    expect(costOf('{ projects(builderId: "buil_a", limit: 3) { meta { totalCount } data { id name } } }')).toBe(2 * 3);
  });

  it('counts a list field of a record as one value (LIM-15)', () => {
    const query = '{ projects(builderId: "buil_a", limit: 3) { data { integrations { type sourceId } } } }';
    expect(costOf(query)).toBe(3 * (1 + 2));
  });

  it('reads the limit of a page from the variables', () => {
    const query = 'query ($limit: PageLimit) { projects(builderId: "buil_a", limit: $limit) { data { id } } }';
    expect(costOf(query, { limit: 2 })).toBe(2);
    expect(costOf(query)).toBe(25);
    expect(costOf(query, { limit: 'wrong' })).toBe(25);
  });

  it('reads the default of a variable that was not given', () => {
    const query = 'query ($limit: PageLimit = 2) { projects(builderId: "buil_a", limit: $limit) { data { id } } }';
    expect(costOf(query)).toBe(2);
    expect(costOf(query, { limit: 3 })).toBe(3);
  });

  it('counts a list by its changes as 500 more (LIM-15)', () => {
    const list = (given: string) =>
      costOf(`query ($since: RangeStart) { projects(builderId: "buil_a", limit: 1${given}) { data { id } } }`);
    expect([list(''), list(', updatedSince: null'), list(', updatedSince: $since')]).toEqual([1, 1, 1]);
    expect(list(', updatedSince: "2026-01-01"')).toBe(501);
    const query = 'query ($since: RangeStart) { builders(updatedSince: $since, limit: 1) { data { id } } }';
    expect(costOf(query, { since: '2026-01-01' })).toBe(501);
  });

  it('multiplies from level to level', () => {
    const query = '{ projects(builderId: "buil_a") { data { timesheets { data { id } } } } }';
    expect(costOf(query)).toBe(25 * (1 + 25));
  });

  it('counts a fragment wherever it is spread, in linear time of the document (LIM-15)', () => {
    const fragments = Array.from({ length: 60 }, (_, at) => `fragment F${at} on Query { ...F${at + 1} ...F${at + 1} }`);
    const query = `{ ...F0 } ${fragments.join(' ')} fragment F60 on Query { me { id } }`;
    expect(costOf(query)).toBe(2 ** 60);
  });

  it('counts aliases (LIM-15)', () => {
    const aliases = Array.from({ length: 1_550 }, (_, at) => `a${at}: id`).join(' ');
    const query = `{ projects(builderId: "buil_a") { data { timesheets { data { ...All } } } } } fragment All on Timesheet { ${aliases} }`;
    expect(costOf(query)).toBe(25 * (1 + 25 * 1_550));
    expect(costOf(query)).toBeGreaterThan(MAX_COST);
  });

  it('allows one introspection of the whole schema, and not many copies of it', () => {
    expect(costOf(getIntrospectionQuery())).toBeLessThan(MAX_COST);
    const types = 'types { fields { args { type { ofType { ofType { ofType { name } } } } } } }';
    const copies = Array.from({ length: 250 }, (_, at) => `a${at}: __schema { ${types} }`).join(' ');
    expect(costOf(`{ ${copies} }`)).toBeGreaterThan(MAX_COST);
  });
});

describe('the estimated records of an operation (LIM-17)', () => {
  const recordsOf = (query: string) => {
    const document = parse(query);
    return estimateCost(schema, document, getOperationAST(document)!, {}).records;
  };

  it('are one for each record, and at least 25 for each page', () => {
    const builders = Array.from({ length: 51 }, (_, at) => `a${at}: builder(builderId: "buil_a") { id }`).join(' ');
    expect(recordsOf(`{ ${builders} }`)).toBe(51);
    expect(costOf(`{ ${builders} }`)).toBe(51);
    expect(recordsOf('{ projects(builderId: "buil_a", limit: 1) { meta { totalCount } } }')).toBe(25);
  });

  it('multiply from level to level', () => {
    const query =
      '{ projects(builderId: "buil_a", limit: 3) { data { builder { id } timesheets(limit: 1) { meta { totalCount } } } } }';
    expect(recordsOf(query)).toBe(25 + 3 * (1 + 25));
  });
});

describe('the meter of a response', () => {
  it('rejects at its limits and at every later check', () => {
    const meter = new ResponseMeter();
    meter.limit(10, 100);
    meter.fields = 10;
    meter.check();
    meter.fields = 11;
    expect(() => meter.check()).toThrow('has 11, and the limit is 10');
    meter.beginInterpreted();
    expect(() => meter.check()).toThrow('has 11, and the limit is 10');
  });

  it('rejects a response of more bytes than its limit, with the bytes and the limit (LIM-16)', () => {
    const meter = new ResponseMeter();
    meter.limit(MAX_COST, MAX_RESPONSE_BYTES);
    meter.bytes = MAX_RESPONSE_BYTES;
    meter.check();
    meter.bytes++;
    expect(() => meter.check()).toThrow(/^query: must not have so many bytes in its response/);
    expect(meter.rejection).toMatchObject({ status: 400, details: { cost: 67_108_865, limit: 67_108_864 } });
  });

  it('allows 100,000 fields for an interpreted operation (LIM-15)', () => {
    const meter = new ResponseMeter();
    meter.limit(MAX_COST, MAX_RESPONSE_BYTES);
    meter.fields = MAX_COST;
    meter.check();
    meter.beginInterpreted();
    meter.fields = 100_000;
    meter.check();
    meter.fields++;
    expect(() => meter.check()).toThrow('it has 100001, and the limit is 100000');
  });

  it('has no limits by default (LIM-14)', () => {
    const meter = new ResponseMeter();
    meter.bytes = 1e12;
    meter.check();
    expect(meter.rejection).toBeNull();
  });
});

describe('the size of a value', () => {
  it.each([
    ['a long text', 'x'.repeat(5_000)],
    ['characters that are escaped', '\u0001"\\'.repeat(5_000)],
    ['characters of several bytes', '\u00e9\u4e2d\ud83d\ude00'.repeat(5_000)],
  ])('is that of its JSON, for %s', (_what, text) => {
    const meter = new ResponseMeter();
    meter.limit(MAX_COST, MAX_RESPONSE_BYTES);
    expect(meter.sizeOf(text)).toBe(Buffer.byteLength(JSON.stringify(text)));
    expect(meter.sizeOf(text)).toBe(Buffer.byteLength(JSON.stringify(text)));
  });
});
