import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import {
  type DocumentNode,
  type ExecutionResult,
  execute,
  type GraphQLOutputType,
  type GraphQLSchema,
  getNamedType,
  isObjectType,
} from 'graphql';
import { idPattern } from '../../schema/ids.ts';
import type { PageMeta } from '../../schema/page.ts';
import type { Operation } from '../../schema/route-table.ts';
import { recordType } from '../../schema/selection.ts';
import { lookUpBuilder } from '../auth/authorization.ts';
import type { AuthenticatedRequest, RequestAuthenticator } from '../auth/request-authenticator.ts';
import type { RequestContext } from '../auth/request-context.ts';
import { type RequestSteps, toRoute } from '../auth/request-pipeline.ts';
import { CHUNKED_BYTES, sendChunked } from '../auth/request-usage.ts';
import { DOCUMENT_TYPE } from '../domain/photo-reports/limits.ts';
import { compileOperation } from '../graphql/engine/compile-operation.ts';
import type { CompiledOperation } from '../graphql/engine/execution.ts';
import { meteredFieldResolver } from '../graphql/engine/metered-field-resolver.ts';
import type { LargeBodyForm } from '../http/bodies/large-body-form.ts';
import type { LargeBodyParser } from '../http/bodies/large-body-parser.ts';
import { rejectOtherMethods } from '../http/method-not-allowed.ts';
import { forbidden } from '../shared/errors.ts';
import { createDeprecationHeaders } from './deprecation.ts';
import { type ArgumentLocation, createInputParser, getRootField, locateArguments, type RawInput } from './input.ts';

/** The operations of a schema. */
export interface RestDefinition {
  schema: GraphQLSchema;
  operations: Operation[];
  /** GraphQL operation of each, by root field. */
  documents: Map<string, DocumentNode>;
}

export interface RestDependencies extends RestDefinition {
  authenticator: RequestAuthenticator;
}

/** Registers a route for every REST operation of the schema. */
export async function registerRest(
  app: FastifyInstance,
  dependencies: RestDependencies & { largeBodies: LargeBodyParser; baseUrl: string },
): Promise<void> {
  const { operations, authenticator, largeBodies, baseUrl } = dependencies;
  const urls = new Set<string>();
  for (const operation of operations) {
    const url = operation.path.replace(/\{(\w+)\}/g, ':$1');
    const steps = new RestSteps(operation, dependencies);
    const { onRequest, handler } = toRoute(steps);
    const { method, bodyLimit, deprecated } = operation;
    const headers = deprecated && createDeprecationHeaders(deprecated, `${baseUrl}/docs`);
    const hooks = headers ? [addHeaders(headers), onRequest] : onRequest;
    const config = { chargesShare: true, inputPrefix: '' };
    const register = (scope: FastifyInstance) =>
      scope.route({ method, url, bodyLimit, onRequest: hooks, config, handler });
    if (bodyLimit === undefined) register(app);
    else {
      await app.register(async (scope) => {
        largeBodies.install(scope, steps.largeBodyForm);
        register(scope);
      });
    }
    urls.add(url);
  }
  rejectOtherMethods(app, urls, authenticator.authenticate);
}

const addHeaders = (headers: Record<string, string>) => async (_request: FastifyRequest, reply: FastifyReply) => {
  reply.headers(headers);
};

/** Returns the step that checks the scope and the headers of a request, in the order of ERR-23, and returns its context. */
export const createRestContext =
  (authenticator: RequestAuthenticator, scope: Operation['scope'], operation: string | null, takesKey = false) =>
  (request: FastifyRequest, authenticated: AuthenticatedRequest): RequestContext => {
    if (authenticated.caller.internal) throw forbidden('An internal client calls through GraphQL only.');
    authenticated.caller.requireScope(scope);
    const context = authenticator.createContext(request, authenticated, takesKey);
    context.canWait = true;
    context.operation.name = operation;
    return context;
  };

type Variables = Record<string, unknown>;

const BUILDER_ID = idPattern('builder');

/** The steps of one REST operation. Its rules are those of the schema. */
export class RestSteps implements RequestSteps<AuthenticatedRequest, Variables, ExecutionResult> {
  readonly authenticate: RequestAuthenticator['authenticate'];
  readonly createContext: ReturnType<typeof createRestContext>;
  readonly spanName: string;
  readonly #operation: Operation;
  /** Whether the builder is a field of the body. */
  readonly #hasBuilderInBody: boolean;
  /** Parses the builder, before the body; null without one, or where it is in the body. */
  readonly #parseBuilder: ReturnType<typeof createInputParser> | null;
  /** The other arguments. */
  readonly #locations: ArgumentLocation[];
  readonly #parseOthers: ReturnType<typeof createInputParser>;
  readonly #schema: GraphQLSchema;
  readonly #document: DocumentNode;
  /** Compiled at the first call; null where graphql-js has to interpret it. */
  #compiled: CompiledOperation | null | undefined;
  readonly #omitNulls: NullOmitter | null;
  /** Whether it is a list with pages by offset. Those that have a cursor alone always return the next one. */
  readonly hasOffset: boolean;

  /** @param locations where the arguments are; by default as the contract of REST says. */
  constructor(
    operation: Operation,
    { schema, documents, authenticator }: RestDependencies,
    locations = locateArguments(operation, schema),
  ) {
    const builder = locations.find(({ argument }) => argument.name === 'builderId');
    this.#hasBuilderInBody = builder?.location === 'body';
    const isParsedBefore = builder !== undefined && !this.#hasBuilderInBody;
    this.authenticate = authenticator.authenticate;
    this.createContext = createRestContext(authenticator, operation.scope, operation.field, operation.takesKey);
    this.#schema = schema;
    this.#document = documents.get(operation.field)!;
    this.#operation = operation;
    this.#locations = isParsedBefore ? locations.filter((each) => each !== builder) : locations;
    this.#parseBuilder = isParsedBefore ? createInputParser([builder]) : null;
    this.#parseOthers = createInputParser(this.#locations);
    this.spanName = `operation ${operation.field}`;
    this.hasOffset = this.#locations.some(({ argument }) => argument.name === 'offset');
    this.#omitNulls = createNullOmitter(getRootField(operation, schema).type);
  }

  /** The fields that the operation reads of a large body. */
  get largeBodyForm(): LargeBodyForm {
    const inBody = this.#locations.filter(({ location }) => location === 'body');
    const documents = inBody.filter(({ argument }) => getNamedType(argument.type).name === DOCUMENT_TYPE);
    return { kind: 'fields', fields: inBody.map(({ name }) => name), documents: documents.map(({ name }) => name) };
  }

  authorize(request: RawInput, context: RequestContext): Promise<void> | undefined {
    const { budget } = this.#operation;
    const { builderId } = this.#parseBuilder?.(request) ?? {};
    const pending = this.#authorizeBuilder(context, builderId as string | undefined);
    if (!budget) return pending;
    return pending ? pending.then(() => context.charge(budget)) : context.charge(budget);
  }

  #authorizeBuilder(context: RequestContext, builderId: string | undefined): Promise<void> | undefined {
    const { scope } = this.#operation;
    context.caller.requireScope(scope);
    context.builderId = builderId;
    const isAuthorized =
      builderId === undefined || context.caller.checkBuilder(builderId, context.builderHeader, scope);
    return isAuthorized ? undefined : lookUpBuilder(context, builderId, scope);
  }

  /** Access to a builder in the body is checked before the other fields. */
  parseInput(request: RawInput): Variables | Promise<Variables> {
    const context = request.context!;
    if (this.#hasBuilderInBody && context.builderId === undefined) {
      const { builderId } = (request.body ?? {}) as { builderId?: unknown };
      // Another value is an error of the input.
      const isId = typeof builderId === 'string' && BUILDER_ID.test(builderId);
      const pending = isId && this.#authorizeBuilder(context, builderId);
      if (pending) return pending.then(() => this.parseInput(request));
    }
    const variables = this.#parseOthers(request);
    if (this.#operation.takesKey) context.sentInput = request;
    const { builderId } = context;
    if (builderId !== undefined) variables.builderId = builderId;
    return variables;
  }

  async execute(
    variableValues: Variables,
    { context: contextValue }: Pick<RawInput, 'context'>,
  ): Promise<ExecutionResult> {
    if (this.#compiled === undefined) this.#compiled = compileOperation(this.#schema, this.#document);
    const result = await this.#compiled?.execute(contextValue!, variableValues);
    if (result) return result;
    const fieldResolver = meteredFieldResolver;
    return execute({ schema: this.#schema, document: this.#document, contextValue, variableValues, fieldResolver });
  }

  /** Returns the status and body of the response. Throws the error of the operation. */
  toResponse({ data, errors }: ExecutionResult, { cursor }: Variables, { outcome }: RequestContext) {
    if (errors?.length) throw errors[0]!.originalError ?? errors[0];
    const { field, outcomes, status } = this.#operation;
    const body = data![field];
    // Responses of v1 stay as they are: `nextCursor` belongs to requests with a cursor, where it may be null (LST-13).
    if (this.hasOffset && cursor == null) (body as { meta: PageMeta }).meta.nextCursor = undefined;
    return { status: (outcome && outcomes[outcome]) ?? status, body: this.#omitNulls?.(body) ?? body };
  }

  respond(result: ExecutionResult, variables: Variables, request: FastifyRequest, reply: FastifyReply) {
    const { meter } = request.context!;
    const { status, body: sent } = this.toResponse(result, variables, request.context!);
    reply.code(status);
    return meter.bytes < CHUNKED_BYTES ? sent : sendChunked(request, reply, sent, meter.bytes);
  }
}

export type NullOmitter = (value: unknown) => unknown;

/** Returns a function that removes the null fields marked `@OmittedWhenNull` of a response's records; null when their type has no such field. */
export function createNullOmitter(type: GraphQLOutputType): NullOmitter | null {
  const record = recordType(type);
  const fields = isObjectType(record) ? Object.values(record.getFields()) : [];
  const omitted = fields.filter(({ extensions }) => extensions.omittedWhenNull).map(({ name }) => name);
  if (omitted.length === 0) return null;
  return (body) => {
    const records = [(body as { data?: Record<string, unknown>[] }).data ?? (body as Record<string, unknown>)].flat();
    // JSON.stringify omits undefined; `delete` would give the object slow properties.
    for (const each of records) for (const name of omitted) if (each[name] === null) each[name] = undefined;
    return body;
  };
}
