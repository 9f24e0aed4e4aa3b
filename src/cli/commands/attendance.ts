import type { Command } from 'commander';
import { archiveVisit, closeVisit } from '../../domain/attendance/manual-changes.ts';
import { toTerminalLine } from '../../shared/terminal-text.ts';
import type { CliIo } from '../io/cli-io.ts';
import { addCommandGroup, defineChangeCommand, defineRegionalCommand } from './define-command.ts';

/** Adds the commands that close or archive a visit manually. */
export function addAttendanceCommands(program: Command, io: CliIo): void {
  const parent = addCommandGroup(program, 'attendance', 'visits that gates have observed');

  const close = parent
    .command('close <visit>')
    .description('close an open visit; a later sign-off for it is rejected')
    .requiredOption('--by <name>', 'who says so')
    .option('--at <instant>', 'when the worker left, such as 2026-03-02T16:30:00+11:00; now when absent');
  defineRegionalCommand(io, close, async (context, { by, at }, visit) => {
    const data = await closeVisit(context, { visitId: visit!, by, at });
    const state = data.changed ? 'is' : 'was already';
    return {
      data,
      text: `${visit} of ${data.workerId} ${state} closed at ${data.closedAt} by ${toTerminalLine(data.closedBy ?? '')}.`,
    };
  });

  const archive = parent
    .command('archive <visit>')
    .description('archive a visit, so that attendance no longer counts it');
  defineChangeCommand(
    io,
    archive,
    archiveVisit,
    ({ workerId, changed }, visit) => `${visit} of ${workerId} ${changed ? 'is' : 'was already'} archived.`,
  );
}
