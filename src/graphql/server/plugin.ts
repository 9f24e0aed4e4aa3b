import { ApolloServer, type ApolloServerPlugin } from '@apollo/server';
import { ApolloServerPluginCacheControlDisabled } from '@apollo/server/plugin/disabled';
import { fastifyApolloHandler } from '@as-integrations/fastify';
import type { FastifyContextConfig, FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { GraphQLSchema } from 'graphql';
import type { Operation } from '../../../schema/route-table.ts';
import type { AuthenticatedRequest, RequestAuthenticator } from '../../auth/request-authenticator.ts';
import type { RequestContext } from '../../auth/request-context.ts';
import { type RequestSteps, toRoute } from '../../auth/request-pipeline.ts';
import { sendChunked } from '../../auth/request-usage.ts';
import type { Config } from '../../config.ts';
import { deferTextErrors, parseJsonText } from '../../http/bodies/json.ts';
import type { LargeBodyParser } from '../../http/bodies/large-body-parser.ts';
import { publicError } from '../../http/errors.ts';
import { rejectOtherMethods } from '../../http/method-not-allowed.ts';
import { invalidField } from '../../shared/errors.ts';
import { meteredFieldResolver } from '../engine/metered-field-resolver.ts';
import { limitDepth } from './depth.ts';
import { limitDocument } from './document-limits.ts';
import { DocumentStore } from './document-store.ts';
import { formatError, MAX_TOKENS, toExtensions } from './errors.ts';
import { deferInputErrors } from './input.ts';
import { createLandingPage, createLandingPageHeaders } from './landing-page.ts';
import { LargeBodyRules } from './large-body-rules.ts';
import { operationSteps } from './operation-steps.ts';
import { registerSchemaDocument, SCHEMA_DOCUMENT_PATH } from './schema-document.ts';

type RouteHandler = (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>;

/** A route that executes GraphQL operations, with document and plan caches of its own. */
interface GraphqlRoute<Authenticated extends AuthenticatedRequest> {
  url: string;
  methods: ('GET' | 'POST')[];
  schema: GraphQLSchema;
  introspection: boolean;
  /** Whether errors contain suggestions with names of the schema. */
  suggestions: boolean;
  /** Operations that may have large bodies. */
  operations: readonly Operation[];
  largeBodies: LargeBodyParser;
  steps: Pick<RequestSteps<Authenticated, unknown, unknown>, 'authenticate' | 'createContext'>;
  config?: FastifyContextConfig;
  /** Whether queries of internal clients read from a standby. The console chooses by query, because people act on what it shows. */
  readsFromReplica?: boolean;
  /** Further plugins. */
  plugins: ApolloServerPlugin<RequestContext>[];
}

/** Registers `/graphql`, with the authentication and rules of REST, and its page for browsers. */
export async function registerGraphql(
  app: FastifyInstance,
  dependencies: Pick<GraphqlRoute<AuthenticatedRequest>, 'schema' | 'operations' | 'largeBodies'> & {
    authenticator: RequestAuthenticator;
    config: Config;
  },
) {
  const { authenticator, config, schema, operations, largeBodies } = dependencies;
  const { production, introspection } = config;
  await registerGraphqlRoute(app, {
    url: '/graphql',
    methods: ['GET', 'POST'],
    suggestions: !production,
    schema,
    operations,
    introspection,
    largeBodies,
    plugins: [createLandingPage(production)],
    config: { chargesShare: true },
    readsFromReplica: true,
    steps: {
      authenticate(request, reply) {
        if (!isPageRequest(request)) return authenticator.authenticate(request, reply);
        reply.headers(createLandingPageHeaders(production));
        return null;
      },
      createContext: (request, authenticated) => authenticator.createContext(request, authenticated),
    },
  });
  registerSchemaDocument(app, { schema, authenticator, introspection });
  rejectOtherMethods(app, ['/graphql', SCHEMA_DOCUMENT_PATH], authenticator.authenticate);
}

/** Registers a route that executes GraphQL operations. */
export async function registerGraphqlRoute<Authenticated extends AuthenticatedRequest>(
  app: FastifyInstance,
  route: GraphqlRoute<Authenticated>,
): Promise<void> {
  const { url, methods, schema, introspection, suggestions } = route;
  const bodies = new LargeBodyRules(route.operations, app.initialConfig.bodyLimit!);
  const validationOptions = { hideSuggestions: !suggestions };
  const documentStore = new DocumentStore();
  const apollo = new ApolloServer<RequestContext>({
    schema,
    introspection,
    includeStacktraceInErrorResponses: false,
    formatError,
    fieldResolver: meteredFieldResolver,
    // Responses to requests that Apollo rejects itself pass no plugin.
    stringifyResult: ({ extensions = { cost: 0 }, ...result }) => JSON.stringify({ ...result, extensions }),
    parseOptions: { maxTokens: MAX_TOKENS },
    validationRules: [deferInputErrors(validationOptions), limitDocument, limitDepth],
    validationOptions,
    documentStore,
    // Documents that clients register would be parsed again after their eviction, which no limit would see.
    persistedQueries: false,
    stopOnTerminationSignals: false,
    plugins: [
      operationSteps(schema, { log: app.log, bodies, readsFromReplica: route.readsFromReplica }),
      ...route.plugins,
      // The default plugin would wrap the resolver of every field, also for REST.
      ApolloServerPluginCacheControlDisabled(),
    ],
  });
  await apollo.start();
  app.addHook('onClose', () => apollo.stop());

  const execute = fastifyApolloHandler(apollo, {
    context: async (request) => (request as FastifyRequest).context!,
  }) as unknown as RouteHandler;
  const { onRequest, handler } = toRoute({
    ...route.steps,
    // `operationSteps` authorizes the operation, once Apollo has read it from the document, and parses its input.
    authorize: ({ headers }, context) =>
      Number(headers['content-length'] ?? 0) > bodies.defaultLimit ? bodies.admit(context) : undefined,
    parseInput: () => undefined,
    spanName: 'operation graphql',
    execute: (_input, request, reply) => execute(request, reply),
    respond(payload, _input, request, reply) {
      const result = request.context?.operation.largeResult;
      return result ? sendChunked(request, reply, result, request.context!.meter.bytes) : payload;
    },
  });
  await app.register(async (scope) => {
    route.largeBodies.install(scope, { kind: 'graphql' });
    scope.route({
      method: methods,
      url,
      config: { ...route.config, inputPrefix: 'variables.' },
      bodyLimit: bodies.limit,
      onRequest,
      preParsing: async ({ headers }, _reply, payload) =>
        headers['transfer-encoding'] === undefined ? payload : bodies.limitStream(payload),
      preHandler: [requireHost, checkParameters, (request) => documentStore.admit(request)],
      errorHandler(thrown: FastifyError, request, reply) {
        const error = publicError(thrown, request);
        const errors = [{ message: error.message, extensions: toExtensions(error) }];
        return reply
          .code(error.status)
          .headers(error.headers)
          .send({ errors, extensions: { cost: 0 } });
      },
      handler,
    });
  });
}

/** Throws 400 for a host, also of a proxy's header, that is none: Apollo's handler builds a URL with it. */
async function requireHost({ protocol, hostname }: FastifyRequest): Promise<void> {
  if (!URL.canParse(`${protocol}://${hostname}/`)) throw invalidField('Host', 'must be the name of a host');
}

/**
 * Throws 400 for a parameter of the query with brackets after its name, which Apollo Server would ignore, and for variables that are not JSON.
 * Defers the errors of texts and numbers in the variables of a GET request, as those of a body.
 */
async function checkParameters(request: FastifyRequest): Promise<void> {
  const parameters = request.query as Record<string, unknown>;
  const sent = Object.keys(parameters).find((name) => /^(query|operationName|variables|extensions)\[/.test(name));
  if (sent) throw invalidField(sent.split('[')[0]!, 'must be named without brackets');
  const { variables } = parameters;
  if (request.method !== 'GET' || typeof variables !== 'string' || variables === '') return;
  parseJsonText(`{"variables":${variables}}`, (errors) => deferTextErrors(request, errors), 'variables');
}

/** Whether a browser requests the page, and not a query. Browsers send no token for it, so that every request with one is charged. */
function isPageRequest(request: FastifyRequest): boolean {
  return (
    request.method === 'GET' &&
    request.headers.authorization === undefined &&
    !('query' in (request.query as object)) &&
    /text\/html/.test(request.headers.accept ?? '')
  );
}
