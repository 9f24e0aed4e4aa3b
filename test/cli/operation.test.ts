import { appendFile, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CliError } from '../../src/cli/cli-error.ts';
import { runCli } from '../../src/cli/run.ts';
import { renderMigrationIndex } from '../../src/cli/services/migration-files.ts';
import { createMigration } from '../../src/cli/services/migrations.ts';
import { updateSchemaDocuments } from '../../src/cli/services/schema-documents.ts';
import { formatSettingsTable } from '../../src/config/settings.ts';
import { migrations } from '../../src/database/migrations/index.ts';
import { TOKEN_KEY } from '../support/harness.ts';
import { type CliHarness, startCli, TextCollector } from './cli-harness.ts';

const MIGRATIONS = resolve(import.meta.dirname, '../../src/database/migrations');
const migrationNames = migrations.map(({ name }) => name);

let cli: CliHarness;

beforeAll(async () => {
  cli = await startCli('template1');
});
afterAll(() => cli.close());

/** Milliseconds that grow with the number of migrations, each of which takes seconds on a loaded machine. */
const timeout = 20_000 + 5_000 * migrationNames.length;

describe('migrate up, down and status', { timeout }, () => {
  const none = { applied: [], pending: migrationNames };
  const all = { applied: migrationNames, pending: [] };

  it('apply the pending migrations of both regions and roll one back', async () => {
    expect(await cli.json(['migrate', 'status'])).toMatchObject({ regions: { au1: none, us1: none } });
    expect(await cli.json(['migrate', 'up'])).toEqual({ applied: { au1: migrationNames, us1: migrationNames } });
    expect(await cli.json(['migrate', 'up'])).toEqual({ applied: { au1: [], us1: [] } });
    expect(await cli.json(['migrate', 'down', '--yes', '--region', 'us1'])).toEqual({
      rolledBack: { us1: migrationNames.slice(-1) },
    });
    const left = { applied: migrationNames.slice(0, -1), pending: migrationNames.slice(-1) };
    expect(await cli.json(['migrate', 'status'])).toMatchObject({ regions: { au1: all, us1: left } });
    expect(await cli.json(['migrate', 'status', '--region', 'au1'])).toMatchObject({ regions: { au1: all } });
  });

  it('print their results as text without --json', async () => {
    await cli.run(['migrate', 'up']);
    const us1 = ['--region', 'us1'];
    expect((await cli.run(['migrate', 'down', '--yes', ...us1])).out).toBe(
      `us1: rolled back ${migrationNames.at(-1)}\n`,
    );
    const applied = migrationNames.slice(0, -1).map((name) => `  applied  ${name}\n`);
    const pending = `  pending  ${migrationNames.at(-1)}\n`;
    expect((await cli.run(['migrate', 'status', ...us1])).out).toBe(`us1: \n${applied.join('')}${pending}`);
    expect((await cli.run(['migrate', 'up'])).out).toBe(
      `au1: applied nothing\nus1: applied ${migrationNames.at(-1)}\n`,
    );
  });

  it('ask for confirmation before a rollback, and do nothing unless the answer is yes', async () => {
    await cli.run(['migrate', 'up']);
    const us1 = ['migrate', 'down', '--region', 'us1'];
    expect(await cli.errorOf(us1)).toBe('--yes: is required without a terminal.');
    const answer = async (text: string) => {
      const stdin = Object.assign(new PassThrough(), { isTTY: true });
      const [stdout, stderr] = [new TextCollector(), new TextCollector()];
      stdin.end(text);
      const code = await runCli(us1, { ...{ env: cli.env, clock: cli.clock }, stdin, stdout, stderr });
      return { code, output: `${stderr.text}${stdout.text}` };
    };
    for (const text of ['n\n', '\n', '']) {
      const { code, output } = await answer(text);
      expect(code).toBe(1);
      expect(output).toContain(`us1: undo ${migrationNames.at(-1)}\n`);
      expect(output).toContain('migrate down: was not confirmed.');
    }
    expect(await cli.json(['migrate', 'status', '--region', 'us1'])).toMatchObject({ regions: { us1: all } });
    expect(await answer('y\n')).toMatchObject({ code: 0, output: expect.stringContaining('us1: rolled back') });
    await cli.run(['migrate', 'up']);
  });

  it('undo the newest migration in both regions with --yes, but not in production', async () => {
    await cli.run(['migrate', 'up']);
    const down = ['migrate', 'down', '--yes'];
    const newest = migrationNames.slice(-1);
    Object.assign(cli.env, { TOKEN_KEY, BASE_URL: 'https://api.example.com', NODE_ENV: 'production' });
    expect(await cli.errorOf(down)).toBe('migrate down: is not available in production.');
    for (const name of ['TOKEN_KEY', 'BASE_URL', 'NODE_ENV']) delete cli.env[name];
    expect(await cli.json(down)).toEqual({ rolledBack: { au1: newest, us1: newest } });
    await cli.run(['migrate', 'up']);
  });

  it('reject an unknown region', async () => {
    expect(await cli.errorOf(['migrate', 'up', '--region', 'eu1'])).toMatch(/--region .*au1, us1/);
  });
});

describe('a command on a region with pending migrations', () => {
  const create = ['integrator', 'create', '--name', 'Site Sync', '--region', 'us1'];

  beforeAll(async () => {
    await cli.json(['migrate', 'up']);
    await cli.json(['migrate', 'down', '--yes', '--region', 'us1']);
  });

  it('fails with MIGRATE=check, and applies them otherwise', async () => {
    cli.env.MIGRATE = 'check';
    const errorOf = await cli.errorOf(create);
    delete cli.env.MIGRATE;
    expect(errorOf).toMatch(/^Region us1 waits for migrations .*"npm run cli -- migrate up"\)\.$/);
    expect(await cli.json(create)).toMatchObject({ regionId: 'us1' });
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
    expect(code).toContain('alter table "app_user" drop column "picture_key"');
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
      for (const file of [files[0]!, map]) {
        const before = await readFile(file, 'utf8');
        await appendFile(file, '\n');
        await expect(updateSchemaDocuments({ check: true }, folder)).rejects.toThrow(CliError);
        await writeFile(file, before);
      }
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
  });
});
