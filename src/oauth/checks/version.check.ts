import type { IncomingHttpHeaders } from 'node:http';
import { API_VERSION } from '../../../schema/rest.ts';
import { invalidRequest } from '../errors.ts';

/** Throws `invalid_request` when `X-Service-Api-Version` names another version. HDR-5. */
export function requireApiVersion(headers: IncomingHttpHeaders): void {
  const version = headers['x-service-api-version'];
  if (version !== undefined && version !== API_VERSION)
    throw invalidRequest(`The header X-Service-Api-Version must be ${API_VERSION}.`);
}
