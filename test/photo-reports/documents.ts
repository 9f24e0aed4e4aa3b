import { randomUUID } from 'node:crypto';

// biome-ignore lint/suspicious/noExplicitAny: a document is changed by name.
export type Json = any;

export const toRichText = (...texts: string[]): Json => texts.map((text) => ({ text }));

/** Valid blocks of each type by name. */
export const blocks = {
  text: (id: string, richText: Json = toRichText('Slab edge')): Json => ({
    sourceBlockId: id,
    type: 'TEXT',
    properties: {},
    richText,
  }),
  heading: (id: string, level: Json = 1): Json => ({ ...blocks.text(id), type: 'HEADING', properties: { level } }),
  list: (id: string, items: Json = [item('a')], type = 'BULLETED_LIST'): Json => ({
    sourceBlockId: id,
    type,
    properties: { items },
  }),
  image: (id: string, attachmentId: Json = 'att_a1'): Json => ({
    sourceBlockId: id,
    type: 'IMAGE',
    properties: {},
    attachmentId,
    imageStatus: 'SYNCED',
  }),
  failed: (id: string, failure: Json = { code: 'UPLOAD_FAILED', message: 'No network.' }): Json => ({
    sourceBlockId: id,
    type: 'IMAGE',
    properties: {},
    imageStatus: 'FAILED',
    imageFailure: failure,
  }),
  page: (id: string, childPage: Json = page()): Json => ({
    sourceBlockId: id,
    type: 'PAGE',
    properties: {},
    childPage,
  }),
};

export const item = (id: string, more: object = {}): Json => ({ id, richText: toRichText('Close the void'), ...more });

export const page = (inside: Json[] = [], more: object = {}): Json => ({
  schemaVersion: 1,
  title: 'Site walk',
  blocks: inside,
  ...more,
});

/** A page with a block of each type. */
export const createPageOfEveryBlock = (): Json =>
  page([
    blocks.heading('heading'),
    blocks.text('text', [{ text: 'Edge protection ' }, { text: 'missing', marks: ['BOLD', 'ITALIC'] }]),
    blocks.list('bullets', [item('a', { depth: 0 }), item('b', { depth: 6 })]),
    blocks.list('numbers', [item('a')], 'ORDERED_LIST'),
    blocks.list('checks', [item('a', { checked: true })], 'CHECKLIST'),
    blocks.failed('failed'),
    blocks.page('child', page([blocks.text('text')])),
  ]);

/** A valid sync request, by default of a new report. */
export const request = (more: object = {}): Json => ({
  sourceApp: 'site-notes',
  sourceExternalId: `walk-${randomUUID()}`,
  sourceRevision: 1,
  sourceCreatedAt: '2026-03-02T07:30:00.000Z',
  walkthroughDate: '2026-03-02T07:00:00.000Z',
  sourceAuthor: { externalId: 'author-118', name: 'Mia Tran', email: 'mia@brightwire.example' },
  page: createPageOfEveryBlock(),
  ...more,
});

/** Nests the page at a level; level 1 is the page itself. */
export function nestAtLevel(level: number, inner: Json): Json {
  return level === 1 ? inner : page([blocks.page(`level-${level}`, nestAtLevel(level - 1, inner))]);
}

/** Returns the JSON text of a request with the JSON text of a page. */
export const createRequestText = (inner: string) => JSON.stringify(request({ page: 'HERE' })).replace('"HERE"', inner);

/** Returns the JSON text of a page nested in that many others. */
export function createNestedPages(levels: number): string {
  const open =
    '{"schemaVersion":1,"title":"a","blocks":[{"sourceBlockId":"a","type":"PAGE","properties":{},"childPage":';
  return `${open.repeat(levels)}{"schemaVersion":1,"title":"a","blocks":[]}${'}]}'.repeat(levels)}`;
}
