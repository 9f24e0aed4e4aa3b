import type { Scope } from '../../schema/scopes.ts';
import type { Loaders } from '../database/read/loaders.ts';
import { builders } from '../domain/readers/builder.reader.ts';
import { forbidden, notFound } from '../shared/errors.ts';
import type { Caller } from './caller.ts';

/** What an operation requires of its caller, as its field of the schema declares it. */
export interface OperationRequirements {
  scope?: Scope | null;
  /** Action of staff, in the console's schema. */
  action?: unknown;
}

/** The part of a request that authorization depends on. */
export interface AuthorizationContext {
  readonly caller: Caller;
  /** Value of `X-Service-Builder-Id`, of the syntax of a builder id. */
  readonly builderHeader: string | null;
  readonly loaders: Loaders;
}

/**
 * Returns a record that was found by its own id, if the caller may see its builder. Throws 404 when there is no record or its builder
 * is not connected, and 403 when the builder header names another builder or the connection does not allow the scope.
 */
export function requireVisible<T extends { builderId: string }>(
  context: AuthorizationContext,
  record: T | null,
  scope: Scope,
  what: string,
): T {
  if (!record || !context.caller.isConnectedTo(record.builderId)) throw notFound(what);
  if (context.builderHeader !== null && context.builderHeader !== record.builderId) {
    throw forbidden('X-Service-Builder-Id names another builder than the one the resource belongs to.');
  }
  context.caller.requireConnectionScope(record.builderId, scope);
  return record;
}

/**
 * Checks builder access of an operation that names its builder. Throws 404 when there is no such builder, and 403 when it is not
 * connected, when the builder header names another one, or when the connection does not allow the scope. ACC-10, HDR-13. Undefined where
 * there is nothing to wait for.
 */
export function requireBuilder(
  context: AuthorizationContext,
  builderId: string,
  scope: Scope | null,
): Promise<void> | undefined {
  const isConnected = context.caller.checkBuilder(builderId, context.builderHeader, scope);
  return isConnected ? undefined : lookUpBuilder(context, builderId, scope);
}

/** Does the rest of `requireBuilder` for a caller without a connection to the builder. */
export async function lookUpBuilder(
  { caller, loaders }: AuthorizationContext,
  builderId: string,
  scope: Scope | null,
): Promise<void> {
  if (!(await loaders.load(builders, builderId))) throw notFound('Builder');
  caller.requireConnectionScope(builderId, scope);
}

/** Checks scope and builder access of an operation, in the order of ERR-23. Undefined where there is nothing to wait for. */
export function authorizeOperation(
  context: AuthorizationContext,
  { scope = null }: OperationRequirements,
  builderId?: string,
): Promise<void> | undefined {
  context.caller.requireScope(scope);
  return builderId === undefined ? undefined : requireBuilder(context, builderId, scope);
}
