import { type Command, InvalidArgumentError, Option } from 'commander';
import { REGIONS, type RegionId } from '../../shared/regions.ts';
import type { Report, Shell } from '../io/cli-io.ts';
import type { Place } from '../services/command-context.ts';
import { withRegion } from '../services/database-session.ts';

/** Options of a command, as commander reads them. */
// biome-ignore lint/suspicious/noExplicitAny: commander does not derive types from flags.
export type Options = any;

/** An option that may be given several times; absent it is undefined. */
export const repeatable = (flags: string, description: string) =>
  new Option(flags, `${description}; repeatable`).argParser((value, earlier: string[] = []) => [...earlier, value]);

/** A word that commands stand under. */
export const group = (program: Command, name: string, description: string) =>
  program.command(name).description(description).helpCommand(false);

export const regionOption = () => new Option('--region <region>', 'region of the data').choices(REGIONS);

export function positiveInteger(text: string): number {
  if (!/^[1-9]\d{0,9}$/.test(text)) throw new InvalidArgumentError('It must be an integer from 1.');
  return Number(text);
}

/** A command that needs no one region: its answer goes to stdout, as lines or with `--json` as one object. */
export function plainCommand(
  shell: Shell,
  command: Command,
  work: (options: Options, ...given: string[]) => Promise<Report> | Report,
): Command {
  return command.option('--json', 'print one JSON object and nothing else').action(async (...all) => {
    const options = all.at(-2) as Options;
    const report = await work(options, ...(all.slice(0, -2) as string[]));
    shell.stdout.write(`${options.json ? JSON.stringify(report.data) : report.text}\n`);
  });
}

/** A command on one region's data. */
export function regionalCommand(
  shell: Shell,
  command: Command,
  work: (place: Place, options: Options, ...given: string[]) => Promise<Report>,
): Command {
  command.addOption(regionOption().default('au1' satisfies RegionId));
  return plainCommand(shell, command, (options, ...given) =>
    withRegion(shell, options.region, async (place) => {
      const { data, ...report } = await work(place, options, ...given);
      return { data: { regionId: options.region, ...data }, ...report };
    }),
  );
}
