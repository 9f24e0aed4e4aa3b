import type { FastifyReply, FastifyRequest } from 'fastify';
import { authenticateClient } from './checks/client-authentication.ts';
import { type Credentials, requireCredentials } from './checks/credentials.ts';
import { requireRegions } from './checks/region.ts';
import type { RegisteredClient } from './clients.ts';
import type { OAuthDependencies } from './dependencies.ts';
import type { Parameters } from './parameters.ts';

export interface Authenticated {
  client: RegisteredClient;
  credentials: Credentials;
  chargeClient: ChargeClient;
}

/**
 * Takes one request from the client's budget; throws 429. A public client is charged when it is called, which is once a code or
 * token is known to be the client's own and before it is used up. A confidential client was charged when its secret was verified,
 * so nothing happens then.
 */
export type ChargeClient = () => Promise<void>;

/**
 * The client of a request to the token, revocation or introspection endpoint. Everybody may know the id of a public client,
 * so that the id alone takes nothing from the client's budget.
 */
export async function authenticate(
  parts: OAuthDependencies,
  parameters: Parameters,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<Authenticated> {
  const databases = requireRegions(request.headers).map((region) => parts.databases[region]);
  const credentials = requireCredentials(parameters, request.headers.authorization);
  const client = await authenticateClient(databases, credentials);
  const charge = async () => parts.limitClient?.(client.database, client.id, reply);
  if (client.type === 'PUBLIC') return { client, credentials, chargeClient: charge };
  await charge();
  return { client, credentials, chargeClient: async () => undefined };
}
