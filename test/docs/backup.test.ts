import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { newId } from '../../schema/ids.ts';
import { loadConfig } from '../../src/config.ts';
import { type ListedErasure, listStoredErasures, storeErasure } from '../../src/domain/privacy/erasure-list.ts';
import { REGIONS } from '../../src/shared/regions.ts';
import { openStorages } from '../../src/storage/storage.ts';
import { runBackupCommands } from '../support/backup-commands.ts';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'backup-'));
});
afterEach(() => rm(folder, { recursive: true }));

const openStores = () =>
  openStorages(loadConfig({ DATA_DIR: folder }), { secrets: ['k'.repeat(43)], clock: { now: () => Date.now() } });

function createErasure(id: string): ListedErasure {
  const at = new Date().toISOString();
  const subject = { subjectIds: ['user_a'], builderIds: [], pseudonym: 'Erased person 0123456789' };
  return { id, kind: 'PERSON', ...subject, requestedAt: at, dueAt: at, cancelledAt: null };
}

describe('the commands of a restore', () => {
  it('keep the erasures that were made after the store was copied (PRV-6)', async () => {
    const [PGDATA, BACKUP, STORE] = [join(folder, 'pgdata'), join(folder, 'backup'), join(folder, 'storage')];
    const env = { PGDATA, BACKUP, STORE, ARCHIVE: join(folder, 'archive'), TARGET: '2026-11-22 13:05:00+00' };
    for (const path of [PGDATA, BACKUP]) await mkdir(path);
    await writeFile(join(BACKUP, 'backup_label'), '');
    // An archive without files: two blocks of zeros.
    await writeFile(join(BACKUP, 'base.tar'), Buffer.alloc(1024));
    const [copied, later] = [newId('erasure', 1), newId('erasure', 2)];
    for (const region of REGIONS) await storeErasure(openStores()[region], createErasure(copied));
    await runBackupCommands('store', env);
    for (const region of REGIONS) await storeErasure(openStores()[region], createErasure(later));
    await runBackupCommands('restore', env);
    for (const region of REGIONS) expect(await listStoredErasures(openStores()[region])).toEqual([copied, later]);
  });
});
