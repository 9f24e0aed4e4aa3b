import { type Command, InvalidArgumentError, Option } from 'commander';
import { InvalidInputError } from '../../domain/access/invalid-input-error.ts';
import type { AccessPage } from '../../domain/access/list-access.ts';
import type { ChangeContext } from '../../domain/change-context.ts';
import { REGIONS, type RegionId } from '../../shared/regions.ts';
import { printText } from '../../shared/terminal-text.ts';
import { CliError } from '../cli-error.ts';
import type { CliIo, CommandResult } from '../io/cli-io.ts';
import { formatTable } from '../io/format-table.ts';
import { withCommandContext } from '../services/database-session.ts';

/** Parsed options of a command. */
// biome-ignore lint/suspicious/noExplicitAny: commander does not derive types from flags.
export type CommandOptions = any;

/** Creates an option that may be given several times. Its value is undefined when it is absent. */
export const createRepeatableOption = (flags: string, description: string) =>
  new Option(flags, `${description}; repeatable`).argParser((value, earlier: string[] = []) => [...earlier, value]);

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
    try {
      const result = await work(options, ...(parameters.slice(0, -2) as string[]));
      printText(io.stdout, options.json ? JSON.stringify(result.data) : result.text);
    } catch (error) {
      if (!(error instanceof InvalidInputError)) throw error;
      throw CliError.forOption(nameOfField(command, error.field), error.problem);
    }
  });
}

/** Returns how a command names a field: `--redirect-uri` or, for an argument, `CLIENT`; other fields have their own name. */
function nameOfField(command: Command, field: string): string {
  const name = field
    .replace(/Id$|s$/, '')
    .replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
    .replace(/^closed-by$/, 'by');
  const argument = command.registeredArguments
    .map((each) => each.name())
    .find((each) => each === name || each === field);
  if (argument) return argument.toUpperCase();
  return command.options.some(({ long }) => long === `--${name}`) ? `--${name}` : field;
}

/** Sets the action of a command that works on the data of one region, and adds the option `--region`. */
export function defineRegionalCommand(
  io: CliIo,
  command: Command,
  work: (context: ChangeContext, options: CommandOptions, ...args: string[]) => Promise<CommandResult>,
): Command {
  command.addOption(createRegionOption().default('au1' satisfies RegionId));
  return defineCommand(io, command, (options, ...args) =>
    withCommandContext(io, options.region, formatCommandName(command), async (context) => {
      const { data, ...result } = await work(context, options, ...args);
      return { data: { regionId: options.region, ...data }, ...result };
    }),
  );
}

/** Sets the action of a command whose only argument is the object that it changes, unless it was changed before. */
export function defineChangeCommand<T extends { changed: boolean }>(
  io: CliIo,
  command: Command,
  change: (context: ChangeContext, id: string) => Promise<T>,
  describe: (data: T, id: string) => string,
): Command {
  return defineRegionalCommand(io, command, async (context, _options, id) => {
    const data = await change(context, id!);
    return { data, text: describe(data, id!) };
  });
}

/** Returns the name of a command with its group: `client create`. */
export const formatCommandName = (command: Command) =>
  command.parent?.parent ? `${command.parent.name()} ${command.name()}` : command.name();

interface List {
  /** One object per row. */
  rows: object[];
  nextCursor: string | null;
}

/**
 * Sets the action of a command that lists rows in pages: a table, or with `--json` an object with the rows under `name` and
 * `nextCursor`.
 *
 * @param columns Properties of a row that the table shows.
 */
export function defineListCommand(
  io: CliIo,
  command: Command,
  { name, columns }: { name: string; columns: readonly string[] },
  list: (context: ChangeContext, options: CommandOptions, page: AccessPage) => Promise<object>,
): Command {
  command
    .option('--limit <number>', 'rows of a page', parsePageSize, 100)
    .option('--cursor <cursor>', 'where the previous page ended');
  return defineRegionalCommand(io, command, async (context, options) => {
    const data = await list(context, options, { limit: options.limit, cursor: options.cursor });
    const { [name]: rows, nextCursor } = data as Record<string, unknown>;
    return { data, text: formatList({ rows, nextCursor } as List, columns) };
  });
}

function formatList({ rows, nextCursor }: List, columns: readonly string[]): string {
  if (rows.length === 0) return 'None.';
  const more = nextCursor === null ? [] : [`More: --cursor ${nextCursor}`];
  return [formatTable(rows, columns), ...more].join('\n');
}

/** Parses `yes` or `no` of a filter. */
export function parseYesOrNo(text: string): boolean {
  if (text !== 'yes' && text !== 'no') throw new InvalidArgumentError('It must be yes or no.');
  return text === 'yes';
}
