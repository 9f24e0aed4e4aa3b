import type { Option } from 'commander';
import pg from 'pg';
import { formatSettingsTable, listSettings } from '../../config/settings.ts';
import type { Config } from '../../config.ts';
import type { Database, Databases } from '../../database/database.ts';
import { grantServiceRights } from '../../database/grant-rights.ts';
import { runPendingMigrations } from '../../database/run-migrations.ts';
import { rebuildTotals } from '../../database/write/list-counters.ts';
import { renewEpoch } from '../../domain/events/event-log.ts';
import { REGIONS, type RegionId } from '../../shared/regions.ts';
import { withDatabases } from '../services/database-session.ts';
import { createMigration, readMigrationStatus } from '../services/migrations.ts';
import { updateSchemaDocuments } from '../services/schema-documents.ts';
import { type CommandGroup, type CommandOptions, option, regionOption } from './command-group.ts';

/** Adds the commands for migrations, list totals, the event log, generated files and settings. */
export function addOperationCommands(program: CommandGroup): void {
  addMigrateCommands(program.addGroup('migrate', 'tables of the regional databases'));

  const totals = program.addGroup('totals', 'maintained totals of large lists');
  const rebuild = 'recount the rows of large lists, needed after pg_restore --data-only';
  addPerRegion(totals, 'rebuild', rebuild, {
    name: 'rebuilt',
    work: rebuildTotals,
    describe: ({ corrected }) => `corrected ${corrected} totals`,
  });

  const events = program.addGroup('events', 'log of changes');
  const renew = 'expire every cursor of the event feed, after data were lost in a way that the service cannot detect';
  addPerRegion(events, 'renew-epoch', renew, {
    name: 'epochs',
    work: renewEpoch,
    describe: (epoch) => `the epoch is ${epoch}`,
  });

  const schema = program.addGroup('schema', 'generated descriptions of the service');
  const emit = 'for development: write schema.graphql, console.graphql, openapi.json and docs/graphql-codegen.ts';
  const checking = [option('--check', 'write nothing, and fail if a file is stale')];
  schema.add('emit', emit, checking, async ({ check }) => {
    const { files } = await updateSchemaDocuments({ check: check === true });
    return { data: { files }, text: check ? 'The generated files are current.' : `Wrote ${files.join(', ')}.` };
  });

  program.add('settings', 'print every setting as a Markdown table', [], () => ({
    data: { settings: listSettings() },
    text: formatSettingsTable(),
  }));
}

function addMigrateCommands(group: CommandGroup): void {
  const verbose = option('--verbose', 'print the names of the migrations too');
  addPerRegion(group, 'up', 'apply the pending migrations', {
    name: 'applied',
    options: [verbose],
    work: applyMigrations,
    describe: (names, options) => formatMigrations({ applied: names }, options),
    role: 'migration',
  });
  addPerRegion(group, 'status', 'count the applied and the pending migrations', {
    name: 'regions',
    options: [verbose],
    work: readMigrationStatus,
    describe: formatMigrations,
  });

  const create = 'for development: write a migration for the current entities';
  group.add('create <name>', create, [], async (_options, name) => {
    const migration = await createMigration(name!);
    if (!migration) return { data: { file: null }, text: 'The entities match the last migration.' };
    return { data: migration, text: `Wrote ${migration.file}, and schema.json and index.ts beside it.` };
  });
}

/** Applies pending migrations, and gives the service's user its rights where the tables belong to another. */
async function applyMigrations(database: Database, { ownerUrls, databaseUrls }: Config): Promise<string[]> {
  const names = await runPendingMigrations(database, 'auto');
  if (ownerUrls && databaseUrls) {
    // The user as a connection reads it, also from an address with a malformed one.
    const { user = '' } = new pg.Client({ connectionString: databaseUrls[database.region] });
    await grantServiceRights(database, user);
  }
  return names;
}

/** Formats how many migrations are in each state, and their names with `--verbose`. */
function formatMigrations(states: object, { verbose }: CommandOptions): string {
  const entries = Object.entries<string[]>({ ...states });
  const counts = entries.map(
    ([state, { length }]) => `${length} ${length === 1 ? 'migration' : 'migrations'} ${state}`,
  );
  const names = entries.flatMap(([state, all]) => all.map((name) => `\n  ${state}  ${name}`));
  return [counts.join(', '), ...(verbose ? names : [])].join('');
}

interface PerRegionWork<T> {
  /** Name under which `--json` prints the results by region. */
  name: string;
  options?: readonly Option[];
  work: (database: Database, config: Config) => Promise<T>;
  describe: (result: T, options: CommandOptions) => string;
  /** Whose databases it opens: `migration` for those of the owner of the tables. */
  role?: 'command' | 'migration';
}

/** Adds a command that does the same in both regions, or in that of the option `--region`, without applying migrations first. */
function addPerRegion<T>(
  group: CommandGroup,
  command: string,
  description: string,
  { name, options = [], work, describe, role }: PerRegionWork<T>,
): void {
  const region = regionOption().default(undefined, 'both');
  const runInEach = async (values: CommandOptions, databases: Databases, config: Config) => {
    const results: Partial<Record<RegionId, T>> = {};
    const lines: string[] = [];
    for (const region of REGIONS.filter((each) => each === (values.region ?? each))) {
      const result = await work(databases[region], config);
      results[region] = result;
      lines.push(`${region}: ${describe(result, values)}`);
    }
    return { data: { [name]: results }, text: lines.join('\n') };
  };
  group.add(command, description, [...options, region], (values) =>
    withDatabases(group.io, (databases, config) => runInEach(values, databases, config), role),
  );
}
