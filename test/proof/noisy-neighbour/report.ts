import { toMarkdownTable } from '../../bench/markdown-table.ts';
import { writeFigures, writeRows } from '../../support/figures.ts';
import { countBy } from '../statistics.ts';
import type { Measurement } from './measure.ts';

/** Milliseconds that the victim's p99 may reach in any case. */
const ALLOWED_P99_MS = 500;
/** Milliseconds that the p99 of the victim alone may reach. On a machine that needs longer, the figures of the attacks mean nothing. */
const ALLOWED_P99_ALONE_MS = 60;
/** Memory of all processes of the service, with shared file pages, such as the program, counted once. */
const ALLOWED_MIB = 1_200;

/** Returns whether a measurement exceeds the limit of time or memory, which vary from run to run. */
export const exceedsLimit = ({ p99, peakDistinctMib }: Measurement): boolean =>
  p99 > ALLOWED_P99_MS || peakDistinctMib >= ALLOWED_MIB;

/** Returns why nothing can be measured on the machine; null if the victim alone is fast enough. */
export const findBusyMachine = ({ p99 }: Measurement): string | null =>
  p99 > ALLOWED_P99_ALONE_MS
    ? `the machine is too busy to measure: the p99 of the victim alone is ${p99} ms, allowed are ${ALLOWED_P99_ALONE_MS}`
    : null;

/** Returns the round with the median p99, with the failures of all rounds and their median memory. */
export function toMedian(rounds: Measurement[]): Measurement {
  const middle = (rounds.length - 1) >> 1;
  const sorted = (key: 'p99' | 'peakMib' | 'peakDistinctMib') =>
    rounds.toSorted((one, other) => one[key] - other[key])[middle]!;
  return {
    ...sorted('p99'),
    peakMib: sorted('peakMib').peakMib,
    peakDistinctMib: sorted('peakDistinctMib').peakDistinctMib,
    failures: rounds.flatMap(({ failures }) => failures),
    exits: rounds.reduce((sum, { exits }) => sum + exits, 0),
    problem: rounds.find(({ problem }) => problem)?.problem ?? '',
  };
}

/** Returns the limits that a measurement exceeds, and its failures. */
export function findProblems(measurement: Measurement): string[] {
  const { name, failures, p99, peakDistinctMib, exits, problem, requests } = measurement;
  const problems: string[] = [];
  if (requests === 0) problems.push(`${name}: the victim sent nothing`);
  if (failures.length > 0) {
    const kinds = countBy(
      failures,
      ({ operation, status, problem }) => `${operation} ${status} ${problem.slice(0, 80)}`,
    );
    problems.push(`${name}: ${failures.length} requests of the victim failed: ${JSON.stringify(kinds).slice(0, 600)}`);
  }
  if (p99 > ALLOWED_P99_MS) problems.push(`${name}: the victim's p99 is ${p99} ms, allowed are ${ALLOWED_P99_MS}`);
  if (peakDistinctMib >= ALLOWED_MIB) {
    problems.push(`${name}: the service took ${peakDistinctMib} MiB, allowed are ${ALLOWED_MIB}`);
  }
  if (exits > 0) problems.push(`${name}: ${exits} processes of the service ended`);
  if (problem) problems.push(`${name}: the attack itself failed: ${problem}`);
  return problems;
}

const HEADER = [
  ...[
    'Case',
    'Finding',
    'Failed',
    'p50 alone',
    'p50',
    'p99 alone',
    'p99',
    'Max',
    '`/health` p99',
    'Memory',
    'Sum of resident sizes',
  ],
  ...['Attacker received'],
];

const ALONE = 'The victim alone';

/** Returns the measurements as a Markdown table. The first one is that of the victim alone. */
export function createTable([baseline, ...cases]: Measurement[]): string {
  const { p50, p99, max, healthP99, peakMib, peakDistinctMib, requests } = baseline!;
  const milliseconds = (value: number) => `${value} ms`;
  const alone = [ALONE, '', `0 of ${requests}`, ...[p50, p50, p99, p99, max, healthP99].map(milliseconds)];
  const rows = cases.map((one) => [
    ...[one.about.replaceAll('|', '\\|'), one.finding, `${one.failures.length} of ${one.requests}`],
    ...[p50, one.p50, p99, one.p99, one.max, one.healthP99].map(milliseconds),
    ...[`${one.peakDistinctMib} MiB`, `${one.peakMib} MiB`, formatReceived(one)],
  ]);
  return toMarkdownTable(HEADER, [[...alone, `${peakDistinctMib} MiB`, `${peakMib} MiB`, ''], ...rows]);
}

/** Returns the number of responses by status as text; status 0 is no response. */
function formatReceived({ statuses, megabytes }: Measurement): string {
  const counts = Object.entries(statuses).map(([status, count]) => `${count} × ${status === '0' ? 'none' : status}`);
  return [...counts, `${Math.round(megabytes)} MiB`].join(', ');
}

/**
 * Writes the table between the markers of the page.
 *
 * @param options.only Names of the measured cases. Only their rows are replaced.
 */
export function writeTable(path: string, table: string, options: { seconds: number; only?: string }): Promise<void> {
  const { seconds, only } = options;
  if (only === undefined) return writeFigures(path, 'noisy-neighbour', table, `Each attack ran for ${seconds} s.`);
  const names = only.split(',').map((name) => `\`${name}\``);
  // The row of the victim alone is kept, because the other rows were compared with it.
  const rows = table.split('\n').filter((line) => !line.startsWith(`| ${ALONE} `));
  return writeRows(path, 'noisy-neighbour', rows.join('\n'), names.join(', '));
}
