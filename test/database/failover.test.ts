import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { InvalidValue, parsePostgresUrl } from '../../src/config/parsers.ts';
import { Database } from '../../src/database/database.ts';
import { FailoverClient } from '../../src/database/pool/failover-client.ts';
import {
  choosePrimary,
  findPrimary,
  invalidatePrimary,
  type PrimaryServer,
  watchPrimary,
} from '../../src/database/pool/find-primary.ts';
import { toPoolConfig, WRITER_SETTINGS } from '../../src/database/pool/session-settings.ts';
import { describeServers, splitAddresses } from '../../src/shared/postgres-url.ts';
import { createDatabase } from '../setup/database.ts';
import { freePort } from '../support/ports.ts';

/* Two databases of one server stand for two servers: `options` of the URL tell them apart, and one is read-only. */

let createdDatabase: Awaited<ReturnType<typeof createDatabase>>;
let adminClient: pg.Client;
let url: string;
let closedPort: number;

beforeAll(async () => {
  createdDatabase = await createDatabase();
  adminClient = new pg.Client({ connectionString: createdDatabase.url });
  await adminClient.connect();
  closedPort = await freePort();
  const { host } = new URL(createdDatabase.url);
  url = createdDatabase.url.replace(host, `127.0.0.1:${closedPort},${host}`);
});

afterAll(async () => {
  await adminClient.end();
  await createdDatabase.drop();
});

const setReadOnly = async (value: 'on' | 'off') => {
  const { rows } = await adminClient.query('select current_database() as name');
  await adminClient.query('set default_transaction_read_only = off');
  await adminClient.query(`alter database "${rows[0].name}" set default_transaction_read_only = ${value}`);
};

describe('a URL with several addresses', () => {
  it('is split into a URL for each', () => {
    expect(splitAddresses('postgres://u:p%40@a:1,b:2,[::1]:3/d?sslmode=disable')).toEqual([
      'postgres://u:p%40@a:1/d?sslmode=disable',
      'postgres://u:p%40@b:2/d?sslmode=disable',
      'postgres://u:p%40@[::1]:3/d?sslmode=disable',
    ]);
    expect(splitAddresses('postgres://u:a,b@c/d')).toEqual(['postgres://u:a,b@c/d']);
  });

  it('is described without its password', () => {
    expect(describeServers('postgres://u:hidden@a:1,b:2/d?password=hidden')).toBe('a:1,b:2/d');
  });

  it.each([
    ['postgres://u:p@a:1,b:x/d', 'not a URL'],
    ['postgres://u:p@a,/d', 'not a URL'],
    ['postgres://u:p@a,b/d?target_session_attrs=standby', 'target_session_attrs=read-write, primary, or none'],
  ])('is rejected as a setting: %s', (text, reason) => {
    expect(() => parsePostgresUrl(text)).toThrow(InvalidValue);
    expect(() => parsePostgresUrl(text)).toThrow(reason);
  });

  it('is accepted as a setting', () => {
    const text = 'postgres://u:p@a:1,b/d?target_session_attrs=read-write';
    expect(parsePostgresUrl(text)).toBe(text);
  });
});

describe('of several servers that accept writes', () => {
  const aServer = (name: string, timeline: string, started = name) => ({
    url: `postgres://${name}/d`,
    timeline,
    started,
  });
  const permutations = ([one, other]: [PrimaryServer, PrimaryServer]) => [
    [one, other],
    [other, one],
  ];

  it('the one of the higher timeline is chosen, whichever answers first', () => {
    const [old, promoted] = [aServer('old', '00000009'), aServer('promoted', '0000000A')];
    expect(permutations([old, promoted]).map(choosePrimary)).toEqual([promoted, promoted]);
    expect(choosePrimary([])).toBeUndefined();
  });

  it('none is chosen while two have the same timeline, because their data differ', () => {
    for (const servers of permutations([aServer('a', '00000001'), aServer('b', '00000001')])) {
      expect(() => choosePrimary(servers)).toThrow(
        /^Connection terminated: two servers accept writes on one timeline \(a, b\)\.$/,
      );
    }
  });

  it('one server with two addresses is chosen', () => {
    const servers = [aServer('a', '00000001', 'start'), aServer('b', '00000001', 'start')];
    expect(choosePrimary(servers)).toBe(servers[0]);
  });
});

describe('a connection to one of several servers', () => {
  it('leads every pool of a database to the one that accepts writes', async () => {
    const database = new Database('au1', url);
    try {
      expect(await database.now()).toBeGreaterThan(0);
      expect(await database.fork().execute('select 1 as one')).toEqual([{ one: 1 }]);
      const text = `select current_setting('enable_seqscan') as value`;
      const rows = await database.write((transaction) => transaction.commit([{ name: 'one', text }, []]));
      expect(rows).toEqual([[{ value: 'off' }]]);
    } finally {
      await database.close();
    }
  });

  it('fails as a lost connection while none accepts writes', async () => {
    await setReadOnly('on');
    try {
      const connectionString = `${url}?application_name=none`;
      const expected = /^Connection terminated: no server accepts writes \(.*ECONNREFUSED.*accepts no writes\)\.$/;
      await expect(new FailoverClient({ connectionString }).connect()).rejects.toThrow(expected);
    } finally {
      await setReadOnly('off');
    }
  });

  it('leads to one server by two names, as two poolers are', async () => {
    const { host, port } = new URL(createdDatabase.url);
    const names = `localhost:${port},127.0.0.1:${port}`;
    const client = new FailoverClient({ connectionString: createdDatabase.url.replace(host, names) });
    await client.connect();
    expect((await client.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
    await client.end();
  });

  it('is dropped when the server rejects a write', async () => {
    const client = new FailoverClient({ connectionString: `${url}?application_name=dropped` });
    client.on('error', () => undefined);
    await client.connect();
    const ended = new Promise((resolve) => client.once('end', resolve));
    await client.query('begin read only');
    await expect(client.query('create table t ()')).rejects.toMatchObject({ code: '25006' });
    await ended;
    await expect(client.query('select 1')).rejects.toThrow(/not queryable|terminated/);
  });

  it('is dropped when the server reports that it became read-only', async () => {
    const client = new FailoverClient({ connectionString: `${url}?application_name=demoted` });
    const failure = new Promise((resolve) => client.on('error', resolve));
    await client.connect();
    client.query('set default_transaction_read_only = on').catch(() => undefined);
    expect(await failure).toMatchObject({ message: 'Connection terminated: the server accepts no writes.' });
  });

  it('stays with one address and without target_session_attrs, as a read-only database needs', async () => {
    const client = new FailoverClient({ connectionString: createdDatabase.url });
    await client.connect();
    await client.query('begin read only');
    await expect(client.query('create table t ()')).rejects.toMatchObject({ code: '25006' });
    await client.query('rollback');
    expect((await client.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
    await client.end();
  });
});

describe('a connection that ends as soon as it is ready', () => {
  /** Returns a message of PostgreSQL's protocol. */
  const toMessage = (type: string, body: Buffer) => {
    const length = Buffer.alloc(4);
    length.writeInt32BE(body.length + 4);
    return Buffer.concat([Buffer.from(type), length, body]);
  };
  const AUTHENTICATION_OK = toMessage('R', Buffer.alloc(4));
  const READY_FOR_QUERY = toMessage('Z', Buffer.from('I'));
  const SHUTDOWN = toMessage('E', Buffer.from('SFATAL\0C57P01\0Mterminating connection\0\0'));

  it('fails the statement, and not the process', async () => {
    const server = createServer((socket) => {
      socket.on('error', () => undefined);
      // In one packet, as when the process of the client was busy while the server stopped.
      socket.once('data', () => socket.end(Buffer.concat([AUTHENTICATION_OK, READY_FOR_QUERY, SHUTDOWN])));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const pool = new pg.Pool({
      connectionString: `postgres://user@127.0.0.1:${port}/none`,
      ...toPoolConfig(WRITER_SETTINGS),
    });
    await expect(pool.query('select 1')).rejects.toThrow(/not queryable|terminated/);
    await pool.end();
    server.close();
  });
});

describe('a connection to a server that another one has replaced', () => {
  const watch = (timeline: string) => {
    let end: () => void;
    const dropped = new Promise<string>((resolve) => {
      end = watchPrimary(url, { timeline, drop: () => resolve(timeline) });
    });
    return { dropped, end: () => end() };
  };
  const OLD = '00000000';

  it('is dropped when a new connection leads to the promoted server', async () => {
    const idle = watch(OLD);
    const client = new FailoverClient({ connectionString: url });
    try {
      invalidatePrimary(url);
      await client.connect();
      await expect(idle.dropped).resolves.toBe(OLD);
    } finally {
      idle.end();
      await client.end();
    }
  });

  it('is dropped without a new connection, and one to the primary stays', async () => {
    const { timeline } = await findPrimary(url);
    const [current, old] = [watch(timeline), watch(OLD)];
    try {
      await expect(Promise.race([current.dropped, old.dropped])).resolves.toBe(OLD);
    } finally {
      current.end();
      old.end();
    }
  });
});
