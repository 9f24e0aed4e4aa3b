import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, inject, it } from 'vitest';
import { entities } from '../../entities/index.ts';
import { exportFolder } from '../../src/data-transfer/export.ts';
import { formatReference } from '../../src/data-transfer/format.ts';
import { importFolder } from '../../src/data-transfer/import.ts';
import { excluded, resources } from '../../src/data-transfer/resources.ts';
import { Database } from '../../src/database/database.ts';
import { createDatabase } from '../setup/database.ts';
import { Bench, SAMPLES, textsOf } from './bench.ts';

const bench = new Bench();
afterAll(() => bench.end());

async function exported(database: Database): Promise<Record<string, string>> {
  const folder = join(await bench.folder(), 'made', 'below');
  await exportFolder(database, folder);
  return textsOf(folder);
}

describe('an export', () => {
  it('writes the sample as it was imported', async () => {
    expect(await exported(await bench.sampleDatabase())).toEqual(await textsOf(SAMPLES));
  });

  it('of the demo data gives the same bytes from a database into which it was imported', async () => {
    const { url, drop } = await createDatabase(inject('cluster').templates.au1);
    const demo = new Database('au1', url);
    const folder = await bench.folder();
    const { files } = await exportFolder(demo, folder);
    expect(files.find(({ file }) => file === 'timesheets.ndjson')!.rows).toBeGreaterThan(100);
    const copy = await bench.emptyDatabase();
    const result = await importFolder(copy, folder);
    expect(result.committed).toBe(true);
    expect(await exported(copy)).toEqual(await textsOf(folder));
    await demo.close();
    await drop();
  });

  it('of numbers, texts and instants at their limits gives the same bytes too', async () => {
    const database = await bench.sampleDatabase();
    const client = await bench.client(database);
    for (const hours of ['-0', '1e-300', '0.30000000000000004', '1e21', '12345678.9']) {
      await client.query(
        `insert into timesheet (id, created_at, updated_at, builder_id, project_id, profile_id, status, date, hours, notes)
         select 'ts_a' || replace(gen_random_uuid()::text, '-', ''), '0001-01-01 00:00:00.001+00', '9999-12-31 23:59:59.999+00',
           builder_id, project_id, profile_id, status, date, $1::float8, e'\\x01\\x02\\x7f\\u2028"\\\\N\\\\.\\r\\n\\t\\\\D' from timesheet limit 1`,
        [hours],
      );
    }
    const folder = await bench.folder();
    await exportFolder(database, folder);
    const copy = await bench.emptyDatabase();
    expect(await importFolder(copy, folder)).toMatchObject({ committed: true });
    expect(await exported(copy)).toEqual(await textsOf(folder));
  });

  it('carries no secret', async () => {
    const database = await bench.sampleDatabase();
    const client = await bench.client(database);
    await client.query(`update app_user set password_hash = 'SECRET'`);
    const texts = await exported(database);
    expect(texts).toEqual(await textsOf(SAMPLES));
  });

  it('shows one moment of the database, whatever is written meanwhile', async () => {
    const database = await bench.sampleDatabase();
    const client = await bench.client(database);
    const folder = await bench.folder();
    let written: Promise<unknown> | undefined;
    const onProgress = () => {
      written ??= client.query(`update project set name = 'Later'; delete from meeting_note`);
    };
    await exportFolder(database, folder, { onProgress });
    await written;
    expect(await textsOf(folder)).toEqual(await textsOf(SAMPLES));
  });

  it('replaces an earlier one only when it is complete, for the owner of the folder alone', async () => {
    const database = await bench.sampleDatabase();
    const folder = await bench.folderOf({ projects: 'earlier', users: 'earlier' });
    const onProgress = (file: string) => {
      if (file === 'timesheets.ndjson') throw new Error('The caller gave up.');
    };
    await expect(exportFolder(database, folder, { onProgress })).rejects.toThrow('The caller gave up.');
    expect(await textsOf(folder)).toEqual({ 'projects.ndjson': 'earlier', 'users.ndjson': 'earlier' });
    const { files } = await exportFolder(database, folder);
    expect(await readdir(folder)).toHaveLength(resources.length);
    expect(files.find(({ file }) => file === 'projects.ndjson')).toMatchObject({ rows: 3 });
    expect((await stat(join(folder, 'workers.ndjson'))).mode & 0o777).toBe(0o600);
  });

  it('says in one line that the folder cannot be written', async () => {
    const file = join(await bench.folder(), 'file');
    await writeFile(file, '');
    await expect(exportFolder(await bench.sampleDatabase(), file)).rejects.toThrow(
      /^The folder \S+\/file cannot be written: EEXIST[^\n]*$/,
    );
  });
});

describe('the format', () => {
  it('has a file for every table, or says that it stays', () => {
    const decided = [...resources.map(({ entity }) => entity), ...excluded].map(({ name }) => name);
    expect(decided.sort()).toEqual(entities.map(({ name }) => name).sort());
  });

  it('is described by docs/data-transfer-format.md (`npx vitest run test/exchange/export.test.ts -u` writes its tables)', async () => {
    const path = join(import.meta.dirname, '../../docs/data-transfer-format.md');
    const [prose] = (await readFile(path, 'utf8')).split('## The files');
    const { metadata } = await bench.emptyDatabase();
    await expect(`${prose}## The files\n\n${formatReference(metadata)}`).toMatchFileSnapshot(path);
  });
});
