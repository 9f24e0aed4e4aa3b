import { appendFile, mkdir, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { INEXACT_NUMBER } from '../../schema/json-problems.ts';
import { importFolder } from '../../src/data-transfer/import.ts';
import { MAX_LINE_BYTES } from '../../src/data-transfer/read-lines.ts';
import { DataTransferFixture, importAndCollect, type Row, readSample } from './data-transfer-fixture.ts';

const fixture = new DataTransferFixture();
afterAll(() => fixture.dispose());

/** Not changed by tests, because an invalid row rolls the import back. */
const sharedDatabase = fixture.createSampleDatabase();

const importRows = async (file: string, text: string | Buffer) =>
  importAndCollect(await sharedDatabase, await fixture.createFolder({ [file]: text }));

/** Imports a sample file with its last row changed in each of these ways, which are lines `first` to `last`. */
async function importChanged(file: string, changes: Row[]) {
  const rows = await readSample(file);
  const row = rows.pop()!;
  const first = rows.length + 1;
  // No two have the same id.
  const idOf = (index: number) => (row.id === undefined ? {} : { id: `${row.id}${index}` });
  rows.push(...changes.map((change, index) => ({ ...row, ...idOf(index), ...change })));
  const imported = await importAndCollect(await sharedDatabase, await fixture.createFolder({ [file]: rows }));
  return { ...imported, first, last: rows.length };
}

describe('an import rejects a row', () => {
  const missing = 'is required';
  const timestamp = 'must be an ISO 8601 date-time with a time zone, such as 2026-03-02T07:30:00.000Z';
  const unclean = 'must not contain U+0000 or unpaired surrogates';
  const deep = JSON.parse(`${'{"a":'.repeat(65)}1${'}'.repeat(65)}`);

  const cases: [string, string, Row, unknown[][]][] = [
    ['lacks a field', 'projects', { name: undefined }, [['name', missing]]],
    ['has null where null cannot be', 'projects', { name: null }, [['name', 'must not be null']]],
    ['has an unknown field', 'projects', { colour: 'red' }, [['colour', 'is not a field of projects.ndjson']]],
    ['has a secret field', 'users', { passwordHash: 'x' }, [['passwordHash', 'is never imported']]],
    ['has a number for text', 'projects', { name: 7 }, [['name', 'must be a string']]],
    ['has text for a number', 'timesheets', { hours: '7.5' }, [['hours', INEXACT_NUMBER]]],
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
      'has no time zone',
      'builders',
      { timeZone: 'Mars/Olympus' },
      [['timeZone', 'must be a time zone such as Australia/Sydney']],
    ],
    [
      'has an unknown field, beside a new name of a time zone',
      'builders',
      { timeZone: 'Asia/Kolkata', colour: 'red' },
      [['colour', 'is not a field of builders.ndjson']],
    ],
    ...['', 'sam', 'a@b.example\r\nbcc: eve@example.com', 'Sam@example.com'].map(
      (email): [string, string, Row, unknown[][]] => [
        `has ${JSON.stringify(email)} for an e-mail address`,
        'users',
        { email },
        [['email', 'must be an e-mail address in lower case']],
      ],
    ),
    ...['javascript', 'data', 'https', 'a b'].map((scheme): [string, string, Row, unknown[][]] => [
      `has the scheme ${scheme} for deep links`,
      'integrators',
      { deepLinkSchemes: [scheme] },
      [['deepLinkSchemes[0]', "must be an application's own scheme such as siteapp"]],
    ]),
    [
      'has a line break in a content type',
      'photos',
      { contentType: 'image/jpeg\r\nset-cookie: a=b' },
      [['contentType', 'must be a media type such as image/jpeg']],
    ],
    ['has an object for an id', 'projects', { id: { toString: 1 } }, [['id', 'must be a string']]],
    ['has an object for a text with an index', 'cost-codes', { code: { toString: 1 } }, [['code', 'must be a string']]],
    [
      'has an id with the wrong prefix',
      'projects',
      { id: 'sub_a1' },
      [['id', 'must be an id like proj_a1b2c3, of at most 200 characters']],
    ],
    [
      'has an id of more than 200 characters',
      'projects',
      { id: `proj_${'a'.repeat(196)}` },
      [['id', 'must be an id like proj_a1b2c3, of at most 200 characters']],
    ],
    [
      'has a group id with the wrong prefix',
      'timesheets',
      { timesheetGroupId: 'ts_a1' },
      [['timesheetGroupId', expect.stringContaining('must be an identifier like tsg_')]],
    ],
    ['has an invalid day', 'projects', { createdAt: '2026-02-30T00:00:00.000Z' }, [['createdAt', timestamp]]],
    [
      'has a timestamp without a time zone',
      'projects',
      { createdAt: '2026-02-03T00:00:00' },
      [['createdAt', timestamp]],
    ],
    [
      'has a timestamp before year 1',
      'projects',
      { createdAt: '0001-01-01T00:00:00+10:00' },
      [['createdAt', timestamp]],
    ],
    ['has U+0000 in a text', 'projects', { name: 'Quay\0' }, [['name', unclean]]],
    ['has an unpaired surrogate in a list', 'subcontractors', { tags: ['ok', '\ud800'] }, [['tags[1]', unclean]]],
    [
      'has an object with the wrong fields',
      'projects',
      { integrations: [{ type: 1, sourceId: 'x', extra: 2 }] },
      [
        ['integrations[0].extra', 'is not a known field'],
        ['integrations[0].type', 'must be a string'],
        ['integrations[0].companyId', missing],
      ],
    ],
    [
      'has an assignee of an unknown type',
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
      'has links of a note that browsers run (MTG-15)',
      'meeting-notes',
      { sourceDeepLink: 'javascript:alert(1)', sourceWebLink: 'javascript:alert(1)' },
      [
        ['sourceDeepLink', expect.stringContaining('must be an https: address')],
        ['sourceWebLink', expect.stringContaining('must be an https: address')],
      ],
    ],
    [
      'has a text that is too long for an index',
      'cost-codes',
      { code: 'x'.repeat(1001) },
      [['code', 'must not be longer than 1000 bytes']],
    ],
    [
      'has a text that is longer than any of the API',
      'subcontractors',
      { abn: 'x'.repeat(2_097_153) },
      [['abn', 'must not be longer than 2097152 characters']],
    ],
    [
      'has JSON that is nested too deeply',
      'meetings',
      { templateResponse: deep },
      [
        ['templateResponse.a', 'is not a known field'],
        ['templateResponse.sections', missing],
        ['templateResponse.syncedNotes', missing],
      ],
    ],
    [
      'has a report with a number beyond JSON',
      'photo-reports',
      { content: { a: 1e308 } },
      [['content.a', INEXACT_NUMBER]],
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
  ];
  const changesOf = (file: string) => cases.flatMap(([, of, change]) => (of === file ? [change] : []));
  /** The rows of one file are imported together. */
  const imports = new Map<string, ReturnType<typeof importChanged>>();
  const importOnce = (file: string) => {
    if (!imports.has(file)) imports.set(file, importChanged(file, changesOf(file)));
    return imports.get(file)!;
  };

  it.each(cases)('that %s', async (_, file, change, expected) => {
    const { problems, first } = await importOnce(file);
    const at = first + changesOf(file).indexOf(change);
    expect(problems.flatMap(({ line, field, message }) => (line === at ? [[field, message]] : []))).toEqual(expected);
  });

  it.each([...new Set(cases.map(([, file]) => file))])('of %s, with its file and line, and no other', async (file) => {
    const { problems, files, committed, first, last } = await importOnce(file);
    const bad = last - first + 1;
    expect({ files, committed }).toMatchObject({ files: [{ rows: last, bad }], committed: false });
    expect(problems.map((problem) => problem.file)).toEqual(problems.map(() => `${file}.ndjson`));
    expect(new Set(problems.map(({ line }) => line))).toEqual(
      new Set(Array.from({ length: bad }, (_, index) => first + index)),
    );
  });

  it('that has a report which is nested deeper than the stack', async () => {
    const [report] = await readSample('photo-reports');
    const nested = `${'['.repeat(20_000)}${']'.repeat(20_000)}`;
    const row = JSON.stringify({ ...report, content: { a: 0 } }).replace('"a":0', `"a":${nested}`);
    const { problems } = await importRows('photo-reports', row);
    expect(problems).toMatchObject([{ line: 1, message: 'must not nest deeper than 64 levels' }]);
  });

  it.each([
    ['the type of a block', { content: { page: { blocks: [{ type: { toString: 1 }, properties: {} }] } } }],
    ['the time of an erased record', { updatedAt: { toString: 1 } }],
  ])('that has an object which is no text: %s', async (_what, change) => {
    const database = await fixture.createSampleDatabase();
    await database
      .fork()
      .execute(`insert into erasure (id, kind, subject_ids, builder_ids, pseudonym, requested_at, due_at, completed_at, pending_keys, places)
      values ('era_a', 'PERSON', '{user_a}', '{}', 'Erased person 0123456789', now(), now(), now(), '{}', '[]');
      update photo_report set source_author = jsonb_build_object('externalId', 'a', 'name', 'Erased person 0123456789')`);
    const [report] = await readSample('photo-reports');
    const folder = await fixture.createFolder({ 'photo-reports': [{ ...report, ...change }] });
    const { problems } = await importAndCollect(database, folder);
    expect(problems[0]).toMatchObject({ file: 'photo-reports.ndjson', line: 1, field: expect.any(String) });
  });

  it('with free-form JSON that cannot be stored', async () => {
    const [note] = await readSample('meeting-notes');
    const found = async (block: string) => {
      const text = JSON.stringify({ ...note, detailBlocks: ['BLOCK'] }).replace('"BLOCK"', block);
      return (await importRows('meeting-notes', text)).problems.map(({ field, message }) => [field, message]);
    };
    for (const number of ['1e999', '9007199254740992', '-9007199254740993', '1e16', '1e-400', '9007199254740991.4'])
      expect(await found(`{"a":{"b":[1,${number}]}}`)).toEqual([['detailBlocks[0].a.b[1]', INEXACT_NUMBER]]);
    expect(await found('{"a":9007199254740991}')).toEqual([]);
    expect(await found('{"a\\u0000":1}')).toEqual([['detailBlocks[0]', 'has a field with a forbidden name']]);
    expect(await found(JSON.stringify(deep))).toEqual([
      [expect.stringMatching(/^detailBlocks\[0\](\.a)+$/), 'must not nest deeper than 64 levels'],
    ]);
    expect(await found('{"a":-0.5e-3,"__proto__":{"b":[]}}')).toEqual([]);
  });

  it('that is not JSON, not an object, not UTF-8 or too long, and reads the others', async () => {
    const [project] = (await readSample('projects')).map((row) => JSON.stringify(row));
    const folder = await fixture.createFolder({ projects: Buffer.from('{"id":\n[]\n"\xff"\n{"a":"', 'latin1') });
    const path = join(folder, 'projects.ndjson');
    // A hole in the file, which takes no time to write.
    await truncate(path, (await stat(path)).size + MAX_LINE_BYTES);
    await appendFile(path, `"}\n${project}\n`);
    const { problems, files } = await importAndCollect(await sharedDatabase, folder);
    expect(problems.map(({ line, field, message }) => [line, field, message])).toEqual([
      [1, null, 'is not JSON'],
      [2, null, 'must be a JSON object'],
      [3, null, 'is not UTF-8'],
      [4, null, `is longer than ${MAX_LINE_BYTES} bytes`],
    ]);
    expect(files).toMatchObject([{ rows: 5, bad: 4, unchanged: 1 }]);
  });
});

describe('an import of a folder', () => {
  it('fails with one line if the folder cannot be imported', async () => {
    const database = await fixture.createEmptyDatabase();
    const folder = await fixture.createTemporaryFolder();
    const refused = (path: string) => expect(importFolder(database, path)).rejects;
    await refused(join(folder, 'none')).toThrow(/^The folder \S+\/none cannot be read: ENOENT[^\n]*$/);
    await refused(folder).toThrow(`The folder ${folder} has no file of the format.`);
    await mkdir(join(folder, 'projects.ndjson'));
    await refused(folder).toThrow(`${folder}/projects.ndjson is not a file.`);
    await writeFile(join(folder, 'Timesheet.ndjson'), '');
    await refused(folder).toThrow(
      /^\S+\/Timesheet\.ndjson is not a file of the format, which has integrators\.ndjson, builders/,
    );
  });

  it('ignores missing and other files', async () => {
    const database = await fixture.createEmptyDatabase();
    const folder = await fixture.createFolder({ builders: await readSample('builders'), users: '' });
    await writeFile(join(folder, 'README.txt'), 'Export of 20 November');
    const { files } = await importAndCollect(database, folder);
    expect(files.map(({ file, inserted }) => [file, inserted])).toEqual([
      ['builders.ndjson', 2],
      ['users.ndjson', 0],
    ]);
  });
});
