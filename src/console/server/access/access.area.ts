import { INTERNAL_SCOPES, SCOPE_DECLARATIONS, SCOPES } from '../../../../schema/scopes.ts';
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
  listClients,
  listConnections,
  listIntegrators,
  showClient,
  showConnection,
  showIntegrator,
} from '../../../domain/access/list-access.ts';
import { requireStaffAction } from '../../../domain/access/staff-roles.ts';
import { builders } from '../../../domain/readers/builder.reader.ts';
import { listEndpoints } from '../../../domain/webhooks/endpoints.ts';
import { type ConsoleArea, type ConsoleContext, toChangeContext } from '../console-area.ts';
import { toPage, toPageArgs, withoutNull } from '../page.ts';
import { selectionIn } from '../selected.ts';
import { accessTypes } from './access.schema.ts';
import { findClient, findIntegrator, toClient, toIntegrator } from './find-access.ts';

type ListedClient = Awaited<ReturnType<typeof listClients>>['clients'][number];
type ListedConnection = Awaited<ReturnType<typeof listConnections>>['connections'][number];

const withSecret = async (context: ConsoleContext, created: { clientId: string; clientSecret: string | null }) => ({
  client: await findClient(context, created.clientId),
  secret: created.clientSecret,
});

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
    scopes: {
      action: 'access.read',
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
      clients: async ({ id }: { id: string }, _, context) => (await showIntegrator(context, id)).clients.map(toClient),
      connections: async ({ id }: { id: string }, _, context) => (await showIntegrator(context, id)).connections,
      webhookEndpoints: ({ id }: { id: string }, _, context) => listEndpoints(context, id),
    },
    Client: {
      integrator: ({ integratorId }: ListedClient, _, context) =>
        integratorId === null ? null : findIntegrator(context, integratorId),
      secrets: async ({ clientId }: ListedClient, _, context) =>
        (await showClient(context, clientId)).secrets.map(({ secretId, createdAt }) => ({ id: secretId, createdAt })),
    },
    Connection: {
      integrator: ({ integratorId }: ListedConnection, _, context) => findIntegrator(context, integratorId),
      builder: ({ builderId }: ListedConnection, _, context, info) =>
        context.loaders.load(builders.select(selectionIn(info)), builderId),
    },
  },
};
