import { type Command, InvalidArgumentError } from 'commander';
import { backfillRenditions } from '../../domain/photos/backfill-renditions.ts';
import { type CliIo, formatFields } from '../io/cli-io.ts';
import { createProgressReporter } from '../io/progress.ts';
import { openStorage } from '../services/storage.ts';
import { addCommandGroup, defineRegionalCommand } from './define-command.ts';

/** Adds the command for the renditions of photos. */
export function addRenditionCommands(program: Command, io: CliIo): void {
  const renditions = addCommandGroup(program, 'renditions', 'renditions of photos');
  const backfill = renditions
    .command('backfill')
    .description('render the photos that have no renditions; can be interrupted and repeated')
    .option('--share <percent>', 'percent of one processor', parsePercent, 25)
    .option('--retry', 'try again the photos that could not be rendered');
  defineRegionalCommand(io, backfill, async (context, { share, retry }) => {
    const progress = createProgressReporter(io);
    const onProgress = (done: number, total: number) =>
      progress.update('photos', done, total, `${done} of ${total} photos`);
    try {
      const storage = await openStorage(io, context);
      const data = await backfillRenditions({ ...context, storage }, { share, retry: retry === true, onProgress });
      return { data: { ...data }, text: formatFields('The photos are rendered.', toFields({ ...data })) };
    } finally {
      progress.stop();
    }
  });
}

const toFields = (counts: Record<string, number>) =>
  Object.fromEntries(Object.entries(counts).map(([name, count]) => [name, String(count)]));

function parsePercent(text: string): number {
  if (!/^([1-9]\d?|100)$/.test(text)) throw new InvalidArgumentError('It must be an integer from 1 to 100.');
  return Number(text);
}
