import { cpus } from 'node:os';
import type { BenchOptions } from './bench-options.ts';
import type { Sample, WorkloadComparison } from './compare.bench.ts';
import { toMarkdownTable } from './markdown-table.ts';

/** Returns the comparisons in Markdown: one table for each set of services that the measured service is compared with. */
export function toComparisonTable(comparisons: WorkloadComparison[], { rounds, seconds }: BenchOptions): string {
  const sets = Map.groupBy(comparisons, ({ others }) => others.map(({ name }) => name).join());
  const tables = [...sets.values()].map((rows) => toMarkdownTable(toHeader(rows[0]!), rows.map(toRow)));
  const [processor] = cpus();
  return `
${tables.join('\n\n')}

Medians of ${rounds} rounds of ${seconds} s; a ratio is the geometric mean of the rounds' ratios of requests per second (95 %
interval), above 1 where ours is faster. Latencies are p50 / p99 in milliseconds. CPU is microseconds per request of the service + PostgreSQL, and
beside it of the load generator. Commit is the share of
the time of PostgreSQL's sessions that waits until the WAL of a commit is on disk. ${cpus().length} processors (${processor?.model.trim()}), which all of them share:
compare columns, not runs on other machines.
`;
}

function toHeader({ others }: WorkloadComparison): string[] {
  const names = ['ours', ...others.map(({ name }) => name)].join(' · ');
  return [
    ...['work', 'connections', ...others.map(({ name }) => `ratio to ${name}`)],
    ...[`requests/s: ${names}`, `latency: ${names}`, `CPU: ${names}`, 'generator', `commit: ${names}`],
  ];
}

function toRow({ work, connections, ours, others }: WorkloadComparison): string[] {
  const joinSamples = (format: (sample: Sample) => string) => [ours, ...others].map(format).join(' · ');
  return [
    ...[work, String(connections)],
    ...others.map(({ ratio, interval: [low, high] }) => {
      return `${ratio.toFixed(2)} (${low.toFixed(2)}–${high.toFixed(2)})`;
    }),
    joinSamples(({ requestsPerSecond }) => requestsPerSecond.toFixed(0)),
    joinSamples(({ p50, p99 }) => `${p50.toFixed(1)} / ${p99.toFixed(1)}`),
    joinSamples(({ service, database }) => `${service.toFixed(0)} + ${database.toFixed(0)}`),
    ours.generator.toFixed(0),
    ours.commit === 0 ? '–' : joinSamples(({ commit }) => `${(commit * 100).toFixed(0)} %`),
  ];
}
