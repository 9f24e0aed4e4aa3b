import { resolve } from 'node:path';
import type { Command } from 'commander';
import { runPendingMigrations } from '../../database/run-migrations.ts';
import { REGIONS } from '../../shared/regions.ts';
import { type CliIo, formatFields } from '../io/cli-io.ts';
import { createProgressReporter } from '../io/progress.ts';
import { exportData, importData } from '../services/data-transfer.ts';
import { withDatabases } from '../services/database-session.ts';
import { addDemoData } from '../services/demo.ts';
import { sendMessages } from '../services/password-links.ts';
import { openStorage } from '../services/storage.ts';
import { createRegionOption, defineCommand, defineRegionalCommand, parsePositiveInteger } from './define-command.ts';

/** Adds the commands for import, export and demo data. */
export function addDataCommands(program: Command, io: CliIo): void {
  const importCommand = program
    .command('import <dir>')
    .description('import a folder of newline-delimited JSON in one transaction')
    .option('--keep-good', 'commit the valid rows although others are invalid')
    .option('--builder <id>', 'import only the rows of this builder')
    .option('--allow-user-changes', 'change e-mail addresses of existing users, who are told, and end their sessions');
  defineRegionalCommand(io, importCommand, async (context, { keepGood, builder, allowUserChanges, json }, dir) => {
    const storage = await openStorage(io, context);
    const limits = { keepGood: keepGood === true, builder, allowUserChanges };
    const request = { folder: resolve(dir!), ...limits, collect: json === true, storage };
    const { messages, ...data } = await importData(context, request, createProgressReporter(io));
    await sendMessages(io, messages);
    const lines = data.files.map(({ file, inserted, updated, unchanged, bad, leftOut }) => {
      const left = `${bad > 0 ? `, ${bad} bad and left out` : ''}${leftOut ? `, ${leftOut} of other builders left out` : ''}`;
      return [file, `${inserted} inserted, ${updated} updated, ${unchanged} unchanged${left}`];
    });
    return { data, text: formatFields(`Imported ${request.folder}.`, Object.fromEntries(lines)) };
  });

  const exportCommand = program
    .command('export <dir>')
    .description('export the data of a region to a folder of newline-delimited JSON');
  defineExportCommand(io, exportCommand, (dir) => ({ dir: dir! }));

  const demo = program
    .command('demo')
    .description('load the demo data into an empty database, and add timesheets in bulk')
    .option('--timesheets <number>', 'timesheets to add to the demo data', parsePositiveInteger)
    .addOption(createRegionOption().default('au1'));
  defineCommand(io, demo, ({ timesheets = 0, region }) =>
    withDatabases(io, async (databases, config) => {
      for (const each of REGIONS) await runPendingMigrations(databases[each], config.migrate);
      const context = { databases, config, clock: io.clock };
      const data = await addDemoData(context, { region, timesheets }, createProgressReporter(io));
      const heading = timesheets > 0 ? `Added ${timesheets} timesheets to ${region}.` : 'The demo data is loaded.';
      return { data, text: formatFields(heading, { credentials: data.credentials }) };
    }),
  );
}

/** Sets the action of a command that exports a region or a builder: its arguments are the folder, and the builder before it. */
export function defineExportCommand(
  io: CliIo,
  command: Command,
  toRequest: (...args: string[]) => { dir: string; builder?: string },
): void {
  defineRegionalCommand(io, command, async (context, _options, ...args) => {
    const { dir, builder } = toRequest(...args);
    const storage = await openStorage(io, context);
    const data = await exportData(context, storage, { folder: resolve(dir), builder }, createProgressReporter(io));
    const lines = data.files.map(({ file, rows }) => [file, `${rows} rows`]);
    lines.push(['files/', `${data.storedFiles} files`]);
    return { data, text: formatFields(`Exported to ${data.folder}.`, Object.fromEntries(lines)) };
  });
}
