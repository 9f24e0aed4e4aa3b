import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, inject, it } from 'vitest';
import { entities } from '../../entities/index.ts';
import { exportFolder } from '../../src/data-transfer/export.ts';
import { fileDefinitions } from '../../src/data-transfer/file-definitions.ts';
import { importFolder } from '../../src/data-transfer/import.ts';
import { Database } from '../../src/database/database.ts';
import { createDatabase } from '../setup/database.ts';
import { DataTransferFixture, readFiles, SAMPLES, withoutNewerFields } from './data-transfer-fixture.ts';
import { createFormatReference } from './format-reference.ts';

const fixture = new DataTransferFixture();
afterAll(() => fixture.dispose());

async function exportAndRead(database: Database): Promise<Record<string, string>> {
  const folder = join(await fixture.createTemporaryFolder(), 'made', 'below');
  await exportFolder(database, folder);
  return readFiles(folder);
}

describe('an export', () => {
  it('writes the sample data as it was imported', async () => {
    const texts = await exportAndRead(await fixture.createSampleDatabase());
    expect(await withoutNewerFields(texts)).toEqual(await readFiles(SAMPLES));
  });

  it('of rows of every kind is identical after an import into another database', async () => {
    const { url, drop } = await createDatabase(inject('cluster').templates.au1);
    const source = new Database('au1', url);
    const folder = await fixture.createTemporaryFolder();
    const { files } = await exportFolder(source, folder);
    expect(files.find(({ file }) => file === 'timesheets.ndjson')!.rows).toBeGreaterThan(100);
    const copy = await fixture.createEmptyDatabase();
    const result = await importFolder(copy, folder);
    expect(result.committed).toBe(true);
    expect(await exportAndRead(copy)).toEqual(await readFiles(folder));
    await source.close();
    await drop();
  });

  it('of values at their limits is identical after an import', async () => {
    const database = await fixture.createSampleDatabase();
    const client = await fixture.connectClient(database);
    for (const hours of ['-0', '1e-300', '0.30000000000000004', '9007199254740991', '12345678.9']) {
      await client.query(
        `insert into timesheet (id, created_at, updated_at, builder_id, project_id, profile_id, status, date, hours, notes)
         select 'ts_a' || replace(gen_random_uuid()::text, '-', ''), '0001-01-01 00:00:00.001+00', '9999-12-31 23:59:59.999+00',
           builder_id, project_id, profile_id, status, date, $1::float8, e'\\x01\\x02\\x7f\\u2028"\\\\N\\\\.\\r\\n\\t\\\\D' from timesheet limit 1`,
        [hours],
      );
    }
    const folder = await fixture.createTemporaryFolder();
    await exportFolder(database, folder);
    const copy = await fixture.createEmptyDatabase();
    expect(await importFolder(copy, folder)).toMatchObject({ committed: true });
    expect(await exportAndRead(copy)).toEqual(await readFiles(folder));
  });

  it('has no secrets', async () => {
    const database = await fixture.createSampleDatabase();
    const client = await fixture.connectClient(database);
    await client.query(`update app_user set password_hash = 'SECRET'`);
    const texts = await exportAndRead(database);
    expect(await withoutNewerFields(texts)).toEqual(await readFiles(SAMPLES));
  });

  it('shows one snapshot of the database during concurrent writes', async () => {
    const database = await fixture.createSampleDatabase();
    const client = await fixture.connectClient(database);
    const folder = await fixture.createTemporaryFolder();
    let written: Promise<unknown> | undefined;
    const onProgress = () => {
      written ??= client.query(`update project set name = 'Later'; delete from meeting_note`);
    };
    await exportFolder(database, folder, { onProgress });
    await written;
    expect(await withoutNewerFields(await readFiles(folder))).toEqual(await readFiles(SAMPLES));
  });

  it('needs an empty folder, and leaves nothing there unless it is complete', async () => {
    const database = await fixture.createSampleDatabase();
    const used = await fixture.createFolder({ projects: 'earlier', users: 'earlier' });
    await expect(exportFolder(database, used)).rejects.toThrow(/is not empty: name another one\.$/);
    expect(await readFiles(used)).toEqual({ 'projects.ndjson': 'earlier', 'users.ndjson': 'earlier' });
    const folder = await fixture.createTemporaryFolder();
    const onProgress = (file: string) => {
      if (file === 'timesheets.ndjson') throw new Error('The caller gave up.');
    };
    await expect(exportFolder(database, folder, { onProgress })).rejects.toThrow('The caller gave up.');
    expect(await readdir(folder)).toEqual([]);
    const { files } = await exportFolder(database, folder);
    expect(await readdir(folder)).toHaveLength(fileDefinitions.length);
    expect(files.find(({ file }) => file === 'projects.ndjson')).toMatchObject({ rows: 3 });
    expect((await stat(join(folder, 'workers.ndjson'))).mode & 0o777).toBe(0o600);
  });

  it('fails with one line if the folder cannot be written', async () => {
    const file = join(await fixture.createTemporaryFolder(), 'file');
    await writeFile(file, '');
    await expect(exportFolder(await fixture.createSampleDatabase(), file)).rejects.toThrow(
      /^The folder \S+\/file cannot be written: EEXIST[^\n]*$/,
    );
  });
});

/** Entities that are not transferred: credentials, grants, keys of requests, counters of the service, and renditions, which are made again. */
const EXCLUDED = [
  ...['OAuthClient', 'ClientSecret', 'Connection', 'TokenFamily', 'AuthorizationCode', 'RefreshToken', 'RevokedToken'],
  ...['Session', 'ConsoleSession', 'PasswordLink', 'SignInAttempt', 'AuditEntry', 'Erasure', 'ImageHost'],
  ...['UsageDay', 'LoggedRequest', 'RateBudget', 'IdempotencyKey', 'ListTotal', 'Upload'],
  ...['PhotoRendition', 'Snapshot', 'WebhookEndpoint', 'WebhookProgress', 'WebhookDelivery'],
];

describe('the format', () => {
  it('has a file for every entity that is not excluded', () => {
    const decided = [...fileDefinitions.map(({ entity }) => entity.name), ...EXCLUDED];
    expect(decided.sort()).toEqual(entities.map(({ name }) => name).sort());
  });

  it('is described in docs/data-transfer-format.md (update its tables with `npx vitest run test/data-transfer/export.test.ts -u`)', async () => {
    const path = join(import.meta.dirname, '../../docs/data-transfer-format.md');
    const [prose] = (await readFile(path, 'utf8')).split('## The files');
    const { metadata } = await fixture.createEmptyDatabase();
    const reference = `<!-- files:begin -->\n${createFormatReference(metadata)}<!-- files:end -->\n`;
    await expect(`${prose}## The files\n\n${reference}`).toMatchFileSnapshot(path);
  });
});
