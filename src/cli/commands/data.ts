import { resolve } from 'node:path';
import type { Message } from '../../mail/mailer.ts';
import { formatFields } from '../io/cli-io.ts';
import { createProgressReporter } from '../io/progress.ts';
import { exportData, importData } from '../services/data-transfer.ts';
import { loadDemoData } from '../services/demo.ts';
import { sendMessages } from '../services/password-links.ts';
import { openStorage } from '../services/storage.ts';
import { type CommandGroup, option } from './command-group.ts';

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
      send: (messages: readonly Message[]) => sendMessages(io, messages),
    };
    const data = await importData(context, request, createProgressReporter(io));
    const lines = data.files.map(({ file, inserted, updated, unchanged, bad, leftOut }) => {
      const left = `${bad > 0 ? `, ${bad} bad and left out` : ''}${leftOut ? `, ${leftOut} of other builders left out` : ''}`;
      return [file, `${inserted} inserted, ${updated} updated, ${unchanged} unchanged${left}`];
    });
    return { data, text: formatFields(`Imported ${request.folder}.`, Object.fromEntries(lines)) };
  });

  const exporting = 'export the data of a region to a folder of newline-delimited JSON';
  addExportCommand(program, 'export <dir>', exporting);

  program.add('demo', 'load the demo data into an empty database', [], async () => {
    const credentials = await loadDemoData(io);
    return { data: { credentials }, text: formatFields('The demo data is loaded.', { credentials }) };
  });
}

/** Adds a command that exports a region or a builder: its last argument is the folder, the one before the builder. */
export function addExportCommand(group: CommandGroup, signature: string, description: string): void {
  group.addRegional(signature, description, [], async (context, _options, ...args) => {
    const [dir, builder] = args.toReversed() as [string, string?];
    const storage = await openStorage(group.io, context);
    const progress = createProgressReporter(group.io);
    const data = await exportData(context, storage, { folder: resolve(dir), builder }, progress);
    const lines = data.files.map(({ file, rows }) => [file, `${rows} rows`]);
    lines.push(['files/', `${data.storedFiles} files`]);
    return { data, text: formatFields(`Exported to ${data.folder}.`, Object.fromEntries(lines)) };
  });
}
