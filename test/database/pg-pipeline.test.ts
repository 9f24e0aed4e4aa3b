import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { omitDescribe, queryTextRows } from '../../src/node-internals/pg-pipeline.ts';
import { createDatabase } from '../setup/database.ts';

describe('queryTextRows on a pipelined connection', () => {
  let client: pg.Client;
  let connect: () => Promise<pg.Client>;
  let dropDatabase: () => Promise<void>;
  const messages: string[] = [];

  beforeAll(async () => {
    const { url, drop } = await createDatabase('template1');
    dropDatabase = drop;
    connect = async () => {
      // `pipeline` is newer than the type definitions.
      const opened = new pg.Client({ connectionString: url, ...({ pipeline: true } as object) });
      await opened.connect();
      omitDescribe(opened);
      return opened;
    };
    client = await connect();
    const { connection } = client as unknown as { connection: NodeJS.EventEmitter };
    for (const name of ['rowDescription', 'parseComplete', 'dataRow']) connection.on(name, () => messages.push(name));
  });

  afterAll(async () => {
    await client?.end();
    await dropDatabase?.();
  });

  const sum = { name: 'sum', text: 'select $1::int + $2::int, null, true' };

  it('returns the text of each column, and null', async () => {
    expect(await queryTextRows(client, sum, [1, 2])).toEqual([['3', null, 't']]);
  });

  it('prepares a statement once and sends no Describe message', async () => {
    messages.length = 0;
    const twice = { name: 'twice', text: 'select $1::int * 2' };
    const answers = await Promise.all([1, 2, 3].map((value) => queryTextRows(client, twice, [value])));
    expect(answers).toEqual([[['2']], [['4']], [['6']]]);
    expect(messages).toEqual(['parseComplete', 'dataRow', 'dataRow', 'dataRow']);
  });

  it('returns [] when no row matches', async () => {
    expect(await queryTextRows(client, { name: 'none', text: 'select 1 where false' }, [])).toEqual([]);
  });

  it('rejects only the failing statement among those on the same connection', async () => {
    const divide = { name: 'divide', text: 'select $1::int / $2::int' };
    const [before, failed, after] = await Promise.allSettled([
      queryTextRows(client, divide, [6, 3]),
      queryTextRows(client, divide, [6, 0]),
      queryTextRows(client, divide, [6, 2]),
    ]);
    expect(before).toMatchObject({ value: [['2']] });
    expect(failed).toMatchObject({ reason: { code: '22012' } });
    expect(after).toMatchObject({ value: [['3']] });
  });

  it('rejects the statements in flight when the connection is lost', async () => {
    const lost = await connect();
    lost.on('error', () => undefined);
    const waiting = [1, 2].map((value) => queryTextRows(lost, sum, [value, 1]));
    const killing = queryTextRows(lost, { name: 'end', text: 'select pg_terminate_backend(pg_backend_pid())' }, []);
    const late = queryTextRows(lost, sum, [3, 1]);
    expect(await Promise.all(waiting)).toEqual([[['2', null, 't']], [['3', null, 't']]]);
    await expect(killing).rejects.toThrow();
    await expect(late).rejects.toThrow();
  });
});
