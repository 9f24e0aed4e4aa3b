import type { JsonSchema } from '../../schema/scalar.ts';
import { attachmentRoutes, attachmentSchemas, storageRoutes } from './static-operations/attachments.ts';
import { healthRoutes, healthSchemas } from './static-operations/health.ts';
import { oauthRoutes } from './static-operations/oauth.ts';
import { oauthSchemas } from './static-operations/oauth-schemas.ts';
import type { PlainRoute } from './static-operations/route.ts';

/** Every route that integrators call and that is no GraphQL operation. */
export const plainRoutes = (baseUrl: string): PlainRoute[] => [
  ...oauthRoutes(baseUrl),
  ...attachmentRoutes,
  ...storageRoutes,
  ...healthRoutes,
];

/** Components that they refer to. */
export const plainSchemas: Record<string, JsonSchema> = { ...oauthSchemas, ...attachmentSchemas, ...healthSchemas };
