import { TextMark } from '../../../schema/enums.ts';
import { countCodePoints } from '../../../schema/text.ts';
import { formatRange, LIMITS } from './limits.ts';
import { isAbsent, type ValidationErrors } from './validation-errors.ts';

const RUN = new Set(['text', 'marks']);
const LIST_ITEM = new Set(['id', 'depth', 'richText']);
const CHECKLIST_ITEM = new Set([...LIST_ITEM, 'checked']);
const MARKS = Object.keys(TextMark);

/** Validates runs of text with marks (PRP-28). */
export function validateRichText(value: unknown, path: string, errors: ValidationErrors): void {
  const runs = errors.requireList(value, path, LIMITS.runs);
  if (!runs) return;
  let points = 0;
  for (const [at, run] of runs.entries()) {
    const here = `${path}[${at}]`;
    const fields = errors.requireObject(run, here, 'a run', RUN);
    if (!fields) continue;
    points += countCodePoints(errors.requireText(fields.text, `${here}.text`) ?? '');
    if (!isAbsent(fields.marks)) validateMarks(fields.marks, `${here}.marks`, errors);
  }
  if (points > LIMITS.richText.max)
    errors.add(path, `must have ${formatRange(LIMITS.richText)} in all its runs together`);
}

function validateMarks(value: unknown, path: string, errors: ValidationErrors): void {
  const marks = errors.requireList(value, path, LIMITS.marks);
  for (const [at, mark] of (marks ?? []).entries()) errors.requireOneOf(mark, `${path}[${at}]`, MARKS);
}

/** Validates `properties.items` of a list, or of a checklist if `hasChecks`. */
export function validateItems(value: unknown, path: string, hasChecks: boolean, errors: ValidationErrors): void {
  const items = errors.requireList(value, path, LIMITS.items);
  if (!items) return;
  const [allowedFields, what] = hasChecks ? [CHECKLIST_ITEM, 'a checklist item'] : [LIST_ITEM, 'a list item'];
  const seen = new Map<string, number>();
  for (let at = 0; at < items.length; at++) {
    const here = `${path}[${at}]`;
    const item = errors.requireObject(items[at], here, what, allowedFields);
    if (!item) continue;
    const id = errors.requireText(item.id, `${here}.id`, LIMITS.itemId);
    if (id !== null)
      validateUnique(seen, id, at, `${here}.id`, `must be unique in its list; ${path}[#] has it too`, errors);
    if (!isAbsent(item.depth)) errors.requireInteger(item.depth, `${here}.depth`, LIMITS.itemDepth);
    validateRichText(item.richText, `${here}.richText`, errors);
    if (hasChecks && !isAbsent(item.checked) && typeof item.checked !== 'boolean')
      errors.add(`${here}.checked`, 'must be true or false');
  }
}

/** Adds an error if an earlier sibling has the same id; `#` in the message is replaced by its index. */
export function validateUnique(
  seen: Map<string, number>,
  id: string,
  at: number,
  path: string,
  message: string,
  errors: ValidationErrors,
): void {
  const first = seen.get(id);
  if (first === undefined) seen.set(id, at);
  else errors.add(path, message.replace('#', String(first)));
}
