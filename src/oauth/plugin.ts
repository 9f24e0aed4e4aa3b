import type { FastifyPluginAsync } from 'fastify';
import type { OAuthDependencies } from './dependencies.ts';
import { addEndpoint, prepareEndpoints } from './endpoints/endpoint.ts';
import { introspectionEndpoint } from './endpoints/introspect.ts';
import { metadataOf } from './endpoints/metadata.ts';
import { revocationEndpoint } from './endpoints/revoke.ts';
import { tokenEndpoint } from './endpoints/token.ts';
import { pagesPlugin } from './interaction/interaction-pages.ts';

/** The OAuth endpoints. */
export function oauthPlugin(parts: OAuthDependencies): FastifyPluginAsync {
  return async (app) => {
    await app.register(async (endpoints) => {
      prepareEndpoints(endpoints, parts);
      addEndpoint(endpoints, '/oauth/token', tokenEndpoint(parts));
      addEndpoint(endpoints, '/oauth/revoke', revocationEndpoint(parts));
      addEndpoint(endpoints, '/oauth/introspect', introspectionEndpoint(parts));
    });
    await app.register(pagesPlugin(parts));
    const metadata = metadataOf(parts.baseUrl);
    app.get('/.well-known/oauth-authorization-server', async (_request, reply) =>
      reply.header('Cache-Control', 'public, max-age=300').send(metadata),
    );
  };
}
