import { type Command, InvalidArgumentError, Option } from 'commander';
import { InvalidInputError } from '../../domain/access/invalid-input-error.ts';
import type { AccessPage } from '../../domain/access/list-access.ts';
import type { ChangeContext } from '../../domain/change-context.ts';
import { REGIONS, type RegionId } from '../../shared/regions.ts';
import { printText } from '../../shared/terminal-text.ts';
import { CliError } from '../cli-error.ts';
import { type CliIo, type CommandResult, formatFields } from '../io/cli-io.ts';
import { formatTable } from '../io/format-table.ts';
import { withRegionalContexts } from '../services/database-session.ts';

/** Parsed options of a command. */
// biome-ignore lint/suspicious/noExplicitAny: commander does not derive types from flags.
export type CommandOptions = any;

type Work = (options: CommandOptions, ...args: string[]) => Promise<CommandResult> | CommandResult;
export type RegionalWork = (
  context: ChangeContext,
  options: CommandOptions,
  ...args: string[]
) => Promise<CommandResult>;

export const option = (flags: string, description: string) => new Option(flags, description);

/** Creates an option that must be given. */
export const required = (flags: string, description: string) => option(flags, description).makeOptionMandatory();

/** Creates an option that may be given several times. Its value is undefined when it is absent. */
export const repeatable = (flags: string, description: string) =>
  option(flags, `${description}; repeatable`).argParser((value, earlier: string[] = []) => [...earlier, value]);

/** Creates a filter whose value is `yes` or `no`. */
export const yesOrNo = (name: string, description: string) =>
  option(`${name} <yes|no>`, description).argParser((text) => {
    if (text !== 'yes' && text !== 'no') throw new InvalidArgumentError('It must be yes or no.');
    return text === 'yes';
  });

export const regionOption = (regions: readonly string[] = REGIONS) =>
  option('--region <region>', 'region of the data').choices(regions);

/** Entries of a page, at most. */
const MAX_PAGE_SIZE = 1000;

/** Returns a parser of integers from 1 to a maximum. */
export const createIntegerParser = (max: number) => (text: string) => {
  if (!/^[1-9]\d{0,9}$/.test(text)) throw new InvalidArgumentError('It must be an integer from 1.');
  if (Number(text) > max) throw new InvalidArgumentError(`It must be at most ${max}.`);
  return Number(text);
};

/** Creates the option `--limit`. */
export const limitOption = (description: string, size: number) =>
  option('--limit <number>', description).default(size).argParser(createIntegerParser(MAX_PAGE_SIZE));

/** The program, or a group of its commands. */
export class CommandGroup {
  constructor(
    readonly io: CliIo,
    readonly command: Command,
  ) {}

  /** Adds a group that only contains commands. */
  addGroup(name: string, description: string): CommandGroup {
    return new CommandGroup(this.io, this.command.command(name).description(description).helpCommand(false));
  }

  /**
   * Adds a command. Its result is written to stdout, as text or with `--json` as one object.
   *
   * @param signature name and arguments: `rotate-secret <client>`
   */
  add(signature: string, description: string, options: readonly Option[], work: Work): Command {
    const command = this.command.command(signature).description(description);
    for (const each of options) command.addOption(each);
    return command.option('--json', 'print one JSON object and nothing else').action(async (...parameters) => {
      // Commander passes the arguments, the options and the command itself.
      const values = parameters.at(-2) as CommandOptions;
      try {
        const result = await work(values, ...(parameters.slice(0, -2) as string[]));
        printText(this.io.stdout, values.json ? JSON.stringify(result.data) : result.text);
      } catch (error) {
        if (!(error instanceof InvalidInputError)) throw error;
        throw CliError.forOption(nameOfField(command, error.field), error.problem);
      }
    });
  }

  /** Adds a command that works on the data of one region, with the option `--region`. */
  addRegional(signature: string, description: string, options: readonly Option[], work: RegionalWork): Command {
    const region = regionOption().default('au1' satisfies RegionId);
    const command = this.add(signature, description, [...options, region], (values, ...args) =>
      withRegionalContexts(this.io, [values.region], formatCommandName(command), async ([context]) => {
        const { data, text } = await work(context!, values, ...args);
        return { data: { regionId: values.region, ...data }, text };
      }),
    );
    return command;
  }

  /** Adds a command that changes one object, which its only argument names, or else its options. */
  addChange<T extends object>(
    signature: string,
    description: string,
    options: readonly Option[],
    change: (context: ChangeContext, key: CommandOptions) => Promise<T>,
    describe: (data: T, key: CommandOptions) => string,
  ): Command {
    return this.addRegional(signature, description, options, async (context, values, id) => {
      const data = await change(context, id ?? toFields(values));
      return { data, text: describe(data, id ?? values) };
    });
  }

  /**
   * Adds the command `list`, which lists rows in pages: a table, or with `--json` an object with the rows under `name` and `nextCursor`.
   *
   * @param columns Properties of a row that the table shows.
   */
  addList(
    description: string,
    { name, columns }: { name: string; columns: readonly string[] },
    options: readonly Option[],
    list: (context: ChangeContext, filter: CommandOptions, page: AccessPage) => Promise<object>,
  ): Command {
    const paging = [limitOption('rows of a page', 100), option('--cursor <cursor>', 'where the previous page ended')];
    return this.addRegional('list', description, [...options, ...paging], async (context, values) => {
      const { limit, cursor, ...filter } = toFields(values);
      const data = await list(context, filter, { limit, cursor });
      const { [name]: rows, nextCursor } = data as Record<string, unknown>;
      return { data, text: formatList(rows as object[], nextCursor as string | null, columns) };
    });
  }

  /** Adds the command `show`, which names its object like `addChange`. `describe` returns the heading, and may select what the text shows. */
  addShow<T extends object>(
    signature: string,
    description: string,
    options: readonly Option[],
    show: (context: ChangeContext, key: CommandOptions) => Promise<T>,
    describe: (data: T, key: CommandOptions) => string | [heading: string, shown: object],
  ): Command {
    return this.addRegional(signature, description, options, async (context, values, id) => {
      const data = await show(context, id ?? toFields(values));
      const shown = describe(data, values);
      return { data, text: typeof shown === 'string' ? formatFields(shown, data) : formatFields(...shown) };
    });
  }
}

/** Returns a command's own options, under the names of the fields that they are for: `builderId` for `--builder`. */
export const toFields = ({ region: _, json: __, ...options }: CommandOptions): CommandOptions =>
  Object.fromEntries(
    Object.entries(options).map(([name, value]) => [
      /^(integrator|builder|worker|project|object|person)$/.test(name) ? `${name}Id` : name,
      value,
    ]),
  );

/** Returns how a command names a field: `--redirect-uri` or, for an argument, `CLIENT`; other fields have their own name. */
function nameOfField(command: Command, field: string): string {
  const name = field
    .replace(/Id$|s$/, '')
    .replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
    // The option of `visit close`.
    .replace(/^closed-by$/, 'by');
  const argument = command.registeredArguments
    .map((each) => each.name())
    .find((each) => each === name || each === field);
  if (argument) return argument.toUpperCase();
  return command.options.some(({ long }) => long === `--${name}`) ? `--${name}` : field;
}

/** Returns the name of a command with its group: `client create`. */
export const formatCommandName = (command: Command) =>
  command.parent?.parent ? `${command.parent.name()} ${command.name()}` : command.name();

function formatList(rows: object[], nextCursor: string | null, columns: readonly string[]): string {
  if (rows.length === 0) return 'None.';
  const more = nextCursor === null ? [] : [`More: --cursor ${nextCursor}`];
  return [formatTable(rows, columns), ...more].join('\n');
}

/** Returns `is`, or `was already` for a state that a change has found. */
export const isOrWasAlready = ({ changed }: { changed: boolean }) => (changed ? 'is' : 'was already');
