import type { Scope } from '../../../schema/scopes.ts';
import { respond } from '../openapi/responses.ts';

/** A route whose handler is Fastify's own; what the OpenAPI document says of it stands here. */
export interface PlainRoute {
  method: 'GET' | 'POST' | 'PUT';
  path: string;
  /** Scope that its access token needs, null when a valid token is enough; `public` when it takes none. */
  access: Scope | null | 'public';
  /**
   * OpenAPI operation object. A route that takes an access token is given its security, the headers and the errors that all
   * of those have in common.
   */
  operation: { operationId: string; tags: [string]; responses: Record<string, object> } & Record<string, unknown>;
}

/** An answer with one example. */
export const answer = (description: string, schema: object, example: unknown, headers?: readonly string[]) =>
  respond(description, { schema, example }, headers);
