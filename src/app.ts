import Fastify, { type FastifyInstance } from 'fastify';
import { buildServiceSchema, routeTable } from '../schema/build.ts';
import { Access } from './caller/access.ts';
import { TokenEntrance } from './caller/entrance.ts';
import { RateLimiter } from './caller/limits.ts';
import type { Clock } from './clock.ts';
import type { Config } from './config.ts';
import type { Databases } from './database/database.ts';
import { registerGraphql } from './graphql/plugin.ts';
import { registerDocs } from './http/docs.ts';
import { installErrorHandler, installNotFound } from './http/errors.ts';
import { installHeaders } from './http/headers.ts';
import { registerHealth } from './http/health.ts';
import { installJsonParser } from './http/json.ts';
import { registerMetrics } from './http/metrics.ts';
import { serverOptions } from './http/options.ts';
import { oauthPlugin } from './oauth/plugin.ts';
import { openApiDocument } from './rest/openapi.ts';
import { registerRest } from './rest/plugin.ts';
import { AccessTokens } from './tokens.ts';

/** What the service stands on. Tests bring their own. */
export interface Parts {
  databases: Databases;
  clock: Clock;
  /** Key of the access tokens' HMAC, base64url. */
  tokenKey: string;
}

/** The whole service, plugged together; nothing listens yet. */
export async function buildApp(config: Config, parts: Parts): Promise<FastifyInstance> {
  const { databases, clock } = parts;
  const { baseUrl, rateLimits } = config;
  const app = Fastify(serverOptions(config));
  const schema = buildServiceSchema();
  const operations = routeTable(schema);
  const tokens = new AccessTokens({ key: parts.tokenKey, issuer: baseUrl, clock });
  const access = new Access({ tokens, databases, clock });
  const limits = new RateLimiter('api', rateLimits.api, clock);
  const entrance = new TokenEntrance({ access, databases, limits, clock });

  installHeaders(app, config);
  installErrorHandler(app);
  installNotFound(app, (request, reply) => entrance.enter(request, reply));
  installJsonParser(app);
  registerHealth(app, databases);
  await registerMetrics(app, config);
  await registerDocs(app, await openApiDocument(schema, operations, baseUrl));
  await app.register(oauthPlugin({ databases, tokens, clock, baseUrl }));
  registerRest(app, { schema, operations, entrance });
  await registerGraphql(app, { schema, entrance, introspection: !config.production });
  return app;
}
