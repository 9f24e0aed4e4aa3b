import { afterAll, describe, expect, it } from 'vitest';
import { Bench, count, importing, linesOf, type Row, sample } from './bench.ts';

const bench = new Bench();
afterAll(() => bench.end());

/** Imports one file into a database that holds the sample, and gives what was said of it. */
async function afterSample(file: string, rows: Row[] | string | Buffer) {
  const database = await bench.sampleDatabase();
  const result = await importing(database, await bench.folderOf({ [file]: rows }));
  return { ...result, database };
}

describe('an import updates and inserts by id', () => {
  it('into an empty database: every row is new', async () => {
    const database = await bench.emptyDatabase();
    const { files, committed, problems } = await importing(database, await bench.sampleWith({}));
    expect({ committed, problems }).toEqual({ committed: true, problems: [] });
    expect(files).toHaveLength(30);
    for (const { rows, inserted } of files) expect(inserted).toBe(rows);
    expect(await count(database, 'timesheet')).toBe(4);
  });

  it('into the same rows: what has not changed is not written', async () => {
    const database = await bench.sampleDatabase();
    const folder = await bench.sampleWith({
      projects: ([first, ...rest]) => [{ ...first, name: 'Quay Street' }, ...rest],
    });
    const { files } = await importing(database, folder);
    for (const { file, rows, inserted, updated, unchanged } of files) {
      expect({ inserted, updated, unchanged }).toEqual(
        file === 'projects.ndjson'
          ? { inserted: 0, updated: 1, unchanged: 2 }
          : { inserted: 0, updated: 0, unchanged: rows },
      );
    }
  });

  it('a row without an id of its own by its unique foreign keys, and keeps its number', async () => {
    const [first] = await sample('memberships');
    const database = await bench.sampleDatabase();
    const read = () => database.orm.em.getConnection().execute('select id, role from membership order by id');
    const before = await read();
    const folder = await bench.folderOf({ memberships: [{ ...first, role: 'OWNER' }] });
    expect((await importing(database, folder)).files).toMatchObject([{ updated: 1 }]);
    expect(await read()).toEqual(
      before.map((row: Row, index: number) => (index === 0 ? { ...row, role: 'OWNER' } : row)),
    );
  });

  it('and leaves what no file carries as it is', async () => {
    const database = await bench.sampleDatabase();
    const client = await bench.client(database);
    await client.query(`update app_user set password_hash = 'kept', picture_key = 'kept'`);
    const users = (await sample('users')).map((row) => ({ ...row, name: 'Renamed' }));
    expect((await importing(database, await bench.folderOf({ users }))).files).toMatchObject([{ updated: 3 }]);
    const { rows } = await client.query('select distinct name, password_hash, picture_key from app_user');
    expect(rows).toEqual([{ name: 'Renamed', password_hash: 'kept', picture_key: 'kept' }]);
  });

  it('and lets a record take over a unique value that an earlier or later row gives up', async () => {
    const [first, second, third] = await sample('cost-codes');
    const renumbered = [
      { ...first, code: '26-050' },
      { ...second, code: '26-060' },
    ];
    for (const rows of [renumbered, renumbered.toReversed()]) {
      const { problems, files } = await afterSample('cost-codes', [...rows, third!]);
      expect({ problems, files }).toMatchObject({ problems: [], files: [{ updated: 2, unchanged: 1 }] });
    }
  });
});

describe('a file may', async () => {
  const project = (await sample('projects'))[0]!;

  it('begin with a byte order mark, end its lines with CRLF, hold empty ones, and lack the last line feed', async () => {
    const text = `\uFEFF${linesOf([project])}\n \t\n${JSON.stringify({ ...project, id: 'proj_new' })}`;
    const { files, problems } = await afterSample('projects', text.replaceAll('\n', '\r\n'));
    expect({ files, problems }).toMatchObject({ files: [{ rows: 2, inserted: 1, unchanged: 1 }], problems: [] });
  });

  it('leave out what may be null and what has a default', async () => {
    const { id, builderId, name, createdAt, updatedAt } = (await sample('subcontractors'))[1]!;
    const { database } = await afterSample('subcontractors', [{ id, builderId, name, createdAt, updatedAt }]);
    const rows = await database.orm.em
      .getConnection()
      .execute('select abn, is_builder, address, tags, integrations, archived_at from subcontractor where id = ?', [
        id,
      ]);
    expect(rows).toEqual([
      { abn: null, is_builder: false, address: {}, tags: [], integrations: [], archived_at: null },
    ]);
  });

  it('give instants in any time zone', async () => {
    const { database } = await afterSample('projects', [{ ...project, createdAt: '2026-03-02T18:30+11:00' }]);
    const rows = await database.orm.em
      .getConnection()
      .execute('select created_at::text from project where id = ?', [project.id]);
    expect(rows).toEqual([{ created_at: '2026-03-02 07:30:00+00' }]);
  });

  it('carry what the API works out from other fields', async () => {
    const [timesheet] = await sample('timesheets');
    const shown = { costCode: '03-100 - Concrete', timeType: 'Ordinary', profile: {}, project: { id: 'x' } };
    const { files } = await afterSample('timesheets', [{ ...timesheet, ...shown }]);
    expect(files).toMatchObject([{ unchanged: 1, bad: 0 }]);
  });
});
