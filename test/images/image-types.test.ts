import { describe, expect, it } from 'vitest';
import { parseImageType } from '../../src/images/types.ts';

describe('a declared media type (UPL-18)', () => {
  it.each([
    ['image/jpeg', 'image/jpeg'],
    [' IMAGE/JPG ', 'image/jpeg'],
    ['image/apng', 'image/png'],
    ['image/svg+xml', null],
    ['constructor', null],
    ['__proto__', null],
  ])('%s is %s', (declared, type) => {
    expect(parseImageType(declared)).toBe(type);
  });
});
