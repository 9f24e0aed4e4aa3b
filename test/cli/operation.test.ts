import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { appendFile, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { INTERNAL_SCOPES, SCOPES } from '../../schema/scopes.ts';
import { CliError } from '../../src/cli/cli-error.ts';
import { renderMigrationIndex } from '../../src/cli/services/migration-files.ts';
import { createMigration } from '../../src/cli/services/migrations.ts';
import { updateSchemaDocuments } from '../../src/cli/services/schema-documents.ts';
import { formatSettingsTable } from '../../src/config/settings.ts';
import { migrations } from '../../src/database/migrations/index.ts';
import { REGIONS } from '../../src/shared/regions.ts';
import { type CliHarness, startCli } from './cli-harness.ts';

const MIGRATIONS = resolve(import.meta.dirname, '../../src/database/migrations');
const migrationNames = migrations.map(({ name }) => name);

let cli: CliHarness;

beforeAll(async () => {
  cli = await startCli({ au1: 'template1', us1: 'template1' });
});
afterAll(() => cli.close());

/** Milliseconds that grow with the number of migrations, each of which takes seconds on a loaded machine. */
const timeout = 20_000 + 5_000 * migrationNames.length;

describe('migrate up and status', { timeout }, () => {
  const none = { applied: [], pending: migrationNames };
  const all = { applied: migrationNames, pending: [] };
  const count = `${migrationNames.length} migration${migrationNames.length === 1 ? '' : 's'}`;

  it('apply the pending migrations of both regions, as another command does in its own where MIGRATE is not check', async () => {
    const create = ['integrator', 'create', '--name', 'Site Sync', '--region', 'us1'];
    cli.env.MIGRATE = 'check';
    const error = await cli.errorOf(create);
    delete cli.env.MIGRATE;
    expect(error).toMatch(/^Region us1 waits for migrations .*"npm run cli -- migrate up"\)\.$/);
    expect(await cli.json(['migrate', 'status'])).toMatchObject({ regions: { au1: none, us1: none } });
    cli.env.MIGRATE = 'auto';
    expect(await cli.json(create)).toMatchObject({ regionId: 'us1' });
    delete cli.env.MIGRATE;
    expect(await cli.json(['migrate', 'status'])).toMatchObject({ regions: { au1: none, us1: all } });
    const au1 = ['--region', 'au1'];
    expect(await cli.json(['migrate', 'up', ...au1])).toEqual({ applied: { au1: migrationNames } });
    expect(await cli.json(['migrate', 'up'])).toEqual({ applied: { au1: [], us1: [] } });
    expect(await cli.json(['migrate', 'status', ...au1])).toMatchObject({ regions: { au1: all } });
  });

  it('print counts without --json, and the names with --verbose', async () => {
    expect((await cli.run(['migrate', 'up'])).out).toBe('au1: 0 migrations applied\nus1: 0 migrations applied\n');
    const status = ['migrate', 'status', '--region', 'us1'];
    expect((await cli.run(status)).out).toBe(`us1: ${count} applied, 0 migrations pending\n`);
    const names = migrationNames.map((name) => `  applied  ${name}\n`);
    const { out } = await cli.run([...status, '--verbose']);
    expect(out).toBe(`us1: ${count} applied, 0 migrations pending\n${names.join('')}`);
  });

  it('reject an unknown region', async () => {
    expect(await cli.errorOf(['migrate', 'up', '--region', 'eu1'])).toMatch(/--region .*au1, us1/);
  });
});

describe('migrate up on a database of another program', () => {
  it('says in one line what it needs', async () => {
    const foreign = await startCli({ au1: 'template1' });
    await foreign.databases.au1.fork().execute('create table builder (id int)');
    expect((await foreign.run(['migrate', 'up'])).err).toBe(
      'The database must be empty, with the encoding UTF8, or of an earlier release (relation "builder" already exists).\n',
    );
    await foreign.close();
  });
});

describe('migrate as a user to whom the tables do not belong', () => {
  const role = `stranger_${randomBytes(6).toString('hex')}`;
  let migrated: CliHarness;
  let empty: CliHarness;

  beforeAll(async () => {
    [migrated, empty] = await Promise.all([startCli(), startCli({ au1: 'template1', us1: 'template1' })]);
    await migrated.databases.au1.fork().execute(`create role ${role} login password 'only-a-test'`);
    for (const { env } of [migrated, empty]) {
      for (const name of ['DATABASE_URL_AU1', 'DATABASE_URL_US1'])
        env[name] = Object.assign(new URL(env[name]!), { username: role, password: 'only-a-test' }).href;
    }
  });
  afterAll(async () => {
    await migrated.databases.au1.fork().execute(`drop role ${role}`);
    await Promise.all([migrated.close(), empty.close()]);
  });

  it.each(['', 'missing%zz', 'owner'])('gives no rights to the user "%s", and says so in one line', async (user) => {
    const { env, databases } = migrated;
    const owner = new URL(databases.au1.url);
    const own = { ...env };
    for (const region of REGIONS) {
      const url = Object.assign(new URL(databases[region].url), { username: user === 'owner' ? owner.username : user });
      const name = `DATABASE_URL_${region.toUpperCase()}`;
      Object.assign(env, { [name]: url.href, [`${name}_OWNER`]: databases[region].url });
    }
    expect((await migrated.run(['migrate', 'up'])).err).toBe(
      'DATABASE_URL_AU1 must name a user that exists and is not the owner of the tables.\n',
    );
    for (const name of Object.keys(env)) delete env[name];
    Object.assign(env, own);
    const rights = `select from pg_class where oid = 'audit_entry'::regclass and relacl is null`;
    expect(await databases.au1.fork().execute(rights)).toHaveLength(1);
  });

  it('says in one line who may run it', async () => {
    const advice =
      'a right is missing, or the tables belong to another user, whom DATABASE_URL_AU1_OWNER and DATABASE_URL_US1_OWNER name';
    expect(await migrated.errorOf(['migrate', 'status'])).toBe(
      `The database user may not do this (permission denied for table mikro_orm_migrations): ${advice} for migrations.`,
    );
    expect((await empty.run(['migrate', 'up'])).err).toBe(
      `The database user may not do this (permission denied for schema public): ${advice} for migrations.\n`,
    );
  });
});

describe('migrate create', () => {
  let folder: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'migrations-'));
  });
  afterAll(() => rm(folder, { recursive: true }));

  it('writes a migration and a snapshot when the entities differ from the last snapshot', async () => {
    const snapshot = JSON.parse(await readFile(join(MIGRATIONS, 'schema.json'), 'utf8'));
    delete snapshot.tables.find(({ name }: { name: string }) => name === 'app_user').columns.picture_key;
    await writeFile(join(folder, 'schema.json'), JSON.stringify(snapshot));
    const made = (await createMigration('user-picture', folder))!;
    const written = (await readdir(folder)).find((name) => /^\d.*\.ts$/.test(name));
    expect(written).toMatch(/^\d{14}-user-picture\.ts$/);
    const className = `Migration${written!.slice(0, 14)}UserPicture`;
    expect(made).toMatchObject({ file: join(folder, written!), className });
    expect(made.statements.join()).toContain('alter table "app_user" add "picture_key" text null');
    const code = await readFile(join(folder, written!), 'utf8');
    expect(code).toContain(`export class ${className} extends Migration`);
    expect(await readFile(join(folder, 'index.ts'), 'utf8')).toContain(`import { ${className} } from './${written}';`);
    expect(await createMigration('again', folder)).toBeNull();
  });

  it('writes index.ts as it is committed', async () => {
    expect(await renderMigrationIndex(MIGRATIONS)).toBe(await readFile(join(MIGRATIONS, 'index.ts'), 'utf8'));
  });

  it('refuses a name that is not words with hyphens, and a folder without a snapshot', async () => {
    expect(await cli.errorOf(['migrate', 'create', 'Add_Things'])).toMatch(/^NAME: "Add_Things" must be lower-case/);
    await expect(createMigration('things', tmpdir())).rejects.toThrow(/^migrate create: there is no schema\.json in /);
  });
});

describe('schema emit', () => {
  it('writes the schema documents, and fails with --check when one is stale', async () => {
    const root = await mkdtemp(join(tmpdir(), 'schema-'));
    const folder = join(root, 'schema');
    await mkdir(folder);
    const map = join(root, 'docs', 'graphql-codegen.ts');
    const files = [...['schema.graphql', 'console.graphql', 'openapi.json'].map((name) => join(folder, name)), map];
    try {
      expect(await updateSchemaDocuments({ check: false }, folder)).toEqual({ files });
      expect(JSON.parse(await readFile(files[2]!, 'utf8')).openapi).toMatch(/^3\.1/);
      expect(await updateSchemaDocuments({ check: true }, folder)).toEqual({ files: [] });
      for (const file of [files[0]!, map]) await appendFile(file, '\n');
      await expect(updateSchemaDocuments({ check: true }, folder)).rejects.toThrow(
        new CliError(`Stale: ${files[0]} and ${map}. Run: npm run cli -- schema emit`),
      );
      await expect(updateSchemaDocuments({ check: true }, join(folder, 'none'))).rejects.toThrow(
        /^schema emit: there is no/,
      );
    } finally {
      await rm(root, { recursive: true });
    }
  });
});

describe('settings', () => {
  it('prints the settings table of docs/operations.md without a database', async () => {
    const { code, out } = await cli.run(['settings']);
    expect({ code, out }).toEqual({ code: 0, out: `${formatSettingsTable()}\n` });
    const { settings } = await cli.json(['settings']);
    const port = { name: 'PORT', file: null, default: '4000', description: expect.any(String) };
    expect(settings).toContainEqual(port);
    expect(settings).toContainEqual(expect.objectContaining({ name: 'TOKEN_KEY', file: 'TOKEN_KEY_FILE' }));
  });
});

describe('the program', () => {
  it('lists its commands by group, with examples', async () => {
    const { code, out, err } = await cli.run(['--help']);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    for (const part of [
      'Access:',
      'People:',
      'Data:',
      'Operation:',
      'Examples:',
      '$ npm run cli -- integrator create',
    ]) {
      expect(out).toContain(part);
    }
    expect(out).toMatch(/ {2}client list\|show\|update\|create\|rotate-secret\|disable\|enable +OAuth clients/);
  });

  it('has every command, and no other, in the table of docs/commands.md', async () => {
    const { out } = await cli.run(['--help']);
    const listed = [...out.matchAll(/^ {2}([a-z-]+)(?: ([a-z|-]+))?(?: <dir>)? {2,}\S/gm)].flatMap(
      ([, group, subcommands]) =>
        subcommands === undefined ? [group!] : subcommands.split('|').map((subcommand) => `${group} ${subcommand}`),
    );
    const page = await readFile(join(import.meta.dirname, '../../docs/commands.md'), 'utf8');
    const rows = page.matchAll(/^\| (`.+?`) \|/gm);
    const documented = [...rows].flatMap(([, cell]) => {
      let group = '';
      return [...cell!.matchAll(/`([a-z-]+)(?: ([a-z-]+))?(?: [A-Z]+)?`/g)].map(([, first, second]) => {
        if (second) group = `${first} `;
        return second ? `${group}${second}` : `${group}${first}`;
      });
    });
    expect(listed.length).toBeGreaterThan(30);
    expect(documented.sort()).toEqual(listed.sort());
  });

  it.each(['client create', 'client update', 'connection create'])(
    'lists the scopes in the help of %s',
    async (name) => {
      const { out } = await cli.run([...name.split(' '), '--help']);
      expect(out).toContain(`Scopes: ${[...SCOPES, ...INTERNAL_SCOPES].join(' ')}`);
    },
  );

  it('prints the help and fails without a command', async () => {
    for (const args of [[], ['client']]) {
      const { code, out, err } = await cli.run(args);
      expect({ code, out }).toEqual({ code: 1, out: '' });
      expect(err).toContain('Usage: npm run cli -- ');
    }
  });

  it('reports an unknown command in one line, with a suggestion', async () => {
    const { code, err } = await cli.run(['client', 'crate']);
    expect({ code, err }).toEqual({ code: 1, err: "unknown command 'crate' (Did you mean create?)\n" });
    expect(await cli.errorOf(['clients'])).toBe("unknown command 'clients' (Did you mean client?)");
  });

  it('reports an invalid setting or an unreachable database in one line', async () => {
    const { env } = cli;
    const { DATABASE_URL_AU1 } = env;
    const errorWith = (url: string) => {
      env.DATABASE_URL_AU1 = url;
      return cli.errorOf(['migrate', 'status']).finally(() => Object.assign(env, { DATABASE_URL_AU1 }));
    };
    expect(await errorWith('mysql://localhost/x')).toMatch(/^DATABASE_URL_AU1 must be a URL such as postgresql:/);
    expect(await errorWith('postgresql://127.0.0.1:1/x')).toMatch(/^DATABASE_URL_AU1 cannot be used: /);
    expect(await errorWith('postgresql://127.0.0.1/x?sslkey=/run/secrets/private.key')).toBe(
      'DATABASE_URL_AU1 cannot be used: a file that it names cannot be read (ENOENT).',
    );
  });

  it('reports a database that is read-only in one line, without the statement', async () => {
    const { pathname } = new URL(cli.env.DATABASE_URL_US1!);
    const name = pathname.slice(1);
    const setReadOnly = (value: string) =>
      cli.databases.us1.fork().execute(`alter database "${name}" set default_transaction_read_only = ${value}`);
    await setReadOnly('on');
    const error = await cli.errorOf(['integrator', 'create', '--name', 'Sync', '--region', 'us1']);
    await setReadOnly('off');
    expect(error).toBe('The database or a disk cannot be used now: cannot execute INSERT in a read-only transaction.');
  });

  describe('a store that cannot be used', () => {
    const xml = (code: string) => `<Error><Code>${code}</Code><Message>Not\nthis one.</Message></Error>`;
    let answer: [number, string] = [200, ''];
    const server = createServer((_request, response) => {
      if (answer[1] !== 'cut') return response.writeHead(answer[0]).end(answer[1]);
      response.writeHead(answer[0], { 'content-length': '1000' }).write('{');
      return setTimeout(() => response.destroy(), 20);
    });
    const s3 = { STORAGE: 's3', S3_BUCKET: 'bucket', S3_ACCESS_KEY_ID: 'id', S3_SECRET_ACCESS_KEY: 'secret' };

    beforeAll(async () => {
      await once(server.listen(0, '127.0.0.1'), 'listening');
      Object.assign(cli.env, s3);
    });

    afterAll(() => {
      server.close();
      for (const name of ['S3_ENDPOINT', ...Object.keys(s3)]) delete cli.env[name];
    });

    const toError = (reason: string) => `The store of S3_ENDPOINT and S3_BUCKET cannot be used (${reason}).`;
    const commands = [
      ['backup', 'verify'],
      ['person', 'replay-erasures'],
      ['storage', 'claim', '--yes'],
    ];

    it.each(commands)('is reported in one line where it does not answer: %s %s', async (...command) => {
      cli.env.S3_ENDPOINT = 'http://127.0.0.1:1';
      expect(await cli.errorOf(command)).toBe(toError('ECONNREFUSED'));
    });

    it.each(commands)('is reported in one line where it refuses or is none: %s %s', async (...command) => {
      cli.env.S3_ENDPOINT = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      answer = [403, xml('AccessDenied')];
      expect(await cli.errorOf(command)).toBe(toError('AccessDenied: Not\\u000athis one.'));
      answer = [403, ''];
      expect(await cli.errorOf(command)).toMatch(/\((HTTP 403|\w+): .*\)\.$/);
      answer = [404, xml('NoSuchBucket')];
      expect(await cli.errorOf(command)).toMatch(/\(NoSuchBucket: .*\)\.$/);
      answer = [200, '<html>'];
      expect(await cli.errorOf(command)).toMatch(/^(The store of .* cannot be used \(.*\)|.* is no JSON)\.$/);
      answer = [200, 'cut'];
      expect(await cli.errorOf(command)).toBe(toError('ECONNRESET'));
    });
  });
});
