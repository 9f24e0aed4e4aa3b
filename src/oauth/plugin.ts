import type { FastifyPluginAsync } from 'fastify';
import { rejectOtherMethods } from '../http/method-not-allowed.ts';
import { createAccountPagesPlugin } from './account/account-pages.ts';
import type { OAuthDependencies } from './dependencies.ts';
import { configureEndpoints, registerEndpoint } from './endpoints/endpoint.ts';
import { introspectToken } from './endpoints/introspection.endpoint.ts';
import { revokeToken } from './endpoints/revocation.endpoint.ts';
import { createResourceMetadata, createServerMetadata, RESOURCE_PATH } from './endpoints/server-metadata.ts';
import { issueToken } from './endpoints/token.endpoint.ts';
import { interactionPagesPlugin } from './interaction/interaction-pages.ts';

const METADATA_PATH = '/.well-known/oauth-authorization-server';

/** Creates the Fastify plugin with the OAuth endpoints, the interaction pages and the server metadata. */
export function createOAuthPlugin(dependencies: OAuthDependencies): FastifyPluginAsync {
  return async (app) => {
    await app.register(async (endpoints) => {
      configureEndpoints(endpoints, dependencies);
      registerEndpoint(endpoints, dependencies, '/oauth/token', 'grant_type', issueToken);
      registerEndpoint(endpoints, dependencies, '/oauth/revoke', 'token', revokeToken);
      registerEndpoint(endpoints, dependencies, '/oauth/introspect', 'token', introspectToken);
    });
    await app.register(interactionPagesPlugin(dependencies));
    await app.register(createAccountPagesPlugin(dependencies));
    const { baseUrl } = dependencies;
    const metadata = {
      [METADATA_PATH]: createServerMetadata(baseUrl),
      [RESOURCE_PATH]: createResourceMetadata(baseUrl),
    };
    for (const [path, document] of Object.entries(metadata))
      app.get(path, async (_request, reply) => reply.header('Cache-Control', 'public, max-age=300').send(document));
    rejectOtherMethods(app, Object.keys(metadata));
  };
}
