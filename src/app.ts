import Fastify, { type FastifyInstance } from 'fastify';
import type { DocumentNode, GraphQLSchema } from 'graphql';
import { buildServiceSchema } from '../resolvers/service-schema.ts';
import { createRouteTable, type Operation } from '../schema/route-table.ts';
import { AccessTokenVerifier } from './auth/access-token-verifier.ts';
import { AccessTokens } from './auth/access-tokens.ts';
import { RateLimiter } from './auth/rate-limiter.ts';
import { RequestAuthenticator } from './auth/request-authenticator.ts';
import type { Config } from './config.ts';
import type { PasswordLinkSender } from './console/server/console-area.ts';
import { buildConsoleSchema } from './console/server/console-schema.ts';
import { findConsoleFolder } from './console/server/files.ts';
import { registerConsole } from './console/server/plugin.ts';
import type { Databases } from './database/database.ts';
import { uncompactedCounters } from './database/write/list-counters.ts';
import { LINK_HOURS } from './domain/access/password-links.ts';
import { unnumberedEvents } from './domain/events/event-log.ts';
import { EventTail } from './domain/events/event-tail.ts';
import { startRendering } from './domain/photos/rendition.job.ts';
import { pendingRenditions } from './domain/photos/renditions.ts';
import { RequestLog } from './domain/request-log/request-log.ts';
import { unusedUploads } from './domain/uploads/quota.ts';
import { pendingDeliveries } from './domain/webhooks/deliveries.ts';
import { createWebhookTools } from './domain/webhooks/webhook-context.ts';
import { registerGraphql } from './graphql/server/plugin.ts';
import { registerSchemaDocument, SCHEMA_DOCUMENT_PATH } from './graphql/server/schema-document.ts';
import { installJsonParser } from './http/bodies/json.ts';
import { LargeBodyParser } from './http/bodies/large-bodies.ts';
import { rejectUnreadableBodies } from './http/bodies/rejected-bodies.ts';
import { registerDocs } from './http/documents/docs.ts';
import { installErrorHandler, installNotFound, publicError } from './http/errors.ts';
import { registerHealth } from './http/health/health.ts';
import { endConnectionsOnClose } from './http/limits/connections.ts';
import { rejectOtherMethods } from './http/method-not-allowed.ts';
import { registerMetrics } from './http/metrics/metrics.ts';
import { serverOptions } from './http/options.ts';
import { receiveRequests, sendResponses } from './http/request-hooks.ts';
import { registerStorage, STORAGE_ROUTE } from './http/storage/signed-urls.ts';
import { splitConnections } from './limits/connection-split.ts';
import { createFairShares, type FairShares } from './limits/fair-shares.ts';
import { MailQueue } from './mail/mail-queue.ts';
import { createMailer, describeMailError, type Mailer } from './mail/mailer.ts';
import { createPasswordLinkMessage } from './mail/password-link-message.ts';
import type { Network } from './network/guarded-network.ts';
import { PasswordResets } from './oauth/account/password-resets.ts';
import { createOAuthPlugin } from './oauth/plugin.ts';
import { createOAuthRateLimits, PASSWORD_RESET_LIMIT } from './oauth/rate-limits.ts';
import { RegisteredOrigins } from './oauth/registered-origins.ts';
import { registerReportPages } from './reports/plugin.ts';
import { createOpenApiDocument } from './rest/openapi.ts';
import { registerRest } from './rest/plugin.ts';
import { createRestSchema } from './rest/projection.ts';
import { generateOperationDocuments } from './rest/sofa.ts';
import { registerUploads } from './rest/uploads.ts';
import type { Clock } from './shared/clock.ts';
import { REGIONS } from './shared/regions.ts';
import { openStorages, type Storages } from './storage/storage.ts';

/** What every application serves, whatever its settings. */
export interface ServiceDefinition {
  schema: GraphQLSchema;
  restSchema: GraphQLSchema;
  consoleSchema: GraphQLSchema;
  operations: Operation[];
  /** GraphQL operations of REST, by root field. */
  documents: Map<string, DocumentNode>;
}

/** Returns what the applications of a process serve. It takes half a second of CPU time. */
export async function createServiceDefinition(): Promise<ServiceDefinition> {
  const schema = buildServiceSchema();
  const restSchema = createRestSchema(schema);
  const operations = createRouteTable(schema);
  const documents = await generateOperationDocuments(restSchema, operations);
  return { schema, restSchema, consoleSchema: buildConsoleSchema(schema), operations, documents };
}

/** Dependencies of the service, which tests replace. */
interface AppDependencies {
  databases: Databases;
  clock: Clock;
  /** Keys of access tokens and signed URLs, base64url. The first signs, all verify. */
  tokenKeys: readonly string[];
  /** Network access for downloads of images; the internet by default. */
  outside?: Network;
  /** Network access for deliveries to webhook endpoints; the internet by default. */
  receivers?: Network;
  /** Whether the process renders photos that wait, from when it listens. */
  rendersPhotos?: boolean;
  /** What is served, for processes with several applications; created if absent. */
  definition?: ServiceDefinition;
  /** Whether the instance is shutting down: it then reports that it is not ready. */
  isStopping?: () => boolean;
}

/** Renders photos that wait from when the server listens until the application closes. */
function renderWhileListening(
  app: FastifyInstance,
  databases: Databases,
  work: { storages: Storages; shares: FairShares },
) {
  let stop = async () => {};
  app.addHook('onListen', async () => {
    stop = startRendering(databases, work, app.log);
  });
  app.addHook('preClose', () => stop());
}

/** Returns what sends links for choosing a password, until the application closes; undefined without a mail server. */
function openPasswordResets(
  app: FastifyInstance,
  mailer: Mailer | null,
  { baseUrl }: Config,
  { databases, clock }: AppDependencies,
) {
  if (mailer === null) return;
  const queue = new MailQueue((error) => app.log.error({ failure: describeMailError(error) }, 'e-mail was not sent'));
  app.addHook('onClose', async () => {
    const abandoned = await queue.close();
    if (abandoned > 0) app.log.warn({ abandoned }, 'e-mail was abandoned');
    mailer.close();
  });
  return new PasswordResets({ databases, clock, baseUrl, mailer, queue });
}

/** Returns what sends the links that staff users create in the console. */
const createPasswordLinkSender = (
  mailer: Mailer | null,
  passwordResets: PasswordResets | undefined,
  { baseUrl }: Config,
  { log }: FastifyInstance,
): PasswordLinkSender => ({
  emails: mailer !== null,
  toUrl: (path) => `${baseUrl}${path}`,
  notify: (message) => passwordResets?.notify(message),
  async send({ path, ...person }) {
    try {
      await mailer?.send(createPasswordLinkMessage({ ...person, link: `${baseUrl}${path}`, hours: LINK_HOURS }));
      return mailer !== null;
    } catch (error) {
      log.error({ failure: describeMailError(error) }, 'e-mail was not sent');
      return false;
    }
  },
});

/** Returns the Fastify application of the whole service. It does not listen yet. */
export async function buildApp(config: Config, dependencies: AppDependencies): Promise<FastifyInstance> {
  const { databases, clock, tokenKeys } = dependencies;
  const { baseUrl, rateLimits } = config;
  const app = Fastify(serverOptions(config));
  endConnectionsOnClose(app);
  const definition = dependencies.definition ?? (await createServiceDefinition());
  const { schema, restSchema, consoleSchema, operations, documents } = definition;
  const accessTokens = new AccessTokens({ keys: tokenKeys, issuer: baseUrl, clock });
  const tokens = new AccessTokenVerifier({ tokens: accessTokens, databases, clock });
  const storages = openStorages(config, { secrets: tokenKeys, clock, network: dependencies.outside });
  const limits = new RateLimiter('api', rateLimits.api, clock);
  const tokenLimits = new RateLimiter('token', rateLimits.token, clock);
  const budgets = { sync: new RateLimiter('sync', rateLimits.sync, clock) };
  const shares = createFairShares(config.workers, splitConnections(config.databaseConnections));
  const { uploadQuota } = config;
  const webhooks = createWebhookTools(config, tokenKeys, dependencies.receivers);
  const eventTail = new EventTail(databases, () => dependencies.isStopping?.() ?? false);
  app.addHook('preClose', async () => eventTail.close());
  app.addHook('onClose', async () => webhooks.receivers.close());
  const authenticator = new RequestAuthenticator({
    tokens,
    databases,
    storages,
    limits,
    budgets,
    shares,
    uploadQuota,
    eventTail,
    clock,
    webhooks,
  });

  if (config.tracing) (await import('./http/metrics/tracing.ts')).installTracing(app, config.tracing);
  receiveRequests(app, config, { authenticator, origins: new RegisteredOrigins({ databases, clock }) });
  sendResponses(app);
  rejectUnreadableBodies(app);
  const requestLog = new RequestLog(databases, clock, (err) => app.log.error({ err }, 'usage was not written'));
  installErrorHandler(app);
  const authenticate = authenticator.authenticate.bind(authenticator);
  installNotFound(app, authenticate);
  installJsonParser(app);
  const largeBodies = new LargeBodyParser(app.initialConfig.bodyLimit!);
  app.addHook('onClose', () => largeBodies.close());
  const acceptLargeBodies: LargeBodyParser['install'] = (scope, form) => largeBodies.install(scope, form);
  registerHealth(app, config, { databases, storages, isStopping: dependencies.isStopping });
  registerMetrics(app, config, {
    databases,
    storages,
    shares,
    requestLog,
    bodies: largeBodies,
    budgets: [limits, tokenLimits, budgets.sync],
    backlogs: [unusedUploads, uncompactedCounters, unnumberedEvents, pendingDeliveries, pendingRenditions],
  });
  const oauthRateLimits = createOAuthRateLimits(databases, {
    api: limits,
    token: tokenLimits,
    passwordReset: new RateLimiter('password-reset', PASSWORD_RESET_LIMIT, clock),
  });
  const mailer = config.mail && (await createMailer(config.mail));
  const passwordResets = openPasswordResets(app, mailer, config, dependencies);
  await registerDocs(app, {
    document: await createOpenApiDocument(schema, operations, baseUrl, restSchema),
    production: config.production,
    limitVisitor: oauthRateLimits.limitPageRequest,
  });
  await app.register(
    createOAuthPlugin({
      databases,
      accessTokens,
      tokenVerifier: tokens,
      clock,
      shares,
      baseUrl,
      createLogoUrl: (region, key) => storages[region].createDownloadUrl(key),
      ...oauthRateLimits,
      passwordResets,
    }),
  );
  if (dependencies.rendersPhotos) renderWhileListening(app, databases, { storages, shares });
  await registerStorage(app, storages, { shares, requests: limits, databases });
  const { limitPageRequest } = oauthRateLimits;
  rejectOtherMethods(app, [STORAGE_ROUTE], limitPageRequest);
  await registerReportPages(app, {
    databases,
    storages,
    shares,
    clock,
    baseUrl,
    limitPageRequest,
    passwordResets,
  });
  await registerRest(app, {
    schema,
    operations,
    documents,
    authenticator,
    acceptLargeBodies,
    referencePage: `${baseUrl}/docs`,
  });
  await registerUploads(app, authenticator);
  const { introspection, production } = config;
  await registerGraphql(app, {
    schema,
    operations,
    authenticator,
    introspection,
    production,
    publicError,
    acceptLargeBodies,
  });
  await registerConsole(app, {
    authenticator,
    databases,
    clock,
    shares,
    baseUrl,
    publicError,
    acceptLargeBodies,
    limitPageRequest,
    schema: consoleSchema,
    passwordLinks: createPasswordLinkSender(mailer, passwordResets, config, app),
    folder: findConsoleFolder(),
    images: REGIONS.map((region) => new URL(storages[region].createDownloadUrl('logos/any')).origin),
  });
  registerSchemaDocument(app, { schema, authenticator, introspection });
  rejectOtherMethods(app, ['/graphql', SCHEMA_DOCUMENT_PATH], authenticate);
  return app;
}
