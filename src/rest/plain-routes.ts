import type { JsonSchema } from '../../schema/scalar.ts';
import { attachmentRoutes, attachmentSchemas, storageRoutes } from './plain/attachments.ts';
import { healthRoutes, healthSchemas } from './plain/health.ts';
import { oauthRoutes } from './plain/oauth.ts';
import { oauthSchemas } from './plain/oauth-schemas.ts';
import type { PlainRoute } from './plain/route.ts';

/** Every route that integrators call and that is no GraphQL operation. */
export const plainRoutes = (baseUrl: string): PlainRoute[] => [
  ...oauthRoutes(baseUrl),
  ...attachmentRoutes,
  ...storageRoutes,
  ...healthRoutes,
];

/** Components that they refer to. */
export const plainSchemas: Record<string, JsonSchema> = { ...oauthSchemas, ...attachmentSchemas, ...healthSchemas };
