import { INTERNAL_SCOPES, SCOPES } from '../../../schema/scopes.ts';
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
import { formatFields } from '../io/cli-io.ts';
import { type CommandGroup, isOrWasAlready, option, repeatable, required, toFields, yesOrNo } from './command-group.ts';

export const SHOWN_ONCE = 'This secret is not shown again.';

/** Adds the commands for integrators, OAuth clients and connections. */
export function addAccessCommands(program: CommandGroup): void {
  addIntegratorCommands(program.addGroup('integrator', 'approved application vendors'));
  addClientCommands(program.addGroup('client', 'OAuth clients: the credentials of an integrator'));
  addConnectionCommands(program.addGroup('connection', "an integrator's access to a builder's data"));
}

/** Names of all scopes, for the help of the commands that take them. */
const SCOPE_LIST = `Scopes: ${[...SCOPES, ...INTERNAL_SCOPES].join(' ')}`;

const describeUpdate = (what: string, changed: boolean) => `${what} ${changed ? 'is updated' : 'is unchanged'}.`;

function addIntegratorCommands(group: CommandGroup): void {
  const scheme = () => repeatable('--deep-link-scheme <scheme>', 'scheme allowed in sourceDeepLink beside https');
  const columns = ['integratorId', 'name', 'deepLinkSchemes', 'createdAt'];
  const filters = [option('--name <text>', 'part of the name')];
  group.addList('list integrators', { name: 'integrators', columns }, filters, listIntegrators);

  const show = 'show an integrator with its clients and connections';
  group.addShow('show <integrator>', show, [], showIntegrator, ({ clients, connections, ...integrator }) => {
    const related = {
      clients: clients.map(({ clientId }) => clientId),
      connections: connections.map(({ builderId, status }) => `${builderId} (${status})`),
    };
    return [integrator.name, { ...integrator, ...related }];
  });

  const replaced = [
    option('--name <name>', 'name of the vendor'),
    scheme(),
    option('--no-deep-link-schemes', 'allow no other scheme than https'),
  ];
  const replace = 'replace the properties that are given';
  group.addRegional('update <integrator>', replace, replaced, async (context, options, id) => {
    const { name, deepLinkScheme, deepLinkSchemes } = options;
    const schemes = deepLinkSchemes === false ? [] : deepLinkScheme;
    const data = await updateIntegrator(context, id!, { name, deepLinkSchemes: schemes });
    return { data, text: formatFields(describeUpdate(id!, data.changed), data) };
  });

  const created = [required('--name <name>', 'name of the vendor'), scheme()];
  group.addRegional('create', 'register a vendor', created, async (context, { name, deepLinkScheme }) => {
    const data = await createIntegrator(context, { name, deepLinkSchemes: deepLinkScheme ?? [] });
    return { data, text: formatFields('Integrator registered.', data) };
  });
}

function addClientCommands(group: CommandGroup): void {
  const name = ['--name <name>', 'name of the application, shown on the consent page'] as const;
  const grant = () => repeatable('--grant <grant>', 'client_credentials, authorization_code or refresh_token');
  const scope = () => repeatable('--scope <scopes>', 'scopes that the client may request, separated by spaces');
  const redirectUri = () => repeatable('--redirect-uri <uri>', 'redirect URI, compared exactly');
  const origin = () => repeatable('--origin <origin>', 'browser origin of a public client, for CORS');
  const pilotAgreement = () =>
    option('--pilot-agreement <reference>', 'pilot agreement, required for write:sign_on_events');

  const columns = ['clientId', 'name', 'type', 'integratorId', 'disabledAt'];
  const filters = [
    option('--integrator <id>', 'integrator'),
    option('--name <text>', 'part of the name'),
    option('--type <type>', 'confidential, public or internal'),
    option('--scope <scope>', 'scope that the client may request'),
    yesOrNo('--disabled', 'whether the client is disabled'),
  ];
  group.addList('list OAuth clients', { name: 'clients', columns }, filters, listClients);

  const show = 'show a client, and when its secrets were created';
  group.addShow('show <client>', show, [], showClient, (data) => data.name);

  const replaced = [
    option(...name),
    grant(),
    scope(),
    redirectUri(),
    option('--no-redirect-uris', 'remove all redirect URIs'),
    origin(),
    option('--no-origins', 'remove all origins'),
    pilotAgreement(),
  ];
  const replace = 'replace the properties that are given; removed scopes and grants end at once';
  const update = group.addRegional('update <client>', replace, replaced, async (context, options, id) => {
    const data = await updateClient(context, id!, {
      name: options.name,
      grants: options.grant,
      scopes: options.scope,
      pilotAgreement: options.pilotAgreement,
      redirectUris: options.redirectUris === false ? [] : options.redirectUri,
      origins: options.origins === false ? [] : options.origin,
    });
    return { data, text: formatFields(describeUpdate(id!, data.changed), data) };
  });
  update.addHelpText('after', `\nA list that is given replaces the whole list.\n${SCOPE_LIST}`);

  const everyGrant = 'every grant; public: authorization_code and refresh_token; internal: client_credentials';
  const created = [
    required(...name),
    option('--integrator <id>', 'integrator that the client belongs to'),
    option('--internal', 'an internal client for dashboards and tools: every builder, GraphQL only'),
    option('--type <type>', 'client type; cannot be changed later')
      .choices(['confidential', 'public'])
      .default('confidential'),
    grant().default([], everyGrant),
    scope(),
    redirectUri(),
    origin(),
    pilotAgreement(),
  ];
  const create = 'register credentials; prints the secret of a confidential client once';
  const registering = group.addRegional('create', create, created, async (context, options) => {
    const data = await createClient(context, {
      integratorId: options.integrator,
      internal: options.internal === true,
      name: options.name,
      type: options.type.toUpperCase(),
      grants: options.grant ?? [],
      scopes: options.scope ?? [],
      redirectUris: options.redirectUri ?? [],
      origins: options.origin ?? [],
      pilotAgreement: options.pilotAgreement,
    });
    const heading = `Client registered.${data.clientSecret ? ` ${SHOWN_ONCE}` : ''}`;
    return { data, text: formatFields(heading, data) };
  });

  registering.addHelpText('after', `\n${SCOPE_LIST}`);

  const add = 'add a secret and print it once';
  const rotate = group.addChange('rotate-secret <client>', add, [], rotateSecret, (data) =>
    formatFields(`Secret added. ${SHOWN_ONCE}`, data),
  );
  rotate.addHelpText('after', '\nThe newest two secrets are valid. To invalidate a leaked secret, rotate twice.');

  const describe = (state: string) => (data: { name: string; changed: boolean }, id: string) =>
    `${id} (${data.name}) ${isOrWasAlready(data)} ${state}.`;
  const disable = 'disable a client; its tokens stop working';
  group.addChange('disable <client>', disable, [], disableClient, describe('disabled'));
  group.addChange('enable <client>', 'enable a disabled client again', [], enableClient, describe('enabled'));
}

function addConnectionCommands(group: CommandGroup): void {
  const key = () => [required('--integrator <id>', 'integrator'), required('--builder <id>', 'builder')];
  const scope = () => repeatable('--scope <scopes>', 'scopes that the builder allows, separated by spaces');
  const columns = ['integratorId', 'builderId', 'status', 'scopes'];
  const filters = [
    option('--integrator <id>', 'integrator'),
    option('--builder <id>', 'builder'),
    option('--status <status>', 'active or revoked'),
    option('--scope <scope>', 'scope that the builder allows'),
  ];
  group.addList('list connections', { name: 'connections', columns }, filters, listConnections);

  const heading = (_data: object, { integrator, builder }: Record<string, string>) => `${integrator} and ${builder}`;
  group.addShow('show', 'show a connection', key(), showConnection, heading);

  const replace = 'replace the scopes of an active connection, also for existing tokens';
  group.addRegional('update', replace, [...key(), scope()], async (context, options) => {
    const data = await updateConnection(context, { ...toFields(options), scopes: options.scope ?? [] });
    return { data, text: formatFields(describeUpdate(heading(data, options), data.changed), data) };
  });

  const connect = 'connect an integrator to a builder, or reactivate a revoked connection';
  const created = [...key(), scope(), option('--replace', 'replace the scopes of an active connection')];
  const connecting = group.addRegional('create', connect, created, async (context, options) => {
    const { integrator, builder, scope = [], replace } = options;
    const data = await createConnection(context, { ...toFields(options), scopes: scope, replace: replace === true });
    return { data, text: `${integrator} is connected to ${builder} (${data.change}): ${data.scopes.join(' ')}` };
  });

  connecting.addHelpText('after', `\n${SCOPE_LIST}`);

  const describe = (data: { changed: boolean }, { integrator, builder }: Record<string, string>) =>
    `The connection of ${integrator} to ${builder} ${isOrWasAlready(data)} revoked.`;
  group.addChange('revoke', 'revoke the access to this builder', key(), revokeConnection, describe);
}
