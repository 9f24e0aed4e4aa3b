import type { IncomingHttpHeaders } from 'node:http';
import { REGIONS, type RegionId } from '../../shared/regions.ts';
import { invalidRequest } from '../errors.ts';

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
