import type { IncomingHttpHeaders } from 'node:http';
import { REGIONS, type RegionId } from '../../shared/regions.ts';
import { invalidRequest } from '../errors.ts';

/**
 * The regions in which to look for the client: the one that `X-Service-Region-Id` names, or all when the header is absent,
 * because a client exists in one only. HDR-10.
 */
export function requireRegions(headers: IncomingHttpHeaders): readonly RegionId[] {
  const sent = headers['x-service-region-id'];
  if (sent === undefined) return REGIONS;
  const region = REGIONS.find((known) => known === sent);
  if (!region) throw invalidRequest(`The header X-Service-Region-Id must be ${REGIONS.join(' or ')}.`);
  return [region];
}
