import type { JsonSchema } from '../../schema/scalar.ts';
import { attachmentOperations, attachmentSchemas, storageOperations } from './static-operations/attachments.ts';
import { healthOperations, healthSchemas } from './static-operations/health.ts';
import { createOAuthOperations } from './static-operations/oauth.ts';
import { oauthSchemas } from './static-operations/oauth-schemas.ts';
import type { StaticOperation } from './static-operations/static-operation.ts';

/** Returns every operation for integrators that is not generated from the GraphQL schema. */
export const createStaticOperations = (baseUrl: string): StaticOperation[] => [
  ...createOAuthOperations(baseUrl),
  ...attachmentOperations,
  ...storageOperations,
  ...healthOperations,
];

/** Schemas that static operations refer to. */
export const staticSchemas: Record<string, JsonSchema> = { ...oauthSchemas, ...attachmentSchemas, ...healthSchemas };
