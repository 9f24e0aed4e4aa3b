import type { FastifyPluginAsync } from 'fastify';
import { createAccountPagesPlugin } from './account/account-pages.ts';
import type { OAuthDependencies } from './dependencies.ts';
import { configureEndpoints, registerEndpoint } from './endpoints/endpoint.ts';
import { createIntrospectionEndpoint } from './endpoints/introspection.endpoint.ts';
import { createRevocationEndpoint } from './endpoints/revocation.endpoint.ts';
import { createServerMetadata } from './endpoints/server-metadata.ts';
import { createTokenEndpoint } from './endpoints/token.endpoint.ts';
import { interactionPagesPlugin } from './interaction/interaction-pages.ts';

/** Creates the Fastify plugin with the OAuth endpoints, the interaction pages and the server metadata. */
export function createOAuthPlugin(dependencies: OAuthDependencies): FastifyPluginAsync {
  return async (app) => {
    await app.register(async (endpoints) => {
      configureEndpoints(endpoints, dependencies);
      registerEndpoint(endpoints, '/oauth/token', createTokenEndpoint(dependencies));
      registerEndpoint(endpoints, '/oauth/revoke', createRevocationEndpoint(dependencies));
      registerEndpoint(endpoints, '/oauth/introspect', createIntrospectionEndpoint(dependencies));
    });
    await app.register(interactionPagesPlugin(dependencies));
    await app.register(createAccountPagesPlugin(dependencies));
    const metadata = createServerMetadata(dependencies.baseUrl);
    app.get('/.well-known/oauth-authorization-server', async (_request, reply) =>
      reply.header('Cache-Control', 'public, max-age=300').send(metadata),
    );
  };
}
