import type { FastifyReply, FastifyRequest } from 'fastify';
import { authenticateClient } from './checks/client-authentication.ts';
import { type Credentials, requireCredentials } from './checks/credentials.ts';
import { requireRegions } from './checks/region.ts';
import type { RegisteredClient } from './clients.ts';
import type { Parameters } from './parameters.ts';
import type { OAuthParts } from './parts.ts';

export interface Authenticated {
  client: RegisteredClient;
  credentials: Credentials;
}

/** The client of a request to the token, revocation or introspection endpoint, and one request less of its budget. */
export async function authenticate(
  parts: OAuthParts,
  parameters: Parameters,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<Authenticated> {
  const databases = requireRegions(request.headers).map((region) => parts.databases[region]);
  const credentials = requireCredentials(parameters, request.headers.authorization);
  const client = await authenticateClient(databases, credentials);
  await parts.limitClient?.(client.database, client.id, reply);
  return { client, credentials };
}
