import { randomBytes } from 'node:crypto';
import { afterAll, describe, expect, it } from 'vitest';
import { type ImportResult, importFolder } from '../../src/data-transfer/import.ts';
import type { Phase } from '../../src/data-transfer/import-file.ts';
import { listChanges } from '../../src/domain/attendance/change-lists.ts';
import {
  countRows,
  DataTransferFixture,
  importAndCollect,
  type Row,
  readSample,
  toNdjson,
} from './data-transfer-fixture.ts';

const fixture = new DataTransferFixture();
afterAll(() => fixture.dispose());

const [harbourline] = await readSample('builders');
const [quay, pool] = await readSample('projects');
const [timesheet] = await readSample('timesheets');
const location = { builderId: harbourline!.id, name: 'Roof' };

const timesheetRow = (index: number) => ({ ...timesheet, id: `ts_a${String(index).padStart(9, '0')}` });

describe('the transaction of an import', () => {
  const files = {
    projects: [
      { ...quay, name: 'Renamed' },
      { ...pool, id: 'proj_new', status: 'LOST' },
      { ...pool, id: 'proj_fine' },
    ],
    locations: [
      { ...location, id: 'loc_orphan', projectId: 'proj_new' },
      { ...location, id: 'loc_fine', projectId: 'proj_fine' },
    ],
  };

  it('is committed if every row is valid', async () => {
    const database = await fixture.createSampleDatabase();
    const good = { projects: [files.projects[0]!], locations: [{ ...location, id: 'loc_a', projectId: quay!.id }] };
    expect(await importAndCollect(database, await fixture.createFolder(good))).toMatchObject({
      committed: true,
      problems: [],
    });
    expect(await countRows(database, 'project_location')).toBe(2);
  });

  it('is rolled back for an invalid row, after all problems are reported', async () => {
    const database = await fixture.createSampleDatabase();
    const { committed, problems, files: results } = await importAndCollect(database, await fixture.createFolder(files));
    expect(committed).toBe(false);
    expect(problems.map(({ file, line }) => [file, line])).toEqual([
      ['projects.ndjson', 2],
      ['locations.ndjson', 1],
    ]);
    expect(results).toMatchObject([
      { rows: 3, inserted: 1, updated: 1, bad: 1 },
      { rows: 2, inserted: 1, bad: 1 },
    ]);
    expect(await countRows(database, `project where name = 'Renamed' or id = 'proj_fine'`)).toBe(0);
    expect(await countRows(database, 'project_location')).toBe(1);
  });

  it('commits the valid rows with keepGood, except those whose parent is invalid', async () => {
    const database = await fixture.createSampleDatabase();
    const result = await importAndCollect(database, await fixture.createFolder(files), { keepGood: true });
    expect(result).toMatchObject({ committed: true, problems: { length: 2 } });
    expect(await countRows(database, `project where name = 'Renamed' or id = 'proj_fine'`)).toBe(2);
    expect(await countRows(database, `project_location where id in ('loc_fine', 'loc_orphan')`)).toBe(1);
  });

  it('is rolled back when a callback or the connection fails', async () => {
    const database = await fixture.createSampleDatabase();
    const client = await fixture.connectClient(database);
    const folder = await fixture.createFolder({ ...files, timesheets: [timesheetRow(1)] });
    const onProblem = async () => Promise.reject(new Error('The disk of the report is full.'));
    await expect(importFolder(database, folder, { onProblem })).rejects.toThrow('The disk of the report is full.');
    const others = `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`;
    let killing: Promise<unknown> | undefined;
    const onProgress = (file: string) => {
      if (file === 'timesheets.ndjson') killing ??= client.query(others);
    };
    const cut = importFolder(database, await fixture.createLargeFolder(20_000, timesheetRow), {
      keepGood: true,
      onProgress,
    });
    await expect(cut).rejects.toThrow('The connection to the database was lost, and nothing was changed.');
    await killing;
    expect(await countRows(database, 'timesheet')).toBe(4);
  });

  it('runs after that of a concurrent import', async () => {
    const database = await fixture.createSampleDatabase();
    const folder = await fixture.createFolder({ projects: [{ ...quay, name: 'Renamed' }] });
    let second: Promise<ImportResult> | undefined;
    const waiting = `select 1 from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()
      and (query like '%advisory%' or wait_event_type = 'Lock')`;
    const beforeCommit = async () => {
      second = importFolder(database, folder);
      await expect.poll(() => database.fork().execute(waiting)).toHaveLength(1);
    };
    const first = await importFolder(database, folder, { beforeCommit });
    const results = [first, await second!];
    expect(results.map(({ files: [file] }) => file!.updated)).toEqual([1, 0]);
  });

  it('ends with one line where it and a concurrent change wait for one another', async () => {
    const database = await fixture.createSampleDatabase();
    const client = await fixture.connectClient(database);
    const lock = 'select from project where id = $1 for update';
    // Only the import looks for the deadlock, so that PostgreSQL ends it and not the other transaction.
    await client.query(`begin; set local deadlock_timeout = '1h'`);
    await client.query(lock, [pool!.id]);
    const waiting = `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
    const untilWaiting = () => expect.poll(() => database.fork().execute(waiting)).toHaveLength(1);
    let locking: Promise<unknown> | undefined;
    const onProgress = (...[, , , , phase]: [string, number, number, number, Phase]) => {
      if (phase === 'writing') locking ??= untilWaiting().then(() => client.query(lock, [quay!.id]));
    };
    const folder = await fixture.createFolder({ projects: [quay, pool].map((row) => ({ ...row!, name: 'Renamed' })) });
    await expect(importFolder(database, folder, { onProgress })).rejects.toThrow(
      'projects.ndjson: deadlock detected. The database was changed during the import: import again.',
    );
    await locking;
    await client.query('rollback');
  });
});

describe('an import of a large file', () => {
  /** Lines that are no rows, with which a file has so many that its foreign keys are checked once per file. */
  const FILLER = 10_000;
  /** Rows of the file. */
  const ROWS = 20;

  const createLargeFolder = (row: (index: number) => Row) =>
    fixture.createFolder({
      timesheets: toNdjson(Array.from({ length: ROWS }, (_, index) => row(index))) + '-\n'.repeat(FILLER),
    });

  it('checks foreign keys and locks their parents', async () => {
    const database = await fixture.createSampleDatabase();
    const client = await fixture.connectClient(database);
    const folder = await createLargeFolder((index) =>
      index === 7 ? { ...timesheetRow(index), profileId: 'pers_none' } : timesheetRow(index),
    );
    let removal: Promise<unknown> | undefined;
    const onProgress = (...[, , , , phase]: [string, number, number, number, Phase]) => {
      if (phase !== 'writing') return;
      removal = client
        .query('delete from timesheet_time_type where id = $1', [timesheet!.timeTypeId])
        .catch((error) => error.code);
    };
    await client.query('delete from timesheet');
    const { problems, files } = await importAndCollect(database, folder, { keepGood: true, onProgress });
    expect(problems.filter(({ message }) => message !== 'is not JSON')).toEqual([
      { file: 'timesheets.ndjson', line: 8, field: 'profileId', message: 'pers_none does not exist' },
    ]);
    expect(files).toMatchObject([{ inserted: ROWS - 1, bad: FILLER + 1 }]);
    expect(await removal).toBe('23503');
    const [{ begin }] = (await client.query('select clock_timestamp()::text as begin')).rows;
    const changed = await createLargeFolder((index) => ({ ...timesheetRow(index), notes: 'Changed' }));
    const again = await importAndCollect(database, changed, { keepGood: true });
    expect(again.files).toMatchObject([{ inserted: 1, updated: ROWS - 1, bad: FILLER }]);
    expect(await countRows(database, `timesheet where changed_at >= '${begin}'`)).toBe(ROWS);
  });

  it('has changed events of gates and workers listed again (ATT-36)', async () => {
    const database = await fixture.createSampleDatabase();
    const [event] = await readSample('sign-on-events');
    const [worker] = await readSample('workers');
    const importFiles = async (values: object, workerValues: object, filler = 0) => {
      const events = Array.from({ length: ROWS }, (_, index) => ({
        ...event,
        id: `saevt_a${String(index).padStart(9, '0')}`,
        sourceEventId: `event-${index}`,
        ...values,
      }));
      const folder = await fixture.createFolder({
        workers: [{ ...worker, ...workerValues }],
        'sign-on-events': toNdjson(events) + '-\n'.repeat(filler),
      });
      return (await importAndCollect(database, folder, { keepGood: true })).files;
    };
    await importFiles({}, {});
    while ((await listChanges(database)) > 0);
    expect(await countRows(database, 'sign_on_event where listed_at is null')).toBe(0);
    expect(await importFiles({ deviceId: 'gate-9' }, { fullName: 'Sam Okafor' }, FILLER)).toMatchObject([
      { updated: 1 },
      { updated: ROWS },
    ]);
    expect(await countRows(database, 'sign_on_event where listed_at is null')).toBe(ROWS);
    expect(await countRows(database, `roster_change where worker_id = '${worker!.id}'`)).toBe(1);
  });

  it('runs the triggers of the table', async () => {
    const database = await fixture.createSampleDatabase();
    const client = await fixture.connectClient(database);
    await client.query(`create table tally (hours float8);
      create function tally() returns trigger language plpgsql as $$ begin insert into tally values (new.hours); return null; end $$;
      create trigger tally after insert on timesheet for each row execute function tally()`);
    await importFolder(database, await createLargeFolder(timesheetRow), { keepGood: true });
    expect(await countRows(database, 'tally')).toBe(ROWS);
  });

  it('requires only privileges to read and write', async () => {
    const database = await fixture.createSampleDatabase();
    const client = await fixture.connectClient(database);
    const role = `importer_${randomBytes(6).toString('hex')}`;
    await client.query(`create role ${role} login password 'secret';
      grant select, insert, update on all tables in schema public to ${role};
      grant usage on all sequences in schema public to ${role}`);
    const url = new URL(database.url);
    Object.assign(url, { username: role, password: 'secret' });
    const { metadata } = database;
    const { files } = await importFolder({ metadata, url: url.href }, await createLargeFolder(timesheetRow), {
      keepGood: true,
    });
    expect(files).toMatchObject([{ inserted: ROWS }]);
    await client.query(`drop owned by ${role}; drop role ${role}`);
  });
});
