import type { Databases } from '../../database/database.ts';
import { rebuildTotals } from '../../database/write/list-counters.ts';
import type { RegionId } from '../../shared/regions.ts';

/** Recounts the maintained list totals of each region. */
export async function rebuildTotalsByRegion(
  databases: Databases,
  regions: readonly RegionId[],
): Promise<Partial<Record<RegionId, { corrected: number }>>> {
  const rebuilt: Partial<Record<RegionId, { corrected: number }>> = {};
  for (const region of regions) rebuilt[region] = await rebuildTotals(databases[region]);
  return rebuilt;
}
