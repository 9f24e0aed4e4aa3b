import { resolve } from 'node:path';
import { runPendingMigrations } from '../../database/run-migrations.ts';
import { REGIONS } from '../../shared/regions.ts';
import { formatFields } from '../io/cli-io.ts';
import { createProgressReporter } from '../io/progress.ts';
import { exportData, importData } from '../services/data-transfer.ts';
import { withDatabases } from '../services/database-session.ts';
import { addDemoData } from '../services/demo.ts';
import { sendMessages } from '../services/password-links.ts';
import { openStorage } from '../services/storage.ts';
import { type CommandGroup, option, parsePositiveInteger, regionOption } from './define-command.ts';

/** Adds the commands for import, export and demo data. */
export function addDataCommands(program: CommandGroup): void {
  const { io } = program;
  const limits = [
    option('--keep-good', 'commit the valid rows although others are invalid'),
    option('--builder <id>', 'import only the rows of this builder'),
    option('--allow-user-changes', 'change e-mail addresses of existing users, who are told, and end their sessions'),
  ];
  const importing = 'import a folder of newline-delimited JSON in one transaction';
  program.addRegional('import <dir>', importing, limits, async (context, options, dir) => {
    const { keepGood, builder, allowUserChanges, json } = options;
    const request = {
      folder: resolve(dir!),
      keepGood: keepGood === true,
      builder,
      allowUserChanges,
      collect: json === true,
      storage: await openStorage(io, context),
    };
    const { messages, ...data } = await importData(context, request, createProgressReporter(io));
    await sendMessages(io, messages);
    const lines = data.files.map(({ file, inserted, updated, unchanged, bad, leftOut }) => {
      const left = `${bad > 0 ? `, ${bad} bad and left out` : ''}${leftOut ? `, ${leftOut} of other builders left out` : ''}`;
      return [file, `${inserted} inserted, ${updated} updated, ${unchanged} unchanged${left}`];
    });
    return { data, text: formatFields(`Imported ${request.folder}.`, Object.fromEntries(lines)) };
  });

  const exporting = 'export the data of a region to a folder of newline-delimited JSON';
  addExportCommand(program, 'export <dir>', exporting, (dir) => ({ dir: dir! }));

  const amount = [
    option('--timesheets <number>', 'timesheets to add to the demo data').argParser(parsePositiveInteger),
    regionOption().default('au1'),
  ];
  const loading = 'load the demo data into an empty database, and add timesheets in bulk';
  program.add('demo', loading, amount, ({ timesheets = 0, region }) =>
    withDatabases(io, async (databases, config) => {
      for (const each of REGIONS) await runPendingMigrations(databases[each], config.migrate);
      const context = { databases, config, clock: io.clock };
      const data = await addDemoData(context, { region, timesheets }, createProgressReporter(io));
      const heading = timesheets > 0 ? `Added ${timesheets} timesheets to ${region}.` : 'The demo data is loaded.';
      return { data, text: formatFields(heading, { credentials: data.credentials }) };
    }),
  );
}

/** Adds a command that exports a region or a builder: its arguments are the folder, and the builder before it. */
export function addExportCommand(
  group: CommandGroup,
  signature: string,
  description: string,
  toRequest: (...args: string[]) => { dir: string; builder?: string },
): void {
  group.addRegional(signature, description, [], async (context, _options, ...args) => {
    const { dir, builder } = toRequest(...args);
    const storage = await openStorage(group.io, context);
    const progress = createProgressReporter(group.io);
    const data = await exportData(context, storage, { folder: resolve(dir), builder }, progress);
    const lines = data.files.map(({ file, rows }) => [file, `${rows} rows`]);
    lines.push(['files/', `${data.storedFiles} files`]);
    return { data, text: formatFields(`Exported to ${data.folder}.`, Object.fromEntries(lines)) };
  });
}
