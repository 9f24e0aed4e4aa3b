import { createReadStream } from 'node:fs';
import { cp, mkdir, readdir, readFile, readlink, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { ProgressReporter } from '../../src/cli/io/progress.ts';
import { verifyBackup } from '../../src/cli/services/backup.ts';
import { exportData, importData } from '../../src/cli/services/data-transfer.ts';
import { loadConfig } from '../../src/config.ts';
import type { Database } from '../../src/database/database.ts';
import { renderNext } from '../../src/domain/photos/render-photo.ts';
import { sweep } from '../../src/domain/uploads/sweep.ts';
import { inspectImage } from '../../src/images/inspect.ts';
import { systemClock } from '../../src/shared/clock.ts';
import { OperatorError } from '../../src/shared/operator-error.ts';
import { openStorages, type Storages } from '../../src/storage/storage.ts';
import { OPERATOR } from '../support/audit.ts';
import { BASE_URL } from '../support/harness.ts';
import { DataTransferFixture, type Row, readSample, SAMPLES } from './data-transfer-fixture.ts';

const fixture = new DataTransferFixture();
/** Not modified: no import of these tests into it is committed. */
let empty: Database;
/** The sample data with their files. */
let sample: { database: Database; storages: Storages };

beforeAll(async () => {
  empty = await fixture.createEmptyDatabase();
  sample = { database: await fixture.createEmptyDatabase(), storages: await createStorages() };
  await importSampleFiles(sample.database, sample.storages, SAMPLES);
});
afterAll(() => fixture.dispose());

/** The builder of most sample rows. */
const BUILDER = 'buil_a0mdxo7g1wjnyg83ufpjub7f10';

const silentProgress: ProgressReporter = { update: () => undefined, log: () => undefined, stop: () => undefined };

async function createStorages(): Promise<Storages> {
  const config = loadConfig({ DATA_DIR: await fixture.createTemporaryFolder(), BASE_URL });
  return openStorages(config, { secrets: [Buffer.alloc(32).toString('base64url')], clock: systemClock });
}

/** Copies these files of the sample data, with rows changed, and the stored files. */
async function copySome(files: Record<string, (rows: Row[]) => Row[]>): Promise<string> {
  const read = async ([file, change]: [string, (rows: Row[]) => Row[]]) => [file, change(await readSample(file))];
  const folder = await fixture.createFolder(Object.fromEntries(await Promise.all(Object.entries(files).map(read))));
  await cp(join(SAMPLES, 'files'), join(folder, 'files'), { recursive: true });
  return folder;
}

const unchanged = (rows: Row[]) => rows;

/** Writes a file of an export's folder. */
async function writeStored(folder: string, key: string, content: string): Promise<void> {
  await mkdir(dirname(join(folder, 'files', key)), { recursive: true });
  await writeFile(join(folder, 'files', key), content);
}

/** Returns the files of a folder that this process has open; none where there is no /proc. */
async function listOpenFiles(folder: string): Promise<string[]> {
  const descriptors = await readdir('/proc/self/fd').catch(() => []);
  const paths = await Promise.all(descriptors.map((id) => readlink(`/proc/self/fd/${id}`).catch(() => '')));
  return paths.filter((path) => path.startsWith(folder));
}

function importSampleFiles(database: Database, storages: Storages, folder: string, builder?: string) {
  const request = { folder, builder, keepGood: false, collect: true, storage: storages.au1 };
  return importData({ database, clock: systemClock, source: OPERATOR }, request, silentProgress);
}

const rowsOf = async (database: Database, sql: string) =>
  (await database.fork().execute(sql)) as Record<string, string>[];

describe('photos', () => {
  it('of the sample data are stored by the import', async () => {
    const { database, storages } = sample;
    const [photo] = await rowsOf(database, `select key, file_size from photo where source = 'GALLERY'`);
    const found = await storages.au1.withFile(photo!.key!, (path, size) => inspectImage(path, size));
    expect(found).toMatchObject({ contentType: 'image/jpeg', width: 64, size: Number(photo!.file_size) });
  });

  it('have their renditions made after the import (PHO-41)', async () => {
    const { database, storages } = sample;
    const context = { database, storage: storages.au1 };
    const cursor = { share: '' };
    while (await renderNext(context, cursor)) expect(cursor.share).toMatch(/^(intg|buil)_/);
    const states = await rowsOf(database, 'select status, width from photo_rendition');
    const photos = await rowsOf(database, 'select id from photo');
    expect(states).toEqual(photos.map(() => ({ status: 'READY', width: 64 })));
  });

  it('are exported and imported with their files despite a byte order mark, U+2028 and U+2029', async () => {
    const description = 'a\u2028b\u2029c';
    const [database, storages] = [await fixture.createEmptyDatabase(), await createStorages()];
    const folder = await copySome({
      integrators: unchanged,
      builders: unchanged,
      projects: unchanged,
      'photo-folders': unchanged,
      photos: (rows) => rows.map((row) => ({ ...row, description })),
    });
    const path = join(folder, 'photos.ndjson');
    await writeFile(path, `\ufeff${await readFile(path, 'utf8')}`);
    await importSampleFiles(database, storages, folder);
    const photos = await rowsOf(database, 'select key, description from photo');
    expect(photos.map((photo) => photo.description)).toEqual([description, description]);
    const out = await fixture.createTemporaryFolder();
    await exportData({ database, clock: systemClock, source: OPERATOR }, storages.au1, { folder: out }, silentProgress);
    for (const { key } of photos) expect(await readFile(join(out, 'files', key!))).not.toHaveLength(0);
    const [copy, elsewhere] = [await fixture.createEmptyDatabase(), await createStorages()];
    await importSampleFiles(copy, elsewhere, out);
    for (const { key } of photos) expect(await elsewhere.au1.byteStore.stat(key!), key).not.toBeNull();
  });

  it('are not swept between the search for stored ones and the commit of their rows (UPL-30)', async () => {
    const [database, storages] = [await fixture.createEmptyDatabase(), await createStorages()];
    const { byteStore } = storages.au1;
    const swept: [string, unknown][] = [];
    const stat = vi.spyOn(byteStore, 'stat').mockImplementationOnce(async (key) => {
      // As an import of a day ago has left it, which failed.
      await storages.au1.store(key, createReadStream(join(SAMPLES, 'files', key)), 'image/jpeg', 1e6);
      const found = await byteStore.stat(key);
      swept.push([key, await sweep(database, storages.au1, Date.now() + 2 * 86_400_000)]);
      return found;
    });
    await importSampleFiles(database, storages, SAMPLES);
    stat.mockRestore();
    expect(swept).toEqual([[expect.any(String), null]]);
    expect(await byteStore.stat(swept[0]![0])).not.toBeNull();
  });

  it('have their names, and the rows that refer to them, in an export only when they are complete', async () => {
    const { database, storages } = sample;
    const out = await fixture.createTemporaryFolder();
    const namesWhileCopying: string[] = [];
    const open = vi.spyOn(storages.au1.byteStore, 'open').mockImplementation(async (key) => ({
      size: (await storages.au1.byteStore.stat(key))!.size,
      stream: Readable.from(
        (async function* () {
          yield Buffer.from('half');
          namesWhileCopying.push(...(await readdir(out, { recursive: true })));
          yield Buffer.from('rest');
        })(),
      ),
    }));
    await exportData({ database, clock: systemClock, source: OPERATOR }, storages.au1, { folder: out }, silentProgress);
    open.mockRestore();
    const [photo] = await rowsOf(database, 'select key from photo order by key');
    expect(namesWhileCopying.filter((name) => name.endsWith('.ndjson'))).toEqual([]);
    expect(namesWhileCopying.filter((name) => /^files\/photos\/.*\.part$/.test(name))).not.toHaveLength(0);
    expect(namesWhileCopying).not.toContain(join('files', photo!.key!));
    expect(await readFile(join(out, 'files', photo!.key!), 'utf8')).toBe('halfrest');
    expect((await readdir(out, { recursive: true })).filter((name) => name.endsWith('.part'))).toEqual([]);
  });

  it('whose file is missing end an export with one line that names it', async () => {
    const { database } = sample;
    const storages = await createStorages();
    const target = { folder: await fixture.createTemporaryFolder() };
    const exported = exportData(
      { database, clock: systemClock, source: OPERATOR },
      storages.au1,
      target,
      silentProgress,
    );
    const refused = await exported.catch((error) => error);
    expect(refused).toBeInstanceOf(OperatorError);
    expect(refused.message).toMatch(/^\S+, which the export refers to, is not in the storage\.$/);
  });

  it('whose file has another size than the row end an export with one line that names it', async () => {
    const { database } = sample;
    const storages = await createStorages();
    const [photo] = await rowsOf(database, 'select key from photo order by key');
    for (const { key } of await rowsOf(database, 'select key from photo'))
      await storages.au1.store(key!, Readable.from([Buffer.from('cut off')]), 'image/jpeg', 100);
    const target = { folder: await fixture.createTemporaryFolder() };
    const context = { database, clock: systemClock, source: OPERATOR };
    const refused = await exportData(context, storages.au1, target, silentProgress).catch((error) => error);
    expect(refused).toBeInstanceOf(OperatorError);
    expect(refused.message).toMatch(
      /^photos\S+, which the export refers to, has 7 bytes and not \d+ in the storage\.$/,
    );
    const { intact, objects } = await verifyBackup(context, storages.au1);
    expect([intact, objects.missing]).toEqual([false, expect.arrayContaining([photo!.key])]);
  });

  it('with the key of a stored file of another size, or with one file of two sizes, are rejected', async () => {
    const { database, storages } = sample;
    const photos = [
      ([first]: Row[]) => [{ ...first, fileSize: 1 }],
      ([first]: Row[]) => [first!, { ...first, id: 'att_b', fileSize: 1 }],
    ];
    for (const change of photos) {
      const folder = await copySome({ photos: change });
      const refused = await importSampleFiles(database, storages, folder).catch((error) => error);
      expect(refused.details.problems).toContainEqual(expect.objectContaining({ file: 'photos.ndjson', field: 'key' }));
    }
  });

  it('without files are rejected, and nothing is imported', async () => {
    const storages = await createStorages();
    const { database } = sample;
    const folder = await copySome({
      photos: ([first, ...rest]) => [
        { ...first, key: 'photos/buil_a1/none.jpg' },
        ...rest,
        { ...first, id: 'att_b', key: '../../etc/passwd' },
        { ...first, id: 'att_c', key: 'uploads/buil_a1/none.jpg' },
      ],
    });
    const refused = await importSampleFiles(database, storages, folder).catch((error) => error);
    expect(refused.message).toMatch('Nothing was imported');
    const fields = refused.details.problems.map(({ file, field }: Record<string, string>) => [file, field]);
    expect(fields.filter(([, field]: string[]) => field === 'key')).toHaveLength(3);
  });

  it('with a file of another size are rejected, and the file is not stored', async () => {
    const folder = await copySome({ photos: unchanged });
    const [{ key }] = (await readSample('photos')) as [Row];
    await writeStored(folder, key as string, 'cut off');
    const storages = await createStorages();
    const error = await importSampleFiles(empty, storages, folder).catch((thrown) => thrown);
    expect(error.details.problems).toContainEqual(
      expect.objectContaining({
        field: 'key',
        message: expect.stringContaining('of fileSize bytes under files/photos/'),
      }),
    );
    expect(await storages.au1.byteStore.stat(key as string)).toBeNull();
    expect(await listOpenFiles(folder)).toEqual([]);
  });

  it('are rejected with the key of a folder of the storage', async () => {
    const { database } = sample;
    const storages = await createStorages();
    const [photo] = await readSample('photos');
    const key = `photos/${photo!.builderId}/folder`;
    await storages.au1.store(`${key}/photo.jpg`, Readable.from([Buffer.from('photo')]), 'image/jpeg', 100);
    const folder = await fixture.createFolder({ photos: [{ ...photo, key }] });
    const refused = await importSampleFiles(database, storages, folder).catch((error) => error);
    expect(refused.details.problems).toMatchObject([{ file: 'photos.ndjson', field: 'key' }]);
  });

  it('are accepted without files if the storage has them', async () => {
    const { database, storages } = sample;
    const folder = await fixture.createFolder({ photos: await readSample('photos') });
    const again = await importSampleFiles(database, storages, folder);
    expect(again.files.find(({ file }) => file === 'photos.ndjson')).toMatchObject({ unchanged: 2 });
  });
});

describe('a stored file of another owner', () => {
  const FIELDS = [
    ['builders', 'logoKey', 'logos', 'buil_victim'],
    ['users', 'pictureKey', 'pictures', 'user_victim'],
    ['swms', 'documentKey', 'documents', 'buil_victim'],
    ['insurances', 'documentKey', 'documents', 'buil_victim'],
    ['photos', 'key', 'photos', 'buil_victim'],
  ] as const;

  it.each([
    ['that is stored', (objects: string, victim: string) => `${objects}/${victim}/secret.jpg`],
    ['that is in the folder', (objects: string, victim: string) => `${objects}/${victim}/new.jpg`],
    ['without an owner', (objects: string) => `${objects}/shared.jpg`],
  ])('%s is never named by a row', async (_, keyOf) => {
    const storages = await createStorages();
    for (const [, , objects, victim] of FIELDS)
      for (const key of [`${objects}/${victim}/secret.jpg`, `${objects}/shared.jpg`])
        await storages.au1.store(key, Readable.from([Buffer.from('secret')]), 'image/jpeg', 100);
    const changes = FIELDS.map(([file, field, objects, victim]) => {
      const change = ([first, ...rest]: Row[]) => [{ ...first, [field]: keyOf(objects, victim) }, ...rest];
      return [file, change] as const;
    });
    const folder = await copySome(Object.fromEntries(changes));
    for (const [, , objects, victim] of FIELDS) await writeStored(folder, keyOf(objects, victim), 'from the folder');
    const refused = await importSampleFiles(sample.database, storages, folder).catch((error) => error);
    const expected = FIELDS.map(([file, field]) => expect.objectContaining({ file: `${file}.ndjson`, line: 1, field }));
    expect(refused.details.problems).toEqual(expect.arrayContaining(expected));
    for (const [, , objects, victim] of FIELDS)
      expect(await storages.au1.byteStore.stat(`${objects}/${victim}/new.jpg`)).toBeNull();
  });

  it('is not copied for a builder or user whose row also names another owner', async () => {
    const storages = await createStorages();
    const planted = ['logos/buil_victim/lost.png', 'pictures/user_victim/lost.png'];
    const folder = await copySome({
      builders: ([first, ...rest]) => [{ ...first, builderId: 'buil_victim', logoKey: planted[0] }, ...rest],
      users: ([first, ...rest]) => [{ ...first, builderId: 'user_victim', pictureKey: planted[1] }, ...rest],
    });
    for (const key of planted) await writeStored(folder, key, 'from the folder');
    const refused = await importSampleFiles(sample.database, storages, folder).catch((error) => error);
    expect(refused.message).toContain('Nothing was imported');
    for (const key of planted) expect(await storages.au1.byteStore.stat(key)).toBeNull();
  });

  it('is rejected by the database, whoever writes the row', async () => {
    const database = await fixture.createSampleDatabase();
    const columns = {
      builder: 'logo_key',
      app_user: 'picture_key',
      swms_document: 'document_key',
      insurance: 'document_key',
      photo: 'key',
    };
    for (const [table, column] of Object.entries(columns)) {
      const folder = await rowsOf(database, `select count(*) from ${table}`);
      expect(folder, table).not.toEqual([{ count: '0' }]);
      const change = rowsOf(database, `update ${table} set ${column} = 'pictures/user_victim/a.jpg'`);
      await expect(change, table).rejects.toThrow(`${table}_${column}_owner`);
    }
  });

  it('is not copied with --builder, and does not make its row invalid', async () => {
    const [database, storages] = [await fixture.createEmptyDatabase(), await createStorages()];
    const [first, second] = (await readSample('builders')).map(({ id }) => id as string) as [string, string];
    const keys = [first, second].map((id) => `logos/${id}/logo.png`);
    const folder = await copySome({
      memberships: unchanged,
      builders: (rows) => rows.map((row, index) => ({ ...row, logoKey: keys[index] })),
      users: (rows) => [
        ...rows,
        { ...rows[0], id: 'user_left', email: 'left@example.com', pictureKey: 'pictures/user_left/a.png' },
      ],
    });
    for (const key of [...keys, 'pictures/user_left/a.png']) await writeStored(folder, key, key);
    await importSampleFiles(database, storages, folder, first);
    const stored = await Promise.all(
      [...keys, 'pictures/user_left/a.png'].map((key) => storages.au1.byteStore.stat(key)),
    );
    expect(stored).toEqual([expect.objectContaining({ size: keys[0]!.length }), null, null]);
    await rm(join(folder, 'files', keys[1]!));
    await importSampleFiles(database, storages, folder, first);
  });
});

describe('logos, pictures and documents', () => {
  it('are imported with their files, and kept by a row without a key', async () => {
    const [database, storages] = [await fixture.createEmptyDatabase(), await createStorages()];
    const [{ id }] = (await readSample('builders')) as [Row];
    const key = `logos/${id}/harbourline.png`;
    const folder = await copySome({ builders: ([first, ...rest]) => [{ ...first, logoKey: key }, ...rest] });
    await writeStored(folder, key, 'a logo');
    await importSampleFiles(database, storages, folder);
    expect(await text((await storages.au1.byteStore.open(key))!.stream)).toBe('a logo');
    const later = await importSampleFiles(database, storages, await copySome({ builders: unchanged }));
    expect(later.files.find(({ file }) => file === 'builders.ndjson')).toMatchObject({ unchanged: 2 });
    expect(await rowsOf(database, `select logo_key from builder where id = '${id}'`)).toEqual([{ logo_key: key }]);
    const out = await fixture.createTemporaryFolder();
    await exportData({ database, clock: systemClock, source: OPERATOR }, storages.au1, { folder: out }, silentProgress);
    expect(await readFile(join(out, 'files', key), 'utf8')).toBe('a logo');
  });
});

describe('a folder with links', () => {
  const KEY = `documents/${BUILDER}/token.key`;
  const namesDocument = (rows: Record<string, unknown>[]) => rows.map((row) => ({ ...row, documentKey: KEY }));

  it.each([
    ['a file', (out: string, files: string) => symlink(join(out, 'token.key'), join(files, KEY))],
    ['a folder of files', (out: string, files: string) => symlink(out, join(files, 'documents'))],
    ['the folder of files', (out: string, files: string) => symlink(out, files)],
  ])('is rejected: %s that is a link is not followed', async (what, arrange) => {
    const storages = await createStorages();
    const outside = await fixture.createTemporaryFolder();
    for (const path of [KEY, KEY.replace('documents/', ''), 'token.key']) {
      await mkdir(dirname(join(outside, path)), { recursive: true });
      await writeFile(join(outside, path), 'SECRET');
    }
    const folder = await fixture.copySample({ swms: namesDocument });
    const files = join(folder, 'files');
    await rm(join(files, 'documents'), { recursive: true, force: true });
    if (what === 'a file') await mkdir(dirname(join(files, KEY)), { recursive: true });
    if (what === 'the folder of files') await rm(files, { recursive: true });
    await arrange(outside, files);
    await expect(importSampleFiles(empty, storages, folder)).rejects.toThrow(/link, which is not followed/);
    expect(await storages.au1.byteStore.stat(KEY)).toBeNull();
    expect(await rowsOf(empty, 'select id from swms_document')).toEqual([]);
  });

  it.each(['projects.ndjson', 'swms.ndjson'])(
    'is rejected when %s is a link, and nothing of its target is shown',
    async (name) => {
      const folder = await fixture.copySample({});
      const outside = join(await fixture.createTemporaryFolder(), 'shadow');
      await writeFile(outside, 'SECRET:of:root');
      await rm(join(folder, name));
      await symlink(outside, join(folder, name));
      const error: Error = await importSampleFiles(empty, sample.storages, folder).catch((each) => each);
      expect(error.message).toMatch(/link, which is not followed/);
      expect(JSON.stringify([error, error.message])).not.toContain('SECRET');
    },
  );

  it('gets no file of an export', async () => {
    const { database, storages } = sample;
    const [out, outside] = [await fixture.createTemporaryFolder(), await fixture.createTemporaryFolder()];
    await symlink(outside, join(out, 'files'));
    const exporting = exportData(
      { database, clock: systemClock, source: OPERATOR },
      storages.au1,
      { folder: out },
      silentProgress,
    );
    await expect(exporting).rejects.toThrow(/is not empty/);
    expect([await readdir(outside), await readdir(out)]).toEqual([[], ['files']]);
  });
});
