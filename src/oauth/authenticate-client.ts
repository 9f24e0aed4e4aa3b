import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { AuditOrigin } from '../../entities/audit-entry.entity.ts';
import { API_VERSION } from '../../schema/rest.ts';
import { REGIONS, type RegionId } from '../shared/regions.ts';
import { toAuditOrigin } from './audit-origin.ts';
import { type Credentials, requireCredentials, verifyClientCredentials } from './checks/client.check.ts';
import type { RegisteredClient } from './clients.ts';
import type { OAuthDependencies } from './dependencies.ts';
import { invalidRequest } from './errors.ts';
import type { RequestParameters } from './parameters.ts';

/** A request of an authenticated client to the token, revocation or introspection endpoint. */
export interface ClientRequest {
  parameters: RequestParameters;
  client: RegisteredClient;
  credentials: Credentials;
  /**
   * Charges one request to the client's rate limit; throws 429. For a public client, call it once a code or token is verified
   * as the client's own and before it is consumed. For a confidential client it does nothing: the request was charged when the
   * secret was verified.
   */
  chargeClient: () => Promise<void>;
  /** For the audit log. */
  origin: AuditOrigin;
}

/**
 * Authenticates the client of a request. The id of a public client is not secret, so that sending it alone charges nothing to the client's
 * rate limit. Another API version is rejected. HDR-5.
 */
export async function authenticateClient(
  dependencies: OAuthDependencies,
  parameters: RequestParameters,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<ClientRequest> {
  const databases = parseRegionHeader(request.headers).map((region) => dependencies.databases[region]);
  const credentials = requireCredentials(parameters, request.headers.authorization);
  const client = await verifyClientCredentials(databases, credentials);
  const version = request.headers['x-service-api-version'];
  if (version !== undefined && version !== API_VERSION)
    throw invalidRequest(`The header X-Service-Api-Version must be ${API_VERSION}.`);
  const charge = async () => dependencies.limitClient?.(client.database, client.id, reply);
  const isPublic = client.type === 'PUBLIC';
  if (!isPublic) await charge();
  const chargeClient = isPublic ? charge : async () => undefined;
  return { parameters, client, credentials, chargeClient, origin: toAuditOrigin(request) };
}

/**
 * Returns the regions to search for the client: the one that `X-Service-Region-Id` names, or all without the header. A
 * client exists in one region only. HDR-10.
 */
export function parseRegionHeader(headers: IncomingHttpHeaders): readonly RegionId[] {
  const value = headers['x-service-region-id'];
  if (value === undefined) return REGIONS;
  const region = REGIONS.find((id) => id === value);
  if (!region) throw invalidRequest(`The header X-Service-Region-Id must be ${REGIONS.join(' or ')}.`);
  return [region];
}
