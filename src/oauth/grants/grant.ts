import type { AuditOrigin } from '../../../entities/audit-entry.entity.ts';
import type { ChargeClient } from '../authenticate-client.ts';
import type { RegisteredClient } from '../clients.ts';
import type { OAuthDependencies } from '../dependencies.ts';
import type { RequestParameters } from '../parameters.ts';
import type { TokenResponse } from '../tokens/user-tokens.ts';

/** A token request of an authenticated client. */
interface TokenRequest {
  parameters: RequestParameters;
  client: RegisteredClient;
  chargeClient: ChargeClient;
  /** For the audit log. */
  origin: AuditOrigin;
}

/** Handles one `grant_type`: checks its parameters and issues the tokens. */
export type GrantHandler = (request: TokenRequest, dependencies: OAuthDependencies) => Promise<TokenResponse>;
