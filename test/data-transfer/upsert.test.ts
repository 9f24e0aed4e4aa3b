import { afterAll, describe, expect, it } from 'vitest';
import {
  countRows,
  DataTransferFixture,
  importAndCollect,
  type Row,
  readFiles,
  readSample,
  SAMPLES,
  toNdjson,
} from './data-transfer-fixture.ts';

const fixture = new DataTransferFixture();
afterAll(() => fixture.dispose());

/** Imports one file into a database with the sample data. */
async function importIntoSample(file: string, rows: Row[] | string | Buffer) {
  const database = await fixture.createSampleDatabase();
  const result = await importAndCollect(database, await fixture.createFolder({ [file]: rows }));
  return { ...result, database };
}

describe('an import', () => {
  it('inserts every row into an empty database', async () => {
    const database = await fixture.createEmptyDatabase();
    const { files, committed, problems } = await importAndCollect(database, await fixture.copySample({}));
    expect({ committed, problems }).toEqual({ committed: true, problems: [] });
    expect(files).toHaveLength(Object.keys(await readFiles(SAMPLES)).length);
    for (const { rows, inserted } of files) expect(inserted).toBe(rows);
    expect(await countRows(database, 'timesheet')).toBe(4);
  });

  it('does not write unchanged rows', async () => {
    const database = await fixture.createSampleDatabase();
    const folder = await fixture.copySample({
      projects: ([first, ...rest]) => [{ ...first, name: 'Quay Street' }, ...rest],
    });
    const { files } = await importAndCollect(database, folder);
    for (const { file, rows, inserted, updated, unchanged } of files) {
      expect({ inserted, updated, unchanged }).toEqual(
        file === 'projects.ndjson'
          ? { inserted: 0, updated: 1, unchanged: 2 }
          : { inserted: 0, updated: 0, unchanged: rows },
      );
    }
  });

  it('updates a row without an id by its unique foreign keys', async () => {
    const [first] = await readSample('memberships');
    const database = await fixture.createSampleDatabase();
    const read = () => database.orm.em.getConnection().execute('select id, role from membership order by id');
    const before = await read();
    const folder = await fixture.createFolder({ memberships: [{ ...first, role: 'OWNER' }] });
    expect((await importAndCollect(database, folder)).files).toMatchObject([{ updated: 1 }]);
    expect(await read()).toEqual(
      before.map((row: Row, index: number) => (index === 0 ? { ...row, role: 'OWNER' } : row)),
    );
  });

  it('does not change columns that no file has', async () => {
    const database = await fixture.createSampleDatabase();
    const client = await fixture.connectClient(database);
    await client.query(`update app_user set password_hash = 'kept', picture_key = 'pictures/' || id || '/kept'`);
    const users = (await readSample('users')).map((row) => ({ ...row, name: 'Renamed' }));
    expect((await importAndCollect(database, await fixture.createFolder({ users }))).files).toMatchObject([
      { updated: 3 },
    ]);
    const { rows } = await client.query(
      `select distinct name, password_hash, picture_key like '%/kept' as picture from app_user`,
    );
    expect(rows).toEqual([{ name: 'Renamed', password_hash: 'kept', picture: true }]);
  });

  it('lets a record take over the unique value of another row, in any order', async () => {
    const [first, second, third] = await readSample('cost-codes');
    const renumbered = [
      { ...first, code: '26-050' },
      { ...second, code: '26-060' },
    ];
    for (const rows of [renumbered, renumbered.toReversed()]) {
      const { problems, files } = await importIntoSample('cost-codes', [...rows, third!]);
      expect({ problems, files }).toMatchObject({ problems: [], files: [{ updated: 2, unchanged: 1 }] });
    }
  });
});

describe('an import accepts', async () => {
  const project = (await readSample('projects'))[0]!;

  it('a byte order mark, CRLF, empty lines and a missing last line feed', async () => {
    const text = `\uFEFF${toNdjson([project])}\n \t\n${JSON.stringify({ ...project, id: 'proj_new' })}`;
    const { files, problems } = await importIntoSample('projects', text.replaceAll('\n', '\r\n'));
    expect({ files, problems }).toMatchObject({ files: [{ rows: 2, inserted: 1, unchanged: 1 }], problems: [] });
  });

  it('rows without nullable fields and fields with a default', async () => {
    const { id, builderId, name, createdAt, updatedAt } = (await readSample('subcontractors'))[1]!;
    const { database } = await importIntoSample('subcontractors', [{ id, builderId, name, createdAt, updatedAt }]);
    const rows = await database.orm.em
      .getConnection()
      .execute('select abn, is_builder, address, tags, integrations, archived_at from subcontractor where id = ?', [
        id,
      ]);
    expect(rows).toEqual([
      { abn: null, is_builder: false, address: {}, tags: [], integrations: [], archived_at: null },
    ]);
  });

  it('timestamps in any time zone', async () => {
    const { database } = await importIntoSample('projects', [{ ...project, createdAt: '2026-03-02T18:30+11:00' }]);
    const rows = await database.orm.em
      .getConnection()
      .execute('select created_at::text from project where id = ?', [project.id]);
    expect(rows).toEqual([{ created_at: '2026-03-02 07:30:00+00' }]);
  });

  it('fields that the API computes from others', async () => {
    const [timesheet] = await readSample('timesheets');
    const shown = { costCode: '03-100 - Concrete', timeType: 'Ordinary', profile: {}, project: { id: 'x' } };
    const { files } = await importIntoSample('timesheets', [{ ...timesheet, ...shown }]);
    expect(files).toMatchObject([{ unchanged: 1, bad: 0 }]);
  });
});
