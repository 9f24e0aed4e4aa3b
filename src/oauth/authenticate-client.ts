import type { FastifyReply, FastifyRequest } from 'fastify';
import { verifyClientCredentials } from './checks/client-authentication.check.ts';
import { type Credentials, requireCredentials } from './checks/credentials.check.ts';
import { parseRegionHeader } from './checks/region.check.ts';
import { requireApiVersion } from './checks/version.check.ts';
import type { RegisteredClient } from './clients.ts';
import type { OAuthDependencies } from './dependencies.ts';
import type { RequestParameters } from './parameters.ts';

interface AuthenticatedClient {
  client: RegisteredClient;
  credentials: Credentials;
  chargeClient: ChargeClient;
}

/**
 * Charges one request to the client's rate limit; throws 429. For a public client, call it once a code or token is verified
 * as the client's own and before it is consumed. For a confidential client it does nothing: the request was charged when the
 * secret was verified.
 */
export type ChargeClient = () => Promise<void>;

/**
 * Authenticates the client of a request to the token, revocation or introspection endpoint. The id of a public client is
 * not secret, so that sending it alone charges nothing to the client's rate limit.
 */
export async function authenticateClient(
  dependencies: OAuthDependencies,
  parameters: RequestParameters,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<AuthenticatedClient> {
  const databases = parseRegionHeader(request.headers).map((region) => dependencies.databases[region]);
  const credentials = requireCredentials(parameters, request.headers.authorization);
  const client = await verifyClientCredentials(databases, credentials);
  requireApiVersion(request.headers);
  const charge = async () => dependencies.limitClient?.(client.database, client.id, reply);
  if (client.type === 'PUBLIC') return { client, credentials, chargeClient: charge };
  await charge();
  return { client, credentials, chargeClient: async () => undefined };
}
