import { archiveVisit, closeVisit } from '../../domain/attendance/manual-changes.ts';
import { toTerminalLine } from '../../shared/terminal-text.ts';
import { type CommandGroup, isOrWasAlready, option, required } from './command-group.ts';

/** Adds the commands that close or archive a visit manually. */
export function addAttendanceCommands(program: CommandGroup): void {
  const group = program.addGroup('attendance', 'visits that gates have observed');
  const options = [
    required('--by <name>', 'who says so'),
    option('--at <instant>', 'when the worker left, such as 2026-03-02T16:30:00+11:00; now when absent'),
  ];
  const close = 'close an open visit; a later sign-off for it is rejected';
  group.addRegional('close <visit>', close, options, async (context, { by, at }, visit) => {
    const data = await closeVisit(context, { visitId: visit!, by, at });
    const who = toTerminalLine(data.closedBy ?? '');
    return { data, text: `${visit} of ${data.workerId} ${isOrWasAlready(data)} closed at ${data.closedAt} by ${who}.` };
  });

  const archive = 'archive a visit, so that attendance no longer counts it';
  const describe = (data: { workerId: string; changed: boolean }, visit: string) =>
    `${visit} of ${data.workerId} ${isOrWasAlready(data)} archived.`;
  group.addChange('archive <visit>', archive, [], archiveVisit, describe);
}
