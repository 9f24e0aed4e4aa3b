import { BlockType, ImageStatus } from '../../../schema/enums.ts';
import { isObject } from '../../../schema/is-object.ts';
import { INEXACT_NUMBER, isExactNumber } from '../../../schema/json-problems.ts';
import type { FieldError } from '../../shared/errors.ts';
import { formatRange, LIMITS, PATTERNS, SCHEMA_VERSION } from './limits.ts';
import { validateItems, validateRichText, validateUnique } from './rich-text.ts';
import { type Fields, isAbsent, ValidationErrors } from './validation-errors.ts';

const PAGE = new Set(['schemaVersion', 'title', 'shortDescription', 'contentMetadata', 'sharingMetadata', 'blocks']);
const FAILURE = new Set(['code', 'message']);

type ValidateBlock = (block: Fields, path: string, state: ValidationState) => void;

/** Fields of each block type beside the common ones, and their validation. */
const VARIANTS: Record<BlockType, { extra: readonly string[]; validate: ValidateBlock }> = {
  TEXT: { extra: ['richText'], validate: validateText },
  HEADING: { extra: ['richText'], validate: validateHeading },
  BULLETED_LIST: { extra: [], validate: (block, path, state) => validateList(block, path, false, state) },
  ORDERED_LIST: { extra: [], validate: (block, path, state) => validateList(block, path, false, state) },
  CHECKLIST: { extra: [], validate: (block, path, state) => validateList(block, path, true, state) },
  IMAGE: { extra: ['attachmentId', 'captureSequenceId', 'imageStatus', 'imageFailure'], validate: validateImage },
  PAGE: { extra: ['childPage'], validate: validateChild },
};

const TYPES = Object.keys(VARIANTS) as BlockType[];
const COMMON = ['sourceBlockId', 'type', 'properties'];
const FIELDS: ReadonlyMap<unknown, ReadonlySet<string>> = new Map(
  TYPES.map((type) => [type, new Set([...COMMON, ...VARIANTS[type].extra])]),
);
/** Fields of a block with an unknown type. */
const ANY_FIELD = new Set([...COMMON, ...TYPES.flatMap((type) => VARIANTS[type].extra)]);

interface ValidationState {
  errors: ValidationErrors;
  /** Number of blocks of the whole tree so far. */
  blocks: number;
  /** Whether an error was added for a single list of blocks that is too long. */
  listTooLong: boolean;
  /** Level of the current page; that of the root is 1. */
  level: number;
}

/** Documents without errors, which nothing changes: that of a REST request is a variable of its operation, and parsed again. */
const validDocuments = new WeakSet<object>();

/**
 * Returns the errors of a Page document with its nested pages, at most `MAX_FIELD_ERRORS`. Accepts any value and takes linear time
 * (PRP-22 to PRP-32).
 *
 * @param path of the document. Default: none, so that the names of fields begin with a dot.
 */
export function validatePageDocument(value: unknown, path = ''): FieldError[] {
  if (isObject(value) && validDocuments.has(value)) return [];
  const found = ValidationErrors.collect((errors) => {
    const state: ValidationState = { errors, blocks: 0, listTooLong: false, level: 1 };
    validatePage(value, path, state);
    if (state.blocks > LIMITS.blocks.max && !state.listTooLong) {
      const message = `must have ${formatRange(LIMITS.blocks)} in the whole tree, nested pages included; it has ${state.blocks}`;
      errors.add(`${path}.blocks`, message);
    }
  });
  if (found.length === 0) validDocuments.add(value as object);
  return found;
}

function validatePage(value: unknown, path: string, state: ValidationState): void {
  const { errors } = state;
  const page = errors.requireObject(value, path, 'a page', PAGE);
  if (!page) return;
  if (page.schemaVersion !== SCHEMA_VERSION) {
    const isMissing = isAbsent(page.schemaVersion);
    errors.add(`${path}.schemaVersion`, isMissing ? 'is required' : `must be the integer ${SCHEMA_VERSION}`);
  }
  errors.requireText(page.title, `${path}.title`, LIMITS.pageText);
  if (!isAbsent(page.shortDescription))
    errors.requireText(page.shortDescription, `${path}.shortDescription`, LIMITS.pageText);
  for (const name of ['contentMetadata', 'sharingMetadata']) {
    if (!isAbsent(page[name])) validateFree(page[name], `${path}.${name}`, state);
  }
  validateBlocks(page.blocks, `${path}.blocks`, state);
}

function validateFree(value: unknown, path: string, { errors, level }: ValidationState): void {
  if (errors.requireFreeObject(value, path)) errors.requireStorable(value, path, toNestingLevel(level) + 1);
}

/** Nesting level of a page in the request: each child page is in a block, in the list of its parent page. */
const toNestingLevel = (level: number) => 2 + 3 * (level - 1);

function validateBlocks(value: unknown, path: string, state: ValidationState): void {
  const blocks = state.errors.requireList(value, path, LIMITS.blocks);
  if (!blocks) return;
  state.blocks += blocks.length;
  state.listTooLong ||= blocks.length > LIMITS.blocks.max;
  const seen = new Map<string, number>();
  const repeated = `must be unique among its siblings; ${path}[#] has it too`;
  for (let at = 0; at < blocks.length; at++) {
    const here = `${path}[${at}]`;
    const block = blocks[at];
    const id = validateBlock(block, here, state);
    if (id !== null) validateUnique(seen, id, at, `${here}.sourceBlockId`, repeated, state.errors);
  }
}

/** Returns the `sourceBlockId`, or null if it is invalid. */
function validateBlock(value: unknown, path: string, state: ValidationState): string | null {
  const { errors } = state;
  const allowedFields = isObject(value) ? FIELDS.get(value.type) : undefined;
  const type = allowedFields ? ((value as Fields).type as BlockType) : null;
  const block = errors.requireObject(value, path, type ? `a ${type} block` : 'a block', allowedFields ?? ANY_FIELD);
  if (!block) return null;
  const id = errors.requireText(block.sourceBlockId, `${path}.sourceBlockId`, LIMITS.sourceBlockId);
  if (!type) errors.requireOneOf(block.type, `${path}.type`, TYPES);
  const properties = errors.requireFreeObject(block.properties, `${path}.properties`);
  if (!type) return id;
  VARIANTS[type].validate(block, path, state);
  // The free-form properties: `level` and `items` are validated above, for the types that have them.
  for (const name of Object.keys(properties ?? {})) {
    const own = (type === 'HEADING' && name === 'level') || (type.endsWith('LIST') && name === 'items');
    if (!own)
      errors.requireStorable({ [name]: properties![name] }, `${path}.properties`, toNestingLevel(state.level) + 3);
  }
  return id;
}

function validateText(block: Fields, path: string, { errors }: ValidationState): void {
  validateRichText(block.richText, `${path}.richText`, errors);
}

function validateHeading(block: Fields, path: string, state: ValidationState): void {
  validateText(block, path, state);
  if (isObject(block.properties))
    state.errors.requireInteger(block.properties.level, `${path}.properties.level`, LIMITS.headingLevel);
}

function validateList(block: Fields, path: string, hasChecks: boolean, { errors }: ValidationState): void {
  if (isObject(block.properties)) validateItems(block.properties.items, `${path}.properties.items`, hasChecks, errors);
}

function validateImage(block: Fields, path: string, { errors }: ValidationState): void {
  const { attachmentId, captureSequenceId, imageStatus, imageFailure } = block;
  errors.requireOneOf(imageStatus, `${path}.imageStatus`, Object.keys(ImageStatus));
  if (!isAbsent(captureSequenceId) && !(typeof captureSequenceId === 'number' && isExactNumber(captureSequenceId)))
    errors.add(`${path}.captureSequenceId`, INEXACT_NUMBER);
  if (imageStatus === ImageStatus.SYNCED) {
    if (isAbsent(attachmentId)) errors.add(`${path}.attachmentId`, 'is required when imageStatus is SYNCED');
    else if (typeof attachmentId !== 'string' || !PATTERNS.attachment.test(attachmentId))
      errors.add(`${path}.attachmentId`, 'must be the id of a photo, which begins with att_');
    if (!isAbsent(imageFailure))
      errors.add(`${path}.imageFailure`, 'must be null or absent when imageStatus is SYNCED');
    return;
  }
  if (imageStatus === ImageStatus.FAILED && !isAbsent(attachmentId))
    errors.add(`${path}.attachmentId`, 'must be null when imageStatus is FAILED');
  if (isAbsent(imageFailure)) {
    if (imageStatus === ImageStatus.FAILED)
      errors.add(`${path}.imageFailure`, 'is required when imageStatus is FAILED');
    return;
  }
  const failure = errors.requireObject(imageFailure, `${path}.imageFailure`, 'an image failure', FAILURE);
  if (!failure) return;
  errors.requireText(failure.code, `${path}.imageFailure.code`, LIMITS.failureCode);
  errors.requireText(failure.message, `${path}.imageFailure.message`, LIMITS.failureMessage);
}

function validateChild(block: Fields, path: string, state: ValidationState): void {
  if (state.level === LIMITS.levels.max) {
    state.errors.add(`${path}.childPage`, `pages nest at most ${LIMITS.levels.max} levels, the root included`);
    return;
  }
  state.level++;
  validatePage(block.childPage, `${path}.childPage`, state);
  state.level--;
}
