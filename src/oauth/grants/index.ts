import type { Grant } from '../../../entities/oauth-client.entity.ts';
import { exchangeAuthorizationCode } from './authorization-code.grant.ts';
import { grantClientCredentials } from './client-credentials.grant.ts';
import type { GrantHandler } from './grant.ts';
import { exchangeRefreshToken } from './refresh-token.grant.ts';

/** Handlers by `grant_type`. */
export const grantHandlers: Record<Grant, GrantHandler> = {
  client_credentials: grantClientCredentials,
  authorization_code: exchangeAuthorizationCode,
  refresh_token: exchangeRefreshToken,
};
