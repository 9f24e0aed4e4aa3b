import { ACCESS_TOKEN_SECONDS, type AccessClaims, type AccessTokens } from '../../auth/access-tokens.ts';
import type { RegionId } from '../../shared/regions.ts';

/** Successful response of the token endpoint. RFC 6749 section 5.1, OAU-8. */
export interface TokenResponse {
  access_token: string;
  token_type: 'Bearer';
  /** Seconds. */
  expires_in: number;
  /** Deprecated alias of `expires_in`. */
  expires: number;
  /** The scopes granted, space-separated. */
  scope: string;
  /** Present when the client may use the refresh token grant with this grant's tokens. */
  refresh_token?: string;
}

type Claims = Pick<AccessClaims, 'sub' | 'client_id' | 'builder_id' | 'scope'>;

/**
 * Signs an access token with these claims and returns the token response.
 *
 * @param familyId the token family that the token belongs to; null for a token of the client itself
 */
export function issueAccessToken(
  tokens: AccessTokens,
  region: RegionId,
  claims: Claims,
  familyId: string | null = null,
): TokenResponse {
  const { token } = tokens.sign(region, claims, familyId);
  return {
    access_token: token,
    token_type: 'Bearer',
    expires_in: ACCESS_TOKEN_SECONDS,
    expires: ACCESS_TOKEN_SECONDS,
    scope: claims.scope,
  };
}
