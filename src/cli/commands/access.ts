import { type Command, Option } from 'commander';
import type { ClientType } from '../../../entities/oauth-client.entity.ts';
import { listing, type Shell } from '../io/cli-io.ts';
import { createClient, disableClient, enableClient, rotateSecret } from '../services/clients.ts';
import { createConnection, revokeConnection } from '../services/connections.ts';
import { createIntegrator } from '../services/integrators.ts';
import { group, regionalCommand, repeatable } from './define.ts';

const ONCE = 'This secret is not shown again.';

/** Who may call the API, and whose data they reach. */
export function addAccessCommands(program: Command, shell: Shell): void {
  integratorCommands(group(program, 'integrator', 'approved application vendors'), shell);
  clientCommands(group(program, 'client', 'OAuth clients: the credentials of an integrator'), shell);
  connectionCommands(group(program, 'connection', "an integrator's access to a builder's data"), shell);
}

function integratorCommands(parent: Command, shell: Shell): void {
  const create = parent
    .command('create')
    .description('register a vendor')
    .requiredOption('--name <name>', 'name of the vendor')
    .addOption(repeatable('--deep-link-scheme <scheme>', 'scheme allowed in sourceDeepLink beside https'));
  regionalCommand(shell, create, async (place, { name, deepLinkScheme }) => {
    const data = await createIntegrator(place, { name, deepLinkSchemes: deepLinkScheme ?? [] });
    const { integratorId, deepLinkSchemes } = data;
    return {
      data,
      text: listing('Integrator registered.', { integratorId, name: data.name, 'deep links': deepLinkSchemes }),
    };
  });
}

function clientCommands(parent: Command, shell: Shell): void {
  const create = parent
    .command('create')
    .description('register credentials; prints the secret of a confidential client once')
    .requiredOption('--name <name>', 'name of the application, as people see it when they consent')
    .option('--integrator <id>', 'integrator that the client belongs to')
    .option('--internal', 'a client of our own, for dashboards and tools: every builder, GraphQL only')
    .addOption(
      new Option('--type <type>', 'fixed from now on').choices(['confidential', 'public']).default('confidential'),
    )
    .addOption(
      repeatable('--grant <grant>', 'client_credentials, authorization_code or refresh_token').default(
        [],
        'every grant; public: authorization_code and refresh_token; internal: client_credentials',
      ),
    )
    .addOption(repeatable('--scope <scopes>', 'scopes that the client may ask for, with spaces between'))
    .addOption(repeatable('--redirect-uri <uri>', 'where codes may be sent, compared exactly'))
    .addOption(repeatable('--origin <origin>', 'browser origin of a public client, for CORS'))
    .option('--pilot-agreement <reference>', 'agreement that write:sign_on_events is granted under');
  regionalCommand(shell, create, async (place, options) => {
    const data = await createClient(place, {
      ...{ integratorId: options.integrator, internal: options.internal === true, name: options.name },
      type: options.type.toUpperCase() as ClientType,
      ...{ grants: options.grant ?? [], scopes: options.scope ?? [] },
      ...{ redirectUris: options.redirectUri ?? [], origins: options.origin ?? [] },
      pilotAgreement: options.pilotAgreement,
    });
    const { clientId, clientSecret, name, type, internal, integratorId, grants, scopes, redirectUris, origins } = data;
    const text = listing(`Client registered.${clientSecret ? ` ${ONCE}` : ''}`, {
      ...{ clientId, clientSecret, name, type: internal ? 'internal' : type, integratorId },
      ...{ grants, scopes, 'redirect URIs': redirectUris, origins, 'pilot agreement': data.pilotAgreement },
    });
    return { data, text };
  });

  const rotate = parent.command('rotate-secret <client>').description('add a secret and print it once');
  rotate.addHelpText('after', '\nThe newest two secrets are valid. To be rid of a leaked one, rotate twice.');
  regionalCommand(shell, rotate, async (place, _options, client) => {
    const data = await rotateSecret(place, client!);
    const { clientId, clientSecret, validSecrets } = data;
    const text = listing(`Secret added. ${ONCE}`, { clientId, clientSecret, 'valid secrets': String(validSecrets) });
    return { data, text };
  });

  const disable = parent.command('disable <client>').description('end its access, whatever tokens it holds');
  regionalCommand(shell, disable, async (place, _options, client) => {
    const data = await disableClient(place, client!);
    return { data, text: `${client} (${data.name}) ${data.changed ? 'is' : 'was already'} disabled.` };
  });

  const enable = parent.command('enable <client>').description('give a disabled client its access back');
  regionalCommand(shell, enable, async (place, _options, client) => {
    const data = await enableClient(place, client!);
    return { data, text: `${client} (${data.name}) ${data.changed ? 'is' : 'was already'} enabled.` };
  });
}

function connectionCommands(parent: Command, shell: Shell): void {
  const create = parent
    .command('create')
    .description('connect, or connect again after a revocation')
    .requiredOption('--integrator <id>', 'integrator')
    .requiredOption('--builder <id>', 'builder')
    .addOption(repeatable('--scope <scopes>', 'scopes that the builder allows, with spaces between'))
    .option('--replace', 'give these scopes to a connection that is active');
  regionalCommand(shell, create, async (place, { integrator, builder, scope, replace }) => {
    const request = { integratorId: integrator, builderId: builder, scopes: scope ?? [], replace: replace === true };
    const data = await createConnection(place, request);
    return { data, text: `${integrator} is connected to ${builder} (${data.change}): ${data.scopes.join(' ')}` };
  });

  const revoke = parent
    .command('revoke')
    .description('end the access to this builder')
    .requiredOption('--integrator <id>', 'integrator')
    .requiredOption('--builder <id>', 'builder');
  regionalCommand(shell, revoke, async (place, { integrator, builder }) => {
    const data = await revokeConnection(place, { integratorId: integrator, builderId: builder });
    const state = data.changed ? 'is' : 'was already';
    return { data, text: `The connection of ${integrator} to ${builder} ${state} revoked.` };
  });
}
