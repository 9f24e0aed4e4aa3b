import type { Scope } from '../../../../schema/scopes.ts';

/** OpenAPI operation object of a route that is registered without the GraphQL schema, and the access that it requires. */
export interface ManualOperation {
  method: 'GET' | 'POST' | 'PUT';
  path: string;
  /**
   * Required scope; null where any valid access token suffices, and `public` where none is required. The document generator adds the
   * security, headers and errors that all operations with an access token have.
   */
  access: Scope | null | 'public';
  operationId: string;
  tags: [string];
  responses: Record<string, object>;
  [keyword: string]: unknown;
}
