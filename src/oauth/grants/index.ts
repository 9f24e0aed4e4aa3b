import type { Grant } from '../../../entities/oauth-client.entity.ts';
import { clientCredentials } from './client-credentials.ts';
import type { GrantHandler } from './grant.ts';

/** Null for a grant that clients may be registered for and that is not served yet. */
export const grants: Record<Grant, GrantHandler | null> = {
  client_credentials: clientCredentials,
  authorization_code: null,
  refresh_token: null,
};
