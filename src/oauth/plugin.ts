import type { FastifyPluginAsync } from 'fastify';
import { addEndpoint, prepareEndpoints } from './endpoint.ts';
import { introspectionEndpoint } from './introspect.ts';
import { metadataOf } from './metadata.ts';
import type { OAuthParts } from './parts.ts';
import { revocationEndpoint } from './revoke.ts';
import { pagesPlugin } from './site.ts';
import { tokenEndpoint } from './token.ts';

/** The OAuth endpoints. Part 5 of the specification, part 11 of the decisions. */
export function oauthPlugin(parts: OAuthParts): FastifyPluginAsync {
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
