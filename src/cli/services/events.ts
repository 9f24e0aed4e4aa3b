import type { Databases } from '../../database/database.ts';
import { renewEpoch } from '../../domain/events/epoch.ts';
import type { RegionId } from '../../shared/regions.ts';

/** Renews the epoch of each region's event log. Returns the new epochs. */
export async function renewEpochs(
  databases: Databases,
  regions: readonly RegionId[],
): Promise<Partial<Record<RegionId, string>>> {
  const epochs: Partial<Record<RegionId, string>> = {};
  for (const region of regions) epochs[region] = await renewEpoch(databases[region]);
  return epochs;
}
