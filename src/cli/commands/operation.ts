import type { Command, Option } from 'commander';
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
import type { CommandResult } from '../io/cli-io.ts';
import { confirm } from '../io/confirm.ts';
import { forEachRegion, type PerRegion, withDatabases } from '../services/database-session.ts';
import { createMigration, type RegionStatus, readMigrationStatus } from '../services/migrations.ts';
import { updateSchemaDocuments } from '../services/schema-documents.ts';
import { type CommandGroup, type CommandOptions, option, regionOption } from './define-command.ts';

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
  addPerRegion(group, 'up', 'apply the pending migrations', {
    name: 'applied',
    work: applyMigrations,
    describe: (names) => `applied ${names.join(', ') || 'nothing'}`,
    role: 'migration',
  });

  const down = 'for development: undo the newest migration, with the data of what it created';
  const options = [option('--yes', 'skip the confirmation; required without a terminal')];
  const rollBack: RegionsWork = async (databases, regions, { yes }, { production }) => {
    if (production) throw CliError.forOption('migrate down', 'is not available in production');
    const newest = await forEachRegion(regions, (region) => findAppliedMigrations(databases[region]));
    const steps = Object.entries(newest).map(([region, names]) => `${region}: undo ${names.at(-1) ?? 'nothing'}`);
    if (!yes && !(await confirm(group.io, steps))) throw CliError.forOption('migrate down', 'was not confirmed');
    const rolledBack = await forEachRegion(regions, (region) => rollbackLast(databases[region]));
    const text = formatPerRegion(rolledBack, (names) => `rolled back ${names.join(', ') || 'nothing'}`);
    return { data: { rolledBack }, text };
  };
  addForRegions(group, 'down', down, options, rollBack, 'migration');

  const status = 'list applied and pending migrations, and the locks that these will take';
  addPerRegion(group, 'status', status, { name: 'regions', work: readMigrationStatus, describe: describeStatus });

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
    const { username } = new URL(splitAddresses(databaseUrls[database.region])[0]!);
    await grantServiceRights(database, decodeURIComponent(username));
  }
  return names;
}

const describeStatus = ({ applied, pending }: RegionStatus): string =>
  [...applied.map((name) => `\n  applied  ${name}`), ...pending.map((name) => `\n  pending  ${name}`)].join('');

/** Whose databases a command opens: `migration` for those of the owner of the tables. */
type Role = 'command' | 'migration';

type RegionsWork = (
  databases: Databases,
  regions: readonly RegionId[],
  options: CommandOptions,
  config: Config,
) => Promise<CommandResult>;

/** Adds a command that works on both regions, or on that of the option `--region`. */
function addForRegions(
  group: CommandGroup,
  name: string,
  description: string,
  options: readonly Option[],
  work: RegionsWork,
  role: Role = 'command',
): Command {
  const region = regionOption().default(undefined, 'both');
  return group.add(name, description, [...options, region], (values) => {
    const regions: readonly RegionId[] = values.region ? [values.region] : REGIONS;
    return withDatabases(group.io, (databases, config) => work(databases, regions, values, config), role);
  });
}

interface PerRegionWork<T> {
  /** Name under which `--json` prints the results by region. */
  name: string;
  work: (database: Database, config: Config) => Promise<T>;
  describe: (result: T) => string;
  role?: Role;
}

/** Adds a command that does the same in each region. */
function addPerRegion<T>(
  group: CommandGroup,
  command: string,
  description: string,
  { name, work, describe, role }: PerRegionWork<T>,
): void {
  const runInEach: RegionsWork = async (databases, regions, _options, config) => {
    const results = await forEachRegion(regions, (region) => work(databases[region], config));
    return { data: { [name]: results }, text: formatPerRegion(results, describe) };
  };
  addForRegions(group, command, description, [], runInEach, role);
}

const formatPerRegion = <T>(results: PerRegion<T>, describe: (result: T) => string) =>
  Object.entries(results)
    .map(([region, result]) => `${region}: ${describe(result)}`)
    .join('\n');
