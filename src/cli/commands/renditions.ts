import { retryRenditions } from '../../domain/photos/rendition-claims.ts';
import type { CommandGroup } from './define-command.ts';

/** Adds the command for the renditions of photos. */
export function addRenditionCommands(program: CommandGroup): void {
  const group = program.addGroup('renditions', 'renditions of photos');
  const retry = 'have the service render the photos again that could not be rendered';
  group.addRegional('retry', retry, [], async ({ database }) => {
    const queued = await retryRenditions(database);
    return { data: { queued }, text: `${queued} photos are rendered by the service now.` };
  });
}
