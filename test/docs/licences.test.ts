import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

interface Locked {
  dev?: boolean;
  link?: boolean;
  license?: string;
}

const lock = JSON.parse(readFileSync(join(import.meta.dirname, '../..', 'package-lock.json'), 'utf8'));
const shipped = Object.entries(lock.packages as Record<string, Locked>).filter(
  ([path, { dev, link }]) => path.startsWith('node_modules/') && !dev && !link,
);

const ALLOWED = new Set([
  'MIT',
  'MIT-0',
  'ISC',
  '0BSD',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'CC0-1.0',
]);
/**
 * Prebuilt libraries that are used unchanged and can be replaced, as the LGPL requires: libvips, which sharp links at run time, and
 * libheif as WebAssembly, which is loaded from a file. No library that reads HEIC files has another licence that is allowed here.
 */
const PREBUILT = /^node_modules\/(@img\/sharp-|libheif-js$)/;
const LGPL = ['LGPL-3.0-or-later', 'LGPL-3.0'];

describe('the licences of what is shipped', () => {
  it('allow it: MIT, ISC, BSD, Apache and their like, and LGPL for a prebuilt library alone', () => {
    expect(shipped.length).toBeGreaterThan(100);
    const others = shipped.filter(([path, { license = 'none' }]) => {
      const names = license.replace(/[()]/g, '').split(/ AND | OR /);
      return !names.every((name) => ALLOWED.has(name) || (LGPL.includes(name) && PREBUILT.test(path)));
    });
    expect(others).toEqual([]);
  });
});
