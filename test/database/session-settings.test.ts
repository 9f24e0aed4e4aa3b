import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest';
import { loadConfig } from '../../src/config.ts';
import { Database } from '../../src/database/database.ts';
import {
  connectWithSettings,
  DIRECT_SETTINGS,
  READER_SETTINGS,
  REQUEST_SETTINGS,
  type SessionSettings,
  WRITER_SETTINGS,
} from '../../src/database/pool/session-settings.ts';
import {
  DatabaseUnavailableError,
  MIN_POSTGRES_VERSION,
  openDatabases,
} from '../../src/dev-postgres/open-databases.ts';
import { builders } from '../../src/domain/readers/builder.reader.ts';
import { newSecret } from '../../src/shared/secrets.ts';
import { PACKAGE_ROOT } from '../../src/shared/version.ts';
import { createDatabase } from '../setup/database.ts';
import { Pooler } from '../support/pooler.ts';

let createdDatabase: Awaited<ReturnType<typeof createDatabase>>;
const cleanups: (() => Promise<unknown>)[] = [];

const executeAsAdministrator = async (sql: string) => {
  const client = new pg.Client({ connectionString: createdDatabase.url });
  await client.connect();
  await client.query(sql).finally(() => client.end());
};

const nameOf = ({ url }: { url: string }) => new URL(url).pathname.slice(1);

beforeAll(async () => {
  createdDatabase = await createDatabase(inject('cluster').templates.au1);
  // Ten or eleven hours from UTC, so that an instant of a session in this zone is never the right one.
  await executeAsAdministrator(`alter database ${nameOf(createdDatabase)} set timezone = 'Australia/Sydney'`);
});

afterEach(async () => {
  for (const end of cleanups.splice(0).reverse()) await end();
});

afterAll(() => createdDatabase.drop());

const openDatabase = (url: string) => {
  const database = new Database('au1', url);
  cleanups.push(() => database.close());
  return database;
};

const openPooler = async (mode: 'session' | 'transaction') => {
  const pooler = await Pooler.start(createdDatabase.url, mode);
  cleanups.push(() => pooler.close());
  return pooler;
};

const SHOW = { name: 'settings', text: 'select lower(name) as name, setting from pg_settings' };

const rowsOf = {
  'a read': async (database: Database) => database.runner.run(SHOW, []),
  'a short write': async (database: Database) =>
    (await database.writer.run((open) => open.query([SHOW, []]))).map(({ name, setting }) => [name, setting]),
  'a transaction': async (database: Database) =>
    (await database.transaction((em) => em.execute(SHOW.text))).map(({ name, setting }) => [name, setting]),
  'a connection of its own': async ({ url }: Database) => {
    const client = await connectWithSettings(url, DIRECT_SETTINGS);
    const { rows } = await client.query(SHOW.text);
    await client.end();
    return rows.map(({ name, setting }) => [name, setting]);
  },
};

const connections: [keyof typeof rowsOf, SessionSettings][] = [
  ['a read', READER_SETTINGS],
  ['a short write', WRITER_SETTINGS],
  ['a transaction', REQUEST_SETTINGS],
  ['a connection of its own', DIRECT_SETTINGS],
];

describe('the session of', () => {
  for (const [connection, settings] of connections) {
    it.each(['direct', 'pooled'])(`${connection} has the settings, %s`, async (way) => {
      const database = openDatabase(way === 'direct' ? createdDatabase.url : (await openPooler('session')).url);
      const session = Object.fromEntries(await rowsOf[connection](database));
      expect(session).toMatchObject(settings);
    });
  }
});

describe('a timestamp', () => {
  const stored = `select id, (extract(epoch from created_at) * 1000)::float8 as at from builder order by created_at, id`;

  it.each(['direct', 'pooled'])('is read in UTC from a database of another time zone, %s', async (way) => {
    const database = openDatabase(way === 'direct' ? createdDatabase.url : (await openPooler('session')).url);
    const client = new pg.Client({ connectionString: createdDatabase.url });
    await client.connect();
    const { rows } = await client.query<{ id: string; at: number }>(stored).finally(() => client.end());
    const page = await builders.findPage(database, {}, { offset: 0, limit: 25 });
    const read = page.data.map(({ id, createdAt }) => [id, Date.parse(String(createdAt))]);
    expect(read).toEqual(rows.slice(0, 25).map(({ id, at }) => [id, at]));
  });
});

describe('DATABASE_URL_*_DIRECT beside a pooler', () => {
  it('serves migrations, jobs and every command, while requests go through the pooler', async () => {
    const pooler = await openPooler('session');
    const env = { DATABASE_URL_AU1: pooler.url, DATABASE_URL_US1: createdDatabase.url, TOKEN_KEY: newSecret() };
    const config = loadConfig({ ...env, DATABASE_URL_AU1_DIRECT: createdDatabase.url });
    const service = await openDatabases(config, 'service');
    expect([service.databases.au1.url, service.direct.au1.url]).toEqual([pooler.url, createdDatabase.url]);
    expect(service.databases.us1).toBe(service.direct.us1);
    await service.close();
    const command = await openDatabases(config, 'command');
    expect(command.databases.au1.url).toBe(createdDatabase.url);
    await command.close();
  });

  it('is named in the error when it cannot be used', async () => {
    const env = {
      DATABASE_URL_AU1: createdDatabase.url,
      DATABASE_URL_US1: createdDatabase.url,
      TOKEN_KEY: newSecret(),
    };
    const config = loadConfig({ ...env, DATABASE_URL_US1_DIRECT: 'postgresql://u:p@127.0.0.1:1/none' });
    await expect(openDatabases(config, 'service')).rejects.toThrow(/^DATABASE_URL_US1_DIRECT cannot be used: /);
  });
});

describe('in production a database of a region', () => {
  it.each([
    ['_US1', 'au1', 'DATABASE_URL_AU1 must not lead to the database of DATABASE_URL_US1.'],
    ['_US1_DIRECT', 'au1', 'DATABASE_URL_AU1 must not lead to the database of DATABASE_URL_US1_DIRECT.'],
    ['_AU1_DIRECT', 'us1', 'DATABASE_URL_AU1_DIRECT must lead to the database of DATABASE_URL_AU1.'],
    ['_US1_DIRECT', 'us1', null],
  ])(
    'is the one of its other addresses, and of no other region, by whatever name: DATABASE_URL%s of %s',
    async (name, region, error) => {
      const us1 = await createDatabase('template1');
      cleanups.push(us1.drop);
      const urls = { au1: createdDatabase.url, us1: us1.url };
      const config = loadConfig({
        ...{ NODE_ENV: 'production', BASE_URL: 'https://api.example.com', TOKEN_KEY: newSecret() },
        ...{ DATABASE_URL_AU1: urls.au1, DATABASE_URL_US1: urls.us1 },
        [`DATABASE_URL${name}`]: `${urls[region as 'au1']}?application_name=other`,
      });
      const opened = openDatabases(config, 'service');
      if (error) await expect(opened).rejects.toThrow(error);
      else expect(await opened.then(({ close }) => close())).toBeUndefined();
    },
  );
});

describe('a PostgreSQL that is too old', () => {
  it('prevents a start with one line that names the setting and both versions', async () => {
    const { url } = createdDatabase;
    const old = await createDatabase('template1');
    cleanups.push(old.drop);
    const client = new pg.Client({ connectionString: old.url });
    await client.connect();
    // The database answers the statement of the check as an older server does.
    await client.query(`create schema old;
      create function old.current_setting(text) returns text language sql
        as $$ select case $1 when 'server_version_num' then '170006' else '17.6' end $$;
      alter database ${nameOf(old)} set search_path = old, pg_catalog`);
    await client.end();
    const env = { DATABASE_URL_AU1: url, DATABASE_URL_US1: old.url, TOKEN_KEY: newSecret() };
    await expect(openDatabases(loadConfig(env), 'service')).rejects.toThrow(
      /^DATABASE_URL_US1 leads to PostgreSQL 17\.6; the service needs 18 or later\.$/,
    );
  });

  it('is documented', () => {
    const page = readFileSync(join(PACKAGE_ROOT, 'docs/operations.md'), 'utf8');
    expect(page).toContain(`PostgreSQL ${MIN_POSTGRES_VERSION} or later`);
  });
});

describe('a service behind a pooler that shares sessions between transactions', () => {
  const config = (url: string) =>
    loadConfig({ DATABASE_URL_AU1: url, DATABASE_URL_US1: createdDatabase.url, TOKEN_KEY: newSecret() });

  it('does not start where the settings are missing, and leaves no session with them', async () => {
    const pooler = await openPooler('transaction');
    const refused = openDatabases(config(pooler.url), 'service');
    await expect(refused).rejects.toThrow(DatabaseUnavailableError);
    await expect(refused).rejects.toThrow(
      /^DATABASE_URL_AU1 leads through a pooler that shares sessions between transactions, so [^\n]*timezone=UTC[^\n]*$/,
    );
    const client = new pg.Client({ connectionString: pooler.url });
    await client.connect();
    expect((await client.query('show timezone')).rows).toEqual([{ TimeZone: 'Australia/Sydney' }]);
    await client.end();
  });

  it('starts where the user of the database has the settings', async () => {
    const role = `pooled_${nameOf(createdDatabase)}`;
    await executeAsAdministrator(`create role ${role} login superuser password 'pooled'`);
    cleanups.push(() => executeAsAdministrator(`drop role ${role}`));
    for (const [name, value] of Object.entries(READER_SETTINGS)) {
      await executeAsAdministrator(
        `alter role ${role} in database ${nameOf(createdDatabase)} set ${name} = '${value}'`,
      );
    }
    const pooler = await openPooler('transaction');
    const url = Object.assign(new URL(pooler.url), { username: role, password: 'pooled' }).href;
    const { databases, close } = await openDatabases(config(url), 'service');
    expect(Object.fromEntries(await rowsOf['a read'](databases.au1))).toMatchObject(READER_SETTINGS);
    await close();
    // Migrations, jobs and commands have the same user: their statements may take longer.
    const direct = openDatabase(
      Object.assign(new URL(createdDatabase.url), { username: role, password: 'pooled' }).href,
    );
    const session = Object.fromEntries(await rowsOf['a connection of its own'](direct));
    expect(session).toMatchObject(DIRECT_SETTINGS);
  });
});
