/** Returns the number of items by key. */
export const countBy = <T>(items: readonly T[], keyOf: (item: T) => string | number): Record<string, number> => {
  const counts: Record<string, number> = {};
  for (const item of items) counts[keyOf(item)] = (counts[keyOf(item)] ?? 0) + 1;
  return counts;
};

/** Returns a percentile of the numbers; 0 of none. */
export function percentile(numbers: readonly number[], percent: number): number {
  const sorted = numbers.toSorted((one, other) => one - other);
  return Math.round(sorted[Math.min(sorted.length - 1, Math.floor((sorted.length * percent) / 100))] ?? 0);
}
