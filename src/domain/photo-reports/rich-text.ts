import { TextMark } from '../../../schema/enums.ts';
import { countCodePoints } from '../../../schema/scalar.ts';
import { LIMITS, rangeText } from './limits.ts';
import { type Findings, isAbsent } from './validation-errors.ts';

const RUN = new Set(['text', 'marks']);
const LIST_ITEM = new Set(['id', 'depth', 'richText']);
const CHECKLIST_ITEM = new Set([...LIST_ITEM, 'checked']);
const MARKS = Object.keys(TextMark);

/** Runs of text with marks (PRP-28). */
export function inspectRichText(value: unknown, path: string, findings: Findings): void {
  const runs = findings.list(value, path, LIMITS.runs);
  if (!runs) return;
  let units = 0;
  for (let at = 0; at < runs.length; at++) {
    const run = runs[at] as { text?: unknown; marks?: unknown } | null;
    if (isPlainRun(run)) {
      units += run.text.length;
      continue;
    }
    const here = `${path}[${at}]`;
    const fields = findings.object(run, here, 'a run', RUN);
    if (!fields) continue;
    units += findings.text(fields.text, `${here}.text`)?.length ?? 0;
    if (!isAbsent(fields.marks)) inspectMarks(fields.marks, `${here}.marks`, findings);
  }
  // A text has no more code points than code units, and at least half as many.
  if (units > LIMITS.richText.max && (units > 2 * LIMITS.richText.max || pointsOf(runs) > LIMITS.richText.max))
    findings.add(path, `must have ${rangeText(LIMITS.richText)} in all its runs together`);
}

/** The usual run, with nothing to say about: `{ text }`. */
function isPlainRun(run: { text?: unknown } | null): run is { text: string } {
  if (run === null || typeof run !== 'object' || typeof run.text !== 'string') return false;
  for (const name in run) if (name !== 'text') return false;
  return run.text.isWellFormed() && !run.text.includes('\0');
}

function pointsOf(runs: readonly unknown[]): number {
  let points = 0;
  for (const run of runs) {
    const text = (run as { text?: unknown } | null)?.text;
    if (typeof text === 'string') points += countCodePoints(text);
  }
  return points;
}

function inspectMarks(value: unknown, path: string, findings: Findings): void {
  const marks = findings.list(value, path, LIMITS.marks);
  for (const [at, mark] of (marks ?? []).entries()) findings.oneOf(mark, `${path}[${at}]`, MARKS);
}

/** `properties.items` of a list, or of a checklist, whose items may be checked. */
export function inspectItems(value: unknown, path: string, hasChecks: boolean, findings: Findings): void {
  const items = findings.list(value, path, LIMITS.items);
  if (!items) return;
  const [known, what] = hasChecks ? [CHECKLIST_ITEM, 'a checklist item'] : [LIST_ITEM, 'a list item'];
  const seen = new Map<string, number>();
  for (let at = 0; at < items.length; at++) {
    const here = `${path}[${at}]`;
    const item = findings.object(items[at], here, what, known);
    if (!item) continue;
    const id = findings.text(item.id, `${here}.id`, LIMITS.itemId);
    if (id !== null)
      inspectUnique(seen, id, at, `${here}.id`, `must be unique in its list; ${path}[#] has it too`, findings);
    if (!isAbsent(item.depth)) findings.integer(item.depth, `${here}.depth`, LIMITS.itemDepth);
    inspectRichText(item.richText, `${here}.richText`, findings);
    if (hasChecks && !isAbsent(item.checked) && typeof item.checked !== 'boolean')
      findings.add(`${here}.checked`, 'must be true or false');
  }
}

/** Adds an error where an earlier sibling has the same; `#` in the message stands for its place. */
export function inspectUnique(
  seen: Map<string, number>,
  id: string,
  at: number,
  path: string,
  message: string,
  findings: Findings,
): void {
  const first = seen.get(id);
  if (first === undefined) seen.set(id, at);
  else findings.add(path, message.replace('#', String(first)));
}
