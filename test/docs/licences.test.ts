import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

interface Locked {
  link?: boolean;
  license?: string;
}

const readJson = (path: string) => JSON.parse(readFileSync(join(import.meta.dirname, '../..', path), 'utf8'));
const packages = Object.entries(readJson('package-lock.json').packages as Record<string, Locked>).filter(
  ([path, { link }]) => path.startsWith('node_modules/') && !link,
);
/** Packages that only develop and test, with other licences. The console contains code of other packages of development, such as React. */
const TOOLS =
  /^node_modules\/(argparse|axe-core|compute-(gcd|lcm)|fast-sha256|lightningcss(-[\w-]+)?|validate\.io-[\w-]+)$/;

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
    expect(packages.length).toBeGreaterThan(300);
    const others = packages.filter(([path, { license = 'none' }]) => {
      const names = license.replace(/[()]/g, '').split(/ AND | OR /);
      return !names.every((name) => ALLOWED.has(name) || (LGPL.includes(name) && PREBUILT.test(path)));
    });
    expect(others.filter(([path]) => !TOOLS.test(path))).toEqual([]);
  });

  it('are those of the installed packages', () => {
    const installed = packages
      .map(([path, { license }]) => ({ manifest: `${path}/package.json`, license }))
      .filter(({ manifest }) => existsSync(join(import.meta.dirname, '../..', manifest)));
    expect(installed.length).toBeGreaterThan(300);
    expect(installed.filter(({ manifest, license }) => readJson(manifest).license !== license)).toEqual([]);
  });
});
