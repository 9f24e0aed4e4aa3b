import { INTERNAL_SCOPES, SCOPE_DECLARATIONS, SCOPES } from '../../../../schema/scopes.ts';
import { findSelection } from '../../../../schema/selection.ts';
import { getTimeZone } from '../../../../schema/time-zone.ts';
import {
  countActiveOf,
  findClientsOf,
  findConnectionsOf,
  findSecretsOf,
} from '../../../domain/access/access-of-parents.ts';
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
  showConnection,
} from '../../../domain/access/list-access.ts';
import { requireStaffAction } from '../../../domain/access/staff-roles.ts';
import { builders } from '../../../domain/readers/builder.reader.ts';
import { findEndpointsOf } from '../../../domain/webhooks/list-endpoints.ts';
import { type ConsoleArea, type ConsoleContext, toChangeContext } from '../console-area.ts';
import { loadBatched } from '../load-batched.ts';
import { toLimit, toPage, toPageArgs, withoutNull } from '../page.ts';
import { accessTypes } from './access.schema.ts';
import { findClient, findIntegrator, loadIntegrator, toClient, toIntegrator } from './find-access.ts';

type Identified = { id: string };
type ListedClient = Awaited<ReturnType<typeof listClients>>['clients'][number];
type ListedConnection = Awaited<ReturnType<typeof listConnections>>['connections'][number];

const withSecret = async (context: ConsoleContext, created: { clientId: string; clientSecret: string | null }) => ({
  client: await findClient(context, created.clientId),
  secret: created.clientSecret,
});

const loadCounts = (context: ConsoleContext, id: string) => loadBatched(context, 'active', id, countActiveOf);

/** Throws 403 for an internal client, except for a role that may change those. */
async function requireClientRole(context: ConsoleContext, id: string): Promise<void> {
  const { type } = await findClient(context, id);
  if (type === 'INTERNAL') requireStaffAction(context.staff.role, 'internal_client.changed');
}

/** Integrators, clients and connections. */
export const accessArea: ConsoleArea = {
  types: accessTypes,
  queries: {
    integrators: {
      action: 'access.read',
      async resolve(_, { name, ...args }, context) {
        const { integrators, nextCursor } = await listIntegrators(
          context,
          { name: name ?? undefined },
          toPageArgs(args),
        );
        return toPage(integrators.map(toIntegrator), nextCursor);
      },
    },
    integrator: { action: 'access.read', resolve: (_, { id }, context) => findIntegrator(context, id) },
    clients: {
      action: 'access.read',
      async resolve(_, { type, after, limit, ...filter }, context) {
        const conditions = { ...withoutNull(filter), type: type?.toLowerCase() };
        const { clients, nextCursor } = await listClients(context, conditions, toPageArgs({ after, limit }));
        return toPage(clients.map(toClient), nextCursor);
      },
    },
    client: { action: 'access.read', resolve: (_, { id }, context) => findClient(context, id) },
    connections: {
      action: 'access.read',
      async resolve(_, { after, limit, ...filter }, context) {
        const { connections, nextCursor } = await listConnections(
          ...([context, withoutNull(filter), toPageArgs({ after, limit })] as const),
        );
        return toPage(connections, nextCursor);
      },
    },
    connection: { action: 'access.read', resolve: (_, key, context) => showConnection(context, key) },
    findBuilders: {
      action: 'access.read',
      async resolve(_, { limit, ...filter }, context) {
        const { rows, totalCount } = await listBuilders(context, withoutNull(filter), toPageArgs({ limit }).limit);
        const data = rows.map((row) => ({ id: row.id, name: row.name, timeZone: getTimeZone(row, context.region) }));
        return { data, totalCount };
      },
    },
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
    createIntegrator: {
      action: 'integrator.created',
      async resolve(_, input, context) {
        const { integratorId } = await createIntegrator(toChangeContext(context), input);
        return findIntegrator(context, integratorId);
      },
    },
    updateIntegrator: {
      action: 'integrator.updated',
      async resolve(_, { id, name, deepLinkSchemes, ...args }, context) {
        const update = { name: name ?? undefined, deepLinkSchemes: deepLinkSchemes ?? undefined };
        await updateIntegrator(toChangeContext(context, args), id, update);
        return findIntegrator(context, id);
      },
    },
    createClient: {
      action: 'client.created',
      async resolve(_, { type, integratorId, pilotAgreement, ...input }, context) {
        const internal = type === 'INTERNAL';
        if (internal) requireStaffAction(context.staff.role, 'internal_client.changed');
        const request = {
          ...{ ...input, internal, type: internal ? 'CONFIDENTIAL' : type },
          ...{ integratorId: integratorId ?? undefined, pilotAgreement: pilotAgreement ?? undefined },
        };
        return withSecret(context, await createClient(toChangeContext(context), request));
      },
    },
    updateClient: {
      action: 'client.updated',
      async resolve(_, { id, expectedUpdatedAt, pilotAgreement, ...update }, context) {
        await requireClientRole(context, id);
        const changes = { ...withoutNull(update), ...(pilotAgreement !== undefined && { pilotAgreement }) };
        await updateClient(toChangeContext(context, { expectedUpdatedAt }), id, changes);
        return findClient(context, id);
      },
    },
    rotateClientSecret: {
      action: 'client_secret.rotated',
      async resolve(_, { id, ...args }, context) {
        await requireClientRole(context, id);
        return withSecret(context, await rotateSecret(toChangeContext(context, args), id));
      },
    },
    disableClient: {
      action: 'client.disabled',
      async resolve(_, { id, ...args }, context) {
        await disableClient(toChangeContext(context, args), id);
        return findClient(context, id);
      },
    },
    enableClient: {
      action: 'client.enabled',
      async resolve(_, { id, ...args }, context) {
        await requireClientRole(context, id);
        await enableClient(toChangeContext(context, args), id);
        return findClient(context, id);
      },
    },
    createConnection: {
      action: 'connection.created',
      async resolve(_, request, context) {
        await createConnection(toChangeContext(context), { ...request, replace: false });
        return showConnection(context, request);
      },
    },
    updateConnection: {
      action: 'connection.updated',
      async resolve(_, { integratorId, builderId, scopes, ...args }, context) {
        await updateConnection(toChangeContext(context, args), { integratorId, builderId, scopes });
        return showConnection(context, { integratorId, builderId });
      },
    },
    revokeConnection: {
      action: 'connection.revoked',
      async resolve(_, { integratorId, builderId, ...args }, context) {
        await revokeConnection(toChangeContext(context, args), { integratorId, builderId });
        return showConnection(context, { integratorId, builderId });
      },
    },
  },
  fields: {
    Integrator: {
      async clients({ id }: Identified, args, context) {
        const limit = toLimit(args.limit);
        const clients = await loadBatched(context, `clients ${limit}`, id, (database, ids) =>
          findClientsOf(database, ids, limit),
        );
        return clients!.map(toClient);
      },
      connections({ id }: Identified, args, context) {
        const limit = toLimit(args.limit);
        return loadBatched(context, `connections ${limit}`, id, (database, ids) =>
          findConnectionsOf(database, ids, limit),
        );
      },
      activeClients: async ({ id }: Identified, _, context) => (await loadCounts(context, id))!.clients,
      activeConnections: async ({ id }: Identified, _, context) => (await loadCounts(context, id))!.connections,
      webhookEndpoints: ({ id }: Identified, _, context) =>
        loadBatched(context, 'webhook endpoints', id, findEndpointsOf),
    },
    Client: {
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
