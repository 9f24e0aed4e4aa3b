import pg from 'pg';
import { confidenceOf } from './confidence.ts';

/** Whether triggers do the work, statements of the writing code, or nothing does. */
export type Variant = 'none' | 'triggers' | 'statements';

export interface Cost {
  work: string;
  /** Milliseconds: medians of the rounds. */
  times: Partial<Record<Variant, number>>;
  /** Time with the work by that without, in each round. */
  ratios: Partial<Record<Variant, number[]>>;
  /** At most that many times as long by triggers. */
  goal?: number;
}

/** Triggers that are measured, by a pattern of their names, and what is emptied when they change. */
export interface MeasuredTriggers {
  pattern: string;
  table: string;
}

export const median = (times: number[]) => times.sort((one, other) => one - other)[times.length >> 1]!;

export async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  return client;
}

/** Enables or disables the triggers, and empties their table. */
export async function setTriggers(url: string, { pattern, table }: MeasuredTriggers, enabled: boolean): Promise<void> {
  const client = await connect(url);
  const { rows } = await client.query(
    'select tgrelid::regclass as owner, tgname as name from pg_trigger where not tgisinternal and tgname ~ $1',
    [pattern],
  );
  if (rows.length === 0) throw new Error(`No trigger's name matches ${pattern}.`);
  for (const { owner, name } of rows) {
    await client.query(`alter table ${owner} ${enabled ? 'enable' : 'disable'} trigger ${name}`);
  }
  await client.query(`truncate ${table}`);
  await client.end();
}

/** Measures the variants in turn, in both orders, so that what changes on the machine meanwhile concerns all of them. */
export async function inTurn(
  { url, triggers, rounds }: { url: string; triggers: MeasuredTriggers; rounds: number },
  variants: Variant[],
  run: (variant: Variant) => Promise<number[]>,
): Promise<Pick<Cost, 'times' | 'ratios'>> {
  const times: Partial<Record<Variant, number[]>> = {};
  for (let round = 0; round < rounds; round++) {
    for (const variant of round % 2 ? variants.toReversed() : variants) {
      await setTriggers(url, triggers, variant === 'triggers');
      times[variant] = [...(times[variant] ?? []), median(await run(variant))];
    }
  }
  await setTriggers(url, triggers, true);
  return summarize(times);
}

export function summarize(times: Partial<Record<Variant, number[]>>): Pick<Cost, 'times' | 'ratios'> {
  const entries = Object.entries(times);
  const ratios = entries
    .filter(([variant]) => variant !== 'none')
    .map(([variant, all]) => [variant, all.map((time, round) => time / times.none![round]!)]);
  return {
    ratios: Object.fromEntries(ratios),
    times: Object.fromEntries(entries.map(([variant, all]) => [variant, median([...all])])),
  };
}

const percent = (ratio: number) => `${ratio >= 1 ? '+' : ''}${((ratio - 1) * 100).toFixed(1)} %`;

/** The change of the time with its 95 % confidence interval. */
function describeChange(ratios: number[] | undefined): string {
  if (!ratios) return '–';
  const { ratio, interval } = confidenceOf(ratios);
  return `${percent(ratio)} (${interval.map(percent).join(' to ')})`;
}

/** The cells of a cost: work, time without, change by each variant, goal. */
export const costCells = ({ work, times, ratios, goal }: Cost, variants: Variant[]): string[] => [
  ...[work, `${times.none!.toFixed(2)} ms`, ...variants.map((variant) => describeChange(ratios[variant]))],
  goal === undefined ? '–' : percent(goal),
];
