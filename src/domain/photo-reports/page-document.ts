import { BlockType, ImageStatus } from '../../../schema/enums.ts';
import type { FieldError } from '../../shared/errors.ts';
import { LIMITS, PATTERNS, rangeText, SCHEMA_VERSION } from './limits.ts';
import { PreparedPage, preparedPageOf } from './prepared-page.ts';
import { inspectItems, inspectRichText, inspectUnique } from './rich-text.ts';
import { type Fields, Findings, isAbsent, isObject } from './validation-errors.ts';

const PAGE = new Set(['schemaVersion', 'title', 'shortDescription', 'contentMetadata', 'sharingMetadata', 'blocks']);
const FAILURE = new Set(['code', 'message']);

type Inspect = (block: Fields, path: string, walk: Walk) => void;

/** What a block of each type has beside the fields that every block has, and the rules of those. */
const VARIANTS: Record<BlockType, { extra: readonly string[]; inspect: Inspect }> = {
  TEXT: { extra: ['richText'], inspect: inspectText },
  HEADING: { extra: ['richText'], inspect: inspectHeading },
  BULLETED_LIST: { extra: [], inspect: (block, path, walk) => inspectList(block, path, false, walk) },
  ORDERED_LIST: { extra: [], inspect: (block, path, walk) => inspectList(block, path, false, walk) },
  CHECKLIST: { extra: [], inspect: (block, path, walk) => inspectList(block, path, true, walk) },
  IMAGE: { extra: ['attachmentId', 'captureSequenceId', 'imageStatus', 'imageFailure'], inspect: inspectImage },
  PAGE: { extra: ['childPage'], inspect: inspectChild },
};

const TYPES = Object.keys(VARIANTS) as BlockType[];
const COMMON = ['sourceBlockId', 'type', 'properties'];
const FIELDS: ReadonlyMap<unknown, ReadonlySet<string>> = new Map(
  TYPES.map((type) => [type, new Set([...COMMON, ...VARIANTS[type].extra])]),
);
/** Of a block whose type is wrong. */
const ANY_FIELD = new Set([...COMMON, ...TYPES.flatMap((type) => VARIANTS[type].extra)]);

interface Walk {
  findings: Findings;
  /** Blocks seen so far, in the whole tree. */
  blocks: number;
  /** Whether a single list of blocks is too long, which has been said. */
  listTooLong: boolean;
  /** Level of the page that is being walked. */
  level: number;
}

/**
 * Everything that is wrong with a Page document, nested pages included, at most as much as one answer holds. It takes any value,
 * and time in proportion to its size (PRP-22 to PRP-32).
 */
export function inspectPageDocument(value: unknown, path: string): FieldError[] {
  const prepared = preparedPageOf(value);
  if (prepared) return prepared.errors;
  return Findings.of((findings) => {
    const walk: Walk = { findings, blocks: 0, listTooLong: false, level: 1 };
    inspectPage(value, path, walk);
    if (walk.blocks > LIMITS.blocks.max && !walk.listTooLong) {
      const message = `must have ${rangeText(LIMITS.blocks)} in the whole tree, nested pages included; it has ${walk.blocks}`;
      findings.add(`${path}.blocks`, message);
    }
  });
}

function inspectPage(value: unknown, path: string, walk: Walk): void {
  const { findings } = walk;
  const page = findings.object(value, path, 'a page', PAGE);
  if (!page) return;
  if (page.schemaVersion !== SCHEMA_VERSION) {
    const isMissing = isAbsent(page.schemaVersion);
    findings.add(`${path}.schemaVersion`, isMissing ? 'is required' : `must be the integer ${SCHEMA_VERSION}`);
  }
  findings.text(page.title, `${path}.title`, LIMITS.pageText);
  if (!isAbsent(page.shortDescription))
    findings.text(page.shortDescription, `${path}.shortDescription`, LIMITS.pageText);
  for (const name of ['contentMetadata', 'sharingMetadata']) {
    if (!isAbsent(page[name])) inspectFree(page[name], `${path}.${name}`, walk);
  }
  inspectBlocks(page.blocks, `${path}.blocks`, walk);
}

function inspectFree(value: unknown, path: string, { findings, level }: Walk): void {
  if (value instanceof PreparedPage) {
    findings.add(path, 'a page within a page cannot be a variable of its own in a body of this size');
  } else if (findings.freeObject(value, path)) findings.storable(value, path, depthOf(level) + 1);
}

/** Level in the request of a page: the root is within it, and any other in a block in the list of its parent. */
const depthOf = (level: number) => 2 + 3 * (level - 1);

function inspectBlocks(value: unknown, path: string, walk: Walk): void {
  const blocks = walk.findings.list(value, path, LIMITS.blocks);
  if (!blocks) return;
  walk.blocks += blocks.length;
  walk.listTooLong ||= blocks.length > LIMITS.blocks.max;
  const seen = new Map<string, number>();
  const repeated = `must be unique among its siblings; ${path}[#] has it too`;
  for (let at = 0; at < blocks.length; at++) {
    const here = `${path}[${at}]`;
    const block = blocks[at];
    const id = inspectBlock(block, here, walk);
    if (id !== null) inspectUnique(seen, id, at, `${here}.sourceBlockId`, repeated, walk.findings);
  }
}

/** Gives the `sourceBlockId`, if it has a good one. */
function inspectBlock(value: unknown, path: string, walk: Walk): string | null {
  const { findings } = walk;
  const known = isObject(value) ? FIELDS.get(value.type) : undefined;
  const type = known ? ((value as Fields).type as BlockType) : null;
  const block = findings.object(value, path, type ? `a ${type} block` : 'a block', known ?? ANY_FIELD);
  if (!block) return null;
  const id = findings.text(block.sourceBlockId, `${path}.sourceBlockId`, LIMITS.sourceBlockId);
  if (!type) findings.oneOf(block.type, `${path}.type`, TYPES);
  const properties = findings.freeObject(block.properties, `${path}.properties`);
  if (!type) return id;
  VARIANTS[type].inspect(block, path, walk);
  // What is free-form in it: `level` and `items` have been looked at, where the type has them.
  for (const name of Object.keys(properties ?? {})) {
    const own = (type === 'HEADING' && name === 'level') || (type.endsWith('LIST') && name === 'items');
    if (!own) findings.storable({ [name]: properties![name] }, `${path}.properties`, depthOf(walk.level) + 3);
  }
  return id;
}

function inspectText(block: Fields, path: string, { findings }: Walk): void {
  inspectRichText(block.richText, `${path}.richText`, findings);
}

function inspectHeading(block: Fields, path: string, walk: Walk): void {
  inspectText(block, path, walk);
  if (isObject(block.properties))
    walk.findings.integer(block.properties.level, `${path}.properties.level`, LIMITS.headingLevel);
}

function inspectList(block: Fields, path: string, hasChecks: boolean, { findings }: Walk): void {
  if (isObject(block.properties)) inspectItems(block.properties.items, `${path}.properties.items`, hasChecks, findings);
}

function inspectImage(block: Fields, path: string, { findings }: Walk): void {
  const { attachmentId, captureSequenceId, imageStatus, imageFailure } = block;
  findings.oneOf(imageStatus, `${path}.imageStatus`, Object.keys(ImageStatus));
  if (!isAbsent(captureSequenceId) && !Number.isFinite(captureSequenceId))
    findings.add(`${path}.captureSequenceId`, 'must be a number');
  if (imageStatus === ImageStatus.SYNCED) {
    if (isAbsent(attachmentId)) findings.add(`${path}.attachmentId`, 'is required when imageStatus is SYNCED');
    else if (typeof attachmentId !== 'string' || !PATTERNS.attachment.test(attachmentId))
      findings.add(`${path}.attachmentId`, 'must be the id of a photo, which begins with att_');
    if (!isAbsent(imageFailure))
      findings.add(`${path}.imageFailure`, 'must be null or absent when imageStatus is SYNCED');
    return;
  }
  if (imageStatus === ImageStatus.FAILED && !isAbsent(attachmentId))
    findings.add(`${path}.attachmentId`, 'must be null when imageStatus is FAILED');
  if (isAbsent(imageFailure)) {
    if (imageStatus === ImageStatus.FAILED)
      findings.add(`${path}.imageFailure`, 'is required when imageStatus is FAILED');
    return;
  }
  const failure = findings.object(imageFailure, `${path}.imageFailure`, 'an image failure', FAILURE);
  if (!failure) return;
  findings.text(failure.code, `${path}.imageFailure.code`, LIMITS.failureCode);
  findings.text(failure.message, `${path}.imageFailure.message`, LIMITS.failureMessage);
}

function inspectChild(block: Fields, path: string, walk: Walk): void {
  if (walk.level === LIMITS.levels.max) {
    walk.findings.add(`${path}.childPage`, `pages nest at most ${LIMITS.levels.max} levels, the root included`);
    return;
  }
  walk.level++;
  inspectPage(block.childPage, `${path}.childPage`, walk);
  walk.level--;
}
