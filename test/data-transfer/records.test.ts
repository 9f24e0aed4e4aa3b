import { randomBytes } from 'node:crypto';
import { Entity, Property } from '@mikro-orm/decorators/legacy';
import { afterAll, describe, expect, it } from 'vitest';
import { Id, Reference } from '../../entities/columns.ts';
import { entities } from '../../entities/index.ts';
import { fileDefinitions } from '../../src/data-transfer/file-definitions.ts';
import { importFolder } from '../../src/data-transfer/import.ts';
import type { RowProblem } from '../../src/data-transfer/row-reader.ts';
import { createOrm } from '../../src/database/orm.ts';
import { canonicalJson, createFingerprint } from '../../src/domain/canonical-json.ts';
import { DataTransferFixture, importAndCollect, type Row, readSample } from './data-transfer-fixture.ts';

const fixture = new DataTransferFixture();
afterAll(() => fixture.dispose());

const [harbourline, ironbark] = await readSample('builders');
const [quay, pool, grain] = await readSample('projects');
const sharedDatabase = fixture.createSampleDatabase();

/** Imports into the shared database, which does not change because at least one row is invalid. */
async function findProblems(files: Record<string, Row[]>): Promise<(string | number | null)[][]> {
  const { problems, committed } = await importAndCollect(await sharedDatabase, await fixture.createFolder(files));
  expect(committed).toBe(false);
  return problems.map(({ file, line, field, message }) => [file.replace('.ndjson', ''), line, field, message]);
}

const countInserted = async (files: Record<string, Row[]>) =>
  (await importAndCollect(await fixture.createSampleDatabase(), await fixture.createFolder(files))).problems;

describe('a foreign key', () => {
  it('must refer to a record', async () => {
    const [timesheet] = await readSample('timesheets');
    const change = { projectId: 'proj_none', costCodeId: 'tscc_none' };
    expect(await findProblems({ timesheets: [{ ...timesheet, ...change }] })).toEqual([
      ['timesheets', 1, 'costCodeId', 'tscc_none does not exist'],
      ['timesheets', 1, 'projectId', 'proj_none does not exist'],
    ]);
  });

  it('may refer to a row of the same import', async () => {
    const project = { ...quay, id: 'proj_new' };
    const location = { id: 'loc_new', builderId: harbourline!.id, projectId: 'proj_new', name: 'Roof' };
    expect(await countInserted({ projects: [project], locations: [location] })).toEqual([]);
  });

  it('must refer to a record of the same builder', async () => {
    const [timesheet] = await readSample('timesheets');
    expect(await findProblems({ timesheets: [{ ...timesheet, projectId: grain!.id }] })).toEqual([
      ['timesheets', 1, 'projectId', `${grain!.id} belongs to another builder`],
    ]);
  });

  it('must refer to the builder of the other parent if the row has no builder', async () => {
    const [row] = await readSample('subcontractor-projects');
    expect(await findProblems({ 'subcontractor-projects': [{ ...row, projectId: grain!.id }] })).toEqual([
      ['subcontractor-projects', 1, 'projectId', `${grain!.id} belongs to another builder`],
    ]);
  });

  it('in a list is checked too', async () => {
    const [contact] = await readSample('contacts');
    const found = (projectIds: unknown[]) => findProblems({ contacts: [{ ...contact, projectIds }] });
    const foreign = ['contacts', 1, 'projectIds', `${grain!.id} belongs to another builder`];
    expect(await found([quay!.id, grain!.id])).toEqual([foreign]);
    expect(await found(['proj_none'])).toEqual([['contacts', 1, 'projectIds', 'proj_none does not exist']]);
  });

  it('cannot move a record to another builder', async () => {
    const kept = `is ${harbourline!.id} in the database, and a record never changes its builder`;
    expect(await findProblems({ projects: [{ ...pool, builderId: ironbark!.id }] })).toEqual([
      ['projects', 1, 'builderId', kept],
    ]);
  });

  it('cannot move a page to another report, which would leave the other one without it', async () => {
    const [report] = await readSample('photo-reports');
    const pages = await readSample('photo-report-pages');
    const content = { ...(report!.content as Row), sourceExternalId: 'copy' };
    const fingerprint = createFingerprint(canonicalJson(content));
    const copy = { ...report, id: 'phrep_copy', sourceExternalId: 'copy', content, fingerprint };
    const moved = pages.map((page) => ({ ...page, reportId: copy.id }));
    const kept = `is ${report!.id} in the database, and a record never changes its report`;
    expect(await findProblems({ 'photo-reports': [copy], 'photo-report-pages': moved })).toEqual(
      expect.arrayContaining(moved.map((_, index) => ['photo-report-pages', index + 1, 'reportId', kept])),
    );
  });

  it('to a rejected row is reported with the file and line of that row', async () => {
    const location = { id: 'loc_new', builderId: harbourline!.id, name: 'Roof' };
    const found = await findProblems({
      projects: [
        quay!,
        { ...quay, id: 'proj_new', status: 'LOST' },
        { ...quay, id: 'proj_newer', builderId: 'buil_none' },
      ],
      locations: [
        { ...location, projectId: 'proj_new' },
        { ...location, id: 'loc_newer', projectId: 'proj_newer' },
      ],
    });
    expect(found).toEqual([
      ['projects', 2, 'status', expect.any(String)],
      ['projects', 3, 'builderId', 'buil_none does not exist'],
      ['locations', 1, 'projectId', 'proj_new was rejected (projects.ndjson line 2)'],
      ['locations', 2, 'projectId', 'proj_newer was rejected (projects.ndjson line 3)'],
    ]);
  });
});

describe('a unique key', () => {
  it('rejects a second row with the same id', async () => {
    const rows = [quay!, pool!, { ...quay, name: 'Again' }, { ...quay, name: 7 }];
    expect(await findProblems({ projects: rows })).toEqual([
      ['projects', 4, 'name', 'must be a string'],
      ['projects', 3, 'id', 'has the same id as line 1'],
      ['projects', 4, 'id', 'has the same id as line 1'],
    ]);
  });

  it('rejects a second row with the same foreign keys if it has no id', async () => {
    const [row] = await readSample('memberships');
    expect(await findProblems({ memberships: [row!, { ...row, role: 'OWNER' }] })).toEqual([
      ['memberships', 2, 'builderId', 'has the same userId, builderId as line 1'],
    ]);
  });

  it('is checked within the file and with the database', async () => {
    const [row, other] = await readSample('cost-codes');
    const fresh = { ...row, id: 'tscc_new', code: '99-000' };
    expect(
      await findProblems({
        'cost-codes': [fresh, { ...fresh, id: 'tscc_newer' }, { ...fresh, id: 'tscc_newest', code: other!.code }],
      }),
    ).toEqual([
      ['cost-codes', 2, 'code', 'has the same builderId, code as line 1'],
      ['cost-codes', 3, 'code', `has the same builderId, code as ${other!.id}, which is in the database`],
    ]);
    expect(
      await countInserted({ 'cost-codes': [fresh, { ...fresh, id: 'tscc_newer', builderId: ironbark!.id }] }),
    ).toEqual([]);
  });

  it('of a partial index is checked where the condition holds', async () => {
    const [company] = await readSample('subcontractors');
    const second = { ...company, id: 'sub_second' };
    expect(await findProblems({ subcontractors: [second] })).toEqual([
      [
        'subcontractors',
        1,
        'builderId',
        expect.stringMatching(`^has the same builderId as ${company!.id}, which is in the database .unique where`),
      ],
    ]);
    const archived = { ...company, archivedAt: '2026-03-02T07:30:00.000Z' };
    expect(await countInserted({ subcontractors: [second, archived] })).toEqual([]);
  });

  it('with nulls not distinct compares nulls as equal', async () => {
    const [note] = await readSample('meeting-notes');
    expect(
      await findProblems({
        'meeting-notes': [
          { ...note, id: 'mnote_new' },
          { ...note, id: 'mnote_newer', externalSourceId: 'x' },
          { ...note, id: 'mnote_newest', externalSourceId: 'x' },
        ],
      }),
    ).toEqual([
      ['meeting-notes', 1, 'externalSourceId', expect.stringContaining(`as ${note!.id}, which is in the database`)],
      ['meeting-notes', 3, 'externalSourceId', expect.stringMatching(/as line 2$/)],
    ]);
  });

  it('must fit into an index entry, although each of its values would', async () => {
    const [photo] = await readSample('photos');
    const long = () => randomBytes(500).toString('hex');
    const change = { sourceApp: long(), pageExternalSourceId: long(), externalSourceId: long() };
    expect(await findProblems({ photos: [{ ...photo, ...change }] })).toEqual([
      [
        'photos',
        1,
        'externalSourceId',
        expect.stringMatching(/^has .*externalSourceId of more than 2600 bytes in all$/),
      ],
    ]);
  });

  it('rejects a swap of two values', async () => {
    const [first, second] = await readSample('cost-codes');
    const rows = [
      { ...first, code: second!.code },
      { ...second, code: first!.code },
    ];
    expect((await findProblems({ 'cost-codes': rows })).map(([, line, field]) => [line, field])).toEqual([
      [1, 'code'],
      [2, 'code'],
    ]);
  });
});

describe('a check constraint', () => {
  it('that only the database declares is reported by name', async () => {
    const database = await fixture.createSampleDatabase();
    const client = await fixture.connectClient(database);
    await client.query('alter table timesheet add constraint a_day check (hours <= 24)');
    const [timesheet] = await readSample('timesheets');
    const { problems } = await importAndCollect(
      database,
      await fixture.createFolder({ timesheets: [{ ...timesheet, hours: 25 }] }),
    );
    expect(problems).toEqual([
      { file: 'timesheets.ndjson', line: 1, field: 'hours', message: 'breaks the rule a_day' },
    ]);
  });
});

@Entity()
class Shelf {
  @Id()
  id!: string;

  @Reference(() => Shelf, { nullable: true })
  parentId!: string | null;

  @Property({ type: 'text' })
  name!: string;
}

describe('a file that references itself', () => {
  const shelves = [{ file: 'shelves', entity: Shelf, id: 'folder' as const }];

  it('may have parents in any order, and rejects the children of invalid rows', async () => {
    const { url } = await fixture.createSampleDatabase();
    const orm = createOrm(url, { entities: [...entities, Shelf] });
    await orm.schema.update();
    const metadata = orm.getMetadata();
    const folder = await fixture.createFolder({
      shelves: [
        { id: 'fold_leaf', parentId: 'fold_branch', name: 'Leaf' },
        { id: 'fold_branch', parentId: 'fold_root', name: 'Branch' },
        { id: 'fold_root', parentId: null, name: 'Root' },
        { id: 'fold_twig', parentId: 'fold_stick', name: 'Twig' },
        { id: 'fold_stick', parentId: 'fold_rotten', name: 'Stick' },
        { id: 'fold_rotten', name: null },
        { id: 'fold_lost', parentId: 'fold_none', name: 'Lost' },
      ],
    });
    const problems: RowProblem[] = [];
    const options = { keepGood: true, onProblem: (problem: RowProblem) => void problems.push(problem) };
    const { files } = await importFolder({ metadata, url }, folder, options, shelves);
    await orm.close();
    expect(problems.map(({ line, message }) => [line, message])).toEqual([
      [6, 'must not be null'],
      [4, 'fold_stick was rejected'],
      [5, 'fold_rotten was rejected'],
      [7, 'fold_none does not exist'],
    ]);
    expect(files).toMatchObject([{ rows: 7, inserted: 3, bad: 4 }]);
  });

  it('is defined after the files that it refers to', async () => {
    const { metadata, url } = await sharedDatabase;
    const list = fileDefinitions.filter(({ file }) => file !== 'projects');
    await expect(importFolder({ metadata, url }, '/', {}, list)).rejects.toThrow(
      'Timesheet.projectId refers to Project, which must have an id and an earlier file.',
    );
  });
});
