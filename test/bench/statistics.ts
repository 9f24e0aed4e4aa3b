/** 0.975 quantiles of Student's t distribution by degrees of freedom, from 1. Beyond 30, the normal distribution is used. */
const T_QUANTILES = [
  ...[12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.16, 2.145, 2.131, 2.12],
  ...[2.11, 2.101, 2.093, 2.086, 2.08, 2.074, 2.069, 2.064, 2.06, 2.056, 2.052, 2.048, 2.045, 2.042],
];
const NORMAL_QUANTILE = 1.96;

/** Returns the geometric mean of the ratios and its 95 % confidence interval, by Student's t over their logarithms. */
export function computeRatioConfidence(ratios: readonly number[]): {
  ratio: number;
  interval: [low: number, high: number];
} {
  const logarithms = ratios.map(Math.log);
  const mean = average(logarithms);
  const count = logarithms.length;
  if (count < 2) return { ratio: Math.exp(mean), interval: [0, Number.POSITIVE_INFINITY] };
  const variance = logarithms.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (count - 1);
  const halfWidth = (T_QUANTILES[count - 2] ?? NORMAL_QUANTILE) * Math.sqrt(variance / count);
  return { ratio: Math.exp(mean), interval: [Math.exp(mean - halfWidth), Math.exp(mean + halfWidth)] };
}

const average = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;

/** Returns the median: the middle value, or the mean of the two middle values. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  return (sorted[(sorted.length - 1) >> 1]! + sorted[sorted.length >> 1]!) / 2;
}

/** Returns the middle value; of an even number of values, the larger of the two middle ones. */
export function upperMedian(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[values.length >> 1]!;
}
