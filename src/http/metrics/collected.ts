import promClient, { type Metric, type Registry } from 'prom-client';
import type { DurationCounts } from '../../shared/duration-counts.ts';
import { BUCKET_BOUNDS, type DurationHistogram } from './duration-histogram.ts';

/** Labels and value of one series. */
export type Sample = readonly [labels: Record<string, string>, value: number];

interface Definition {
  name: string;
  help: string;
  labelNames?: string[];
  /** Returns the current value of every series. Called when metrics are read, so that requests do not pay for it. */
  collect: () => Iterable<Sample> | Promise<Iterable<Sample>>;
  /** Where the metric is registered. Default: the registry of the process. */
  registry?: Registry;
}

/** Registers a counter whose values are kept elsewhere. */
export function collectCounter({ collect, registry = promClient.register, ...definition }: Definition): void {
  new promClient.Counter({
    labelNames: [],
    ...definition,
    registers: [registry],
    async collect() {
      const samples = await collect();
      this.reset();
      for (const [labels, value] of samples) this.inc(labels, value);
    },
  });
}

/**
 * Registers a gauge whose values are kept elsewhere.
 *
 * @param aggregator How the values of several workers become one; `max` for those that every worker reads from the same source.
 */
export function collectGauge(
  { collect, registry = promClient.register, ...definition }: Definition,
  aggregator: 'sum' | 'max' = 'sum',
): void {
  new promClient.Gauge({
    labelNames: [],
    ...definition,
    aggregator,
    registers: [registry],
    async collect() {
      const samples = await collect();
      this.reset();
      for (const [labels, value] of samples) this.set(labels, value);
    },
  });
}

/** A set of counts with the labels that all of them share. */
export type LabelledCounts = readonly [labels: Record<string, string>, counts: DurationCounts];

/**
 * Registers two counters: `${name}s_total` by label and outcome, and `${name}_seconds_total` by label.
 *
 * @param what The events, for the help text.
 * @param labelNames Names of the common labels, then of the label that the counts are kept by.
 */
export function collectDurations(
  { name, what, labelNames, registry }: { name: string; what: string; labelNames: string[]; registry?: Registry },
  read: () => readonly LabelledCounts[],
): void {
  const label = labelNames.at(-1)!;
  collectCounter({
    ...{ name: `${name}s_total`, help: `Number of ${what}, by outcome.`, labelNames: [...labelNames, 'outcome'] },
    registry,
    collect: () =>
      read().flatMap(([labels, counts]) =>
        [...counts.entries()].flatMap(([value, { outcomes }]) =>
          [...outcomes].map(([outcome, count]): Sample => [{ ...labels, [label]: value, outcome }, count]),
        ),
      ),
  });
  collectCounter({
    ...{ name: `${name}_seconds_total`, help: `Duration of ${what} in total, in seconds.`, labelNames },
    registry,
    collect: () =>
      read().flatMap(([labels, counts]) =>
        [...counts.entries()].map(([value, { seconds }]): Sample => [{ ...labels, [label]: value }, seconds]),
      ),
  });
}

/** A histogram with its labels. */
export type LabelledHistogram = readonly [labels: Record<string, string>, histogram: DurationHistogram];

/**
 * Registers a histogram whose values are kept elsewhere. That of prom-client would validate and hash the labels for each value, which takes
 * 2 % of the CPU time of a small request.
 */
export function collectHistogram(
  { name, help }: { name: string; help: string },
  read: () => LabelledHistogram[],
): void {
  const get = async () => ({
    ...{ name, help, type: 'histogram', aggregator: 'sum' },
    values: read().flatMap(toSamples),
  });
  const toSamples = ([labels, { counts, seconds }]: LabelledHistogram) => {
    let count = 0;
    const buckets = counts.map((inBucket, index) => {
      count += inBucket;
      const le = BUCKET_BOUNDS[index] ?? '+Inf';
      return { metricName: `${name}_bucket`, labels: { le, ...labels }, value: count };
    });
    return [
      ...buckets,
      { metricName: `${name}_sum`, labels, value: seconds },
      { metricName: `${name}_count`, labels, value: count },
    ];
  };
  // The registry uses nothing else of a metric.
  promClient.register.registerMetric({ name, get } as unknown as Metric);
}
