import type { JsonSchema } from '../../../schema/scalar.ts';
import { attachmentOperations, attachmentSchemas, storageOperations } from './manual-operations/attachments.ts';
import { healthOperations, healthSchemas } from './manual-operations/health.ts';
import type { ManualOperation } from './manual-operations/manual-operation.ts';
import { createOAuthOperations } from './manual-operations/oauth.ts';
import { oauthSchemas } from './manual-operations/oauth-schemas.ts';

/** Returns every operation for integrators that is not generated from the GraphQL schema. */
export const createManualOperations = (baseUrl: string): ManualOperation[] => [
  ...createOAuthOperations(baseUrl),
  ...attachmentOperations,
  ...storageOperations,
  ...healthOperations,
];

/** Schemas that manual operations refer to. */
export const staticSchemas: Record<string, JsonSchema> = { ...oauthSchemas, ...attachmentSchemas, ...healthSchemas };
