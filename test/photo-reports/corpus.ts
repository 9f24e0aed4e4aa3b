import { blocks, item, type Json, page, toRichText } from './documents.ts';

/** A page and the paths of its errors; none if it is valid. */
export interface Case {
  name: string;
  page: Json;
  invalidPaths: string[];
}

/** One code point, two code units. */
const CRANE = '\u{1F3D7}';

const aValidCase = (name: string, document: Json): Case => ({ name, page: document, invalidPaths: [] });
const anInvalidCase = (name: string, document: Json, ...invalidPaths: string[]): Case => ({
  name,
  page: document,
  invalidPaths,
});
const onePage = (block: Json): Json => page([block]);
const times = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, at) => make(at));
const without = (object: Json, name: string): Json => {
  const { [name]: _, ...rest } = object;
  return rest;
};

/** Cases for the length of a text: at and around its limits, in ASCII and in two code units per character. */
function lengthCases(what: string, path: string, min: number, max: number, make: (text: string) => Json): Case[] {
  return [
    aValidCase(`${what}: ${max} characters`, make('a'.repeat(max))),
    aValidCase(`${what}: ${max - 1} characters`, make('a'.repeat(max - 1))),
    aValidCase(`${what}: ${max} code points of two units`, make(CRANE.repeat(max))),
    anInvalidCase(`${what}: ${max + 1} characters`, make('a'.repeat(max + 1)), path),
    anInvalidCase(`${what}: ${max + 1} code points of two units`, make(CRANE.repeat(max + 1)), path),
    anInvalidCase(`${what}: ${max} code points of two units and one more`, make(`${CRANE.repeat(max)}a`), path),
    min === 0 ? aValidCase(`${what}: empty`, make('')) : anInvalidCase(`${what}: empty`, make(''), path),
    ...(min === 0 ? [] : [aValidCase(`${what}: 1 character`, make('a'))]),
    anInvalidCase(`${what}: a number`, make(5 as never), path),
    anInvalidCase(`${what}: with U+0000`, make('a\0'), path),
    anInvalidCase(`${what}: with a lone surrogate`, make('a\ud800'), path),
  ];
}

/** Cases for the length of a list: at and around its limits. */
function countCases(what: string, path: string, min: number, max: number, make: (count: number) => Json): Case[] {
  return [
    aValidCase(`${what}: ${max}`, make(max)),
    aValidCase(`${what}: ${max - 1}`, make(max - 1)),
    anInvalidCase(`${what}: ${max + 1}`, make(max + 1), path),
    aValidCase(`${what}: ${min}`, make(min)),
    ...(min > 0 ? [anInvalidCase(`${what}: ${min - 1}`, make(min - 1), path)] : []),
  ];
}

/** Cases for an integer: at and around its limits, and other values. */
function integerCases(what: string, path: string, min: number, max: number, make: (value: Json) => Json): Case[] {
  const wrong = [min - 1, max + 1, min + 0.5, String(min), true, [min], {}];
  return [
    ...[min, min + 1, max - 1, max].map((value) => aValidCase(`${what}: ${value}`, make(value))),
    ...wrong.map((value) => anInvalidCase(`${what}: ${JSON.stringify(value)}`, make(value), path)),
  ];
}

const text = (runs: Json) => onePage(blocks.text('a', runs));
const list = (items: Json) => onePage(blocks.list('a', items));
const checks = (items: Json) => onePage(blocks.list('a', items, 'CHECKLIST'));
const failed = (failure: Json) => onePage(blocks.failed('a', failure));

const pageRules: Case[] = [
  aValidCase('a page without blocks', page()),
  ...['schemaVersion', 'title', 'blocks'].map((name) =>
    anInvalidCase(`a page without ${name}`, without(page(), name), name),
  ),
  ...['schemaVersion', 'title', 'blocks'].map((name) =>
    anInvalidCase(`${name}: null`, page([], { [name]: null }), name),
  ),
  ...[0, 2, '1', 1.5, true].map((schemaVersion) =>
    anInvalidCase(`schemaVersion: ${JSON.stringify(schemaVersion)}`, page([], { schemaVersion }), 'schemaVersion'),
  ),
  ...lengthCases('title', 'title', 0, 20_000, (title) => page([], { title })),
  ...lengthCases('shortDescription', 'shortDescription', 0, 20_000, (shortDescription) =>
    page([], { shortDescription }),
  ),
  aValidCase('shortDescription: null', page([], { shortDescription: null })),
  ...['contentMetadata', 'sharingMetadata'].flatMap((name) => [
    aValidCase(`${name}: free-form`, page([], { [name]: { a: [1, null, { b: 'c' }], 'd e': true } })),
    ...['text', 5, true, []].map((value) =>
      anInvalidCase(`${name}: ${JSON.stringify(value)}`, page([], { [name]: value }), name),
    ),
    anInvalidCase(`${name}: U+0000 deep within`, page([], { [name]: { a: [{ b: '\0' }] } }), `${name}.a[0].b`),
    anInvalidCase(
      `${name}: a number that is too large`,
      page([], { [name]: { a: Number.POSITIVE_INFINITY } }),
      `${name}.a`,
    ),
  ]),
  anInvalidCase('a page with an unknown field', page([], { subtitle: 'x' }), 'subtitle'),
  ...[{}, 'text', 5, true].map((value) =>
    anInvalidCase(`blocks: ${JSON.stringify(value)}`, { ...page(), blocks: value }, 'blocks'),
  ),
  anInvalidCase('blocks: one block that is not in a list', { ...page(), blocks: blocks.text('a') }, 'blocks'),
];

const blockRules: Case[] = [
  ...['text', 5, null, []].map((value) =>
    anInvalidCase(`a block: ${JSON.stringify(value)}`, onePage(value), 'blocks[0]'),
  ),
  ...['sourceBlockId', 'type', 'properties'].map((name) =>
    anInvalidCase(`a block without ${name}`, onePage(without(blocks.text('a'), name)), `blocks[0].${name}`),
  ),
  ...lengthCases('sourceBlockId', 'blocks[0].sourceBlockId', 1, 220, (id) => onePage(blocks.text(id))),
  ...['VIDEO', 'text', '', 5, null, ['TEXT'], 'constructor', '__proto__'].map((type) =>
    anInvalidCase(`type: ${JSON.stringify(type)}`, onePage({ ...blocks.text('a'), type }), 'blocks[0].type'),
  ),
  ...['text', 5, null, []].map((properties) =>
    anInvalidCase(
      `properties: ${JSON.stringify(properties)}`,
      onePage({ ...blocks.text('a'), properties }),
      'blocks[0].properties',
    ),
  ),
  aValidCase(
    'properties: free-form',
    onePage({ ...blocks.text('a'), properties: { anything: [{ at: 'all' }], level: 9 } }),
  ),
  aValidCase(
    'properties: more than level',
    onePage({ ...blocks.heading('a'), properties: { level: 2, color: 'red' } }),
  ),
  anInvalidCase(
    'properties: U+0000 deep within',
    onePage({ ...blocks.text('a'), properties: { b: ['\0'] } }),
    'blocks[0].properties.b[0]',
  ),
  anInvalidCase(
    'the same sourceBlockId twice',
    page([blocks.text('a'), blocks.text('b'), blocks.text('a')]),
    'blocks[2].sourceBlockId',
  ),
  anInvalidCase(
    'the same sourceBlockId three times',
    page([blocks.text('a'), blocks.text('a'), blocks.text('a')]),
    'blocks[1].sourceBlockId',
    'blocks[2].sourceBlockId',
  ),
  aValidCase(
    'the same sourceBlockId in other pages',
    page([blocks.text('a'), blocks.page('b', onePage(blocks.text('a')))]),
  ),
  // Fields of one type on a block of another.
  ...[
    ['TEXT', blocks.text('a')],
    ['HEADING', blocks.heading('a')],
    ['BULLETED_LIST', blocks.list('a')],
    ['ORDERED_LIST', blocks.list('a', [item('a')], 'ORDERED_LIST')],
    ['CHECKLIST', blocks.list('a', [item('a')], 'CHECKLIST')],
    ['IMAGE', blocks.failed('a')],
    ['PAGE', blocks.page('a')],
  ].flatMap(([type, block]) =>
    Object.entries({
      ...{ richText: toRichText('x'), attachmentId: 'att_a1', captureSequenceId: 1, imageStatus: 'FAILED' },
      ...{ imageFailure: { code: 'a', message: 'b' }, childPage: page(), color: 'red', level: 1, items: [] },
    })
      .filter(
        ([name]) => !(name in block) && !(type === 'IMAGE' && ['attachmentId', 'captureSequenceId'].includes(name)),
      )
      .map(([name, value]) =>
        anInvalidCase(`${type} with the field ${name}`, onePage({ ...block, [name]: value }), `blocks[0].${name}`),
      ),
  ),
];

const textRules: Case[] = [
  ...['TEXT', 'HEADING'].map((type) =>
    anInvalidCase(
      `${type} without richText`,
      onePage({ ...without(blocks.heading('a'), 'richText'), type }),
      'blocks[0].richText',
    ),
  ),
  ...countCases('runs', 'blocks[0].richText', 1, 200, (count) => text(times(count, () => ({ text: 'a' })))),
  ...[null, {}, 'text', 5, { text: 'a' }].map((runs) =>
    anInvalidCase(`richText: ${JSON.stringify(runs)}`, text(runs), 'blocks[0].richText'),
  ),
  aValidCase('a rich text of 20000 characters', text(times(200, () => ({ text: 'a'.repeat(100) })))),
  aValidCase('a rich text of 20000 code points', text([{ text: CRANE.repeat(19_999) }, { text: 'a' }])),
  anInvalidCase(
    'a rich text of 20001 characters',
    text([...times(199, () => ({ text: 'a'.repeat(100) })), { text: 'a'.repeat(101) }]),
    'blocks[0].richText',
  ),
  anInvalidCase(
    'a rich text of 20001 code points',
    text([{ text: CRANE.repeat(20_000) }, { text: 'a', marks: [] }]),
    'blocks[0].richText',
  ),
  aValidCase('an empty run', text([{ text: '' }])),
  ...['text', 5, null, []].map((run) =>
    anInvalidCase(`a run: ${JSON.stringify(run)}`, text([run]), 'blocks[0].richText[0]'),
  ),
  ...[{}, { text: null }, { text: 5 }, { text: 'a\0' }, { text: '\udfff' }].map((run) =>
    anInvalidCase(`a run: ${JSON.stringify(run)}`, text([{ text: 'a' }, run]), 'blocks[0].richText[1].text'),
  ),
  anInvalidCase('a run with an unknown field', text([{ text: 'a', color: 'red' }]), 'blocks[0].richText[0].color'),
  ...[[], ['BOLD'], ['ITALIC'], ['ITALIC', 'BOLD'], ['BOLD', 'BOLD'], null].map((marks) =>
    aValidCase(`marks: ${JSON.stringify(marks)}`, text([{ text: 'a', marks }])),
  ),
  anInvalidCase(
    'marks: three',
    text([{ text: 'a', marks: ['BOLD', 'ITALIC', 'BOLD'] }]),
    'blocks[0].richText[0].marks',
  ),
  ...['BOLD', {}, 5].map((marks) =>
    anInvalidCase(`marks: ${JSON.stringify(marks)}`, text([{ text: 'a', marks }]), 'blocks[0].richText[0].marks'),
  ),
  ...['bold', 'UNDERLINE', '', null, 5].map((mark) =>
    anInvalidCase(
      `a mark: ${JSON.stringify(mark)}`,
      text([{ text: 'a', marks: ['BOLD', mark] }]),
      'blocks[0].richText[0].marks[1]',
    ),
  ),
  ...integerCases('level', 'blocks[0].properties.level', 1, 4, (level) => onePage(blocks.heading('a', level))),
  anInvalidCase(
    'a heading without level',
    onePage({ ...blocks.heading('a'), properties: {} }),
    'blocks[0].properties.level',
  ),
];

const listRules: Case[] = ['BULLETED_LIST', 'ORDERED_LIST', 'CHECKLIST'].flatMap((type) => {
  const make = (items: Json) => onePage(blocks.list('a', items, type));
  const at = 'blocks[0].properties.items';
  return [
    ...countCases(`${type} items`, at, 1, 100, (count) => make(times(count, (index) => item(String(index))))),
    ...[undefined, null, {}, 'text', item('a')].map((items) =>
      anInvalidCase(`${type} items: ${JSON.stringify(items)}`, make(items === undefined ? null : items), at),
    ),
    anInvalidCase(`${type} without items`, onePage({ ...blocks.list('a', [], type), properties: {} }), at),
    ...['text', 5, null, []].map((value) =>
      anInvalidCase(`${type} item: ${JSON.stringify(value)}`, make([value]), `${at}[0]`),
    ),
    ...['id', 'richText'].map((name) =>
      anInvalidCase(`${type} item without ${name}`, make([without(item('a'), name)]), `${at}[0].${name}`),
    ),
    ...lengthCases(`${type} item id`, `${at}[0].id`, 1, 220, (id) => make([item(id)])),
    anInvalidCase(`${type} with an item id twice`, make([item('a'), item('b'), item('a')]), `${at}[2].id`),
    ...integerCases(`${type} depth`, `${at}[0].depth`, 0, 6, (depth) => make([item('a', { depth })])),
    anInvalidCase(`${type} item with an unknown field`, make([item('a', { color: 'red' })]), `${at}[0].color`),
    anInvalidCase(
      `${type} item with 201 runs`,
      make([item('a', { richText: times(201, () => ({ text: '' })) })]),
      `${at}[0].richText`,
    ),
    anInvalidCase(
      `${type} item with 20001 characters`,
      make([item('a'), item('b', { richText: toRichText('a'.repeat(20_001)) })]),
      `${at}[1].richText`,
    ),
  ];
});

const checkRules: Case[] = [
  aValidCase('a checklist item that is checked', checks([item('a', { checked: true }), item('b', { checked: false })])),
  ...['true', 1, []].map((checked) =>
    anInvalidCase(
      `checked: ${JSON.stringify(checked)}`,
      checks([item('a', { checked })]),
      'blocks[0].properties.items[0].checked',
    ),
  ),
  anInvalidCase(
    'a list item that is checked',
    list([item('a', { checked: true })]),
    'blocks[0].properties.items[0].checked',
  ),
];

const imageRules: Case[] = [
  aValidCase('an image', onePage(blocks.image('a'))),
  ...['attachmentId', 'imageStatus'].map((name) =>
    anInvalidCase(`an image without ${name}`, onePage(without(blocks.image('a'), name)), `blocks[0].${name}`),
  ),
  ...['SYNCING', 'synced', 5, null].map((imageStatus) =>
    anInvalidCase(
      `imageStatus: ${JSON.stringify(imageStatus)}`,
      onePage({ ...blocks.image('a'), imageStatus }),
      'blocks[0].imageStatus',
    ),
  ),
  ...['att_a', 'att_1a', 'att_A1', 'att_a1\n', 'photo_a1', 'att_', '', 5, null].map((id) =>
    anInvalidCase(`attachmentId: ${JSON.stringify(id)}`, onePage(blocks.image('a', id)), 'blocks[0].attachmentId'),
  ),
  ...['att_a1', 'att_ab'].map((id) => aValidCase(`attachmentId: ${id}`, onePage(blocks.image('a', id)))),
  aValidCase('SYNCED with imageFailure null', onePage({ ...blocks.image('a'), imageFailure: null })),
  anInvalidCase(
    'SYNCED with an imageFailure',
    onePage({ ...blocks.image('a'), imageFailure: { code: 'a', message: 'b' } }),
    'blocks[0].imageFailure',
  ),
  aValidCase('FAILED without attachmentId', onePage(blocks.failed('a'))),
  aValidCase('FAILED with attachmentId null', onePage({ ...blocks.failed('a'), attachmentId: null })),
  anInvalidCase(
    'FAILED with an attachmentId',
    onePage({ ...blocks.failed('a'), attachmentId: 'att_a1' }),
    'blocks[0].attachmentId',
  ),
  anInvalidCase(
    'FAILED without imageFailure',
    onePage(without(blocks.failed('a'), 'imageFailure')),
    'blocks[0].imageFailure',
  ),
  ...[null, 'text', []].map((failure) =>
    anInvalidCase(`imageFailure: ${JSON.stringify(failure)}`, failed(failure), 'blocks[0].imageFailure'),
  ),
  ...['code', 'message'].map((name) =>
    anInvalidCase(
      `imageFailure without ${name}`,
      failed(without({ code: 'a', message: 'b' }, name)),
      `blocks[0].imageFailure.${name}`,
    ),
  ),
  ...lengthCases('imageFailure.code', 'blocks[0].imageFailure.code', 1, 80, (code) => failed({ code, message: 'b' })),
  ...lengthCases('imageFailure.message', 'blocks[0].imageFailure.message', 1, 500, (message) =>
    failed({ code: 'a', message }),
  ),
  anInvalidCase(
    'imageFailure with an unknown field',
    failed({ code: 'a', message: 'b', cause: 'c' }),
    'blocks[0].imageFailure.cause',
  ),
  ...[0, 1.5, -3, 2 ** 53 - 1, null].map((value) =>
    aValidCase(`captureSequenceId: ${value}`, onePage({ ...blocks.image('a'), captureSequenceId: value })),
  ),
  ...['1', true, [], {}, 2 ** 53, 1e300].map((value) =>
    anInvalidCase(
      `captureSequenceId: ${JSON.stringify(value)}`,
      onePage({ ...blocks.image('a'), captureSequenceId: value }),
      'blocks[0].captureSequenceId',
    ),
  ),
];

const childRules: Case[] = [
  anInvalidCase('a PAGE without childPage', onePage(without(blocks.page('a'), 'childPage')), 'blocks[0].childPage'),
  ...[null, 'text', [], 5].map((child) =>
    anInvalidCase(`childPage: ${JSON.stringify(child)}`, onePage(blocks.page('a', child)), 'blocks[0].childPage'),
  ),
];

/** Each rule at, below and above its limit; each applies to the root page and to nested pages. */
export const CASES: Case[] = [
  ...pageRules,
  ...blockRules,
  ...textRules,
  ...listRules,
  ...checkRules,
  ...imageRules,
  ...childRules,
];
