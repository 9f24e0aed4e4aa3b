import { blocks, item, type Json, page, rich } from './documents.ts';

/** A page and the paths of its errors; none if it is valid. */
export interface Case {
  name: string;
  page: Json;
  wrong: string[];
}

/** One code point, two code units. */
const CRANE = '\u{1F3D7}';

const good = (name: string, document: Json): Case => ({ name, page: document, wrong: [] });
const bad = (name: string, document: Json, ...wrong: string[]): Case => ({ name, page: document, wrong });
const one = (block: Json): Json => page([block]);
const times = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, at) => make(at));
const without = (object: Json, name: string): Json => {
  const { [name]: _, ...rest } = object;
  return rest;
};

/** Cases for the length of a text: at and around its limits, in ASCII and in two code units per character. */
function lengths(what: string, path: string, min: number, max: number, make: (text: string) => Json): Case[] {
  return [
    good(`${what}: ${max} characters`, make('a'.repeat(max))),
    good(`${what}: ${max - 1} characters`, make('a'.repeat(max - 1))),
    good(`${what}: ${max} code points of two units`, make(CRANE.repeat(max))),
    bad(`${what}: ${max + 1} characters`, make('a'.repeat(max + 1)), path),
    bad(`${what}: ${max + 1} code points of two units`, make(CRANE.repeat(max + 1)), path),
    bad(`${what}: ${max} code points of two units and one more`, make(`${CRANE.repeat(max)}a`), path),
    min === 0 ? good(`${what}: empty`, make('')) : bad(`${what}: empty`, make(''), path),
    ...(min === 0 ? [] : [good(`${what}: 1 character`, make('a'))]),
    bad(`${what}: a number`, make(5 as never), path),
    bad(`${what}: with U+0000`, make('a\0'), path),
    bad(`${what}: with a lone surrogate`, make('a\ud800'), path),
  ];
}

/** Cases for the length of a list: at and around its limits. */
function counts(what: string, path: string, min: number, max: number, make: (count: number) => Json): Case[] {
  return [
    good(`${what}: ${max}`, make(max)),
    good(`${what}: ${max - 1}`, make(max - 1)),
    bad(`${what}: ${max + 1}`, make(max + 1), path),
    good(`${what}: ${min}`, make(min)),
    ...(min > 0 ? [bad(`${what}: ${min - 1}`, make(min - 1), path)] : []),
  ];
}

/** Cases for an integer: at and around its limits, and other values. */
function integers(what: string, path: string, min: number, max: number, make: (value: Json) => Json): Case[] {
  const wrong = [min - 1, max + 1, min + 0.5, String(min), true, [min], {}];
  return [
    ...[min, min + 1, max - 1, max].map((value) => good(`${what}: ${value}`, make(value))),
    ...wrong.map((value) => bad(`${what}: ${JSON.stringify(value)}`, make(value), path)),
  ];
}

const text = (runs: Json) => one(blocks.text('a', runs));
const list = (items: Json) => one(blocks.list('a', items));
const checks = (items: Json) => one(blocks.list('a', items, 'CHECKLIST'));
const failed = (failure: Json) => one(blocks.failed('a', failure));

const pageRules: Case[] = [
  good('a page without blocks', page()),
  ...['schemaVersion', 'title', 'blocks'].map((name) => bad(`a page without ${name}`, without(page(), name), name)),
  ...['schemaVersion', 'title', 'blocks'].map((name) => bad(`${name}: null`, page([], { [name]: null }), name)),
  ...[0, 2, '1', 1.5, true].map((schemaVersion) =>
    bad(`schemaVersion: ${JSON.stringify(schemaVersion)}`, page([], { schemaVersion }), 'schemaVersion'),
  ),
  ...lengths('title', 'title', 0, 20_000, (title) => page([], { title })),
  ...lengths('shortDescription', 'shortDescription', 0, 20_000, (shortDescription) => page([], { shortDescription })),
  good('shortDescription: null', page([], { shortDescription: null })),
  ...['contentMetadata', 'sharingMetadata'].flatMap((name) => [
    good(`${name}: free-form`, page([], { [name]: { a: [1, null, { b: 'c' }], 'd e': true } })),
    ...['text', 5, true, []].map((value) =>
      bad(`${name}: ${JSON.stringify(value)}`, page([], { [name]: value }), name),
    ),
    bad(`${name}: U+0000 deep within`, page([], { [name]: { a: [{ b: '\0' }] } }), `${name}.a[0].b`),
    bad(`${name}: a number that is too large`, page([], { [name]: { a: Number.POSITIVE_INFINITY } }), `${name}.a`),
  ]),
  bad('a page with an unknown field', page([], { subtitle: 'x' }), 'subtitle'),
  ...[{}, 'text', 5, true].map((value) =>
    bad(`blocks: ${JSON.stringify(value)}`, { ...page(), blocks: value }, 'blocks'),
  ),
  bad('blocks: one block that is not in a list', { ...page(), blocks: blocks.text('a') }, 'blocks'),
];

const blockRules: Case[] = [
  ...['text', 5, null, []].map((value) => bad(`a block: ${JSON.stringify(value)}`, one(value), 'blocks[0]')),
  ...['sourceBlockId', 'type', 'properties'].map((name) =>
    bad(`a block without ${name}`, one(without(blocks.text('a'), name)), `blocks[0].${name}`),
  ),
  ...lengths('sourceBlockId', 'blocks[0].sourceBlockId', 1, 220, (id) => one(blocks.text(id))),
  ...['VIDEO', 'text', '', 5, null, ['TEXT'], 'constructor', '__proto__'].map((type) =>
    bad(`type: ${JSON.stringify(type)}`, one({ ...blocks.text('a'), type }), 'blocks[0].type'),
  ),
  ...['text', 5, null, []].map((properties) =>
    bad(`properties: ${JSON.stringify(properties)}`, one({ ...blocks.text('a'), properties }), 'blocks[0].properties'),
  ),
  good('properties: free-form', one({ ...blocks.text('a'), properties: { anything: [{ at: 'all' }], level: 9 } })),
  good('properties: more than level', one({ ...blocks.heading('a'), properties: { level: 2, color: 'red' } })),
  bad(
    'properties: U+0000 deep within',
    one({ ...blocks.text('a'), properties: { b: ['\0'] } }),
    'blocks[0].properties.b[0]',
  ),
  bad(
    'the same sourceBlockId twice',
    page([blocks.text('a'), blocks.text('b'), blocks.text('a')]),
    'blocks[2].sourceBlockId',
  ),
  bad(
    'the same sourceBlockId three times',
    page([blocks.text('a'), blocks.text('a'), blocks.text('a')]),
    'blocks[1].sourceBlockId',
    'blocks[2].sourceBlockId',
  ),
  good('the same sourceBlockId in other pages', page([blocks.text('a'), blocks.page('b', one(blocks.text('a')))])),
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
      ...{ richText: rich('x'), attachmentId: 'att_a1', captureSequenceId: 1, imageStatus: 'FAILED' },
      ...{ imageFailure: { code: 'a', message: 'b' }, childPage: page(), color: 'red', level: 1, items: [] },
    })
      .filter(
        ([name]) => !(name in block) && !(type === 'IMAGE' && ['attachmentId', 'captureSequenceId'].includes(name)),
      )
      .map(([name, value]) =>
        bad(`${type} with the field ${name}`, one({ ...block, [name]: value }), `blocks[0].${name}`),
      ),
  ),
];

const textRules: Case[] = [
  ...['TEXT', 'HEADING'].map((type) =>
    bad(`${type} without richText`, one({ ...without(blocks.heading('a'), 'richText'), type }), 'blocks[0].richText'),
  ),
  ...counts('runs', 'blocks[0].richText', 1, 200, (count) => text(times(count, () => ({ text: 'a' })))),
  ...[null, {}, 'text', 5, { text: 'a' }].map((runs) =>
    bad(`richText: ${JSON.stringify(runs)}`, text(runs), 'blocks[0].richText'),
  ),
  good('a rich text of 20000 characters', text(times(200, () => ({ text: 'a'.repeat(100) })))),
  good('a rich text of 20000 code points', text([{ text: CRANE.repeat(19_999) }, { text: 'a' }])),
  bad(
    'a rich text of 20001 characters',
    text([...times(199, () => ({ text: 'a'.repeat(100) })), { text: 'a'.repeat(101) }]),
    'blocks[0].richText',
  ),
  bad(
    'a rich text of 20001 code points',
    text([{ text: CRANE.repeat(20_000) }, { text: 'a', marks: [] }]),
    'blocks[0].richText',
  ),
  good('an empty run', text([{ text: '' }])),
  ...['text', 5, null, []].map((run) => bad(`a run: ${JSON.stringify(run)}`, text([run]), 'blocks[0].richText[0]')),
  ...[{}, { text: null }, { text: 5 }, { text: 'a\0' }, { text: '\udfff' }].map((run) =>
    bad(`a run: ${JSON.stringify(run)}`, text([{ text: 'a' }, run]), 'blocks[0].richText[1].text'),
  ),
  bad('a run with an unknown field', text([{ text: 'a', color: 'red' }]), 'blocks[0].richText[0].color'),
  ...[[], ['BOLD'], ['ITALIC'], ['ITALIC', 'BOLD'], ['BOLD', 'BOLD'], null].map((marks) =>
    good(`marks: ${JSON.stringify(marks)}`, text([{ text: 'a', marks }])),
  ),
  bad('marks: three', text([{ text: 'a', marks: ['BOLD', 'ITALIC', 'BOLD'] }]), 'blocks[0].richText[0].marks'),
  ...['BOLD', {}, 5].map((marks) =>
    bad(`marks: ${JSON.stringify(marks)}`, text([{ text: 'a', marks }]), 'blocks[0].richText[0].marks'),
  ),
  ...['bold', 'UNDERLINE', '', null, 5].map((mark) =>
    bad(
      `a mark: ${JSON.stringify(mark)}`,
      text([{ text: 'a', marks: ['BOLD', mark] }]),
      'blocks[0].richText[0].marks[1]',
    ),
  ),
  ...integers('level', 'blocks[0].properties.level', 1, 4, (level) => one(blocks.heading('a', level))),
  bad('a heading without level', one({ ...blocks.heading('a'), properties: {} }), 'blocks[0].properties.level'),
];

const listRules: Case[] = ['BULLETED_LIST', 'ORDERED_LIST', 'CHECKLIST'].flatMap((type) => {
  const make = (items: Json) => one(blocks.list('a', items, type));
  const at = 'blocks[0].properties.items';
  return [
    ...counts(`${type} items`, at, 1, 100, (count) => make(times(count, (index) => item(String(index))))),
    ...[undefined, null, {}, 'text', item('a')].map((items) =>
      bad(`${type} items: ${JSON.stringify(items)}`, make(items === undefined ? null : items), at),
    ),
    bad(`${type} without items`, one({ ...blocks.list('a', [], type), properties: {} }), at),
    ...['text', 5, null, []].map((value) => bad(`${type} item: ${JSON.stringify(value)}`, make([value]), `${at}[0]`)),
    ...['id', 'richText'].map((name) =>
      bad(`${type} item without ${name}`, make([without(item('a'), name)]), `${at}[0].${name}`),
    ),
    ...lengths(`${type} item id`, `${at}[0].id`, 1, 220, (id) => make([item(id)])),
    bad(`${type} with an item id twice`, make([item('a'), item('b'), item('a')]), `${at}[2].id`),
    ...integers(`${type} depth`, `${at}[0].depth`, 0, 6, (depth) => make([item('a', { depth })])),
    bad(`${type} item with an unknown field`, make([item('a', { color: 'red' })]), `${at}[0].color`),
    bad(
      `${type} item with 201 runs`,
      make([item('a', { richText: times(201, () => ({ text: '' })) })]),
      `${at}[0].richText`,
    ),
    bad(
      `${type} item with 20001 characters`,
      make([item('a'), item('b', { richText: rich('a'.repeat(20_001)) })]),
      `${at}[1].richText`,
    ),
  ];
});

const checkRules: Case[] = [
  good('a checklist item that is checked', checks([item('a', { checked: true }), item('b', { checked: false })])),
  ...['true', 1, []].map((checked) =>
    bad(
      `checked: ${JSON.stringify(checked)}`,
      checks([item('a', { checked })]),
      'blocks[0].properties.items[0].checked',
    ),
  ),
  bad('a list item that is checked', list([item('a', { checked: true })]), 'blocks[0].properties.items[0].checked'),
];

const imageRules: Case[] = [
  good('an image', one(blocks.image('a'))),
  ...['attachmentId', 'imageStatus'].map((name) =>
    bad(`an image without ${name}`, one(without(blocks.image('a'), name)), `blocks[0].${name}`),
  ),
  ...['SYNCING', 'synced', 5, null].map((imageStatus) =>
    bad(
      `imageStatus: ${JSON.stringify(imageStatus)}`,
      one({ ...blocks.image('a'), imageStatus }),
      'blocks[0].imageStatus',
    ),
  ),
  ...['att_a', 'att_1a', 'att_A1', 'att_a1\n', 'photo_a1', 'att_', '', 5, null].map((id) =>
    bad(`attachmentId: ${JSON.stringify(id)}`, one(blocks.image('a', id)), 'blocks[0].attachmentId'),
  ),
  ...['att_a1', 'att_ab'].map((id) => good(`attachmentId: ${id}`, one(blocks.image('a', id)))),
  good('SYNCED with imageFailure null', one({ ...blocks.image('a'), imageFailure: null })),
  bad(
    'SYNCED with an imageFailure',
    one({ ...blocks.image('a'), imageFailure: { code: 'a', message: 'b' } }),
    'blocks[0].imageFailure',
  ),
  good('FAILED without attachmentId', one(blocks.failed('a'))),
  good('FAILED with attachmentId null', one({ ...blocks.failed('a'), attachmentId: null })),
  bad('FAILED with an attachmentId', one({ ...blocks.failed('a'), attachmentId: 'att_a1' }), 'blocks[0].attachmentId'),
  bad('FAILED without imageFailure', one(without(blocks.failed('a'), 'imageFailure')), 'blocks[0].imageFailure'),
  ...[null, 'text', []].map((failure) =>
    bad(`imageFailure: ${JSON.stringify(failure)}`, failed(failure), 'blocks[0].imageFailure'),
  ),
  ...['code', 'message'].map((name) =>
    bad(
      `imageFailure without ${name}`,
      failed(without({ code: 'a', message: 'b' }, name)),
      `blocks[0].imageFailure.${name}`,
    ),
  ),
  ...lengths('imageFailure.code', 'blocks[0].imageFailure.code', 1, 80, (code) => failed({ code, message: 'b' })),
  ...lengths('imageFailure.message', 'blocks[0].imageFailure.message', 1, 500, (message) =>
    failed({ code: 'a', message }),
  ),
  bad(
    'imageFailure with an unknown field',
    failed({ code: 'a', message: 'b', cause: 'c' }),
    'blocks[0].imageFailure.cause',
  ),
  ...[0, 1.5, -3, 1e300, null].map((value) =>
    good(`captureSequenceId: ${value}`, one({ ...blocks.image('a'), captureSequenceId: value })),
  ),
  ...['1', true, [], {}].map((value) =>
    bad(
      `captureSequenceId: ${JSON.stringify(value)}`,
      one({ ...blocks.image('a'), captureSequenceId: value }),
      'blocks[0].captureSequenceId',
    ),
  ),
];

const childRules: Case[] = [
  bad('a PAGE without childPage', one(without(blocks.page('a'), 'childPage')), 'blocks[0].childPage'),
  ...[null, 'text', [], 5].map((child) =>
    bad(`childPage: ${JSON.stringify(child)}`, one(blocks.page('a', child)), 'blocks[0].childPage'),
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
