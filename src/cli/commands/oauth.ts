import type { Command } from 'commander';
import type { CliIo } from '../io/cli-io.ts';
import { tryOAuth } from '../services/oauth-try.ts';
import { addCommandGroup, defineCommand, parsePositiveInteger } from './define-command.ts';

/** Adds the command that runs the authorization code flow as a client. */
export function addOAuthCommands(program: Command, io: CliIo): void {
  const oauth = addCommandGroup(program, 'oauth', 'authorization code flow');
  const attempt = oauth
    .command('try')
    .description('run the code flow in a browser against a running service, and print the tokens')
    .option('--client <id>', 'client; default: the only public client with a loopback redirect URI')
    .option('--redirect-uri <uri>', 'registered redirect URI on http loopback; default: the first')
    .option('--port <port>', 'select the redirect URI by its port', parsePositiveInteger)
    .option('--scope <scopes>', 'scopes to request, separated by spaces; default: all scopes of the client')
    .option('--builder <id>', 'builder to pre-select')
    .option('--secret-stdin', "read a confidential client's secret from stdin")
    .option('--no-open', 'print the address without opening a browser');
  defineCommand(io, attempt, (options) => tryOAuth(io, options));
}
