import { chown, mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/config.ts';
import { storeErasure } from '../../src/domain/privacy/erasure-list.ts';
import { openStorages } from '../../src/storage/storage.ts';

/** Another user than root, as which a service runs. */
const SERVICE = 65_534;
const isRoot = process.getuid?.() === 0;

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'builder-api-owner-'));
});
afterEach(() => rm(folder, { recursive: true }));

async function storeAll(): Promise<Record<string, number>> {
  const config = loadConfig({ DATA_DIR: folder });
  const storage = openStorages(config, { secrets: ['k'.repeat(43)], clock: { now: () => 0 } }).au1;
  await storage.store('logos/buil_a/a.png', Readable.from(['first']), 'image/png', 100);
  await storage.store('logos/buil_a/a.png', Readable.from(['other']), 'image/png', 100);
  const at = '2026-03-02T07:30:00.000Z';
  const subject = { subjectIds: ['user_a'], builderIds: [], pseudonym: 'Erased person 0123456789' };
  const times = { requestedAt: at, dueAt: at, cancelledAt: null };
  await storeErasure(storage, { id: 'era_a1', kind: 'PERSON', ...subject, ...times });
  const paths = await readdir(folder, { recursive: true });
  return Object.fromEntries(await Promise.all(paths.map(async (path) => [path, (await stat(join(folder, path))).uid])));
}

describe.skipIf(!isRoot)('what root stores', () => {
  it('belongs to the user of the folder, who is that of the service: files, folders and the list of erasures (PRV-6)', async () => {
    await chown(folder, SERVICE, SERVICE);
    const owners = await storeAll();
    expect(Object.keys(owners)).toEqual(
      expect.arrayContaining([
        'storage/spool',
        'storage/objects/au1/logos/buil_a/a.png',
        'storage/objects/au1/erasures/era_a1.json',
      ]),
    );
    expect(Object.entries(owners).filter(([, owner]) => owner !== SERVICE)).toEqual([]);
  });

  it('belongs to root in a folder of root', async () => {
    expect(new Set(Object.values(await storeAll()))).toEqual(new Set([0]));
  });
});
