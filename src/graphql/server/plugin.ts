import { ApolloServer } from '@apollo/server';
import { ApolloServerPluginCacheControlDisabled } from '@apollo/server/plugin/disabled';
import { fastifyApolloHandler } from '@as-integrations/fastify';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { GraphQLSchema } from 'graphql';
import type { Operation } from '../../../schema/route-table.ts';
import type { RequestAuthenticator } from '../../auth/request-authenticator.ts';
import type { RequestContext } from '../../auth/request-context.ts';
import type { ApiError } from '../../shared/errors.ts';
import type { LargeBodyForm } from '../../shared/large-body.ts';
import { traced } from '../../shared/tracing.ts';
import { meteredFieldResolver } from '../engine/metered-field-resolver.ts';
import { compiledQueries } from './compiled-operations.ts';
import { costLimits } from './cost-limits.ts';
import { limitDepth } from './depth.ts';
import { limitDocument, limitLength } from './document-limits.ts';
import { DocumentStore } from './document-store.ts';
import { logErrors } from './error-log.ts';
import { extensionsOf, formatError } from './errors.ts';
import { validateVariables } from './input.ts';
import { landingPage, landingPageHeaders } from './landing-page.ts';
import { LargeBodies } from './large-bodies.ts';
import { largeResponses, sendLargeResponses } from './large-responses.ts';
import { NewDocumentLimiter } from './new-documents.ts';
import { formatErrorWithoutSuggestions } from './suggestions.ts';

/** Maximum tokens of a document (LIM-18): more than dashboards need, and few enough to parse quickly. */
const MAX_TOKENS = 5_000;

/** Returns the public error for one that occurs before GraphQL, such as a body that is too large, and logs its cause. */
type PublicError = (thrown: FastifyError, request: FastifyRequest) => ApiError;

type RouteHandler = (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>;

/** Registers `/graphql`, with the authentication and rules of REST, and its page for browsers. */
export async function registerGraphql(
  app: FastifyInstance,
  dependencies: {
    schema: GraphQLSchema;
    operations: readonly Operation[];
    authenticator: RequestAuthenticator;
    introspection: boolean;
    production: boolean;
    publicError: PublicError;
    acceptLargeBodies: (scope: FastifyInstance, form: LargeBodyForm) => void;
  },
) {
  const { schema, operations, authenticator, introspection, production, publicError, acceptLargeBodies } = dependencies;
  const bodies = new LargeBodies(operations, app.initialConfig.bodyLimit!);
  const documentStore = new DocumentStore();
  const newDocuments = new NewDocumentLimiter(documentStore);
  const apollo = new ApolloServer<RequestContext>({
    schema,
    introspection,
    includeStacktraceInErrorResponses: false,
    formatError: production ? formatErrorWithoutSuggestions : formatError,
    fieldResolver: meteredFieldResolver,
    stringifyResult: JSON.stringify,
    parseOptions: { maxTokens: MAX_TOKENS },
    validationRules: [limitDocument, limitDepth],
    validationOptions: { hideSuggestions: production },
    documentStore,
    stopOnTerminationSignals: false,
    plugins: [
      newDocuments.plugin(),
      bodies.plugin(),
      validateVariables(schema),
      costLimits(schema),
      logErrors(app.log),
      compiledQueries(schema),
      largeResponses,
      // The default plugin would wrap the resolver of every field, also for REST.
      ApolloServerPluginCacheControlDisabled(),
      landingPage(production),
    ],
  });
  await apollo.start();
  app.addHook('onClose', () => apollo.stop());

  const execute = fastifyApolloHandler(apollo, {
    context: async (request) => (request as FastifyRequest).context!,
  }) as unknown as RouteHandler;
  const handle: RouteHandler = (request, reply) => traced('operation graphql', {}, () => execute(request, reply));
  await app.register(async (scope) => {
    acceptLargeBodies(scope, { kind: 'graphql' });
    scope.route({
      method: ['GET', 'POST'],
      url: '/graphql',
      bodyLimit: bodies.limit,
      async onRequest(request, reply) {
        if (isPageRequest(request)) {
          reply.headers(landingPageHeaders(production));
          return;
        }
        const authenticated = await authenticator.authenticate(request, reply);
        request.context = authenticator.createContext(request, authenticated);
        await bodies.admit(request);
      },
      preParsing: async (request, _reply, payload) => bodies.limitStream(request, payload),
      preHandler: [limitLength, (request) => newDocuments.admit(request)],
      errorHandler(thrown: FastifyError, request, reply) {
        const error = publicError(thrown, request);
        const errors = [{ message: error.message, extensions: extensionsOf(error) }];
        return reply.code(error.status).headers(error.headers).send({ errors });
      },
      handler: sendLargeResponses(handle),
    });
  });
}

/** Whether a browser requests the page, and not a query. */
function isPageRequest(request: FastifyRequest): boolean {
  return (
    request.method === 'GET' &&
    !('query' in (request.query as object)) &&
    /text\/html/.test(request.headers.accept ?? '')
  );
}
