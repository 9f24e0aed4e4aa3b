import { resolve } from 'node:path';
import type { Command } from 'commander';
import { runPendingMigrations } from '../../database/run-migrations.ts';
import { REGIONS } from '../../shared/regions.ts';
import { listing, type Shell } from '../io/cli-io.ts';
import { startProgress } from '../io/progress.ts';
import { exportData, importData } from '../services/data-transfer.ts';
import { withDatabases } from '../services/database-session.ts';
import { addDemoData } from '../services/demo.ts';
import { withStorage } from '../services/storage.ts';
import { plainCommand, positiveInteger, regionalCommand, regionOption } from './define.ts';

/** Data in bulk. */
export function addDataCommands(program: Command, shell: Shell): void {
  const bringIn = program
    .command('import <dir>')
    .description('load a folder of newline-delimited JSON, all of it or nothing')
    .option('--keep-good', 'commit the good rows though others are bad');
  regionalCommand(shell, bringIn, async (place, { keepGood, json }, dir) => {
    const request = { folder: resolve(dir!), keepGood: keepGood === true, collect: json === true };
    const data = await withStorage(shell, place, (storage) =>
      importData(place, { ...request, storage }, startProgress(shell)),
    );
    const lines = data.files.map(({ file, inserted, updated, unchanged, bad }) => {
      const left = bad > 0 ? `, ${bad} bad and left out` : '';
      return [file, `${inserted} inserted, ${updated} updated, ${unchanged} unchanged${left}`];
    });
    return { data, text: listing(`Imported ${request.folder}.`, Object.fromEntries(lines)) };
  });

  const takeOut = program.command('export <dir>').description('write the data of a region as such a folder');
  regionalCommand(shell, takeOut, async (place, _options, dir) => {
    const folder = resolve(dir!);
    const data = await withStorage(shell, place, (storage) => exportData(place, storage, folder, startProgress(shell)));
    const lines = data.files.map(({ file, rows }) => [file, `${rows} rows`]);
    lines.push(['files/', `${data.storedFiles} files`]);
    return { data: { folder, ...data }, text: listing(`Exported to ${folder}.`, Object.fromEntries(lines)) };
  });

  const demo = program
    .command('demo')
    .description('load the demo data into an empty database, and make it large')
    .option('--timesheets <number>', 'timesheets to add to the demo data', positiveInteger)
    .addOption(regionOption().default('au1'));
  plainCommand(shell, demo, ({ timesheets = 0, region }) =>
    withDatabases(shell, async (databases, config) => {
      for (const each of REGIONS) await runPendingMigrations(databases[each], config.migrate);
      const place = { databases, config, clock: shell.clock };
      const data = await addDemoData(place, { region, timesheets }, startProgress(shell));
      const heading = timesheets > 0 ? `Added ${timesheets} timesheets to ${region}.` : 'The demo data is loaded.';
      return { data, text: listing(heading, { credentials: data.credentials }) };
    }),
  );
}
