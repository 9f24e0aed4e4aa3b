const UNITS = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
] as const;

/** Returns a duration in words for a person, such as `30 days`: rounded up, in the largest unit of which there are at least two. */
export function describeDuration(milliseconds: number): string {
  const [unit, length] = UNITS.find(([, length]) => milliseconds >= 2 * length) ?? (['second', 1000] as const);
  const format = new Intl.NumberFormat('en', { style: 'unit', unit, unitDisplay: 'long' });
  return format.format(Math.ceil(milliseconds / length));
}
