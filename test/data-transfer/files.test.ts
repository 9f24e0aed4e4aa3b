import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, describe, expect, it } from 'vitest';
import type { ProgressReporter } from '../../src/cli/io/progress.ts';
import { exportData, importData } from '../../src/cli/services/data-transfer.ts';
import { loadConfig } from '../../src/config.ts';
import type { Database } from '../../src/database/database.ts';
import { loadDemoInto } from '../../src/demo/load.ts';
import { keepDemoPictures } from '../../src/demo/pictures.ts';
import { inspectImage } from '../../src/images/inspect.ts';
import { systemClock } from '../../src/shared/clock.ts';
import { openStorages, type Storages } from '../../src/storage/storage.ts';
import { Bench, SAMPLES } from './bench.ts';

const bench = new Bench();
afterAll(() => bench.end());

const quiet = { show: () => undefined, say: () => undefined, end: () => undefined } as unknown as ProgressReporter;
const BASE_URL = 'http://localhost:4000';

async function newStorages(): Promise<Storages> {
  const config = loadConfig({ DATA_DIR: await bench.folder(), BASE_URL });
  return openStorages(config, { secret: Buffer.alloc(32).toString('base64url'), clock: systemClock });
}

function importCommand(database: Database, storages: Storages, folder: string) {
  const request = { folder, keepGood: false, collect: true, storage: storages.au1 };
  return importData({ database, clock: systemClock }, request, quiet);
}

const rowsOf = async (database: Database, sql: string) =>
  (await database.fork().execute(sql)) as Record<string, string>[];

describe('photos', () => {
  it('of a company open where it was imported', async () => {
    const [database, storages] = [await bench.emptyDatabase(), await newStorages()];
    await importCommand(database, storages, SAMPLES);
    const [photo] = await rowsOf(database, `select key, file_size from photo where source = 'GALLERY'`);
    const found = await storages.au1.withFile(photo!.key!, (path, size) => inspectImage(path, size));
    expect(found).toMatchObject({ contentType: 'image/jpeg', width: 64, size: Number(photo!.file_size) });
  });

  it('of the demo data are exported with their bytes, and open elsewhere', async () => {
    const [au1, us1] = [await bench.emptyDatabase(), await bench.emptyDatabase()];
    const storages = await newStorages();
    const pictures = await keepDemoPictures(storages);
    await loadDemoInto({ au1, us1 }, { baseUrl: BASE_URL, timesheets: 1, pictures });
    const sources = await rowsOf(au1, 'select source, count(*)::int as photos from photo group by 1');
    expect(sources).toHaveLength(7);
    const defects = await rowsOf(au1, 'select unnest(photo_ids) as id from defect');
    expect(defects.length).toBeGreaterThan(3);
    const folder = await bench.folder();
    const exported = await exportData({ database: au1, clock: systemClock }, storages.au1, folder, quiet);
    expect(exported.storedFiles).toBeGreaterThan(10);
    const [copy, elsewhere] = [await bench.emptyDatabase(), await newStorages()];
    await importCommand(copy, elsewhere, folder);
    const photos = await rowsOf(copy, 'select key, file_size from photo');
    expect(photos.length).toBe(144);
    for (const { key, file_size: size } of photos) {
      expect((await elsewhere.au1.bytes.stat(key!))?.size, key).toBe(Number(size));
    }
    const again = await importCommand(copy, elsewhere, folder);
    expect(again.files.every(({ inserted, updated }) => inserted + updated === 0)).toBe(true);
  });

  it('without bytes are refused, and nothing is imported', async () => {
    const [database, storages] = [await bench.emptyDatabase(), await newStorages()];
    const folder = await bench.sampleWith({
      photos: ([first, ...rest]) => [
        { ...first, key: 'photos/buil_a1/none.jpg' },
        ...rest,
        { ...first, id: 'att_b', key: '../../etc/passwd' },
        { ...first, id: 'att_c', key: 'uploads/buil_a1/none.jpg' },
      ],
    });
    const refused = await importCommand(database, storages, folder).catch((error) => error);
    expect(refused.message).toMatch('Nothing was imported');
    const fields = refused.details.problems.map(({ file, field }: Record<string, string>) => [file, field]);
    expect(fields.filter(([, field]: string[]) => field === 'key')).toHaveLength(3);
  });

  it('need no files again where the storage has them', async () => {
    const [database, storages] = [await bench.emptyDatabase(), await newStorages()];
    await importCommand(database, storages, SAMPLES);
    const folder = await bench.sampleWith({});
    await rm(join(folder, 'files'), { recursive: true, force: true });
    const again = await importCommand(database, storages, folder);
    expect(again.files.find(({ file }) => file === 'photos.ndjson')).toMatchObject({ unchanged: 2 });
  });
});

describe('logos, pictures and documents', () => {
  it('come with their files, and a row that names none leaves the one that is there', async () => {
    const [database, storages] = [await bench.emptyDatabase(), await newStorages()];
    const key = 'logos/own/harbourline.png';
    const folder = await bench.sampleWith({ builders: (rows) => rows.map((row) => ({ ...row, logoKey: key })) });
    await mkdir(join(folder, 'files', 'logos', 'own'), { recursive: true });
    await writeFile(join(folder, 'files', key), 'a logo');
    await importCommand(database, storages, folder);
    expect(await text((await storages.au1.bytes.open(key))!.stream)).toBe('a logo');
    const later = await importCommand(database, storages, SAMPLES);
    expect(later.files.find(({ file }) => file === 'builders.ndjson')).toMatchObject({ unchanged: 2 });
    expect(await rowsOf(database, 'select distinct logo_key from builder')).toEqual([{ logo_key: key }]);
    const out = await bench.folder();
    await exportData({ database, clock: systemClock }, storages.au1, out, quiet);
    expect(await readFile(join(out, 'files', key), 'utf8')).toBe('a logo');
  });
});
