import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { InvalidValue, parsePostgresUrl } from '../../src/config/parsers.ts';
import { Database } from '../../src/database/database.ts';
import { isTransientError } from '../../src/database/errors.ts';
import { toPoolConfig, WRITER_SETTINGS } from '../../src/database/pool/session-settings.ts';
import { createDatabase } from '../setup/database.ts';
import { freePort } from '../support/ports.ts';
import { PrimaryProxy } from '../support/primary-proxy.ts';

let createdDatabase: Awaited<ReturnType<typeof createDatabase>>;
let primaryPort: number;

beforeAll(async () => {
  createdDatabase = await createDatabase();
  primaryPort = Number(new URL(createdDatabase.url).port);
});

afterAll(() => createdDatabase.drop());

describe('the URL of a database', () => {
  it.each([
    ['postgres://u:p@a:1,b:x/d', 'must have one address'],
    ['postgres://u:p@a,b/d', 'must have one address'],
    ['postgres://u:p@a/d?target_session_attrs=read-write', 'must have no target_session_attrs'],
  ])('is rejected as a setting: %s', (text, reason) => {
    expect(() => parsePostgresUrl(text)).toThrow(InvalidValue);
    expect(() => parsePostgresUrl(text)).toThrow(reason);
  });

  it('may have a comma in its password', () => {
    expect(parsePostgresUrl('postgres://u:a,b@c/d')).toBe('postgres://u:a,b@c/d');
  });
});

describe('a database behind a proxy that leads to the primary', () => {
  let proxy: PrimaryProxy;
  let database: Database;

  beforeEach(async () => {
    proxy = await PrimaryProxy.start(primaryPort);
    const url = new URL(createdDatabase.url);
    url.host = `127.0.0.1:${proxy.port}`;
    database = new Database('au1', url.href);
  });

  afterEach(async () => {
    await database.close();
    proxy.close();
  });

  const PID = { name: 'failover.pid', text: 'select pg_backend_pid() as pid' };

  /** Runs a read, a write and a statement of MikroORM, and returns the server processes that answered. */
  const readPids = async (): Promise<unknown[]> => {
    const [read] = await database.runner.run(PID, []);
    const [[written]] = (await database.write((transaction) => transaction.commit([PID, []]))) as [[{ pid: number }]];
    const [row] = await database.fork().execute<[{ pid: number }]>(PID.text);
    return [Number(read![0]), written.pid, row.pid];
  };

  it('is used through new connections once the proxy has closed the old ones', async () => {
    const before = await readPids();
    proxy.follow(primaryPort);
    const after = await readPids();
    expect(after.filter((pid) => before.includes(pid))).toEqual([]);
  });

  it('fails with transient errors while no server accepts connections, and works afterwards', async () => {
    await readPids();
    proxy.follow(await freePort());
    const works = [
      () => database.now(),
      () => database.write((transaction) => transaction.commit([PID, []])),
      () => database.fork().execute(PID.text),
    ];
    for (const work of works) expect(await work().then(() => null, isTransientError)).toBe(true);
    proxy.follow(primaryPort);
    await expect(readPids()).resolves.toHaveLength(3);
  });

  it('answers a read that waited for a silent server when the proxy closes its connection', async () => {
    const silent = createServer((socket) => socket.on('error', () => undefined));
    silent.listen(0, '127.0.0.1');
    await once(silent, 'listening');
    proxy.follow((silent.address() as AddressInfo).port);
    const connected = once(silent, 'connection');
    const read = database.now();
    await connected;
    proxy.follow(primaryPort);
    expect(await read).toBeGreaterThan(0);
    silent.close();
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
    await expect(pool.query('select 1')).rejects.toThrow(/not queryable|terminat/);
    await pool.end();
    server.close();
  });
});
