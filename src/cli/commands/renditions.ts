import { backfillRenditions } from '../../domain/photos/backfill-renditions.ts';
import { type CommandGroup, option } from './define-command.ts';

/** Adds the command for the renditions of photos. */
export function addRenditionCommands(program: CommandGroup): void {
  const group = program.addGroup('renditions', 'renditions of photos');
  const options = [option('--retry', 'also those that could not be rendered')];
  const backfill = 'have the service render the photos that have no renditions';
  group.addRegional('backfill', backfill, options, async ({ database }, { retry }) => {
    const queued = await backfillRenditions(database, retry === true);
    return { data: { queued }, text: `${queued} photos are rendered by the service now.` };
  });
}
