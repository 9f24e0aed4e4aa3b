import type { Command } from 'commander';
import type { Shell } from '../io/cli-io.ts';
import { tryOAuth } from '../services/oauth-try.ts';
import { group, plainCommand, positiveInteger } from './define.ts';

/** The code flow, seen from an application's side. */
export function addOAuthCommands(program: Command, shell: Shell): void {
  const oauth = group(program, 'oauth', 'the sign-in of people, tried out');
  const attempt = oauth
    .command('try')
    .description('go through the code flow in a browser, against a running service, and print the tokens')
    .option('--client <id>', 'client; without it the only public one with a loopback redirect URI')
    .option('--redirect-uri <uri>', 'registered redirect URI on http loopback; default: the first')
    .option('--port <port>', 'the same by its port', positiveInteger)
    .option('--scope <scopes>', 'scopes to ask for, with spaces between; default: all of the client')
    .option('--builder <id>', 'builder to pre-select')
    .option('--secret-stdin', "read a confidential client's secret from stdin")
    .option('--no-open', 'print the address and open no browser');
  plainCommand(shell, attempt, (options) => tryOAuth(shell, options));
}
