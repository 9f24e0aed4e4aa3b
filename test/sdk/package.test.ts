import { readFile } from 'node:fs/promises';
import { gzipSync } from 'node:zlib';
import { build } from 'rolldown';
import { describe, expect, it } from 'vitest';

/** Bundles a module of the package for browsers. Returns its compressed size in bytes. */
async function measure(entry: string): Promise<number> {
  const { output } = await build({ input: entry, platform: 'browser', output: { minify: true }, write: false });
  return gzipSync(output[0].code).length;
}

describe('the client package', () => {
  it('has at most 20 KB compressed without the gate, and needs nothing of Node in a browser', async () => {
    expect(await measure('sdk/src/index.ts')).toBeLessThan(20_000);
    await measure('sdk/src/gate/indexeddb-store.ts');
  });

  it('has at most two dependencies, in the versions that the lock file has', async () => {
    const { dependencies, version } = JSON.parse(await readFile('sdk/package.json', 'utf8'));
    const { packages } = JSON.parse(await readFile('package-lock.json', 'utf8'));
    expect(Object.keys(dependencies).length).toBeLessThanOrEqual(2);
    for (const [name, pinned] of Object.entries(dependencies))
      expect(packages[`node_modules/${name}`].version).toBe(pinned);
    expect(packages.sdk.version).toBe(version);
  });
});
