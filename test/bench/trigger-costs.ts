import pg from 'pg';
import { computeRatioConfidence, upperMedian } from './statistics.ts';

/** Whether triggers, statements of the writing code, or neither record the changes. */
export type Variant = 'none' | 'triggers' | 'statements';

/** Cost of recording changes for one operation. The keys are those of `--json`. */
export interface Cost {
  work: string;
  /** Medians of the rounds in milliseconds. */
  times: Partial<Record<Variant, number>>;
  /** Ratio of the time of each variant to the time of `none`, by round. */
  ratios: Partial<Record<Variant, number[]>>;
  /** Maximum ratio of the variant with triggers. */
  goal?: number;
}

/** The triggers that are measured. */
export interface MeasuredTriggers {
  /** Regular expression of their names. */
  pattern: string;
  /** Table that they write to; emptied when they are enabled or disabled. */
  table: string;
}

/** Returns a connected client. */
export async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  return client;
}

/** Enables or disables the triggers and empties their table. */
export async function setTriggers(
  url: string,
  { pattern, table }: MeasuredTriggers,
  isEnabled: boolean,
): Promise<void> {
  const client = await connect(url);
  const { rows } = await client.query(
    'select tgrelid::regclass as owner, tgname as name from pg_trigger where not tgisinternal and tgname ~ $1',
    [pattern],
  );
  if (rows.length === 0) throw new Error(`No trigger's name matches ${pattern}.`);
  for (const { owner, name } of rows) {
    await client.query(`alter table ${owner} ${isEnabled ? 'enable' : 'disable'} trigger ${name}`);
  }
  await client.query(`truncate ${table}`);
  await client.end();
}

/**
 * Measures the variants in interleaved rounds of alternating order, so that changes of the machine's speed affect all of them alike.
 *
 * @param run Returns the times of one round in milliseconds.
 */
export async function measureVariants(
  { url, triggers, rounds }: { url: string; triggers: MeasuredTriggers; rounds: number },
  variants: Variant[],
  run: (variant: Variant) => Promise<number[]>,
): Promise<Pick<Cost, 'times' | 'ratios'>> {
  const times: Partial<Record<Variant, number[]>> = {};
  for (let round = 0; round < rounds; round++) {
    for (const variant of round % 2 ? variants.toReversed() : variants) {
      await setTriggers(url, triggers, variant === 'triggers');
      times[variant] = [...(times[variant] ?? []), upperMedian(await run(variant))];
    }
  }
  await setTriggers(url, triggers, true);
  return summarizeTimes(times);
}

/** Returns the medians and ratios of the times by variant. */
export function summarizeTimes(times: Partial<Record<Variant, number[]>>): Pick<Cost, 'times' | 'ratios'> {
  const entries = Object.entries(times);
  const ratios = entries
    .filter(([variant]) => variant !== 'none')
    .map(([variant, rounds]) => [variant, rounds.map((time, round) => time / times.none![round]!)]);
  return {
    ratios: Object.fromEntries(ratios),
    times: Object.fromEntries(entries.map(([variant, rounds]) => [variant, upperMedian(rounds)])),
  };
}

const formatPercent = (ratio: number) => `${ratio >= 1 ? '+' : ''}${((ratio - 1) * 100).toFixed(1)} %`;

/** Returns the change of the time with its 95 % confidence interval. */
function formatChange(ratios: number[] | undefined): string {
  if (!ratios) return '–';
  const { ratio, interval } = computeRatioConfidence(ratios);
  return `${formatPercent(ratio)} (${interval.map(formatPercent).join(' to ')})`;
}

/** Returns the cells of a table row: operation, time of `none`, change by each variant, goal. */
export const toCostCells = ({ work, times, ratios, goal }: Cost, variants: Variant[]): string[] => [
  ...[work, `${times.none!.toFixed(2)} ms`, ...variants.map((variant) => formatChange(ratios[variant]))],
  goal === undefined ? '–' : formatPercent(goal),
];
