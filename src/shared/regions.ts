/** Regions of the service. Each has a database and a store of its own; a client exists in one of them. */
export const REGIONS = ['au1', 'us1'] as const;
export type RegionId = (typeof REGIONS)[number];

/** Returns a value for each region. */
export const mapRegions = <T>(make: (region: RegionId) => T): Record<RegionId, T> =>
  Object.fromEntries(REGIONS.map((region) => [region, make(region)])) as Record<RegionId, T>;
