import { authenticate } from '../authenticate-client.ts';
import { isConnected } from '../checks/builder-choice.ts';
import { requireConfidentialClient } from '../checks/confidential-client.ts';
import { requireParameter } from '../checks/required-parameter.ts';
import { isOwner } from '../checks/token-owner.ts';
import type { RegisteredClient } from '../clients.ts';
import type { OAuthDependencies } from '../dependencies.ts';
import { findChoices } from '../interaction/builder-choices.ts';
import { findRefreshToken } from '../tokens/refresh-tokens.ts';
import type { EndpointHandler } from './endpoint.ts';

/** What the server knows of a token. RFC 7662 section 2.2; `builder_id` as in the access token. */
export type Introspection =
  | { active: false }
  | {
      active: true;
      scope: string;
      client_id: string;
      sub: string;
      builder_id?: string;
      /** Of access tokens alone. */
      token_type?: 'Bearer';
      jti?: string;
      aud?: string;
      iss: string;
      /** Seconds since the epoch. */
      iat: number;
      exp: number;
    };

const INACTIVE: Introspection = { active: false };

/**
 * `POST /oauth/introspect`. RFC 7662, OAU-37: for confidential clients, of their own tokens; any other
 * token is inactive, and so is one that would be refused now.
 */
export const introspectionEndpoint =
  (parts: OAuthDependencies): EndpointHandler =>
  async (parameters, request, reply): Promise<Introspection> => {
    const token = requireParameter(parameters, 'token');
    const { client, credentials } = await authenticate(parts, parameters, request, reply);
    requireConfidentialClient(client, credentials);
    return (await ofRefreshToken(parts, client, token)) ?? (await ofAccessToken(parts, client, token)) ?? INACTIVE;
  };

async function ofAccessToken(
  parts: OAuthDependencies,
  client: RegisteredClient,
  token: string,
): Promise<Introspection | null> {
  const { accessTokens, tokenVerifier, baseUrl } = parts;
  const claims = await accessTokens.verify(token);
  if (!claims || !isOwner(claims.client_id, client)) return null;
  if (!(await tokenVerifier.isLive(claims, client.database.region))) return null;
  const { sub, client_id, builder_id, scope, jti, iat, exp } = claims;
  const shared = { active: true as const, scope, client_id, sub, ...(builder_id && { builder_id }) };
  return { ...shared, token_type: 'Bearer', jti, aud: baseUrl, iss: baseUrl, iat, exp };
}

async function ofRefreshToken(
  { clock, baseUrl }: OAuthDependencies,
  client: RegisteredClient,
  presented: string,
): Promise<Introspection | null> {
  const token = await findRefreshToken(client.database, presented);
  if (!token || !isOwner(token.clientId, client)) return null;
  const { userId, builderId, scopes, issuedAt, tokenExpiresAt } = token;
  if (token.revoked || token.rotatedAt !== null || clock.now() >= tokenExpiresAt) return null;
  const [choice] = await findChoices(client.database, { userId, integratorId: client.integratorId, builderId });
  if (!choice || !isConnected(choice)) return null;
  const shared = { active: true as const, scope: scopes.join(' '), client_id: client.id, sub: userId };
  const [iat, exp] = [issuedAt, tokenExpiresAt].map((instant) => Math.floor(instant / 1000)) as [number, number];
  return { ...shared, builder_id: builderId, iss: baseUrl, iat, exp };
}
