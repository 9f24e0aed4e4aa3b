import Fastify, { type FastifyInstance } from 'fastify';
import { buildServiceSchema } from '../resolvers/service-schema.ts';
import { routeTable } from '../schema/route-table.ts';
import { AccessTokenVerifier } from './auth/access-token-verifier.ts';
import { AccessTokens } from './auth/access-tokens.ts';
import { RateLimiter } from './auth/rate-limiter.ts';
import { RequestAuthenticator } from './auth/request-authenticator.ts';
import { installRequestUsage } from './auth/request-usage.ts';
import type { Config } from './config.ts';
import type { Databases } from './database/database.ts';
import { registerGraphql } from './graphql/server/plugin.ts';
import { registerSchemaDocument, SCHEMA_DOCUMENT_PATH } from './graphql/server/schema-document.ts';
import { installCors } from './http/cors.ts';
import { registerDocs } from './http/docs.ts';
import { installErrorHandler, installNotFound, publicError } from './http/errors.ts';
import { logFailures } from './http/failure-log.ts';
import { installHeaders } from './http/headers.ts';
import { registerHealth } from './http/health.ts';
import { installJsonParser } from './http/json.ts';
import { LargeBodyParser } from './http/large-bodies.ts';
import { registerMetrics } from './http/metrics.ts';
import { serverOptions } from './http/options.ts';
import { paceUnauthenticated } from './http/paced-admission.ts';
import { cutSlowClients, limitPipelining } from './http/slow-clients.ts';
import { registerStorage, STORAGE_ROUTE } from './http/storage.ts';
import { oauthPlugin } from './oauth/plugin.ts';
import { createOAuthRateLimits } from './oauth/rate-limits.ts';
import { RegisteredOrigins } from './oauth/registered-origins.ts';
import { registerReportPages } from './reports/plugin.ts';
import { openApiDocument } from './rest/openapi.ts';
import { refuseOtherMethods, registerRest } from './rest/plugin.ts';
import { registerUploads } from './rest/uploads.ts';
import type { Clock } from './shared/clock.ts';
import { createFairShares } from './shared/fair-shares.ts';
import type { DownloadNetwork } from './storage/remote-downloader.ts';
import { openStorages } from './storage/storage.ts';

/** What the service stands on. Tests bring their own. */
export interface Parts {
  databases: Databases;
  clock: Clock;
  /** Key of the access tokens' HMAC, base64url. */
  tokenKey: string;
  /** The world outside, for downloads of images; the internet when it is not given. */
  outside?: DownloadNetwork;
  /** Whether the instance has been told to stop: it then says that it is not ready. */
  isStopping?: () => boolean;
}

/** The whole service, plugged together; nothing listens yet. */
export async function buildApp(config: Config, parts: Parts): Promise<FastifyInstance> {
  const { databases, clock } = parts;
  const { baseUrl, rateLimits } = config;
  const app = Fastify(serverOptions(config));
  cutSlowClients(app.server, 2_000 * config.requestSeconds);
  const schema = buildServiceSchema();
  const operations = routeTable(schema);
  const accessTokens = new AccessTokens({ key: parts.tokenKey, issuer: baseUrl, clock });
  const tokens = new AccessTokenVerifier({ tokens: accessTokens, databases, clock });
  const storages = openStorages(config, { secret: parts.tokenKey, clock, network: parts.outside });
  const limits = new RateLimiter('api', rateLimits.api, clock);
  const tokenLimits = new RateLimiter('token', rateLimits.token, clock);
  const budgets = { sync: new RateLimiter('sync', rateLimits.sync, clock) };
  const shares = createFairShares();
  const { uploadQuota } = config;
  const authenticator = new RequestAuthenticator({
    tokens,
    databases,
    storages,
    limits,
    budgets,
    shares,
    uploadQuota,
    clock,
  });

  limitPipelining(app);
  paceUnauthenticated(app, (authorization) => tokens.isVerified(authorization));
  installHeaders(app, config);
  installRequestUsage(app);
  logFailures(app, config);
  installErrorHandler(app);
  await installCors(app, new RegisteredOrigins({ databases, clock }));
  installNotFound(app, (request, reply) => authenticator.authenticate(request, reply));
  installJsonParser(app);
  const largeBodies = new LargeBodyParser(shares, app.initialConfig.bodyLimit!);
  app.addHook('onClose', () => largeBodies.close());
  const acceptLargeBodies: LargeBodyParser['install'] = (scope, form) => largeBodies.install(scope, form);
  registerHealth(app, databases, parts.isStopping);
  registerMetrics(app, config, largeBodies);
  const oauthRateLimits = createOAuthRateLimits(databases, limits, tokenLimits);
  await registerDocs(app, {
    document: await openApiDocument(schema, operations, baseUrl),
    limitVisitor: oauthRateLimits.limitPageRequest,
  });
  await app.register(
    oauthPlugin({
      ...{ databases, accessTokens, tokenVerifier: tokens, clock, baseUrl },
      logoUrl: (region, key) => storages[region].createDownloadUrl(key),
      ...oauthRateLimits,
    }),
  );
  await registerStorage(app, storages, { shares, requests: limits, databases });
  refuseOtherMethods(app, STORAGE_ROUTE, ['GET', 'PUT', 'OPTIONS'], authenticator);
  const { limitPageRequest } = oauthRateLimits;
  await registerReportPages(app, { databases, storages, shares, clock, baseUrl, limitPageRequest });
  await registerRest(app, { schema, operations, authenticator, acceptLargeBodies });
  await registerUploads(app, authenticator);
  const { introspection, production } = config;
  await registerGraphql(app, {
    ...{ schema, operations, authenticator, introspection, production, publicError, acceptLargeBodies },
  });
  refuseOtherMethods(app, '/graphql', ['GET', 'POST'], authenticator);
  registerSchemaDocument(app, { schema, authenticator, introspection });
  refuseOtherMethods(app, SCHEMA_DOCUMENT_PATH, ['GET'], authenticator);
  return app;
}
