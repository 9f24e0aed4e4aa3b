import { describe, expect, it } from 'vitest';
import { canonicalJson, createFingerprint } from '../../src/domain/canonical-json.ts';

/** RFC 8785, appendix B: the bits of a double and its JSON text. */
const NUMBERS = [
  ['0000000000000000', '0'],
  ['8000000000000000', '0'],
  ['0000000000000001', '5e-324'],
  ['8000000000000001', '-5e-324'],
  ['7fefffffffffffff', '1.7976931348623157e+308'],
  ['ffefffffffffffff', '-1.7976931348623157e+308'],
  ['4340000000000000', '9007199254740992'],
  ['c340000000000000', '-9007199254740992'],
  ['4430000000000000', '295147905179352830000'],
  ['44b52d02c7e14af5', '9.999999999999997e+22'],
  ['44b52d02c7e14af6', '1e+23'],
  ['44b52d02c7e14af7', '1.0000000000000001e+23'],
  ['444b1ae4d6e2ef4e', '999999999999999700000'],
  ['444b1ae4d6e2ef4f', '999999999999999900000'],
  ['444b1ae4d6e2ef50', '1e+21'],
  ['3eb0c6f7a0b5ed8c', '9.999999999999997e-7'],
  ['3eb0c6f7a0b5ed8d', '0.000001'],
  ['41b3de4355555553', '333333333.3333332'],
  ['41b3de4355555554', '333333333.33333325'],
  ['41b3de4355555555', '333333333.3333333'],
  ['41b3de4355555556', '333333333.3333334'],
  ['41b3de4355555557', '333333333.33333343'],
  ['becbf647612f3696', '-0.0000033333333333333333'],
  ['43143ff3c1cb0959', '1424953923781206.2'],
] as const;

const doubleOf = (bits: string) => Buffer.from(bits, 'hex').readDoubleBE();

/** RFC 8785, section 3.2.2: input with white space, escapes and non-canonical numbers. */
const SAMPLE = String.raw`{
  "numbers": [333333333.33333329, 1E30, 4.50,
              2e-3, 0.000000000000000000000000001],
  "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
  "literals": [null, true, false]
}`;

/** RFC 8785, section 3.2.4: the expected output, in UTF-8. */
const SAMPLE_BYTES = `
  7b 22 6c 69 74 65 72 61 6c 73 22 3a 5b 6e 75 6c 6c 2c 74 72
  75 65 2c 66 61 6c 73 65 5d 2c 22 6e 75 6d 62 65 72 73 22 3a
  5b 33 33 33 33 33 33 33 33 33 2e 33 33 33 33 33 33 33 2c 31
  65 2b 33 30 2c 34 2e 35 2c 30 2e 30 30 32 2c 31 65 2d 32 37
  5d 2c 22 73 74 72 69 6e 67 22 3a 22 e2 82 ac 24 5c 75 30 30
  30 66 5c 6e 41 27 42 5c 22 5c 5c 5c 5c 5c 22 2f 22 7d`;

/** RFC 8785, section 3.2.3: property names that are not sorted. */
const NAMES = String.raw`{
  "\u20ac": "Euro Sign",
  "\r": "Carriage Return",
  "\ufb33": "Hebrew Letter Dalet With Dagesh",
  "1": "One",
  "\ud83d\ude00": "Emoji: Grinning Face",
  "\u0080": "Control",
  "\u00f6": "Latin Small Letter O With Diaeresis"
}`;

const canonical = (text: string) => canonicalJson(JSON.parse(text));

describe('RFC 8785', () => {
  it.each(NUMBERS)('appendix B: the double %s is %s', (bits, written) => {
    expect(canonicalJson(doubleOf(bits))).toBe(written);
    if (written !== '0') expect(JSON.parse(written)).toBe(doubleOf(bits));
  });

  it('appendix B: NaN and the infinities are errors', () => {
    for (const bits of ['7fffffffffffffff', '7ff0000000000000', 'fff0000000000000']) {
      expect(() => canonicalJson({ deep: [doubleOf(bits)] })).toThrow(TypeError);
    }
  });

  it('section 3.2.2: no white space, one spelling of literals, numbers and strings', () => {
    expect(Buffer.from(canonical(SAMPLE))).toEqual(Buffer.from(SAMPLE_BYTES.replaceAll(/\s/g, ''), 'hex'));
  });

  it('section 3.2.2.2: control characters as JSON has names for them, else in four lower-case digits; all else as it is', () => {
    expect(canonicalJson('\b\t\n\f\r"\\\u0000\u001f\u007f\u2028é/\u{1f600}')).toBe(
      '"\\b\\t\\n\\f\\r\\"\\\\\\u0000\\u001f\u007f\u2028é/\u{1f600}"',
    );
  });

  it('section 3.2.3: members by the UTF-16 code units of their names, in nested objects too, and arrays as they are', () => {
    const ordered = [
      ...['Carriage Return', 'One', 'Control', 'Latin Small Letter O With Diaeresis'],
      ...['Euro Sign', 'Emoji: Grinning Face', 'Hebrew Letter Dalet With Dagesh'],
    ];
    const written = canonical(NAMES);
    expect([...written.matchAll(/:"([^"]+)"/g)].map(([, value]) => value)).toEqual(ordered);
    expect(canonical(`{"b":[${NAMES},2,1],"a":{"10":0,"9":0,"":0}}`)).toBe(
      `{"a":{"":0,"10":0,"9":0},"b":[${written},2,1]}`,
    );
  });

  it('section 3.1: text is never normalised', () => {
    expect(canonicalJson('\u00e9')).not.toBe(canonicalJson('e\u0301'));
  });
});

describe('a fingerprint', () => {
  it('is the same for every spelling of a value, and differs for other values', () => {
    const fingerprint = (text: string) => createFingerprint(canonical(text));
    const spellings = [
      '{"a":1,"b":-0}',
      '{"b":0.0,"a":1.0}',
      ' { "\\u0061" : 10e-1 , "b" : 0 } ',
      '{"b":1,"a":1,"b":0}',
    ];
    expect(new Set(spellings.map(fingerprint)).size).toBe(1);
    const others = [
      '{"a":1,"b":0}',
      '{"a":1}',
      '{"a":1,"b":null}',
      '{"a":"1","b":0}',
      '{"a":[1],"b":0}',
      '{"A":1,"b":0}',
    ];
    expect(new Set(others.map(fingerprint)).size).toBe(others.length);
  });

  it('is that of the UTF-8 bytes', () => {
    expect(createFingerprint(canonicalJson('é'))).toBe(createFingerprint(Buffer.from([0x22, 0xc3, 0xa9, 0x22])));
  });
});
