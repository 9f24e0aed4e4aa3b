import { readFile } from 'node:fs/promises';
import { writeFigures } from '../support/figures.ts';
import type { Mutant } from './mutants.ts';
import { folderOf, SCOPE } from './options.ts';
import type { Result } from './store.ts';

/** Why a mutant survives, by its id; written by hand. */
export type Reasons = Record<string, { equivalent: boolean; reason: string }>;

/** A mutant with its result, if it was tested. */
export type TestedMutant = Mutant & { result: Result | undefined };

export const readReasons = async (): Promise<Reasons> =>
  JSON.parse(await readFile('test/mutation/reasons.json', 'utf8'));

/** Returns a line for each reason without a survivor: its source line has changed, or a test kills the mutant. */
export function describeObsolete(mutants: readonly TestedMutant[], reasons: Reasons): string[] {
  const results = new Map(mutants.map(({ id, result }) => [id, result]));
  return Object.keys(reasons).flatMap((id) => {
    if (!results.has(id)) return [`No such mutant, remove its reason: ${id}`];
    const { status = 'survived', by = null } = results.get(id) ?? {};
    return status === 'survived' ? [] : [`Noticed by "${by}", remove its reason: ${id}`];
  });
}

const HEADER = `| Folder | Mutants | Tested | Killed | Timeout | Survived | Equivalent | Score | 95 % interval | Goal |
|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|`;

/** Quantile of the normal distribution for an interval of 95 %. */
const Z = 1.96;

/** Returns the Wilson interval in percent in which the share of all lies when that many of a random sample have a property. */
export function toInterval(count: number, total: number): [low: number, high: number] {
  const share = count / total;
  const centre = share + Z ** 2 / (2 * total);
  const spread = Z * Math.sqrt((share * (1 - share)) / total + Z ** 2 / (4 * total ** 2));
  const toPercent = (value: number) => Math.max(0, Math.round((value / (1 + Z ** 2 / total)) * 100));
  return [toPercent(centre - spread), toPercent(centre + spread)];
}

/** Returns a Markdown table of the mutants by folder. The score is the share of killed mutants among those tested that are not equivalent. */
export function createTable(mutants: readonly TestedMutant[], reasons: Reasons): string {
  const rows = Object.entries(SCOPE).flatMap(([folder, goal]) => {
    const inside = mutants.filter(({ file }) => folderOf(file) === folder);
    const tested = inside.filter(({ result }) => result);
    if (inside.length === 0) return [];
    const equivalent = tested.filter(
      ({ id, result }) => result!.status === 'survived' && reasons[id]?.equivalent,
    ).length;
    const count = (status: string) => tested.filter(({ result }) => result!.status === status).length;
    const [killed, timeout, survived] = [count('killed'), count('timeout'), count('survived') - equivalent];
    const judged = killed + timeout + survived;
    const score = judged === 0 ? '–' : `${Math.round(((killed + timeout) / judged) * 100)} %`;
    const interval = judged === 0 ? '–' : `${toInterval(killed + timeout, judged).join(' to ')} %`;
    const cells = [inside.length, tested.length, killed, timeout, survived, equivalent, score, interval, `${goal} %`];
    return [`| \`${folder}\` | ${cells.join(' | ')} |`];
  });
  return [HEADER, ...rows].join('\n');
}

/** Returns a Markdown list of the mutants that survived, by file. */
function createSurvivorList(mutants: readonly TestedMutant[], reasons: Reasons): string {
  const survivors = mutants.filter(({ result }) => result?.status === 'survived');
  const files = Map.groupBy(survivors, ({ file }) => file);
  const sections = [...files].map(([file, inside]) => {
    const lines = inside
      .toSorted((one, other) => one.start - other.start)
      .map(({ id, line, result }) => {
        const [, source, change] = id.split(' | ');
        const { equivalent, reason } = reasons[id] ?? { equivalent: false, reason: defaultReason(result!) };
        return `- Line ${line}: \`${source}\`, \`${change}\`. ${equivalent ? 'Equivalent: ' : ''}${reason}`;
      });
    return `## ${file}\n\n${lines.join('\n')}`;
  });
  return sections.join('\n\n') || 'None.';
}

const defaultReason = ({ tests }: Result): string =>
  tests === 0 ? 'No test in the worker reaches it.' : 'Not examined yet.';

/** Writes the table to docs/testing.md and the survivors to docs/mutants.md. */
export async function writeReport(mutants: readonly TestedMutant[], note: string): Promise<void> {
  const reasons = await readReasons();
  await writeFigures('docs/testing.md', 'mutation', createTable(mutants, reasons), note);
  await writeFigures('docs/mutants.md', 'survivors', createSurvivorList(mutants, reasons));
}
