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
  if (context.builderHeader !== null && context.builderHeader !== record.builderId)
    throw forbidden('X-Service-Builder-Id names another builder than the one the resource belongs to.');
  context.caller.requireConnectionScope(record.builderId, scope);
  return record;
}

/**
 * Checks access to a builder that the caller has no connection to. Throws 404 when there is no such builder, and 403 unless the caller is an
 * internal client. ACC-10, HDR-13.
 */
export async function lookUpBuilder(
  { caller, loaders }: AuthorizationContext,
  builderId: string,
  scope: Scope | null,
): Promise<void> {
  if (!(await loaders.load(builders, builderId))) throw notFound('Builder');
  caller.requireConnectionScope(builderId, scope);
}
