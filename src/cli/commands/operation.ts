import type { Command } from 'commander';
import { formatSettingsTable, listSettings } from '../../config/settings.ts';
import type { Config } from '../../config.ts';
import type { Database, Databases } from '../../database/database.ts';
import { grantServiceRights } from '../../database/grant-rights.ts';
import { findAppliedMigrations, rollbackLast, runPendingMigrations } from '../../database/run-migrations.ts';
import { rebuildTotals } from '../../database/write/list-counters.ts';
import { renewEpoch } from '../../domain/events/epoch.ts';
import { splitAddresses } from '../../shared/postgres-url.ts';
import { REGIONS, type RegionId } from '../../shared/regions.ts';
import { CliError } from '../cli-error.ts';
import type { CliIo, CommandResult } from '../io/cli-io.ts';
import { confirm } from '../io/confirm.ts';
import { forEachRegion, type PerRegion, withDatabases } from '../services/database-session.ts';
import { createMigration, type RegionStatus, readMigrationStatus } from '../services/migrations.ts';
import { updateSchemaDocuments } from '../services/schema-documents.ts';
import { addCommandGroup, type CommandOptions, createRegionOption, defineCommand } from './define-command.ts';

/** Adds the commands for migrations, list totals, the event log, generated files and settings. */
export function addOperationCommands(program: Command, io: CliIo): void {
  addMigrateCommands(addCommandGroup(program, 'migrate', 'tables of the regional databases'), io);
  addTotalsCommands(addCommandGroup(program, 'totals', 'maintained totals of large lists'), io);
  addEventCommands(addCommandGroup(program, 'events', 'log of changes'), io);
  addSchemaCommands(addCommandGroup(program, 'schema', 'generated descriptions of the service'), io);
  defineCommand(io, program.command('settings').description('print every setting as a Markdown table'), () => ({
    data: { settings: listSettings() },
    text: formatSettingsTable(),
  }));
}

function addMigrateCommands(parent: Command, io: CliIo): void {
  definePerRegionCommand(io, parent.command('up').description('apply the pending migrations'), 'applied', {
    work: applyMigrations,
    describe: (names) => `applied ${names.join(', ') || 'nothing'}`,
    role: 'migration',
  });

  const down = parent
    .command('down')
    .description('for development: undo the newest migration, with the data of what it created')
    .option('--yes', 'skip the confirmation; required without a terminal');
  const rollBack: RegionsWork = async (databases, regions, { yes }, { production }) => {
    if (production) throw CliError.forOption('migrate down', 'is not available in production');
    const newest = await forEachRegion(regions, (region) => findAppliedMigrations(databases[region]));
    const steps = Object.entries(newest).map(([region, names]) => `${region}: undo ${names.at(-1) ?? 'nothing'}`);
    if (!yes && !(await confirm(io, steps))) throw CliError.forOption('migrate down', 'was not confirmed');
    const rolledBack = await forEachRegion(regions, (region) => rollbackLast(databases[region]));
    return {
      data: { rolledBack },
      text: formatPerRegion(rolledBack, (names) => `rolled back ${names.join(', ') || 'nothing'}`),
    };
  };
  defineAllRegionsCommand(io, down, rollBack, 'migration');

  const status = parent
    .command('status')
    .description('list applied and pending migrations, and the locks that these will take');
  definePerRegionCommand(io, status, 'regions', { work: readMigrationStatus, describe: describeStatus });

  const create = parent
    .command('create <name>')
    .description('for development: write a migration for the current entities');
  defineCommand(io, create, async (_options, name) => {
    const migration = await createMigration(name!);
    if (!migration) return { data: { file: null }, text: 'The entities match the last migration.' };
    return { data: migration, text: `Wrote ${migration.file}, and schema.json and index.ts beside it.` };
  });
}

/** Applies pending migrations, and gives the service's user its rights where the tables belong to another. */
async function applyMigrations(database: Database, { ownerUrls, databaseUrls }: Config): Promise<string[]> {
  const names = await runPendingMigrations(database, 'auto');
  if (ownerUrls && databaseUrls) {
    const { username } = new URL(splitAddresses(databaseUrls[database.region])[0]!);
    await grantServiceRights(database, decodeURIComponent(username));
  }
  return names;
}

const describeStatus = ({ applied, pending }: RegionStatus): string =>
  [...applied.map((name) => `\n  applied  ${name}`), ...pending.map((name) => `\n  pending  ${name}`)].join('');

function addTotalsCommands(parent: Command, io: CliIo): void {
  const rebuild = parent
    .command('rebuild')
    .description('recount the rows of large lists, needed after pg_restore --data-only');
  definePerRegionCommand(io, rebuild, 'rebuilt', {
    work: rebuildTotals,
    describe: ({ corrected }) => `corrected ${corrected} totals`,
  });
}

function addEventCommands(parent: Command, io: CliIo): void {
  const renew = parent
    .command('renew-epoch')
    .description('expire every cursor of the event feed, after data were lost in a way that the service cannot detect');
  definePerRegionCommand(io, renew, 'epochs', { work: renewEpoch, describe: (epoch) => `the epoch is ${epoch}` });
}

function addSchemaCommands(parent: Command, io: CliIo): void {
  const emit = parent
    .command('emit')
    .description('for development: write schema.graphql, console.graphql, openapi.json and docs/graphql-codegen.ts')
    .option('--check', 'write nothing, and fail if a file is stale');
  defineCommand(io, emit, async ({ check }) => {
    const { files } = await updateSchemaDocuments({ check: check === true });
    return {
      data: { files },
      text: check ? 'The generated files are current.' : `Wrote ${files.join(', ')}.`,
    };
  });
}

type RegionsWork = (
  databases: Databases,
  regions: readonly RegionId[],
  options: CommandOptions,
  config: Config,
) => Promise<CommandResult>;

/** @param role whose databases the command opens: `migration` for those of the owner of the tables. */
function defineAllRegionsCommand(
  io: CliIo,
  command: Command,
  work: RegionsWork,
  role: 'command' | 'migration' = 'command',
): void {
  command.addOption(createRegionOption().default(undefined, 'both'));
  defineCommand(io, command, (options) => {
    const regions: readonly RegionId[] = options.region ? [options.region] : REGIONS;
    return withDatabases(io, (databases, config) => work(databases, regions, options, config), role);
  });
}

/** Sets the action of a command that does the same in each region. With `--json` it prints the results by region under the name. */
function definePerRegionCommand<T>(
  io: CliIo,
  command: Command,
  name: string,
  {
    work,
    describe,
    role,
  }: {
    work: (database: Database, config: Config) => Promise<T>;
    describe: (result: T) => string;
    role?: 'command' | 'migration';
  },
): void {
  const runInEach: RegionsWork = async (databases, regions, _options, config) => {
    const results = await forEachRegion(regions, (region) => work(databases[region], config));
    return { data: { [name]: results }, text: formatPerRegion(results, describe) };
  };
  defineAllRegionsCommand(io, command, runInEach, role);
}

const formatPerRegion = <T>(results: PerRegion<T>, describe: (result: T) => string) =>
  Object.entries(results)
    .map(([region, result]) => `${region}: ${describe(result)}`)
    .join('\n');
