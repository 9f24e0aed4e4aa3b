import Fastify, { type FastifyInstance } from 'fastify';
import type { GraphQLSchema } from 'graphql';
import { buildServiceSchema } from '../resolvers/service-schema.ts';
import { createRouteTable } from '../schema/route-table.ts';
import type { Config } from './config.ts';
import { buildConsoleSchema } from './console/server/console-schema.ts';
import { registerConsole } from './console/server/plugin.ts';
import { findExampleIds } from './demo/example-ids.ts';
import { startRendering } from './domain/photos/rendition.job.ts';
import { registerGraphql } from './graphql/server/plugin.ts';
import { installJsonParser } from './http/bodies/json.ts';
import { rejectUnreadableBodies } from './http/bodies/rejected-bodies.ts';
import { registerDocs } from './http/documents/docs.ts';
import { installErrorHandler, installNotFound } from './http/errors.ts';
import { registerHealth } from './http/health/health.ts';
import { endConnectionsOnClose } from './http/limits/connections.ts';
import { registerMetrics } from './http/metrics/metrics.ts';
import { countRequests } from './http/metrics/requests.ts';
import { serverOptions } from './http/options.ts';
import { addRequestHook, addResponseHook } from './http/request-hooks.ts';
import { registerStorage } from './http/storage/signed-urls.ts';
import { registerMcp } from './mcp/plugin.ts';
import { createOAuthPlugin } from './oauth/plugin.ts';
import { registerReportPages } from './reports/plugin.ts';
import { createOpenApiDocument } from './rest/openapi.ts';
import { type RestDefinition, registerRest } from './rest/plugin.ts';
import { createRestSchema } from './rest/projection.ts';
import { generateOperationDocuments } from './rest/sofa.ts';
import { registerUploads } from './rest/uploads.ts';
import { createServices, type ServiceDependencies } from './services.ts';

export { createListReader } from './rest/list-reader.ts';

/** What every application serves, whatever its settings. */
export interface ServiceDefinition extends RestDefinition {
  restSchema: GraphQLSchema;
  consoleSchema: GraphQLSchema;
}

/** Returns what the applications of a process serve. It takes half a second of CPU time. */
export async function createServiceDefinition(): Promise<ServiceDefinition> {
  const schema = buildServiceSchema();
  const restSchema = createRestSchema(schema);
  const operations = createRouteTable(schema);
  const documents = await generateOperationDocuments(restSchema, operations);
  return { schema, restSchema, consoleSchema: buildConsoleSchema(schema), operations, documents };
}

interface AppDependencies extends ServiceDependencies {
  /** Whether the process renders photos that wait, from when it listens. */
  rendersPhotos?: boolean;
  /** What is served, for processes with several applications; created if absent. */
  definition?: ServiceDefinition;
}

/** Returns the Fastify application of the whole service. It does not listen yet. */
export async function buildApp(config: Config, dependencies: AppDependencies): Promise<FastifyInstance> {
  const app = Fastify(serverOptions(config));
  const definition = dependencies.definition ?? (await createServiceDefinition());
  const services = await createServices(app, config, dependencies);
  await installTransport(app, config, { ...services, schema: definition.schema });
  if (dependencies.rendersPhotos) renderWhileListening(app, services);

  await app.register(registerHealth, services);
  await app.register(registerMetrics, services);
  const { schema, operations, restSchema } = definition;
  const document = await createOpenApiDocument(schema, operations, config.baseUrl, restSchema);
  await app.register(registerDocs, {
    document,
    baseUrl: config.baseUrl,
    production: config.production,
    findExampleIds: () => findExampleIds(services.databases.au1),
    limitVisitor: services.limitPageRequest,
  });
  await app.register(createOAuthPlugin(services));
  await app.register(registerStorage, services);
  await app.register(registerReportPages, services);
  await app.register(registerRest, { ...services, ...definition });
  await app.register(registerUploads, services);
  await app.register(registerMcp, { ...services, ...definition, document });
  await app.register(registerGraphql, { ...services, ...definition });
  await app.register(registerConsole, { ...services, schema: definition.consoleSchema });
  return app;
}

type Services = Awaited<ReturnType<typeof createServices>>;

/** Installs what every request passes, whatever its route. */
async function installTransport(
  app: FastifyInstance,
  config: Config,
  services: Services & Pick<ServiceDefinition, 'schema'>,
): Promise<void> {
  endConnectionsOnClose(app);
  if (config.tracing) (await import('./http/metrics/tracing.ts')).installTracing(app, config.tracing);
  addRequestHook(app, services);
  addResponseHook(app);
  rejectUnreadableBodies(app);
  countRequests(app, services);
  installErrorHandler(app);
  installNotFound(app, services);
  installJsonParser(app);
}

/** Renders photos that wait from when the server listens until the application closes. */
function renderWhileListening(app: FastifyInstance, { databases, storages, shares }: Services) {
  let stop = async () => {};
  app.addHook('onListen', async () => {
    stop = startRendering(databases, { storages, shares }, app.log);
  });
  app.addHook('preClose', () => stop());
}
