import type { ChargeClient } from '../authenticate-client.ts';
import type { Credentials } from '../checks/credentials.ts';
import type { RegisteredClient } from '../clients.ts';
import type { OAuthDependencies } from '../dependencies.ts';
import type { Parameters } from '../parameters.ts';
import type { TokenResponse } from '../tokens/token-response.ts';

/** A token request whose client is authenticated. */
export interface TokenRequest {
  parameters: Parameters;
  credentials: Credentials;
  client: RegisteredClient;
  chargeClient: ChargeClient;
}

/** One way to get a token: checks its own parameters and issues. */
export type GrantHandler = (request: TokenRequest, parts: OAuthDependencies) => Promise<TokenResponse>;
