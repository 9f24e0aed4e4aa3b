import promClient, { type Registry } from 'prom-client';
import type { DurationCounts } from '../../shared/duration-counts.ts';

/** Labels and value of one series. */
export type Sample = readonly [labels: Record<string, string>, value: number];

interface Definition {
  name: string;
  help: string;
  labelNames?: readonly string[];
  /** Returns the current value of every series. Called when metrics are read, so that requests do not pay for it. */
  collect: () => Iterable<Sample> | Promise<Iterable<Sample>>;
  /** Where the metric is registered. Default: the registry of the process. */
  registry?: Registry;
}

/** Registers a counter whose values are kept elsewhere. */
export function collectCounter(definition: Definition): void {
  new promClient.Counter(toConfiguration(definition));
}

/**
 * Registers a gauge whose values are kept elsewhere.
 *
 * @param definition.aggregator `max` for values that every worker reads from the same source; by default those of workers are added up
 */
export function collectGauge({ aggregator = 'sum', ...definition }: Definition & { aggregator?: 'sum' | 'max' }): void {
  new promClient.Gauge({ ...toConfiguration(definition), aggregator });
}

const toConfiguration = ({ collect, registry = promClient.register, ...definition }: Definition) => ({
  labelNames: [],
  ...definition,
  registers: [registry],
  async collect(this: promClient.Counter | promClient.Gauge) {
    const samples = await collect();
    this.reset();
    for (const [labels, value] of samples) this.inc(labels, value);
  },
});

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
  const readAll = () =>
    read().flatMap(([labels, counts]) =>
      [...counts.entries()].map(([value, { seconds, outcomes }]) => ({
        labels: { ...labels, [label]: value },
        seconds,
        outcomes,
      })),
    );
  collectCounter({
    name: `${name}s_total`,
    help: `Number of ${what}, by outcome.`,
    labelNames: [...labelNames, 'outcome'],
    registry,
    collect: () =>
      readAll().flatMap(({ labels, outcomes }) =>
        [...outcomes].map(([outcome, count]): Sample => [{ ...labels, outcome }, count]),
      ),
  });
  collectCounter({
    name: `${name}_seconds_total`,
    help: `Duration of ${what} in total, in seconds.`,
    labelNames,
    registry,
    collect: () => readAll().map(({ labels, seconds }): Sample => [labels, seconds]),
  });
}
