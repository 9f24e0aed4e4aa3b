import { Command, CommanderError } from 'commander';
import { describeDatabaseError } from '../database/errors.ts';
import { ApiError } from '../shared/errors.ts';
import { OperatorError } from '../shared/operator-error.ts';
import { printText, toTerminalLine, toTerminalText } from '../shared/terminal-text.ts';
import { VERSION } from '../shared/version.ts';
import { CliError } from './cli-error.ts';
import { addAccessCommands } from './commands/access.ts';
import { addAttendanceCommands } from './commands/attendance.ts';
import { addAuditCommands } from './commands/audit.ts';
import { addBackupCommands } from './commands/backup.ts';
import { CommandGroup } from './commands/command-group.ts';
import { addDataCommands } from './commands/data.ts';
import { addGateCommands } from './commands/gate.ts';
import { addOperationCommands } from './commands/operation.ts';
import { addPeopleCommands } from './commands/people.ts';
import { addPersonCommands } from './commands/privacy.ts';
import { addStorageCommands } from './commands/storage.ts';
import { addWebhookCommands } from './commands/webhook.ts';
import type { CliIo } from './io/cli-io.ts';

const INSTALLED = 'builder-api';
const IN_CHECKOUT = 'npm run cli --';

/** @param program How the commands are called. */
const formatExamples = (program: string) => `
Examples:${program === INSTALLED ? `\n  $ ${INSTALLED} serve                    (starts the service; settings are environment variables)` : ''}
  $ ${program} integrator create --name "Site Sync" --deep-link-scheme sitesync
  $ ${program} client create --integrator intg_a1 --name "Site Sync" --scope "read:builders read:projects"
  $ ${program} connection create --integrator intg_a1 --builder buil_a1 --scope "read:builders read:projects"
  $ ${program} user create --email sam@example.com --name "Sam Hill" --generate-password
  $ ${program} import ./export --region au1
  $ ${program.replace('run', 'run --silent')} migrate status --json

Every command has --help, and --json for scripts: one JSON object on stdout, or {"error": ...} on stderr.
The exit code is 0, or 1 when the command failed.`;

/** Runs one command and returns its exit code. */
export async function runCli(args: readonly string[], io: CliIo): Promise<number> {
  try {
    await buildProgram(io).parseAsync(args, { from: 'user' });
    return 0;
  } catch (error) {
    if (error instanceof CommanderError && HELP_SHOWN.includes(error.code)) return error.exitCode;
    const message = describeCommandError(error);
    const details = error instanceof CliError ? error.details : {};
    const output = args.includes('--json') ? JSON.stringify({ error: message, ...details }) : message;
    printText(io.stderr, output);
    return 1;
  }
}

/** Codes of commander's errors after it has printed the help. */
const HELP_SHOWN = ['commander.helpDisplayed', 'commander.help', 'commander.version'];

function buildProgram(io: CliIo): Command {
  const name = io.installed ? INSTALLED : IN_CHECKOUT;
  const program = new Command(name)
    .description('Operator commands of the Builder Integration API.')
    .version(VERSION)
    .usage('<command> [options]')
    .helpCommand(false)
    .configureHelp({ subcommandTerm: formatSubcommand })
    .exitOverride()
    .configureOutput({
      writeOut: (text) => io.stdout.write(toTerminalText(text)),
      writeErr: (text) => io.stderr.write(toTerminalText(text)),
      outputError: () => undefined,
    })
    .addHelpText('after', formatExamples(name));
  const commands = new CommandGroup(io, program);
  program.commandsGroup('Access:');
  addAccessCommands(commands);
  addAuditCommands(commands);
  addWebhookCommands(commands);
  program.commandsGroup('People:');
  addPeopleCommands(commands);
  addPersonCommands(commands);
  addAttendanceCommands(commands);
  program.commandsGroup('Data:');
  addDataCommands(commands);
  addStorageCommands(commands);
  program.commandsGroup('Operation:');
  addOperationCommands(commands);
  addGateCommands(commands);
  addBackupCommands(commands);
  return program;
}

/** Formats a command for the help: a group as `client create|disable`, any other command with its arguments. */
function formatSubcommand(command: Command): string {
  const { commands, registeredArguments } = command;
  if (commands.length > 0) return `${command.name()} ${commands.map((each) => each.name()).join('|')}`;
  return [command.name(), ...registeredArguments.map((argument) => `<${argument.name()}>`)].join(' ');
}

/** Formats an error: the message if the operator can correct the cause, the stack otherwise. */
function describeCommandError(error: unknown): string {
  const { message, path, syscall, stack, cause } = error as NodeJS.ErrnoException;
  if (error instanceof CommanderError) return message.replace(/^error: /, '').replace(/\n/g, ' ');
  if (error instanceof OperatorError) return message;
  if (path && syscall) return toTerminalLine(`${path} cannot be used: ${message}`);
  if (error instanceof ApiError && cause) return describeCommandError(cause);
  // A file that is open already, whose disk fails.
  return describeDatabaseError(error) ?? (syscall && toTerminalLine(message)) ?? stack ?? String(error);
}
