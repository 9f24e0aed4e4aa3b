import type { Command } from 'commander';
import { settingsList, settingsReference } from '../../config.ts';
import type { Databases } from '../../database/database.ts';
import { REGIONS, type RegionId } from '../../shared/regions.ts';
import type { Report, Shell } from '../io/cli-io.ts';
import { askToConfirm } from '../io/confirm.ts';
import { withDatabases } from '../services/database-session.ts';
import { createMigration, migrateDown, migrateUp, migrationStatus } from '../services/migrations.ts';
import { emitDescriptions } from '../services/schema-documents.ts';
import { rebuildRegions } from '../services/totals.ts';
import { group, type Options, plainCommand, regionOption } from './define.ts';

/** The tables of both regional databases, the generated files, and the settings. */
export function addOperationCommands(program: Command, shell: Shell): void {
  migrateCommands(group(program, 'migrate', 'tables of the regional databases'), shell);
  totalsCommands(group(program, 'totals', 'kept totals of large lists'), shell);
  schemaCommands(group(program, 'schema', 'generated descriptions of the service'), shell);
  plainCommand(shell, program.command('settings').description('print every setting as a Markdown table'), () => ({
    data: { settings: settingsList() },
    text: settingsReference(),
  }));
}

function migrateCommands(parent: Command, shell: Shell): void {
  onRegions(shell, parent.command('up').description('apply what is pending'), async (databases, regions) => {
    const applied = await migrateUp(databases, regions);
    return { data: { applied }, text: perRegion(applied, (names) => `applied ${names.join(', ') || 'nothing'}`) };
  });

  const down = parent
    .command('down')
    .description('roll back the newest migration')
    .option('--yes', 'do not ask; required where there is no terminal')
    .option('--destroy-data', 'roll back although rows or values are lost');
  onRegions(shell, down, async (databases, regions, options) => {
    const confirm = async (steps: string[]) => options.yes === true || askToConfirm(shell, steps);
    const rolledBack = await migrateDown(databases, regions, { destroyData: options.destroyData === true, confirm });
    return {
      data: { rolledBack },
      text: perRegion(rolledBack, (names) => `rolled back ${names.join(', ') || 'nothing'}`),
    };
  });

  onRegions(shell, parent.command('status').description('what is applied and pending'), async (databases, regions) => {
    const status = await migrationStatus(databases, regions);
    const describe = ({ applied, pending }: { applied: string[]; pending: string[] }) =>
      [...applied.map((name) => `\n  applied  ${name}`), ...pending.map((name) => `\n  pending  ${name}`)].join('');
    return { data: { regions: status }, text: perRegion(status, describe) };
  });

  const create = parent
    .command('create <name>')
    .description('for development: write a migration from what the entities declare now');
  plainCommand(shell, create, async (_options, name) => {
    const made = await createMigration(name!);
    if (!made) return { data: { file: null }, text: 'The entities declare nothing new.' };
    const { file, className, import: path } = made;
    const text = [
      `Wrote ${file} and schema.json. Add to index.ts, and to the end of its list:`,
      `  import { ${className} } from '${path}';`,
    ];
    return { data: made, text: text.join('\n') };
  });
}

function totalsCommands(parent: Command, shell: Shell): void {
  onRegions(
    shell,
    parent.command('rebuild').description('count the rows of large lists anew, as after pg_restore --data-only'),
    async (databases, regions) => {
      const rebuilt = await rebuildRegions(databases, regions);
      return { data: { rebuilt }, text: perRegion(rebuilt, ({ corrected }) => `corrected ${corrected} totals`) };
    },
  );
}

function schemaCommands(parent: Command, shell: Shell): void {
  const emit = parent
    .command('emit')
    .description('for development: write schema/schema.graphql and schema/openapi.json')
    .option('--check', 'write nothing, and fail when they are stale');
  plainCommand(shell, emit, async ({ check }) => {
    const { files } = await emitDescriptions({ check: check === true });
    return {
      data: { files },
      text: check ? 'The generated files are what the code says.' : `Wrote ${files.join(' and ')}.`,
    };
  });
}

function onRegions(
  shell: Shell,
  command: Command,
  work: (databases: Databases, regions: readonly RegionId[], options: Options) => Promise<Report>,
): void {
  command.addOption(regionOption().default(undefined, 'both'));
  plainCommand(shell, command, (options) =>
    withDatabases(shell, (databases) => work(databases, options.region ? [options.region] : REGIONS, options)),
  );
}

const perRegion = <T>(results: Partial<Record<RegionId, T>>, describe: (result: T) => string) =>
  Object.entries(results)
    .map(([region, result]) => `${region}: ${describe(result)}`)
    .join('\n');
