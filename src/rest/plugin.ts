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
import { inspectionOf } from '../../schema/input.ts';
import type { Operation } from '../../schema/route-table.ts';
import type { RequestAuthenticator } from '../auth/request-authenticator.ts';
import type { RequestContext } from '../auth/request-context.ts';
import { sendJson } from '../auth/request-usage.ts';
import { compileOperation } from '../graphql/engine/compile-operation.ts';
import type { CompiledOperation } from '../graphql/engine/execution.ts';
import { meteredFieldResolver } from '../graphql/engine/metered-field-resolver.ts';
import { forbidden, methodNotAllowed } from '../shared/errors.ts';
import type { LargeBodyForm } from '../shared/large-body.ts';
import { inspectedSchema } from './projection.ts';
import { sofaDocuments } from './sofa.ts';
import { type Placement, placementsOf, type RawInput, readVariables } from './variables.ts';

declare module 'fastify' {
  interface FastifyRequest {
    context: RequestContext | null;
  }
}

/** Publishes every REST operation of the schema on Fastify. */
export async function registerRest(
  app: FastifyInstance,
  parts: {
    schema: GraphQLSchema;
    operations: Operation[];
    authenticator: RequestAuthenticator;
    acceptLargeBodies: (scope: FastifyInstance, form: LargeBodyForm) => void;
  },
): Promise<void> {
  const { schema, operations, authenticator, acceptLargeBodies } = parts;
  const documents = await sofaDocuments(schema, operations);
  const inspected = inspectedSchema(schema);
  app.decorateRequest('context', null);
  const methods = new Map<string, string[]>();
  for (const operation of operations) {
    const url = operation.path.replace(/\{(\w+)\}/g, ':$1');
    const execute = executorOf(inspected, documents.get(operation.field)!);
    const route = new RestRouteHandler(schema, operation, authenticator, execute);
    const { method, bodyLimit } = operation;
    const publish = (scope: FastifyInstance) =>
      scope.route({ method, url, bodyLimit, onRequest: route.authorize, handler: route.answer });
    if (bodyLimit === undefined) publish(app);
    else {
      await app.register(async (scope) => {
        acceptLargeBodies(scope, route.largeBodyForm);
        publish(scope);
      });
    }
    methods.set(url, [...(methods.get(url) ?? []), operation.method]);
  }
  for (const [url, allowed] of methods) refuseOtherMethods(app, url, allowed, authenticator);
}

/** What a client may try. HEAD comes with GET. */
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE'];

/** 405 for the methods that a path does not have. */
export function refuseOtherMethods(
  app: FastifyInstance,
  url: string,
  allowed: string[],
  authenticator: RequestAuthenticator,
): void {
  const allow = allowed.includes('GET') ? [...allowed, 'HEAD'] : allowed;
  const others = METHODS.filter((method) => !allow.includes(method));
  app.route({
    method: others,
    url,
    onRequest: async (request, reply) => {
      await authenticator.authenticate(request, reply);
      throw methodNotAllowed(allow);
    },
    handler: () => undefined,
  });
}

/** Checks everything that precedes the input of an operation: token, rate limit, scope and headers. */
export async function authenticateRequest(
  authenticator: RequestAuthenticator,
  scope: Operation['scope'],
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<RequestContext> {
  const authenticated = await authenticator.authenticate(request, reply);
  if (authenticated.caller.internal) throw forbidden('An internal client calls through GraphQL only.');
  authenticated.caller.requireScope(scope);
  request.context = authenticator.createContext(request, authenticated);
  return request.context;
}

type Execute = (context: RequestContext, variables: Record<string, unknown>) => Promise<ExecutionResult>;

/** Compiles the operation at its first call, or interprets it where that cannot be. */
function executorOf(schema: GraphQLSchema, document: DocumentNode): Execute {
  let compiled: CompiledOperation | null | undefined;
  return async (contextValue, variableValues) => {
    if (compiled === undefined) compiled = compileOperation(schema, document);
    const answer = await compiled?.executeCoerced(contextValue, variableValues);
    return answer ?? execute({ schema, document, contextValue, variableValues, fieldResolver: meteredFieldResolver });
  };
}

/** One REST operation: its checks in order, its input, its answer. Holds no rule of its own. */
class RestRouteHandler {
  readonly #operation: Operation;
  readonly #placements: Placement[];
  readonly #builder: Placement | undefined;
  readonly #authenticator: RequestAuthenticator;
  readonly #execute: Execute;
  readonly #omit: Omitter | null;

  constructor(schema: GraphQLSchema, operation: Operation, authenticator: RequestAuthenticator, execute: Execute) {
    this.#operation = operation;
    this.#placements = placementsOf(operation, schema);
    this.#builder = this.#placements.find(({ argument }) => argument.name === 'builderId');
    this.#authenticator = authenticator;
    this.#execute = execute;
    const root = operation.kind === 'Query' ? schema.getQueryType()! : schema.getMutationType()!;
    this.#omit = omitterOf(root.getFields()[operation.field]!.type);
  }

  /** What the operation reads of a large body. */
  get largeBodyForm(): LargeBodyForm {
    const inBody = this.#placements.filter(({ place }) => place === 'body');
    const documents = inBody.filter(({ argument }) => inspectionOf(argument.type));
    return { kind: 'fields', fields: inBody.map(({ name }) => name), documents: documents.map(({ name }) => name) };
  }

  /** Everything that is checked before the body is read. */
  authorize = async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const context = await authenticateRequest(this.#authenticator, this.#operation.scope, request, reply);
    const { builderId } = this.#builder ? readVariables([this.#builder], this.#input(request, context)) : {};
    await context.authorization.authorizeBeforeBody(this.#operation, builderId as string | undefined);
  };

  answer = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const context = request.context!;
    const variables = readVariables(this.#placements, this.#input(request, context));
    const { data, errors } = await this.#execute(context, variables);
    if (errors?.length) throw errors[0]!.originalError ?? errors[0];
    const body = data![this.#operation.field];
    const { outcomes, status } = this.#operation;
    reply.code((context.outcome && outcomes[context.outcome]) ?? status);
    return sendJson(request, reply, this.#omit?.(body) ?? body, context.meter.bytes);
  };

  #input(request: FastifyRequest, context: RequestContext): RawInput {
    return {
      params: request.params as Record<string, string>,
      query: request.query as Record<string, string | string[]>,
      body: request.body,
      builderId: context.builderHeader ?? context.caller.builderId,
    };
  }
}

type Omitter = (value: unknown) => unknown;

/** Removes the fields that REST leaves out when they are null; null when the type has none. */
function omitterOf(type: GraphQLOutputType): Omitter | null {
  const named = getNamedType(type);
  if (!isObjectType(named)) return null;
  const fields = Object.values(named.getFields()).filter((field) => !field.extensions.graphOnly);
  const omitted = fields.filter((field) => field.extensions.omittedWhenNull).map((field) => field.name);
  const nested = fields.flatMap((field) => {
    const omit = omitterOf(field.type);
    return omit ? [[field.name, omit] as const] : [];
  });
  if (omitted.length === 0 && nested.length === 0) return null;
  const omit = (value: Record<string, unknown>): Record<string, unknown> => {
    // JSON leaves out what is undefined; `delete` would turn the object into a slow one.
    for (const name of omitted) if (value[name] === null) value[name] = undefined;
    for (const [name, inner] of nested) inner(value[name]);
    return value;
  };
  return (value) => {
    if (Array.isArray(value)) for (const item of value) omit(item as Record<string, unknown>);
    else if (value !== null) omit(value as Record<string, unknown>);
    return value;
  };
}
