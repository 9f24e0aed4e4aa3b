import { type Command, Option } from 'commander';
import type { ClientType } from '../../../entities/oauth-client.entity.ts';
import { createClient, disableClient, enableClient, rotateSecret, updateClient } from '../../domain/access/clients.ts';
import { createConnection, revokeConnection, updateConnection } from '../../domain/access/connections.ts';
import { createIntegrator, updateIntegrator } from '../../domain/access/integrators.ts';
import {
  listClients,
  listConnections,
  listIntegrators,
  showClient,
  showConnection,
  showIntegrator,
} from '../../domain/access/list-access.ts';
import { type CliIo, formatFields, formatObject } from '../io/cli-io.ts';
import {
  addCommandGroup,
  createRepeatableOption,
  defineChangeCommand,
  defineListCommand,
  defineRegionalCommand,
  parseYesOrNo,
} from './define-command.ts';

const SHOWN_ONCE = 'This secret is not shown again.';

/** Adds the commands for integrators, OAuth clients and connections. */
export function addAccessCommands(program: Command, io: CliIo): void {
  addIntegratorCommands(addCommandGroup(program, 'integrator', 'approved application vendors'), io);
  addClientCommands(addCommandGroup(program, 'client', 'OAuth clients: the credentials of an integrator'), io);
  addConnectionCommands(addCommandGroup(program, 'connection', "an integrator's access to a builder's data"), io);
}

function addIntegratorCommands(parent: Command, io: CliIo): void {
  addIntegratorReads(parent, io);
  const create = parent
    .command('create')
    .description('register a vendor')
    .requiredOption('--name <name>', 'name of the vendor')
    .addOption(createRepeatableOption('--deep-link-scheme <scheme>', 'scheme allowed in sourceDeepLink beside https'));
  defineRegionalCommand(io, create, async (context, { name, deepLinkScheme }) => {
    const data = await createIntegrator(context, { name, deepLinkSchemes: deepLinkScheme ?? [] });
    const { integratorId, deepLinkSchemes } = data;
    return {
      data,
      text: formatFields('Integrator registered.', { integratorId, name: data.name, 'deep links': deepLinkSchemes }),
    };
  });
}

function addIntegratorReads(parent: Command, io: CliIo): void {
  const list = parent.command('list').description('list integrators').option('--name <text>', 'part of the name');
  const columns = ['integratorId', 'name', 'deepLinkSchemes', 'createdAt'];
  defineListCommand(io, list, { name: 'integrators', columns }, listIntegrators);

  const show = parent.command('show <integrator>').description('show an integrator with its clients and connections');
  defineRegionalCommand(io, show, async (context, _options, id) => {
    const data = await showIntegrator(context, id!);
    const { clients, connections, ...integrator } = data;
    const related = {
      clients: clients.map(({ clientId }) => clientId),
      connections: connections.map(({ builderId, status }) => `${builderId} (${status})`),
    };
    return { data, text: formatObject(data.name, { ...integrator, ...related }) };
  });

  const update = parent
    .command('update <integrator>')
    .description('replace the properties that are given')
    .option('--name <name>', 'name of the vendor')
    .addOption(createRepeatableOption('--deep-link-scheme <scheme>', 'scheme allowed in sourceDeepLink beside https'))
    .option('--no-deep-link-schemes', 'allow no other scheme than https');
  defineRegionalCommand(io, update, async (context, { name, deepLinkScheme, deepLinkSchemes }, id) => {
    const schemes = deepLinkSchemes === false ? [] : deepLinkScheme;
    const data = await updateIntegrator(context, id!, { name, deepLinkSchemes: schemes });
    return { data, text: formatObject(describeUpdate(id!, data.changed), data) };
  });
}

const describeUpdate = (what: string, changed: boolean) => `${what} ${changed ? 'is updated' : 'is unchanged'}.`;

function addClientCommands(parent: Command, io: CliIo): void {
  addClientReads(parent, io);
  const create = parent
    .command('create')
    .description('register credentials; prints the secret of a confidential client once')
    .requiredOption('--name <name>', 'name of the application, shown on the consent page')
    .option('--integrator <id>', 'integrator that the client belongs to')
    .option('--internal', 'an internal client for dashboards and tools: every builder, GraphQL only')
    .addOption(
      new Option('--type <type>', 'client type; cannot be changed later')
        .choices(['confidential', 'public'])
        .default('confidential'),
    )
    .addOption(
      createRepeatableOption('--grant <grant>', 'client_credentials, authorization_code or refresh_token').default(
        [],
        'every grant; public: authorization_code and refresh_token; internal: client_credentials',
      ),
    )
    .addOption(createRepeatableOption('--scope <scopes>', 'scopes that the client may request, separated by spaces'))
    .addOption(createRepeatableOption('--redirect-uri <uri>', 'redirect URI, compared exactly'))
    .addOption(createRepeatableOption('--origin <origin>', 'browser origin of a public client, for CORS'))
    .option('--pilot-agreement <reference>', 'pilot agreement, required for write:sign_on_events');
  defineRegionalCommand(io, create, async (context, options) => {
    const data = await createClient(context, {
      ...{ integratorId: options.integrator, internal: options.internal === true, name: options.name },
      type: options.type.toUpperCase() as ClientType,
      ...{ grants: options.grant ?? [], scopes: options.scope ?? [] },
      ...{ redirectUris: options.redirectUri ?? [], origins: options.origin ?? [] },
      pilotAgreement: options.pilotAgreement,
    });
    const { clientId, clientSecret, name, type, internal, integratorId, grants, scopes, redirectUris, origins } = data;
    const text = formatFields(`Client registered.${clientSecret ? ` ${SHOWN_ONCE}` : ''}`, {
      ...{ clientId, clientSecret, name, type: internal ? 'internal' : type, integratorId },
      ...{ grants, scopes, 'redirect URIs': redirectUris, origins, 'pilot agreement': data.pilotAgreement },
    });
    return { data, text };
  });

  const rotate = parent.command('rotate-secret <client>').description('add a secret and print it once');
  rotate.addHelpText('after', '\nThe newest two secrets are valid. To invalidate a leaked secret, rotate twice.');
  defineRegionalCommand(io, rotate, async (context, _options, client) => {
    const data = await rotateSecret(context, client!);
    const { clientId, clientSecret, validSecrets } = data;
    const text = formatFields(`Secret added. ${SHOWN_ONCE}`, {
      clientId,
      clientSecret,
      'valid secrets': String(validSecrets),
    });
    return { data, text };
  });

  const disable = parent.command('disable <client>').description('disable a client; its tokens stop working');
  defineChangeCommand(
    io,
    disable,
    disableClient,
    ({ name, changed }, id) => `${id} (${name}) ${changed ? 'is' : 'was already'} disabled.`,
  );

  const enable = parent.command('enable <client>').description('enable a disabled client again');
  defineChangeCommand(
    io,
    enable,
    enableClient,
    ({ name, changed }, id) => `${id} (${name}) ${changed ? 'is' : 'was already'} enabled.`,
  );
}

function addClientReads(parent: Command, io: CliIo): void {
  const list = parent
    .command('list')
    .description('list OAuth clients')
    .option('--integrator <id>', 'integrator')
    .option('--name <text>', 'part of the name')
    .option('--type <type>', 'confidential, public or internal')
    .option('--scope <scope>', 'scope that the client may request')
    .option('--disabled <yes|no>', 'whether the client is disabled', parseYesOrNo);
  const columns = ['clientId', 'name', 'type', 'integratorId', 'disabledAt'];
  defineListCommand(io, list, { name: 'clients', columns }, (context, { integrator, ...filter }, page) =>
    listClients(context, { ...filter, integratorId: integrator }, page),
  );

  const show = parent.command('show <client>').description('show a client, and when its secrets were created');
  defineRegionalCommand(io, show, async (context, _options, id) => {
    const data = await showClient(context, id!);
    return { data, text: formatObject(data.name, data) };
  });

  const update = parent
    .command('update <client>')
    .description('replace the properties that are given; removed scopes and grants end at once')
    .option('--name <name>', 'name of the application, shown on the consent page')
    .addOption(createRepeatableOption('--grant <grant>', 'client_credentials, authorization_code or refresh_token'))
    .addOption(createRepeatableOption('--scope <scopes>', 'scopes that the client may request, separated by spaces'))
    .addOption(createRepeatableOption('--redirect-uri <uri>', 'redirect URI, compared exactly'))
    .option('--no-redirect-uris', 'remove all redirect URIs')
    .addOption(createRepeatableOption('--origin <origin>', 'browser origin of a public client, for CORS'))
    .option('--no-origins', 'remove all origins')
    .option('--pilot-agreement <reference>', 'pilot agreement, required for write:sign_on_events');
  update.addHelpText('after', '\nA list that is given replaces the whole list.');
  defineRegionalCommand(io, update, async (context, options, id) => {
    const { name, grant, scope, redirectUri, redirectUris, origin, origins, pilotAgreement } = options;
    const data = await updateClient(context, id!, {
      ...{ name, grants: grant, scopes: scope, pilotAgreement },
      redirectUris: redirectUris === false ? [] : redirectUri,
      origins: origins === false ? [] : origin,
    });
    return { data, text: formatObject(describeUpdate(id!, data.changed), data) };
  });
}

function addConnectionReads(parent: Command, io: CliIo): void {
  const list = parent
    .command('list')
    .description('list connections')
    .option('--integrator <id>', 'integrator')
    .option('--builder <id>', 'builder')
    .option('--status <status>', 'active or revoked')
    .option('--scope <scope>', 'scope that the builder allows');
  const columns = ['integratorId', 'builderId', 'status', 'scopes'];
  defineListCommand(io, list, { name: 'connections', columns }, (context, { integrator, builder, ...filter }, page) =>
    listConnections(context, { ...filter, integratorId: integrator, builderId: builder }, page),
  );

  const show = requireConnectionKey(parent.command('show').description('show a connection'));
  defineRegionalCommand(io, show, async (context, { integrator, builder }) => {
    const data = await showConnection(context, { integratorId: integrator, builderId: builder });
    return { data, text: formatObject(`${integrator} and ${builder}`, data) };
  });

  const update = requireConnectionKey(
    parent.command('update').description('replace the scopes of an active connection, also for existing tokens'),
  ).addOption(createRepeatableOption('--scope <scopes>', 'scopes that the builder allows, separated by spaces'));
  defineRegionalCommand(io, update, async (context, { integrator, builder, scope }) => {
    const request = { integratorId: integrator, builderId: builder, scopes: scope ?? [] };
    const data = await updateConnection(context, request);
    return { data, text: formatObject(describeUpdate(`${integrator} and ${builder}`, data.changed), data) };
  });
}

const requireConnectionKey = (command: Command) =>
  command.requiredOption('--integrator <id>', 'integrator').requiredOption('--builder <id>', 'builder');

function addConnectionCommands(parent: Command, io: CliIo): void {
  addConnectionReads(parent, io);
  const create = requireConnectionKey(
    parent.command('create').description('connect an integrator to a builder, or reactivate a revoked connection'),
  )
    .addOption(createRepeatableOption('--scope <scopes>', 'scopes that the builder allows, separated by spaces'))
    .option('--replace', 'replace the scopes of an active connection');
  defineRegionalCommand(io, create, async (context, { integrator, builder, scope, replace }) => {
    const request = { integratorId: integrator, builderId: builder, scopes: scope ?? [], replace: replace === true };
    const data = await createConnection(context, request);
    return { data, text: `${integrator} is connected to ${builder} (${data.change}): ${data.scopes.join(' ')}` };
  });

  const revoke = requireConnectionKey(parent.command('revoke').description('revoke the access to this builder'));
  defineRegionalCommand(io, revoke, async (context, { integrator, builder }) => {
    const data = await revokeConnection(context, { integratorId: integrator, builderId: builder });
    const state = data.changed ? 'is' : 'was already';
    return { data, text: `The connection of ${integrator} to ${builder} ${state} revoked.` };
  });
}
