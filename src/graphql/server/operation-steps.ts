import type { ApolloServerPlugin, GraphQLRequestContext } from '@apollo/server';
import type { FastifyBaseLogger } from 'fastify';
import {
  type DocumentNode,
  GraphQLError,
  type GraphQLSchema,
  getOperationAST,
  type OperationDefinitionNode,
  parse,
  valueFromASTUntyped,
} from 'graphql';
import { idPattern } from '../../../schema/ids.ts';
import type { Budget, RestRoute } from '../../../schema/rest.ts';
import type { RequestContext } from '../../auth/request-context.ts';
import { CHUNKED_BYTES } from '../../auth/request-usage.ts';
import { Loaders } from '../../database/read/loaders.ts';
import type { Release } from '../../limits/fair-semaphore.ts';
import { costLimitExceeded, MAX_COST, MAX_INTERPRETED_COST, MAX_RESPONSE_BYTES } from '../../limits/response-meter.ts';
import { ApiError } from '../../shared/errors.ts';
import { type Estimate, estimateCost } from '../engine/cost.ts';
import { PreparedOperation } from '../engine/prepared-operation.ts';
import type { SelectedField } from '../engine/root-fields.ts';
import { logFailure, noteErrors } from './error-log.ts';
import { formatError, toGraphqlError } from './errors.ts';
import { hasValidLiterals, rejectInput } from './input.ts';
import type { LargeBodyRules } from './large-body-rules.ts';

type Values = Readonly<Record<string, unknown>>;

/** Maximum root fields of an operation (LIM-17). */
const MAX_ROOT_FIELDS = 50;

/** Maximum records that one request may read (LIM-17), with each page as a full one. */
const MAX_RECORDS = 250_000;

const BUILDER_ID = idPattern('builder');

/** Characters of an operation's name in the log. */
const MAX_NAME = 100;

/** Minimum cost that a request is charged to its share. */
const MIN_CHARGE = 300;

interface OperationStepsOptions {
  log: FastifyBaseLogger;
  bodies: LargeBodyRules;
  readsFromReplica?: boolean;
}

/**
 * Takes an operation through its steps (`auth/request-pipeline.ts`): authorize, after the limits of the document, parse input, execute, respond. A
 * request that fails a step executes nothing. Queries are executed by compiled code; Apollo executes other operations, and those that fail, with
 * graphql-js.
 */
export function operationSteps(
  schema: GraphQLSchema,
  { log, bodies, readsFromReplica = false }: OperationStepsOptions,
): ApolloServerPlugin<RequestContext> {
  /** They are garbage-collected once Apollo's document store has dropped the document. */
  const preparedOperations = new WeakMap<OperationDefinitionNode, PreparedOperation>();

  const prepare = (document: DocumentNode, operation: OperationDefinitionNode): PreparedOperation => {
    let prepared = preparedOperations.get(operation);
    if (!prepared) {
      prepared = new PreparedOperation(schema, document, operation, hasValidLiterals(document));
      preparedOperations.set(operation, prepared);
    }
    return prepared;
  };

  return {
    // Apollo calls this for errors outside of parsing, validation and execution; their status is 500.
    async unexpectedErrorProcessingRequest({ requestContext: { contextValue }, error }) {
      logFailure(log, error, 'unexpected error', contextValue);
    },
    requestDidStart: async ({ contextValue, request: { operationName } }) => {
      contextValue.operation.name = toShortName(operationName);
      let release: Release | null = null;
      let prepared: PreparedOperation | null = null;
      let input: Record<string, unknown> | null = null;
      return {
        async didEncounterErrors({ errors, contextValue: context }) {
          context.usage.endOccupation();
          noteErrors(log, errors, context);
        },
        async didResolveOperation({ document, operation, operationName, request, contextValue: context }) {
          // The document has been validated; it is compiled in the same turn of the event loop.
          context.usage.endOccupation();
          context.operation.name = toShortName(operationName);
          if (!operation) return;
          requireAcceptedType(request.http?.headers.get('accept'));
          try {
            if (context.largeBodyError && !bodies.areAllowed(operation)) throw context.largeBodyError;
            const variables = request.variables ?? {};
            prepared = prepare(document, operation);
            const allVariables = prepared.withDefaults(variables);
            const estimate = prepared.estimateCost(allVariables);
            context.operation.cost = estimate.cost;
            requireLimits(operation, estimate, prepared.rootCount);
            const roots = prepared.listRootFields(allVariables);
            await authorizeRootFields(context, roots, allVariables);
            input = context.textErrors ? null : prepared.coerceVariables(variables, roots, context.clock.now());
            input ??= rejectInput({ schema, document, operation, variables, allVariables, roots }, context);
            // A mutation is not interrupted: its estimate is within the limit of interpreted operations.
            const isQuery = operation.operation === 'query';
            context.meter.limit(isQuery ? MAX_COST : Number.POSITIVE_INFINITY, MAX_RESPONSE_BYTES, estimate.cost);
            if (isQuery && readsFromReplica && context.caller.internal) readFromReplica(context);
            const charge = Math.max(MIN_CHARGE, prepared.limitCharge(estimate.cost));
            release = await context.shares.graphqlCost.acquire(context.shareKey, charge);
            context.usage.onEnd(release);
          } catch (error) {
            throw error instanceof ApiError ? toGraphqlError(error) : error;
          }
        },
        async responseForOperation(requestContext) {
          const { operation, contextValue } = requestContext;
          const { http } = requestContext.response;
          // It is undefined for an operation name that the document does not have.
          if (operation?.operation !== 'query') return null;
          const { meter, loaders } = contextValue;
          try {
            const result = input && (await prepared!.compiled?.execute(contextValue, input));
            if (result && !result.errors) {
              return { http, body: { kind: 'single', singleResult: { data: result.data } } };
            }
          } catch (error) {
            // `willSendResponse` sends the rejection.
            if (meter.rejection) return { http, body: { kind: 'single', singleResult: {} } };
            throw error;
          }
          loaders.reset();
          meter.beginInterpreted();
          return null;
        },
        async willSendResponse(requestContext) {
          const { operation, response, contextValue: context } = requestContext;
          const { meter } = context;
          release?.();
          prepared?.addObservedCost(meter.cost);
          // The response of a mutation says what was done.
          if (meter.rejection && operation?.operation === 'query') {
            const error = toGraphqlError(meter.rejection);
            noteErrors(log, [error], context);
            response.http.status = 400;
            response.body = { kind: 'single', singleResult: { errors: [formatError(error.toJSON(), error)] } };
          }
          if (response.body.kind !== 'single') return;
          const { singleResult } = response.body;
          for (const { extensions } of singleResult.errors ?? []) {
            if (extensions?.limit !== undefined && extensions.cost === undefined)
              extensions.cost = context.operation.cost = findRejectedCost(schema, requestContext);
          }
          singleResult.extensions = { ...singleResult.extensions, cost: context.operation.cost };
          // Apollo would serialize it at once.
          if (meter.bytes < CHUNKED_BYTES) return;
          context.operation.largeResult = singleResult;
          response.body.singleResult = {};
        },
      };
    },
  };
}

/** Returns the beginning of an operation's name, for the log; null without one. */
const toShortName = (name: string | null | undefined): string | null => name?.slice(0, MAX_NAME) ?? null;

/** Returns the cost of a document that was rejected before it was estimated; 0 where it has no operation or cannot be parsed. */
function findRejectedCost(
  schema: GraphQLSchema,
  { document, source, request: { operationName, variables } }: GraphQLRequestContext<RequestContext>,
): number {
  try {
    const parsed = document ?? parse(source!, { noLocation: true });
    const operation = getOperationAST(parsed, operationName);
    return operation ? estimateCost(schema, parsed, operation, variables ?? {}).cost : 0;
  } catch {
    return 0;
  }
}

/** A media type of responses, or a range with one, that the client does not exclude. */
const ACCEPTED_TYPE = /^\s*(\*\/\*|application\/(\*|json|graphql-response\+json))\s*(;(?!\s*q=0(\.0*)?\s*(;|$)).*)?$/i;

/** Throws 406 for a client that accepts no response. Apollo would find it after the execution. */
function requireAcceptedType(accept = '*/*'): void {
  if (accept.split(',').some((range) => ACCEPTED_TYPE.test(range))) return;
  throw new GraphQLError('The client accepts no JSON.', { extensions: { http: { status: 406 } } });
}

/** Throws 400 for an operation that is too large, with what it has and the limit. LIM-15, LIM-17. */
function requireLimits({ operation }: OperationDefinitionNode, { cost, records }: Estimate, rootFields: number): void {
  // graphql-js interprets mutations.
  const maxCost = operation === 'mutation' ? MAX_INTERPRETED_COST : MAX_COST;
  if (rootFields > MAX_ROOT_FIELDS)
    throw costLimitExceeded('have so many root fields', rootFields, MAX_ROOT_FIELDS, cost);
  if (cost > maxCost) throw costLimitExceeded('select so many fields of so many records', cost, maxCost, cost);
  if (records > MAX_RECORDS) throw costLimitExceeded('ask for so many records', records, MAX_RECORDS, cost);
}

/** Authorizes every root field, then charges their budgets (LIM-2). The error of one names its path. */
async function authorizeRootFields(context: RequestContext, roots: readonly SelectedField[], variables: Values) {
  await Promise.all(
    roots.map(async ({ key, node, field: { extensions } }) => {
      const argument = node.arguments?.find(({ name }) => name.value === 'builderId');
      const value = argument && valueFromASTUntyped(argument.value, variables);
      // An id that is none is an error of the input.
      const builderId = typeof value === 'string' && BUILDER_ID.test(value) ? value : undefined;
      context.operation.builderId ??= builderId;
      try {
        await context.authorize(extensions, builderId);
      } catch (error) {
        throw error instanceof ApiError ? toGraphqlError(error, [key]) : error;
      }
    }),
  );
  const totals = new Map<Budget, number>();
  for (const { field } of roots) {
    const { budget } = (field.extensions.rest as RestRoute | undefined) ?? {};
    if (budget) totals.set(budget, (totals.get(budget) ?? 0) + 1);
  }
  for (const [budget, total] of totals) await context.charge(budget, total);
}

/**
 * Lets a query of an internal client read from a standby. Integrators read from the primary, so that they read their own writes.
 * Authorization always reads from the primary.
 */
function readFromReplica(context: RequestContext): void {
  const database = context.database.onReplica();
  // Apollo copies the context, so that the request's own is not changed.
  if (database !== context.database) Object.assign(context, { database, loaders: new Loaders(database) });
}
