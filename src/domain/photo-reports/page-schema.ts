import { ImageStatus, TextMark } from '../../../schema/enums.ts';
import type { JsonSchema } from '../../../schema/scalar.ts';
import { formatRange, LIMITS, type Limit, PATTERNS, SCHEMA_VERSION } from './limits.ts';

/*
 * The Page document as JSON Schema for the OpenAPI document, which is stricter than its GraphQL types (PRP-22 to PRP-30).
 */

const EXAMPLE_ID = 'att_a0mkq3v8t2n4c7x1p9r5w6yzb';

const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });
const text = ({ min, max }: Limit, description: string): JsonSchema => ({
  type: 'string',
  description,
  ...(min > 0 && { minLength: min }),
  maxLength: max,
});
const integer = ({ min, max }: Limit, description: string): JsonSchema => ({
  type: 'integer',
  description,
  minimum: min,
  maximum: max,
});
const list = ({ min, max }: Limit, items: JsonSchema, description: string): JsonSchema => ({
  type: 'array',
  description,
  items,
  ...(min > 0 && { minItems: min }),
  maxItems: max,
});
const nullable = (schema: JsonSchema): JsonSchema => ({ ...schema, type: [schema.type, 'null'] });
const freeForm = (description: string): JsonSchema => ({ type: 'object', description, additionalProperties: true });

/** Schema of an object without additional properties; names that end in `?` are optional. */
function closedObject(description: string, fields: Record<string, JsonSchema>): JsonSchema {
  const names = Object.keys(fields);
  return {
    type: 'object',
    description,
    properties: Object.fromEntries(names.map((name) => [name.replace('?', ''), fields[name]])),
    required: names.filter((name) => !name.endsWith('?')),
    additionalProperties: false,
  };
}

const properties = (description: string, fields: Record<string, JsonSchema> = {}): JsonSchema => ({
  ...freeForm(description),
  ...(Object.keys(fields).length > 0 && { properties: fields, required: Object.keys(fields) }),
});

const block = (type: string, description: string, own: JsonSchema, extra: Record<string, JsonSchema> = {}) =>
  closedObject(description, {
    sourceBlockId: text(LIMITS.sourceBlockId, 'Unique among the blocks of its page.'),
    type: { type: 'string', const: type, description: 'Kind of block.' },
    properties: own,
    ...extra,
  });

const RICH_TEXT = { description: 'Text of the block or item, in runs.', ...ref('RichText') };
const richText = { richText: RICH_TEXT };
const anything = properties('Free-form data of the block.');
const createListSchema = (item: string) =>
  properties('More properties are allowed.', {
    items: list(LIMITS.items, ref(item), 'Their `id`s are unique in the list.'),
  });

const item = (description: string, more: Record<string, JsonSchema> = {}) =>
  closedObject(description, {
    id: text(LIMITS.itemId, 'Unique in its list.'),
    'depth?': nullable(integer(LIMITS.itemDepth, 'How deep it is indented.')),
    richText: RICH_TEXT,
    ...more,
  });

const PHOTO_ID: JsonSchema = {
  type: 'string',
  description: 'Id of the photo, from the bulk upsert.',
  pattern: PATTERNS.attachment.source,
  examples: [EXAMPLE_ID],
};
const FAILURE: JsonSchema = { description: 'Why the image is missing.', ...ref('ImageFailure') };
const NOTHING: JsonSchema = { type: 'null', description: 'Null or left out.' };

/** What an image of that status has, in addition to what all have. */
const imageOf = (status: ImageStatus, attachmentId: JsonSchema, imageFailure: JsonSchema): JsonSchema => ({
  properties: {
    imageStatus: { type: 'string', const: status, description: 'Whether the image is a photo of the builder.' },
    attachmentId,
    imageFailure,
  },
  required: ['imageStatus', status === ImageStatus.SYNCED ? 'attachmentId' : 'imageFailure'],
});

const union = (description: string, propertyName: string, members: Record<string, string>): JsonSchema => ({
  description,
  oneOf: [...new Set(Object.values(members))].map(ref),
  discriminator: {
    propertyName,
    mapping: Object.fromEntries(Object.entries(members).map(([value, name]) => [value, ref(name).$ref])),
  },
});

/** Schemas by name; the first is that of the document. */
export const pageSchemas: Record<string, JsonSchema> = {
  PageDocument: closedObject(
    `A page as it is now, whole: content that it does not contain any more is removed. In the whole tree ${formatRange(LIMITS.blocks)}; pages nest ${LIMITS.levels.max} levels deep, the root included. No unknown fields.`,
    {
      schemaVersion: { type: 'integer', const: SCHEMA_VERSION, description: 'Version of this format.' },
      title: text(LIMITS.pageText, 'Title of the page, plain text.'),
      'shortDescription?': nullable(text(LIMITS.pageText, 'Summary of the page, plain text.')),
      'contentMetadata?': nullable(freeForm('Free-form data about the content, returned unchanged.')),
      'sharingMetadata?': nullable(freeForm('Free-form data about sharing, returned unchanged.')),
      blocks: list(LIMITS.blocks, ref('Block'), 'In their order. Each `sourceBlockId` is unique in this list.'),
    },
  ),
  Block: union('A part of a page, by its `type`.', 'type', {
    TEXT: 'TextBlock',
    HEADING: 'HeadingBlock',
    BULLETED_LIST: 'BulletedListBlock',
    ORDERED_LIST: 'OrderedListBlock',
    CHECKLIST: 'ChecklistBlock',
    IMAGE: 'ImageBlock',
    PAGE: 'PageBlock',
  }),
  TextBlock: block('TEXT', 'A paragraph.', anything, richText),
  HeadingBlock: block(
    'HEADING',
    'A heading.',
    properties('More properties are allowed.', { level: integer(LIMITS.headingLevel, '1 is the highest.') }),
    richText,
  ),
  BulletedListBlock: block('BULLETED_LIST', 'A list with bullets.', createListSchema('ListItem')),
  OrderedListBlock: block('ORDERED_LIST', 'A list with numbers.', createListSchema('ListItem')),
  ChecklistBlock: block('CHECKLIST', 'A list of things to check.', createListSchema('ChecklistItem')),
  ImageBlock: {
    ...block('IMAGE', 'An image, by its `imageStatus`.', anything, {
      imageStatus: {
        type: 'string',
        enum: Object.keys(ImageStatus),
        description: 'Whether the image is a photo of the builder. `FAILED` makes the report `partial`.',
      },
      'captureSequenceId?': {
        type: ['number', 'null'],
        description: 'Position of the image in the site walk.',
        minimum: Number.MIN_SAFE_INTEGER,
        maximum: Number.MAX_SAFE_INTEGER,
      },
      'attachmentId?': { ...nullable(PHOTO_ID), description: 'Id of the photo; null or left out when it `FAILED`.' },
      'imageFailure?': {
        description: 'Why the image is missing; null or left out when it is `SYNCED`.',
        anyOf: [ref('ImageFailure'), { type: 'null' }],
      },
    }),
    oneOf: [imageOf(ImageStatus.SYNCED, PHOTO_ID, NOTHING), imageOf(ImageStatus.FAILED, NOTHING, FAILURE)],
  },
  PageBlock: block('PAGE', 'A page within the page.', anything, {
    childPage: { description: 'The page within the page.', ...ref('PageDocument') },
  }),
  ImageFailure: closedObject('Why an image is missing.', {
    code: text(LIMITS.failureCode, 'Error code.'),
    message: text(LIMITS.failureMessage, 'Description of the failure.'),
  }),
  RichText: list(LIMITS.runs, ref('RichTextRun'), `Runs of text; together ${formatRange(LIMITS.richText)}.`),
  RichTextRun: closedObject('A run of text with one set of marks.', {
    text: text(LIMITS.richText, 'Text of the run; may be empty.'),
    'marks?': nullable(list(LIMITS.marks, { type: 'string', enum: Object.keys(TextMark) }, 'Default: no marks.')),
  }),
  ListItem: item('An item of a list. No other fields.'),
  ChecklistItem: item('An item of a checklist. No other fields.', {
    'checked?': { type: ['boolean', 'null'], description: 'Whether it is done.' },
  }),
};
