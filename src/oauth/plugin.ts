import type { FastifyPluginAsync } from 'fastify';
import { addEndpoint, prepareEndpoints } from './endpoint.ts';
import type { OAuthParts } from './parts.ts';
import { tokenEndpoint } from './token.ts';

/** The OAuth endpoints. Part 5 of the specification, part 11 of the decisions. */
export function oauthPlugin(parts: OAuthParts): FastifyPluginAsync {
  return async (app) => {
    prepareEndpoints(app);
    addEndpoint(app, '/oauth/token', tokenEndpoint(parts));
  };
}
