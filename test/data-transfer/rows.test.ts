import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { importFolder } from '../../src/data-transfer/import.ts';
import { MAX_LINE_BYTES } from '../../src/data-transfer/lines.ts';
import { Bench, importing, type Row, sample } from './bench.ts';

const bench = new Bench();
afterAll(() => bench.end());

/** Not changed by a test, because a bad row takes everything back. */
const shared = bench.sampleDatabase();

const imported = async (file: string, text: string | Buffer) =>
  importing(await shared, await bench.folderOf({ [file]: text }));

/** Problems as `[field, message]` of the sample's file with the last row changed. */
async function problemsOf(file: string, change: Row): Promise<(string | null)[][]> {
  const rows = await sample(file);
  rows.push({ ...rows.pop(), ...change });
  const { problems, files, committed } = await importing(await shared, await bench.folderOf({ [file]: rows }));
  expect({ files, committed }).toMatchObject({ files: [{ rows: rows.length, bad: 1 }], committed: false });
  expect(problems).toEqual(problems.map((problem) => ({ ...problem, file: `${file}.ndjson`, line: rows.length })));
  return problems.map(({ field, message }) => [field, message]);
}

describe('a row is bad', () => {
  const missing = 'is required';
  const timestamp = 'must be an ISO 8601 date-time with a time zone, such as 2026-03-02T07:30:00.000Z';
  const unclean = 'must not contain U+0000 or unpaired surrogates';
  const deep = JSON.parse(`${'{"a":'.repeat(65)}1${'}'.repeat(65)}`);

  it.each<[string, string, Row, unknown[][]]>([
    ['lacks a field', 'projects', { name: undefined }, [['name', missing]]],
    ['has null where null cannot be', 'projects', { name: null }, [['name', 'must not be null']]],
    ['has a field that is none', 'projects', { colour: 'red' }, [['colour', 'is not a field of projects.ndjson']]],
    ['carries a secret', 'users', { passwordHash: 'x' }, [['passwordHash', 'is never imported']]],
    ['has a number for text', 'projects', { name: 7 }, [['name', 'must be a string']]],
    ['has text for a number', 'timesheets', { hours: '7.5' }, [['hours', 'must be a finite number']]],
    ['has text for a boolean', 'contacts', { isPrimary: 'yes' }, [['isPrimary', 'must be true or false']]],
    [
      'has a fraction for an integer',
      'defects',
      { identifier: 1.5 },
      [['identifier', 'must be an integer from -2147483648 to 2147483647']],
    ],
    [
      'has an unknown value of an enum',
      'projects',
      { status: 'DONE' },
      [['status', 'must be one of ARCHIVED, COMPLETE, IN_PROGRESS, UPCOMING']],
    ],
    [
      'has an id of another kind',
      'projects',
      { id: 'sub_a1' },
      [['id', 'must be an id like proj_a1b2c3, of at most 200 characters']],
    ],
    [
      'has a group id of another kind',
      'timesheets',
      { timesheetGroupId: 'ts_a1' },
      [['timesheetGroupId', expect.stringContaining('must be an identifier like tsg_')]],
    ],
    ['has a day that is none', 'projects', { createdAt: '2026-02-30T00:00:00.000Z' }, [['createdAt', timestamp]]],
    ['has an instant without a zone', 'projects', { createdAt: '2026-02-03T00:00:00' }, [['createdAt', timestamp]]],
    [
      'has an instant before the first year',
      'projects',
      { createdAt: '0001-01-01T00:00:00+10:00' },
      [['createdAt', timestamp]],
    ],
    ['has U+0000 in a text', 'projects', { name: 'Quay\0' }, [['name', unclean]]],
    ['has an unpaired surrogate in a list', 'subcontractors', { tags: ['ok', '\ud800'] }, [['tags[1]', unclean]]],
    [
      'has an object of the wrong fields',
      'projects',
      { integrations: [{ type: 1, sourceId: 'x', extra: 2 }] },
      [
        ['integrations[0].extra', 'is not a known field'],
        ['integrations[0].type', 'must be a string'],
        ['integrations[0].companyId', missing],
      ],
    ],
    [
      'has an assignee of no kind',
      'defects',
      { assignees: [{ type: 'TEAM', id: 'x', name: 'y' }] },
      [['assignees[0].type', 'must be one of USER, COMPANY, TAG']],
    ],
    [
      'has an unknown status in a list',
      'subcontractor-projects',
      { statuses: ['INVITED', 'GONE'] },
      [['statuses[1]', expect.stringContaining('must be one of INVITED')]],
    ],
    [
      'has an address of a document that is not HTTPS',
      'swms',
      { url: 'javascript:alert(1)' },
      [['url', 'must be an address that begins with https://']],
    ],
    [
      'has an e-mail address that sign-in would not find',
      'users',
      { email: 'Tom@harbourline.example' },
      [['email', 'must be in lower case']],
    ],
    [
      'has a text that no index can hold',
      'cost-codes',
      { code: 'x'.repeat(1001) },
      [['code', 'must not be longer than 1000 bytes']],
    ],
    [
      'nests too deep',
      'meetings',
      { templateResponse: deep },
      [
        ['templateResponse.a', 'is not a known field'],
        ['templateResponse.sections', missing],
        ['templateResponse.syncedNotes', missing],
      ],
    ],
    [
      'has several problems',
      'projects',
      { name: null, status: 1, builderId: 'buil_none' },
      [
        ['status', expect.any(String)],
        ['name', 'must not be null'],
        ['builderId', 'buil_none does not exist'],
      ],
    ],
  ])('that %s', async (_, file, change, expected) => {
    expect(await problemsOf(file, change)).toEqual(expected);
  });

  it('whose free-form JSON cannot be stored', async () => {
    const [note] = await sample('meeting-notes');
    const found = async (block: string) => {
      const text = JSON.stringify({ ...note, detailBlocks: ['BLOCK'] }).replace('"BLOCK"', block);
      return (await imported('meeting-notes', text)).problems.map(({ field, message }) => [field, message]);
    };
    expect(await found('{"a":{"b":[1,1e999]}}')).toEqual([['detailBlocks[0].a.b[1]', 'must be a finite number']]);
    expect(await found('{"a\\u0000":1}')).toEqual([['detailBlocks[0]', unclean]]);
    expect(await found(JSON.stringify(deep))).toEqual([
      [expect.stringMatching(/^detailBlocks\[0\](\.a)+$/), 'must not nest deeper than 64 levels'],
    ]);
    expect(await found('{"a":-0.5e-3,"__proto__":{"b":[]}}')).toEqual([]);
  });

  it('that is no JSON, no object, no UTF-8 or endless; the others are read', async () => {
    const [project] = (await sample('projects')).map((row) => JSON.stringify(row));
    const endless = Buffer.alloc(MAX_LINE_BYTES, 'x');
    const text = Buffer.concat(
      ['{"id":\n', '[]\n', Buffer.from([0x22, 0xff, 0x22, 0x0a]), '{"a":"', endless, '"}\n', `${project}\n`].map(
        (part) => Buffer.from(part),
      ),
    );
    const { problems, files } = await imported('projects', text);
    expect(problems.map(({ line, field, message }) => [line, field, message])).toEqual([
      [1, null, expect.stringMatching(/^is not JSON: /)],
      [2, null, 'must be a JSON object'],
      [3, null, 'is not UTF-8'],
      [4, null, `is longer than ${MAX_LINE_BYTES} bytes`],
    ]);
    expect(files).toMatchObject([{ rows: 5, bad: 4, unchanged: 1 }]);
  });
});

describe('a folder', () => {
  it('that cannot be imported is refused with one line', async () => {
    const database = await bench.emptyDatabase();
    const folder = await bench.folder();
    const refused = (path: string) => expect(importFolder(database, path)).rejects;
    await refused(join(folder, 'none')).toThrow(/^The folder \S+\/none cannot be read: ENOENT[^\n]*$/);
    await refused(folder).toThrow(`The folder ${folder} holds no file of the format.`);
    await mkdir(join(folder, 'projects.ndjson'));
    await refused(folder).toThrow(`${folder}/projects.ndjson is not a file.`);
    await writeFile(join(folder, 'Timesheet.ndjson'), '');
    await refused(folder).toThrow(
      /^\S+\/Timesheet\.ndjson is no file of the format, which has integrators\.ndjson, builders/,
    );
  });

  it('may lack files, and hold other things', async () => {
    const database = await bench.emptyDatabase();
    const folder = await bench.folderOf({ builders: await sample('builders'), users: '' });
    await writeFile(join(folder, 'README.txt'), 'Export of 20 November');
    const { files } = await importing(database, folder);
    expect(files.map(({ file, inserted }) => [file, inserted])).toEqual([
      ['builders.ndjson', 2],
      ['users.ndjson', 0],
    ]);
  });
});
