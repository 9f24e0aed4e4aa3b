import type { Scope } from '../schema/scopes.ts';
import { forbidden, notFound } from '../src/errors.ts';
import { builders } from './builder/builder.reader.ts';
import type { Context } from './context.ts';

/**
 * A record that was found by its own id, if the caller may see its builder: 404 when there is none or its builder is not
 * connected, 403 when the builder header names another builder or the connection does not allow the scope.
 */
export function visible<T extends { builderId: string }>(
  context: Context,
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
 * The integrator whose client calls; throws 403 `FORBIDDEN` for an internal client. For operations whose records belong to an
 * integrator: its uploads, photos, photo reports, meeting notes and gate events.
 */
export function requireIntegrator({ caller }: Context): string {
  if (caller.integratorId === null) throw forbidden('This operation is for the clients of a connected integrator.');
  return caller.integratorId;
}

/**
 * Builder access of an operation that names its builder: 404 when there is no such builder, 403 when it is not connected,
 * when the builder header names another one, or when the connection does not allow the scope. Part 4 of the decisions.
 */
export async function requireBuilder(context: Context, builderId: string, scope: Scope | null): Promise<void> {
  const { caller, builderHeader, loaders } = context;
  if (builderHeader !== null && builderHeader !== builderId) {
    throw forbidden('X-Service-Builder-Id names another builder than the request.');
  }
  if (caller.internal || !caller.isConnectedTo(builderId)) {
    if (!(await loaders.one(builders, builderId))) throw notFound('Builder');
  }
  caller.requireConnectionScope(builderId, scope);
}
