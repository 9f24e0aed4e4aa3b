/** Quantile 0.975 of Student's t distribution by degrees of freedom, from 1; beyond, that of the normal distribution. */
const T_QUANTILES = [
  ...[12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.16, 2.145, 2.131, 2.12],
  ...[2.11, 2.101, 2.093, 2.086, 2.08, 2.074, 2.069, 2.064, 2.06, 2.056, 2.052, 2.048, 2.045, 2.042],
];
const NORMAL_QUANTILE = 1.96;

/** Geometric mean of the ratios, with its 95 % confidence interval by Student's t over their logarithms. */
export function confidenceOf(ratios: readonly number[]): { ratio: number; interval: [low: number, high: number] } {
  const logarithms = ratios.map(Math.log);
  const mean = average(logarithms);
  const count = logarithms.length;
  if (count < 2) return { ratio: Math.exp(mean), interval: [0, Number.POSITIVE_INFINITY] };
  const variance = logarithms.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (count - 1);
  const half = (T_QUANTILES[count - 2] ?? NORMAL_QUANTILE) * Math.sqrt(variance / count);
  return { ratio: Math.exp(mean), interval: [Math.exp(mean - half), Math.exp(mean + half)] };
}

const average = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
