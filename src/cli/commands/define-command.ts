import { type Command, InvalidArgumentError, Option } from 'commander';
import { REGIONS, type RegionId } from '../../shared/regions.ts';
import type { CliIo, CommandResult } from '../io/cli-io.ts';
import type { CommandContext } from '../services/command-context.ts';
import { withCommandContext } from '../services/database-session.ts';

/** Parsed options of a command. */
// biome-ignore lint/suspicious/noExplicitAny: commander does not derive types from flags.
export type CommandOptions = any;

/** Creates an option that may be given several times. Its value is undefined when it is absent. */
export const repeatableOption = (flags: string, description: string) =>
  new Option(flags, `${description}; repeatableOption`).argParser((value, earlier: string[] = []) => [
    ...earlier,
    value,
  ]);

/** Adds a command that only contains subcommands. */
export const addCommandGroup = (program: Command, name: string, description: string) =>
  program.command(name).description(description).helpCommand(false);

export const createRegionOption = () => new Option('--region <region>', 'region of the data').choices(REGIONS);

export function parsePositiveInteger(text: string): number {
  if (!/^[1-9]\d{0,9}$/.test(text)) throw new InvalidArgumentError('It must be an integer from 1.');
  return Number(text);
}

/** Entries of a page, at most. */
const MAX_PAGE_SIZE = 1000;

export function parsePageSize(text: string): number {
  const size = parsePositiveInteger(text);
  if (size > MAX_PAGE_SIZE) throw new InvalidArgumentError(`It must be at most ${MAX_PAGE_SIZE}.`);
  return size;
}

/** Sets the action of a command. Its result is written to stdout, as text or with `--json` as one object. */
export function defineCommand(
  io: CliIo,
  command: Command,
  work: (options: CommandOptions, ...args: string[]) => Promise<CommandResult> | CommandResult,
): Command {
  return command.option('--json', 'print one JSON object and nothing else').action(async (...parameters) => {
    // Commander passes the arguments, the options and the command itself.
    const options = parameters.at(-2) as CommandOptions;
    const result = await work(options, ...(parameters.slice(0, -2) as string[]));
    io.stdout.write(`${options.json ? JSON.stringify(result.data) : result.text}\n`);
  });
}

/** Sets the action of a command that works on the data of one region, and adds the option `--region`. */
export function defineRegionalCommand(
  io: CliIo,
  command: Command,
  work: (context: CommandContext, options: CommandOptions, ...args: string[]) => Promise<CommandResult>,
): Command {
  command.addOption(createRegionOption().default('au1' satisfies RegionId));
  return defineCommand(io, command, (options, ...args) =>
    withCommandContext(io, options.region, nameOf(command), async (context) => {
      const { data, ...result } = await work(context, options, ...args);
      return { data: { regionId: options.region, ...data }, ...result };
    }),
  );
}

/** Returns the name of a command with its group: `client create`. */
const nameOf = (command: Command) =>
  command.parent?.parent ? `${command.parent.name()} ${command.name()}` : command.name();
