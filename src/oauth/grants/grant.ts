import type { AuditOrigin } from '../../../entities/audit-entry.entity.ts';
import type { ChargeClient } from '../authenticate-client.ts';
import type { RegisteredClient } from '../clients.ts';
import type { OAuthDependencies } from '../dependencies.ts';
import type { RequestParameters } from '../parameters.ts';

/** A token request of an authenticated client. */
export interface TokenRequest {
  parameters: RequestParameters;
  client: RegisteredClient;
  chargeClient: ChargeClient;
  /** For the audit log. */
  origin: AuditOrigin;
}

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

/** Handles one `grant_type`: checks its parameters and issues the tokens. */
export type GrantHandler = (request: TokenRequest, dependencies: OAuthDependencies) => Promise<TokenResponse>;
