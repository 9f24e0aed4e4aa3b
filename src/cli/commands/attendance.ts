import type { Command } from 'commander';
import type { Shell } from '../io/cli-io.ts';
import { archiveVisit, closeVisit } from '../services/attendance.ts';
import { group, regionalCommand } from './define.ts';

/** What people do about visits that gates have left open, or should not have begun. */
export function addAttendanceCommands(program: Command, shell: Shell): void {
  const parent = group(program, 'attendance', 'visits that gates have observed');

  const close = parent
    .command('close <visit>')
    .description('end a visit that no gate has ended; a sign-off that comes later is refused')
    .requiredOption('--by <name>', 'who says so')
    .option('--at <instant>', 'when the worker left, such as 2026-03-02T16:30:00+11:00; now when absent');
  regionalCommand(shell, close, async (place, { by, at }, visit) => {
    const data = await closeVisit(place, { visitId: visit!, by, at });
    const state = data.changed ? 'is' : 'was already';
    return { data, text: `${visit} of ${data.workerId} ${state} closed at ${data.closedAt} by ${data.closedBy}.` };
  });

  const archive = parent
    .command('archive <visit>')
    .description('put a visit away, so that attendance no longer counts it');
  regionalCommand(shell, archive, async (place, _options, visit) => {
    const data = await archiveVisit(place, visit!);
    return { data, text: `${visit} of ${data.workerId} ${data.changed ? 'is' : 'was already'} archived.` };
  });
}
