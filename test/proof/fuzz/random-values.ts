import fc from 'fast-check';
import { arbitraryText } from '../../support/arbitrary-text.ts';
import type { Samples } from '../../support/samples.ts';
import type { Json } from './contract.ts';

/** Draws values from the arbitraries of fast-check, all from one seed. */
export type Draw = fc.GeneratorValue;

const getNaturals = (max: number) => fc.noBias(fc.nat(max));

/** Returns an integer from 0 to `max`, uniformly distributed. */
export const randomInteger = (draw: Draw, max: number): number => draw(getNaturals, max);
/** Returns one of the values, uniformly distributed. */
export const pick = <T>(draw: Draw, values: readonly T[]): T => values[randomInteger(draw, values.length - 1)]!;
/** Returns true with the given probability. */
export const chance = (draw: Draw, percent: number): boolean => randomInteger(draw, 99) < percent;

/** Texts that often cause errors in services: SQL, headers, paths, numbers, Unicode. */
const DICTIONARY = [
  ...["'", "''", "' or '1'='1", '1; drop table builder; --', "' union select null --", "'); select pg_sleep(5); --"],
  ...[
    '" or ""="',
    "\\' or 1=1 --",
    '$1',
    '$$',
    '%',
    '_',
    '*',
    '1/0',
    "e'\\x27'",
    "buil_a' or builder_id is not null --",
  ],
  ...['\r\nX-Injected: 1', '%0d%0aX-Injected:%201', '\nSet-Cookie: session-au1=x', '\u2028', '\u0085X-Injected: 1'],
  ...[
    '../../etc/passwd',
    '..\\..\\',
    '%2e%2e%2f',
    'file:///etc/passwd',
    'http://127.0.0.1:5432/',
    '//evil.example',
    '%00',
  ],
  ...[
    '\u0000',
    'a\u0000b',
    '\ud800',
    '\udfff\ud800',
    '\ufeff',
    '\u202e',
    'e\u0301',
    '𝒳',
    '👩‍👩‍👧‍👦',
    'ß',
    'İ',
    '\u200b',
    '\t',
    ' ',
  ],
  ...[
    'NaN',
    'Infinity',
    '-0',
    '1e309',
    '0x10',
    '1e1',
    '1_000',
    '٣',
    '9007199254740993',
    '2147483648',
    '-2147483649',
    '1.0',
  ],
  ...[
    'null',
    'undefined',
    'true',
    '[]',
    '{}',
    '[object Object]',
    '__proto__',
    'constructor',
    'toString',
    'hasOwnProperty',
  ],
  ...[
    '<script>alert(1)</script>',
    '{{7*7}}',
    ['$', '{7*7}'].join(''),
    '#{7*7}',
    '%s%n%x',
    '`id`',
    '$(id)',
    '; ls',
    'javascript:alert(1)',
  ],
  ...[
    '2026-02-30',
    '0000-01-01',
    '9999-12-31T23:59:60Z',
    '2026-01-01T00:00:00+99:99',
    '275760-09-13',
    '+275760-09-13T00:00:00Z',
  ],
  ...['294277-01-01T00:00:00Z', '-4713-01-01', '2026-01-01T24:00:00Z', 'infinity', '-infinity', 'now', 'epoch'],
];

const longTexts = fc
  .constantFrom(161, 221, 256, 1_001, 20_001, 70_000)
  .chain((length) =>
    fc.constantFrom('a', '9', 'é', '😀', "'", '%', ' ').map((unit) => unit.repeat(length / unit.length)),
  );
const hostileTexts = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom(...DICTIONARY) },
  { weight: 2, arbitrary: arbitraryText({ maxLength: 40 }) },
  { weight: 2, arbitrary: fc.string({ maxLength: 30 }) },
  { weight: 1, arbitrary: longTexts },
);
// fast-check identifies an arbitrary by the function that returns it, which therefore must not be created at each call.
const getHostileTexts = () => hostileTexts;

/** Returns a random text that may cause an error in a service. */
export const hostileText = (draw: Draw): string => draw(getHostileTexts);

const anyValues = fc.oneof(
  hostileTexts,
  fc.constantFrom<unknown>(
    ...[null, true, false, 0, -1, 1, 1.5, -0, 26, 2 ** 31, 2 ** 31 - 1, 2 ** 53, -(2 ** 63), 1e308, 5e-324],
    ...[
      [],
      {},
      [[]],
      [null],
      { id: null },
      [[[[[[[[]]]]]]]],
      { toString: 1 },
      { length: 1 },
      ['a', 'b'],
      { $ne: null },
    ],
  ),
  fc.jsonValue({ maxDepth: 3 }),
);
const getAnyValues = () => anyValues;

/** Returns a random JSON value, which usually has the wrong type. */
export const hostileValue = (draw: Draw): unknown => draw(getAnyValues);

const patternArbitraries = new Map<string, fc.Arbitrary<string>>();
const stringMatching = (pattern: string) => {
  let arbitrary = patternArbitraries.get(pattern);
  if (!arbitrary) {
    arbitrary = fc.stringMatching(new RegExp(pattern, 'u'));
    patternArbitraries.set(pattern, arbitrary);
  }
  return arbitrary;
};

const plainTexts = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 24 });
const getPlainTexts = () => plainTexts;
const getIntegers = (min: number, max: number) => fc.integer({ min, max });
const DATES = [
  '2026-03-02T07:30:00Z',
  '2026-03-02T07:30:00.123+10:00',
  '1970-01-01T00:00:00Z',
  '2025-12-31T23:59:59.999Z',
];

/** Returns a value that the schema allows. Most ids are those of the samples. */
export function allowedValue(
  draw: Draw,
  schema: Json,
  fixture: { samples: Samples; resolveReference: (schema: Json) => Json },
  depth = 0,
): Json {
  const found = fixture.resolveReference(schema);
  if ('const' in found) return found.const;
  if (found.enum) return pick(draw, found.enum);
  const choices = found.oneOf ?? found.anyOf;
  if (choices) return allowedValue(draw, pick(draw, depth > 8 ? choices.slice(0, 1) : choices), fixture, depth + 1);
  const types: string[] = [found.type ?? 'string'].flat();
  const type = types.includes('null') && chance(draw, 20) ? 'null' : types.find((one) => one !== 'null');
  switch (type) {
    case 'null':
      return null;
    case 'boolean':
      return chance(draw, 50);
    case 'integer':
      return draw(getIntegers, found.minimum ?? -5, Math.min(found.maximum ?? 1_000, 2 ** 31 - 1));
    case 'number':
      return randomInteger(draw, 10_000) / 8;
    case 'array': {
      const least = found.minItems ?? 0;
      const length = depth > 6 ? least : least + randomInteger(draw, Math.min(3, (found.maxItems ?? 3) - least));
      return Array.from({ length }, () => allowedValue(draw, found.items ?? {}, fixture, depth + 1));
    }
    case 'object': {
      const required: string[] = found.required ?? [];
      const fields = Object.entries<Json>(found.properties ?? {}).filter(
        ([name]) => required.includes(name) || (depth < 6 && chance(draw, 50)),
      );
      return Object.fromEntries(fields.map(([name, field]) => [name, allowedValue(draw, field, fixture, depth + 1)]));
    }
    default:
      return generateText(draw, found, fixture.samples);
  }
}

function generateText(
  draw: Draw,
  { pattern, format, minLength = 0, maxLength = 40, examples }: Json,
  samples: Samples,
): string {
  const prefix = /^\^(\w+_)/.exec(pattern ?? '')?.[1];
  const real = prefix && Object.values(samples).find((id) => id.startsWith(prefix));
  if (real && chance(draw, 80)) return real;
  if (format === 'date-time') return pick(draw, DATES);
  if (examples && chance(draw, 50)) return pick<string>(draw, examples);
  if (pattern) return draw(stringMatching, pattern);
  if (format === 'email') return 'mia.tran@brightwire.example';
  if (format === 'uri') return 'https://files.example/a';
  if (chance(draw, 5) && maxLength <= 2_000) return 'x'.repeat(maxLength);
  return [...draw(getPlainTexts)].slice(0, maxLength).join('').padEnd(minLength, 'x');
}

/** Returns the value with one member, at any depth, replaced, removed or added. */
export function mutateValue(draw: Draw, value: Json): Json {
  if (Buffer.isBuffer(value)) return value.subarray(0, randomInteger(draw, value.length));
  if (value === null || typeof value !== 'object' || chance(draw, 8)) return hostileValue(draw);
  if (Array.isArray(value)) {
    if (value.length === 0 || chance(draw, 20)) return [...value, hostileValue(draw)];
    if (chance(draw, 15)) return Array.from({ length: 130 }, () => value[0]);
    const at = randomInteger(draw, value.length - 1);
    return value.map((item, index) => (index === at ? mutateValue(draw, item) : item));
  }
  const names = Object.keys(value);
  if (names.length === 0 || chance(draw, 10)) return { ...value, [hostileText(draw)]: hostileValue(draw) };
  const name = pick(draw, names);
  if (chance(draw, 15)) {
    const { [name]: _, ...rest } = value;
    return rest;
  }
  return { ...value, [name]: mutateValue(draw, value[name]) };
}
