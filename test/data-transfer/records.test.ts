import { Entity, Property } from '@mikro-orm/decorators/legacy';
import { afterAll, describe, expect, it } from 'vitest';
import { Id, Reference } from '../../entities/columns.ts';
import { entities } from '../../entities/index.ts';
import { importFolder } from '../../src/data-transfer/import.ts';
import { resources } from '../../src/data-transfer/resources.ts';
import type { Problem } from '../../src/data-transfer/rows.ts';
import { createOrm } from '../../src/database/orm.ts';
import { Bench, importing, type Row, sample } from './bench.ts';

const bench = new Bench();
afterAll(() => bench.end());

const [harbourline, ironbark] = await sample('builders');
const [quay, pool, grain] = await sample('projects');
const shared = bench.sampleDatabase();

/** Imports into a database that holds the sample and stays as it was, because one row at least is bad. */
async function problemsOf(files: Record<string, Row[]>): Promise<(string | number | null)[][]> {
  const { problems, committed } = await importing(await shared, await bench.folderOf(files));
  expect(committed).toBe(false);
  return problems.map(({ file, line, field, message }) => [file.replace('.ndjson', ''), line, field, message]);
}

const inserts = async (files: Record<string, Row[]>) =>
  (await importing(await bench.sampleDatabase(), await bench.folderOf(files))).problems;

describe('a foreign key', () => {
  it('must lead to a record', async () => {
    const [timesheet] = await sample('timesheets');
    const change = { projectId: 'proj_none', costCodeId: 'tscc_none' };
    expect(await problemsOf({ timesheets: [{ ...timesheet, ...change }] })).toEqual([
      ['timesheets', 1, 'costCodeId', 'tscc_none does not exist'],
      ['timesheets', 1, 'projectId', 'proj_none does not exist'],
    ]);
  });

  it('may lead to a row of a file of the same import', async () => {
    const project = { ...quay, id: 'proj_new' };
    const location = { id: 'loc_new', builderId: harbourline!.id, projectId: 'proj_new', name: 'Roof' };
    expect(await inserts({ projects: [project], locations: [location] })).toEqual([]);
  });

  it("must lead to a record of the row's own builder", async () => {
    const [timesheet] = await sample('timesheets');
    expect(await problemsOf({ timesheets: [{ ...timesheet, projectId: grain!.id }] })).toEqual([
      ['timesheets', 1, 'projectId', `${grain!.id} belongs to another builder`],
    ]);
  });

  it('must lead to the builder of the other parent, where the row has none of its own', async () => {
    const [row] = await sample('subcontractor-projects');
    expect(await problemsOf({ 'subcontractor-projects': [{ ...row, projectId: grain!.id }] })).toEqual([
      ['subcontractor-projects', 1, 'projectId', `${grain!.id} belongs to another builder`],
    ]);
  });

  it('in a list is held to the same', async () => {
    const [contact] = await sample('contacts');
    const found = (projectIds: unknown[]) => problemsOf({ contacts: [{ ...contact, projectIds }] });
    const foreign = ['contacts', 1, 'projectIds', `${grain!.id} belongs to another builder`];
    expect(await found([quay!.id, grain!.id])).toEqual([foreign]);
    expect(await found(['proj_none'])).toEqual([['contacts', 1, 'projectIds', 'proj_none does not exist']]);
  });

  it('that carries a record over to another builder is refused', async () => {
    const kept = `is ${harbourline!.id} in the database, and a record never changes its builder`;
    expect(await problemsOf({ projects: [{ ...pool, builderId: ironbark!.id }] })).toEqual([
      ['projects', 1, 'builderId', kept],
    ]);
  });

  it('to a refused row says which one that was', async () => {
    const location = { id: 'loc_new', builderId: harbourline!.id, name: 'Roof' };
    const found = await problemsOf({
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
      ['locations', 1, 'projectId', 'proj_new was refused (projects.ndjson line 2)'],
      ['locations', 2, 'projectId', 'proj_newer was refused (projects.ndjson line 3)'],
    ]);
  });
});

describe('one record alone may have', () => {
  it('an id; the second row that has it is bad', async () => {
    const rows = [quay!, pool!, { ...quay, name: 'Again' }, { ...quay, name: 7 }];
    expect(await problemsOf({ projects: rows })).toEqual([
      ['projects', 4, 'name', 'must be a string'],
      ['projects', 3, 'id', 'has the same id as line 1'],
      ['projects', 4, 'id', 'has the same id as line 1'],
    ]);
  });

  it('its unique foreign keys, where it has no id', async () => {
    const [row] = await sample('memberships');
    expect(await problemsOf({ memberships: [row!, { ...row, role: 'OWNER' }] })).toEqual([
      ['memberships', 2, 'builderId', 'has the same userId, builderId as line 1'],
    ]);
  });

  it('what a unique constraint covers, within the file and the database', async () => {
    const [row, other] = await sample('cost-codes');
    const fresh = { ...row, id: 'tscc_new', code: '99-000' };
    expect(
      await problemsOf({
        'cost-codes': [fresh, { ...fresh, id: 'tscc_newer' }, { ...fresh, id: 'tscc_newest', code: other!.code }],
      }),
    ).toEqual([
      ['cost-codes', 2, 'code', 'has the same builderId, code as line 1'],
      ['cost-codes', 3, 'code', `has the same builderId, code as ${other!.id}, which is in the database`],
    ]);
    expect(await inserts({ 'cost-codes': [fresh, { ...fresh, id: 'tscc_newer', builderId: ironbark!.id }] })).toEqual(
      [],
    );
  });

  it('what a partial one covers, as long as its condition holds', async () => {
    const [company] = await sample('subcontractors');
    const second = { ...company, id: 'sub_second' };
    expect(await problemsOf({ subcontractors: [second] })).toEqual([
      [
        'subcontractors',
        1,
        'builderId',
        expect.stringMatching(
          `^has the same builderId as ${company!.id}, which is in the database .one alone may have it where`,
        ),
      ],
    ]);
    const archived = { ...company, archivedAt: '2026-03-02T07:30:00.000Z' };
    expect(await inserts({ subcontractors: [second, archived] })).toEqual([]);
  });

  it('what one covers that counts nulls as the same', async () => {
    const [note] = await sample('meeting-notes');
    expect(
      await problemsOf({
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

  it('and a swap of two values is refused, because neither can go first', async () => {
    const [first, second] = await sample('cost-codes');
    const rows = [
      { ...first, code: second!.code },
      { ...second, code: first!.code },
    ];
    expect((await problemsOf({ 'cost-codes': rows })).map(([, line, field]) => [line, field])).toEqual([
      [1, 'code'],
      [2, 'code'],
    ]);
  });
});

describe('a check constraint', () => {
  it('that the database alone knows is told by its name', async () => {
    const database = await bench.sampleDatabase();
    const client = await bench.client(database);
    await client.query('alter table timesheet add constraint a_day check (hours <= 24)');
    const [timesheet] = await sample('timesheets');
    const { problems } = await importing(database, await bench.folderOf({ timesheets: [{ ...timesheet, hours: 25 }] }));
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

describe('a record of its own kind', () => {
  const shelves = [{ file: 'shelves', entity: Shelf, id: 'folder' as const }];

  it('may be its parent in any order, and takes its children with it when it is bad', async () => {
    const { url } = await bench.sampleDatabase();
    const orm = createOrm(url, { entities: [...entities, Shelf] });
    await orm.schema.update();
    const metadata = orm.getMetadata();
    const folder = await bench.folderOf({
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
    const problems: Problem[] = [];
    const options = { keepGood: true, onBadRow: (problem: Problem) => void problems.push(problem) };
    const { files } = await importFolder({ metadata, url }, folder, options, shelves);
    await orm.close();
    expect(problems.map(({ line, message }) => [line, message])).toEqual([
      [6, 'must not be null'],
      [4, 'fold_stick was refused'],
      [5, 'fold_rotten was refused'],
      [7, 'fold_none does not exist'],
    ]);
    expect(files).toMatchObject([{ rows: 7, inserted: 3, bad: 4 }]);
  });

  it('must be in the list after what it leads to', async () => {
    const { metadata, url } = await shared;
    const list = resources.filter(({ file }) => file !== 'projects');
    await expect(importFolder({ metadata, url }, '/', {}, list)).rejects.toThrow(
      'SubcontractorProject.projectId leads to Project, of which no file before tells the ids.',
    );
  });
});
