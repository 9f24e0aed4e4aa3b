import { tryOAuth } from '../services/oauth-try.ts';
import { type CommandGroup, option, parsePositiveInteger } from './define-command.ts';

/** Adds the command that runs the authorization code flow as a client. */
export function addOAuthCommands(program: CommandGroup): void {
  const options = [
    option('--client <id>', 'client; default: the only public client with a loopback redirect URI'),
    option('--redirect-uri <uri>', 'registered redirect URI on http loopback; default: the first'),
    option('--port <port>', 'select the redirect URI by its port').argParser(parsePositiveInteger),
    option('--scope <scopes>', 'scopes to request, separated by spaces; default: all scopes of the client'),
    option('--builder <id>', 'builder to pre-select'),
    option('--secret-stdin', "read a confidential client's secret from stdin"),
    option('--no-open', 'print the address without opening a browser'),
  ];
  const group = program.addGroup('oauth', 'authorization code flow');
  const attempt = 'run the code flow in a browser against a running service, and print the tokens';
  group.add('try', attempt, options, (values) => tryOAuth(program.io, values));
}
