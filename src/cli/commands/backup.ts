import { CliError } from '../cli-error.ts';
import { formatFields } from '../io/cli-io.ts';
import { confirm } from '../io/confirm.ts';
import { claimStore, verifyBackup } from '../services/backup.ts';
import { openStorage } from '../services/storage.ts';
import { type CommandGroup, option } from './command-group.ts';

/** Adds the commands for restored databases and stores. */
export function addBackupCommands(program: CommandGroup): void {
  const { io } = program;
  const backup = program.addGroup('backup', 'restored databases and stores');
  const verify = 'check that rows, totals and stored bytes are complete, as after a restore; changes nothing';
  backup.addRegional('verify', verify, [], async (context) => {
    const data = await verifyBackup(context, await openStorage(io, context));
    const { rows, wrongTotals, objects, migration, storeOwner, eventLog, intact } = data;
    const sum = (counts: Record<string, number>) =>
      String(Object.values(counts).reduce((all, count) => all + count, 0));
    const text = formatFields(intact ? 'Complete.' : 'Not complete.', {
      migration,
      tables: String(Object.keys(rows).length),
      rows: sum(rows),
      'wrong totals': sum(wrongTotals),
      objects: `${objects.present} of ${objects.referenced} present, ${objects.bytes} bytes`,
      missing: objects.missing,
      'event log': eventLog.renewsEpoch ? 'epoch is renewed at the next start: all cursors expire' : 'epoch is valid',
      'store of': storeOwner && `${storeOwner.baseUrl} (${storeOwner.database})`,
    });
    if (!intact) throw new CliError(text, data);
    return { data, text };
  });

  const storage = program.addGroup('storage', 'the store of attachments and photos');
  const options = [option('--yes', 'skip the confirmation; required without a terminal')];
  const claim = "make the store this deployment's, for instance after a failover: its unused objects are then removed";
  storage.addRegional('claim', claim, options, async (context, { yes }) => {
    const step = `The sweep of this deployment will delete every object of the store that its database does not name.`;
    if (!yes && !(await confirm(io, [step]))) throw CliError.forOption('storage claim', 'was not confirmed');
    const data = await claimStore(context, await openStorage(io, context));
    const { owner, previousOwner } = data;
    const before = previousOwner ? `, before of ${previousOwner.baseUrl} (${previousOwner.database})` : '';
    return { data, text: `The store is that of ${owner.baseUrl} (${owner.database})${before}.` };
  });
}
