import { Command, CommanderError } from 'commander';
import { ConfigError } from '../config.ts';
import { ExchangeError } from '../data-transfer/session.ts';
import { PendingMigrationsError, RollbackRefusedError } from '../database/run-migrations.ts';
import { isOperatorError } from '../dev-postgres/open-databases.ts';
import { Refusal } from './cli-error.ts';
import { addAccessCommands } from './commands/access.ts';
import { addAttendanceCommands } from './commands/attendance.ts';
import { addDataCommands } from './commands/data.ts';
import { addOAuthCommands } from './commands/oauth.ts';
import { addOperationCommands } from './commands/operation.ts';
import { addPeopleCommands } from './commands/people.ts';
import { addStorageCommands } from './commands/storage.ts';
import type { Shell } from './io/cli-io.ts';

const EXAMPLES = `
Examples:
  $ npm run cli -- integrator create --name "Site Sync" --deep-link-scheme sitesync
  $ npm run cli -- client create --integrator intg_a1 --name "Site Sync" --scope "read:builders read:projects"
  $ npm run cli -- connection create --integrator intg_a1 --builder buil_a1 --scope "read:builders read:projects"
  $ npm run cli -- user create --email sam@example.com --name "Sam Hill" --generate-password
  $ npm run cli -- import ./export --region au1
  $ npm run --silent cli -- migrate status --json

Every command has --help, and --json for scripts: one JSON object on stdout, or {"error": ...} on stderr.
The exit code is 0, or 1 when the command was not done.`;

/** Runs one command and answers the exit code. */
export async function runCli(args: readonly string[], shell: Shell): Promise<number> {
  try {
    await buildProgram(shell).parseAsync(args, { from: 'user' });
    return 0;
  } catch (error) {
    if (error instanceof CommanderError && SAID.includes(error.code)) return error.exitCode;
    const message = describe(error);
    const details = error instanceof Refusal ? error.details : {};
    shell.stderr.write(`${args.includes('--json') ? JSON.stringify({ error: message, ...details }) : message}\n`);
    return 1;
  }
}

/** Ends of which all is said: somebody asked for help. */
const SAID = ['commander.helpDisplayed', 'commander.help'];

function buildProgram(shell: Shell): Command {
  const program = new Command('npm run cli --')
    .description('Operator commands of the Builder Integration API.')
    .usage('<command> [options]')
    .helpCommand(false)
    .configureHelp({ subcommandTerm: term })
    .exitOverride()
    .configureOutput({
      writeOut: (text) => shell.stdout.write(text),
      writeErr: (text) => shell.stderr.write(text),
      outputError: () => undefined,
    })
    .addHelpText('after', EXAMPLES);
  program.commandsGroup('Access:');
  addAccessCommands(program, shell);
  addOAuthCommands(program, shell);
  program.commandsGroup('People:');
  addPeopleCommands(program, shell);
  addAttendanceCommands(program, shell);
  program.commandsGroup('Data:');
  addDataCommands(program, shell);
  addStorageCommands(program, shell);
  program.commandsGroup('Operation:');
  addOperationCommands(program, shell);
  return program;
}

/** `client create|disable` for a word that commands stand under, else the command with its arguments. */
function term(command: Command): string {
  const { commands, registeredArguments } = command;
  if (commands.length > 0) return `${command.name()} ${commands.map((each) => each.name()).join('|')}`;
  return [command.name(), ...registeredArguments.map((argument) => `<${argument.name()}>`)].join(' ');
}

/** One line for what an operator can mend; the stack for anything else. */
function describe(error: unknown): string {
  const { message, code, path, stack } = error as NodeJS.ErrnoException;
  if (error instanceof CommanderError) return message.replace(/^error: /, '').replace(/\n/g, ' ');
  if (error instanceof Refusal || error instanceof ConfigError || error instanceof PendingMigrationsError)
    return message;
  if (error instanceof RollbackRefusedError) return message;
  if (isOperatorError(error) || error instanceof ExchangeError) return message;
  if (path && ['ENOENT', 'EACCES', 'EPERM', 'EROFS', 'ENOSPC', 'ENOTDIR', 'EISDIR'].includes(code ?? '')) {
    return `${path} cannot be used: ${message}`;
  }
  return stack ?? String(error);
}
