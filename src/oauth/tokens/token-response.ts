import { ACCESS_TOKEN_SECONDS, type AccessClaims, type AccessTokens } from '../../auth/access-tokens.ts';

/** Answer of the token endpoint. RFC 6749 section 5.1, OAU-8. */
export interface TokenResponse {
  access_token: string;
  token_type: 'Bearer';
  /** Seconds. */
  expires_in: number;
  /** The same; deprecated. */
  expires: number;
  /** The scopes granted, space-separated. */
  scope: string;
  /** Of grants that can be refreshed. */
  refresh_token?: string;
}

type Claims = Pick<AccessClaims, 'sub' | 'client_id' | 'builder_id' | 'scope'>;

/**
 * Signs an access token with these claims and answers with it.
 *
 * @param family the token family that it belongs to, if any.
 */
export async function issueToken(
  tokens: AccessTokens,
  claims: Claims,
  family: string | null = null,
): Promise<TokenResponse> {
  const { token } = await tokens.sign(claims, family);
  return {
    access_token: token,
    token_type: 'Bearer',
    expires_in: ACCESS_TOKEN_SECONDS,
    expires: ACCESS_TOKEN_SECONDS,
    scope: claims.scope,
  };
}
