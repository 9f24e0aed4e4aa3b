import { INTERNAL_SCOPES, SCOPE_DECLARATIONS, SCOPES } from '../../../../schema/scopes.ts';
import { findSelection } from '../../../../schema/selection.ts';
import { getTimeZone } from '../../../../schema/time-zone.ts';
import { countActiveClientsAndConnections, findSecretsOf } from '../../../domain/access/batched-access.ts';
import {
  createClient,
  disableClient,
  enableClient,
  rotateSecret,
  updateClient,
} from '../../../domain/access/clients.ts';
import { createConnection, revokeConnection, updateConnection } from '../../../domain/access/connections.ts';
import { createIntegrator, updateIntegrator } from '../../../domain/access/integrators.ts';
import {
  listBuilders,
  listClients,
  listConnections,
  listIntegrators,
  showClient,
  showConnection,
  showIntegrator,
} from '../../../domain/access/list-access.ts';
import { requireStaffAction } from '../../../domain/access/staff-roles.ts';
import type { ChangeContext } from '../../../domain/change-context.ts';
import { builders } from '../../../domain/readers/builder.reader.ts';
import { listEndpointsOf } from '../../../domain/webhooks/list-endpoints.ts';
import { type ConsoleArea, type ConsoleContext, changeOperation, listOperation } from '../console-area.ts';
import { loadBatched } from '../load-batched.ts';
import { toNamedPage, withoutNull } from '../page.ts';
import { accessTypes } from './access.schema.ts';
import { loadIntegrator } from './find-access.ts';

type Identified = { id: string };
type ListedIntegrator = { integratorId: string };
type ListedClient = Awaited<ReturnType<typeof listClients>>['clients'][number];
type ListedConnection = Awaited<ReturnType<typeof listConnections>>['connections'][number];

type WithSecret = { clientId: string; clientSecret: string | null };
const withSecret = async (context: ConsoleContext, _: unknown, { clientId, clientSecret }: WithSecret) => ({
  client: await showClient(context, clientId),
  secret: clientSecret,
});

const loadCounts = (context: ConsoleContext, id: string) =>
  loadBatched(context, 'active', id, countActiveClientsAndConnections);

/** Throws 403 for an internal client, except for a role that may change those. */
async function requireRoleForInternalClient(context: ConsoleContext, id: string): Promise<void> {
  const { type } = await showClient(context, id);
  if (type === 'internal') requireStaffAction(context.staff.role, 'internal_client.changed');
}

/** Returns a change of a client, which needs a role of its own for an internal one. Operators may disable those, however. */
const onClient =
  <Changed>(apply: (change: ChangeContext, id: string) => Promise<Changed>) =>
  async (change: ChangeContext, { id }: Identified, context: ConsoleContext) => {
    await requireRoleForInternalClient(context, id);
    return apply(change, id);
  };

const showChangedIntegrator = (context: ConsoleContext, { id }: Identified) => showIntegrator(context, id);
const showChangedConnection = (context: ConsoleContext, { integratorId, builderId }: ListedConnection) =>
  showConnection(context, { integratorId, builderId });
const showChangedClient = (context: ConsoleContext, { id }: Identified) => showClient(context, id);

/** Integrators, clients and connections. */
export const accessArea: ConsoleArea = {
  types: accessTypes,
  pages: ['Integrator', 'Client', 'Connection'],
  queries: {
    integrators: listOperation('access.read', async (context, { name: search }, page) =>
      toNamedPage(await listIntegrators(context, { search }, page)),
    ),
    integrator: { action: 'access.read', resolve: (_, { id }, context) => showIntegrator(context, id) },
    clients: listOperation('access.read', async (context, { name: search, ...filter }, page) => {
      const conditions = { ...filter, search, type: filter.type?.toLowerCase() };
      return toNamedPage(await listClients(context, conditions, page));
    }),
    client: { action: 'access.read', resolve: (_, { id }, context) => showClient(context, id) },
    connections: listOperation('access.read', async (...query) => toNamedPage(await listConnections(...query))),
    connection: { action: 'access.read', resolve: (_, key, context) => showConnection(context, key) },
    findBuilders: listOperation('access.read', async (context, filter, { limit }) => {
      const { rows, totalCount } = await listBuilders(context, filter, limit);
      const data = rows.map((row) => ({ id: row.id, name: row.name, timeZone: getTimeZone(row, context.region) }));
      return { data, totalCount };
    }),
    scopes: {
      action: 'access.read',
      maxRecords: SCOPES.length + INTERNAL_SCOPES.length,
      resolve: () => [
        ...SCOPES.map((scope) => ({ scope, description: SCOPE_DECLARATIONS[scope].description, internal: false })),
        ...INTERNAL_SCOPES.map((scope) => ({ scope, description: 'Read visits of workers to sites.', internal: true })),
      ],
    },
  },
  mutations: {
    createIntegrator: changeOperation('integrator.created', createIntegrator, (context, _, { integratorId }) =>
      showIntegrator(context, integratorId),
    ),
    updateIntegrator: changeOperation(
      'integrator.updated',
      (change, { id, ...update }) => updateIntegrator(change, id, withoutNull(update)),
      showChangedIntegrator,
    ),
    createClient: changeOperation(
      'client.created',
      (change, { type, integratorId, pilotAgreement, ...input }, { staff }) => {
        const internal = type === 'INTERNAL';
        if (internal) requireStaffAction(staff.role, 'internal_client.changed');
        const request = { ...input, ...withoutNull({ integratorId, pilotAgreement }) };
        return createClient(change, { ...request, internal, type: internal ? 'CONFIDENTIAL' : type });
      },
      withSecret,
    ),
    updateClient: changeOperation(
      'client.updated',
      async (change, { id, pilotAgreement, ...update }, context) => {
        await requireRoleForInternalClient(context, id);
        const changes = { ...withoutNull(update), ...(pilotAgreement !== undefined && { pilotAgreement }) };
        return updateClient(change, id, changes);
      },
      showChangedClient,
    ),
    rotateClientSecret: changeOperation('client_secret.rotated', onClient(rotateSecret), withSecret),
    disableClient: changeOperation('client.disabled', (change, { id }) => disableClient(change, id), showChangedClient),
    enableClient: changeOperation('client.enabled', onClient(enableClient), showChangedClient),
    createConnection: changeOperation(
      'connection.created',
      (change, request) => createConnection(change, { ...request, replace: false }),
      showChangedConnection,
    ),
    updateConnection: changeOperation('connection.updated', updateConnection, showChangedConnection),
    revokeConnection: changeOperation('connection.revoked', revokeConnection, showChangedConnection),
  },
  fields: {
    Integrator: {
      id: ({ integratorId }: ListedIntegrator) => integratorId,
      activeClients: async ({ integratorId }: ListedIntegrator, _, context) =>
        (await loadCounts(context, integratorId))!.clients,
      activeConnections: async ({ integratorId }: ListedIntegrator, _, context) =>
        (await loadCounts(context, integratorId))!.connections,
      webhookEndpoints: ({ integratorId }: ListedIntegrator, _, context) =>
        loadBatched(context, 'webhook endpoints', integratorId, listEndpointsOf),
    },
    Client: {
      id: ({ clientId }: ListedClient) => clientId,
      type: ({ type }: ListedClient) => type.toUpperCase(),
      integrator: ({ integratorId }: ListedClient, _, context) =>
        integratorId === null ? null : loadIntegrator(context, integratorId),
      secrets: ({ clientId }: ListedClient, _, context) => loadBatched(context, 'secrets', clientId, findSecretsOf),
    },
    Connection: {
      integrator: ({ integratorId }: ListedConnection, _, context) => loadIntegrator(context, integratorId),
      builder: ({ builderId }: ListedConnection, _, context, info) =>
        context.loaders.load(builders.select(findSelection(info)), builderId),
    },
  },
};
