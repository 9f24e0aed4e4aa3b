import type { Command } from 'commander';
import { backfillRenditions } from '../../domain/photos/backfill-renditions.ts';
import type { CliIo } from '../io/cli-io.ts';
import { addCommandGroup, defineRegionalCommand } from './define-command.ts';

/** Adds the command for the renditions of photos. */
export function addRenditionCommands(program: Command, io: CliIo): void {
  const renditions = addCommandGroup(program, 'renditions', 'renditions of photos');
  const backfill = renditions
    .command('backfill')
    .description('have the service render the photos that have no renditions')
    .option('--retry', 'also those that could not be rendered');
  defineRegionalCommand(io, backfill, async ({ database }, { retry }) => {
    const queued = await backfillRenditions(database, retry === true);
    return { data: { queued }, text: `${queued} photos are rendered by the service now.` };
  });
}
