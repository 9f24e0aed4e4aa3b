import { cpus } from 'node:os';
import type { Figures, Sample } from './compare.ts';
import type { Options } from './options.ts';

/** The figures of a comparison in Markdown: one table for each set of services that ours is compared with. */
export function table(figures: Figures[], { rounds, seconds }: Options): string {
  const sets = Map.groupBy(figures, ({ others }) => others.map(({ name }) => name).join());
  const tables = [...sets.values()].map((rows) => markdown(headerOf(rows[0]!), rows.map(rowOf)));
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

function headerOf({ others }: Figures): string[] {
  const names = ['ours', ...others.map(({ name }) => name)].join(' · ');
  return [
    ...['work', 'connections', ...others.map(({ name }) => `ratio to ${name}`)],
    ...[`requests/s: ${names}`, `latency: ${names}`, `CPU: ${names}`, 'generator', `commit: ${names}`],
  ];
}

function rowOf({ work, connections, ours, others }: Figures): string[] {
  const each = (show: (sample: Sample) => string) => [ours, ...others].map(show).join(' · ');
  return [
    ...[work, String(connections)],
    ...others.map(({ ratio, interval: [low, high] }) => {
      return `${ratio.toFixed(2)} (${low.toFixed(2)}–${high.toFixed(2)})`;
    }),
    each(({ requestsPerSecond }) => requestsPerSecond.toFixed(0)),
    each(({ p50, p99 }) => `${p50.toFixed(1)} / ${p99.toFixed(1)}`),
    each(({ service, database }) => `${service.toFixed(0)} + ${database.toFixed(0)}`),
    ours.generator.toFixed(0),
    ours.commit === 0 ? '–' : each(({ commit }) => `${(commit * 100).toFixed(0)} %`),
  ];
}

export function markdown(header: string[], rows: string[][]): string {
  const lines = [header, ...rows];
  const widths = header.map((_, column) => Math.max(...lines.map((line) => line[column]!.length)));
  const line = (cells: string[]) =>
    `| ${cells.map((cell, at) => (at ? cell.padStart(widths[at]!) : cell.padEnd(widths[at]!))).join(' | ')} |`;
  const rule = `|${widths.map((width, at) => (at ? `${'-'.repeat(width + 1)}:` : '-'.repeat(width + 2))).join('|')}|`;
  return [line(header), rule, ...rows.map(line)].join('\n');
}
