import type { Grant } from '../../../entities/oauth-client.entity.ts';
import { authorizationCode } from './authorization-code.ts';
import { clientCredentials } from './client-credentials.ts';
import type { GrantHandler } from './grant.ts';
import { refreshToken } from './refresh-token.ts';

/** Every way to get a token. */
export const grants: Record<Grant, GrantHandler> = {
  client_credentials: clientCredentials,
  authorization_code: authorizationCode,
  refresh_token: refreshToken,
};
