import { markdown } from '../../bench/table.ts';
import { writeFigures, writeRows } from '../../support/figures.ts';
import { countBy } from '../exchange.ts';
import type { Measurement } from './measure.ts';

/** Milliseconds that the victim's p99 may always be. */
const ALLOWED_P99_MS = 250;
const ALLOWED_P99_RATIO = 5;
/** Of all processes of the service, with the pages of files that they share, such as the program, counted once. */
const ALLOWED_MIB = 700;

const allowedP99 = (baseline: Measurement) => Math.max(ALLOWED_P99_MS, ALLOWED_P99_RATIO * baseline.p99);

/** Whether a measurement exceeds the limit of time or of memory, both of which vary from run to run. */
export const exceedsLimit = ({ p99, peakDistinctMib }: Measurement, baseline: Measurement): boolean =>
  p99 > allowedP99(baseline) || peakDistinctMib >= ALLOWED_MIB;

/** The round with the median p99, with what failed in any of the rounds and their median memory. */
export function medianOf(rounds: Measurement[]): Measurement {
  const middle = (rounds.length - 1) >> 1;
  const sorted = (key: 'p99' | 'peakMib' | 'peakDistinctMib') =>
    rounds.toSorted((one, other) => one[key] - other[key])[middle]!;
  return {
    ...sorted('p99'),
    peakMib: sorted('peakMib').peakMib,
    peakDistinctMib: sorted('peakDistinctMib').peakDistinctMib,
    failures: rounds.flatMap(({ failures }) => failures),
    deaths: rounds.reduce((sum, { deaths }) => sum + deaths, 0),
    problem: rounds.find(({ problem }) => problem)?.problem ?? '',
  };
}

/** What does not hold in a case. */
export function wrongIn(measurement: Measurement, baseline: Measurement): string[] {
  const { name, failures, p99, peakDistinctMib, deaths, problem, requests } = measurement;
  const wrong: string[] = [];
  const allowed = allowedP99(baseline);
  if (requests === 0) wrong.push(`${name}: the victim sent nothing`);
  if (failures.length > 0) {
    const kinds = countBy(
      failures,
      ({ operation, status, problem }) => `${operation} ${status} ${problem.slice(0, 80)}`,
    );
    wrong.push(`${name}: ${failures.length} requests of the victim failed: ${JSON.stringify(kinds).slice(0, 600)}`);
  }
  if (p99 > allowed) wrong.push(`${name}: the victim's p99 is ${p99} ms, allowed are ${allowed}`);
  if (peakDistinctMib >= ALLOWED_MIB) {
    wrong.push(`${name}: the service took ${peakDistinctMib} MiB, allowed are ${ALLOWED_MIB}`);
  }
  if (deaths > 0) wrong.push(`${name}: ${deaths} processes of the service ended`);
  if (problem) wrong.push(`${name}: the attack itself failed: ${problem}`);
  return wrong;
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

/** The figures as Markdown; the first measurement is that of the victim alone. */
export function createTable([baseline, ...cases]: Measurement[]): string {
  const { p50, p99, max, healthP99, peakMib, peakDistinctMib, requests } = baseline!;
  const milliseconds = (value: number) => `${value} ms`;
  const alone = [ALONE, '', `0 of ${requests}`, ...[p50, p50, p99, p99, max, healthP99].map(milliseconds)];
  const rows = cases.map((one) => [
    ...[one.about.replaceAll('|', '\\|'), one.row, `${one.failures.length} of ${one.requests}`],
    ...[p50, one.p50, p99, one.p99, one.max, one.healthP99].map(milliseconds),
    ...[`${one.peakDistinctMib} MiB`, `${one.peakMib} MiB`, receivedOf(one)],
  ]);
  return markdown(HEADER, [[...alone, `${peakDistinctMib} MiB`, `${peakMib} MiB`, ''], ...rows]);
}

/** Counts of responses by status; nothing came where the status is 0. */
function receivedOf({ statuses, megabytes }: Measurement): string {
  const counts = Object.entries(statuses).map(([status, count]) => `${count} × ${status === '0' ? 'none' : status}`);
  return [...counts, `${Math.round(megabytes)} MiB`].join(', ');
}

/**
 * Puts the table between the page's two markers.
 *
 * @param options.only Names of the measured cases: their rows alone are replaced.
 */
export function writeTable(path: string, table: string, options: { seconds: number; only?: string }): Promise<void> {
  const { seconds, only } = options;
  if (only === undefined) return writeFigures(path, 'noisy-neighbour', table, `Each attack ran for ${seconds} s.`);
  const names = only.split(',').map((name) => `\`${name}\``);
  // The victim alone is measured again as well, but the other rows were compared with the figures of before.
  const rows = table.split('\n').filter((line) => !line.startsWith(`| ${ALONE} `));
  return writeRows(path, 'noisy-neighbour', rows.join('\n'), names.join(', '));
}
