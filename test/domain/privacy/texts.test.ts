import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { exportFolder } from '../../../src/data-transfer/export.ts';
import { importFolder } from '../../../src/data-transfer/import.ts';
import type { Database } from '../../../src/database/database.ts';
import { closeVisit } from '../../../src/domain/attendance/manual-changes.ts';
import { recordAudit } from '../../../src/domain/audit/record-audit.ts';
import { canonicalJson, createFingerprint } from '../../../src/domain/canonical-json.ts';
import { erasePerson, previewErasure } from '../../../src/domain/privacy/erase-person.ts';
import { exportPerson } from '../../../src/domain/privacy/export-person.ts';
import { listErasedTexts, replaceErasedText } from '../../../src/domain/privacy/listed-texts.ts';
import { findPeople } from '../../../src/domain/privacy/person.ts';
import { listPersonalTables } from '../../../src/domain/privacy/personal-tables.ts';
import type { ApiError } from '../../../src/shared/errors.ts';
import type { Storage } from '../../../src/storage/storage.ts';
import { DataTransferFixture } from '../../data-transfer/data-transfer-fixture.ts';
import { OPERATOR } from '../../support/audit.ts';
import { ConcurrentTransaction } from '../../support/concurrent-transaction.ts';
import { startStore, type TestStore } from '../../support/stores.ts';
import { BUILDER, contextOf, findTablesWith, PRIYA, PRIYA_IDS, WORKER } from './privacy-fixture.ts';

const fixture = new DataTransferFixture();
let store: TestStore;
let storage: Storage;
let database: Database;

beforeAll(async () => {
  store = await startStore();
  storage = store.storages.au1;
});
afterAll(async () => {
  await store.stop();
  await fixture.dispose();
});

/** Gives each test of a `describe` a database of its own. */
const useDatabase = () =>
  beforeEach(async () => {
    database = await fixture.createSampleDatabase();
  });

const run = async (sql: string, ...values: unknown[]): Promise<Record<string, unknown>[]> =>
  database.fork().execute(sql, values);
const ADD_MEETING = `insert into meeting (id, created_at, updated_at, builder_id, title, date, status, notes)
  values (?, now(), now(), ?, 'Meeting', now(), 'COMPLETED', ?)`;
const addMeeting = (id: string, notes: string) => run(ADD_MEETING, id, BUILDER, notes);
const renameWorker = (name: string) => run('update worker set full_name = ? where id = ?', name, WORKER.id);
const listed = async (id: string) =>
  (await listErasedTexts(contextOf(database, storage), id)).map(({ place }) => place);

const SPELLINGS: [string, string][] = [
  ['Tama Webb', 'Opened by Tama Webb.'],
  ['Tama Webb', 'TAMA  WEBB\u00a0left'],
  ['Tama Webb', 'seen: tama\nwebb'],
  ['Tama Webb', 'Webb, Tama'],
  ['Tama Webb', 'webb,tama'],
  ['Tama Rangi Webb', 'Webb, Tama Rangi'],
  ['Tama Rangi Webb', 'Rangi Webb, Tama'],
  ['Zoë Müller', 'Zoe\u0308 Mu\u0308ller'],
  ['Jörg Weiß', 'JÖRG WEISS'],
  ['İlker Işık', 'ilker ışık'],
  ['İlker Işık', 'ILKER IŞIK'],
  ['Οδυσσέας Παππάς', 'ΟΔΥΣΣΈΑΣ ΠΑΠΠΆΣ'],
  ['Maeve O\u2019Sullivan', "Maeve O'Sullivan"],
  ['Cher', 'Opened by cher.'],
  ['Zelda Quartz', 'see Zelda_Quartz_licence.jpg'],
  ['Zelda Quartz', 'QUARTZ-zelda.2026.pdf'],
  ['Zoë Müller-Webb', 'zoë_müller_webb.png'],
];

/** Names that are parts of others in `SPELLINGS`, or have such: of another person, so that none is found by the name of the other. */
const OTHER_NAMES = ['Tama Rangi Webb', 'Zoë Müller-Webb'];

describe.each([
  ['one person', SPELLINGS.filter(([name]) => !OTHER_NAMES.includes(name))],
  ['another person', SPELLINGS.filter(([name]) => OTHER_NAMES.includes(name))],
])('the spellings of the names of %s who is erased', (_, spellings) => {
  const texts = spellings.map(([name, text], index) => {
    const place = `meeting/meet_text${index}/notes`;
    return { name, text, id: `meet_text${index}`, workerId: `wkr_spelled${index}`, place };
  });
  const workerIds = texts.map(({ workerId }) => workerId);
  let context: ReturnType<typeof contextOf>;
  let erased: Awaited<ReturnType<typeof erasePerson>>;
  const byId = <T extends { id: string }>(rows: T[]) => rows.toSorted((a, b) => a.id.localeCompare(b.id));

  beforeAll(async () => {
    database = await fixture.createSampleDatabase();
    context = contextOf(database, storage);
    for (const { name, text, id, workerId } of texts) {
      await run(
        `insert into worker select (jsonb_populate_record(worker, jsonb_build_object('id', ?::text, 'full_name', ?::text))).*
          from worker where id = ?`,
        ...[workerId, name, WORKER.id],
      );
      await addMeeting(id, text);
      await addMeeting(`${id}_other`, `x${name}x`);
    }
  });

  it('are found, and nothing is changed (PRV-4)', async () => {
    const preview = await previewErasure(context, workerIds);
    const places = preview.map(({ table, id, column }) => `${table}/${id}/${column}`);
    expect(places.sort()).toEqual(texts.map(({ place }) => place).sort());
    const names = await run(`select full_name as name, id from worker where id like 'wkr_spelled%'`);
    expect(byId(names as { id: string }[])).toEqual(byId(texts.map(({ name, workerId: id }) => ({ name, id }))));
  });

  it('are listed by the erasure, which keeps no text (PRV-4)', async () => {
    erased = await erasePerson(context, workerIds);
    const expected = texts.map(({ id, text }) => ({ id, property: 'plainNotes', builderId: BUILDER, texts: [text] }));
    expect(byId(erased.texts)).toMatchObject(byId(expected).map((each) => ({ type: 'Meeting', ...each })));
    const listed = await listErasedTexts(context, erased.erasureId);
    expect(listed).toHaveLength(texts.length);
    expect(listed).toEqual(
      expect.arrayContaining(texts.map(({ place, text: value }) => ({ place, builderId: BUILDER, value }))),
    );
    const erasures = JSON.stringify(await run('select * from erasure'));
    for (const { text } of texts) expect(erasures).not.toContain(text);
  });

  it.each(texts)(
    '$text is replaced when it is asked for, as $name (PRV-4)',
    async ({ name, text, id, place, workerId }) => {
      expect(await run('select notes from meeting where id = ?', id)).toEqual([{ notes: text }]);
      const replaced = await replaceErasedText(context, workerId, place, name);
      expect(replaced.value).toContain(erased.pseudonym);
      expect(await run('select notes from meeting where id = ?', id)).toEqual([{ notes: replaced.value }]);
      const entries = `select values_after from audit_entry where action = 'person.text_replaced' and object_id = ? and values_after = ?`;
      const after = { place };
      expect(await run(entries, erased.pseudonym, JSON.stringify(after))).toEqual([{ values_after: after }]);
      await expect(replaceErasedText(context, workerId, place, name)).rejects.toThrow('does not contain');
    },
  );
});

describe('a text that names an erased person', () => {
  useDatabase();

  it('is found by a name of many words, as it is written', async () => {
    const name = Array.from({ length: 400 }, (_, index) => `n${index}`).join(' ');
    await renameWorker(name);
    await addMeeting('meet_text', `Seen ${name.toUpperCase()}.`);
    expect(await previewErasure(contextOf(database, storage), [WORKER.id])).toMatchObject([{ id: 'meet_text' }]);
  });

  it('is found beside a name of any length, and many former names', async () => {
    const words = (letter: string) => Array.from({ length: 12 }, () => letter.repeat(200)).join(' ');
    const [contact] = await run('select id, builder_id, name from contact where builder_id = ? limit 1', BUILDER);
    await addMeeting('meet_text', `Seen ${contact!.name}.`);
    for (const [index, name] of ['q'.repeat(200_000), ...'abcd'].entries()) {
      const after = { name: name.length === 1 ? words(name) : name };
      await database.transaction((em) =>
        recordAudit(em, {
          ...OPERATOR,
          at: `2026-01-01T00:00:0${index}.000Z`,
          action: 'user.updated',
          objectId: `${contact!.id}`,
          personId: `${contact!.id}`,
          before: contact!,
          after,
        }),
      );
    }
    const context = contextOf(database, storage);
    expect(await previewErasure(context, [`${contact!.id}`])).toMatchObject([{ id: 'meet_text' }]);
    await run('update contact set name = ? where id = ?', words('z').repeat(100), contact!.id);
    const { erasureId } = await erasePerson(context, [`${contact!.id}`]);
    expect(await listed(erasureId)).toEqual(['meeting/meet_text/notes']);
    await expect(
      replaceErasedText(context, erasureId, 'meeting/meet_text/notes', words('z').repeat(100)),
    ).rejects.toThrow('does not contain');
  });

  it('is no other word or name', async () => {
    await renameWorker('Cher Lee');
    await addMeeting('meet_other', 'Cherry Lee; Cher Leeson. xCher Lee, Lee');
    expect(await previewErasure(contextOf(database, storage), [WORKER.id])).toEqual([]);
  });

  it('is listed with another record of the same name or address, which keeps it', async () => {
    await run('update contact set email = ? where builder_id = ?', PRIYA.email, BUILDER);
    await addMeeting('meet_mail', `Write to ${PRIYA.email.toUpperCase()}.`);
    const { erasureId } = await erasePerson(contextOf(database, storage), PRIYA_IDS);
    expect(await listed(erasureId)).toContain('meeting/meet_mail/notes');
    expect(await findTablesWith(database, PRIYA.email)).toEqual(['contact', 'meeting']);
  });

  it('is only one of the builders of the person', async () => {
    await run(
      `insert into meeting (id, created_at, updated_at, builder_id, title, date, status, notes)
        select 'meet_b', now(), now(), id, 'Meeting', now(), 'COMPLETED', ? from builder where id <> ? limit 1`,
      ...[WORKER.name, BUILDER],
    );
    expect(await previewErasure(contextOf(database, storage), [WORKER.id])).toEqual([]);
  });
});

describe('names in file names, titles, metadata and reasons', () => {
  useDatabase();

  const TEXT = `House of ${PRIYA.name}`;
  const TABLES = [
    'insurance',
    'meeting_template',
    'photo',
    'project',
    'project_location',
    'subcontractor',
    'swms_document',
    'upload',
  ];

  it('are exported and listed, and stay (PRV-1, PRV-2, PRV-4)', async () => {
    await run(
      `insert into upload (key, builder_id, file_name, content_type, size, created_at) values ('uploads/x', ?, ?, 'image/png', 1, now())`,
      ...[BUILDER, `${TEXT}.png`],
    );
    await run(
      'update photo set metadata = jsonb_build_object(?::text, ?::text) where builder_id = ?',
      TEXT,
      'x',
      BUILDER,
    );
    for (const table of TABLES.slice(0, -1).filter((name) => name !== 'photo')) {
      await run(`update ${table} set name = ? || id where builder_id = ?`, `${TEXT} `, BUILDER);
    }
    await run('update sign_on_visit set closing_reason = ? where builder_id = ?', TEXT, BUILDER);
    await run(
      `insert into audit_entry (id, at, actor_type, action, object_type, object_id, builder_id, origin, values_after)
        values ('aud_reason', now(), 'JOB', 'visit.closed', 'visit', 'signon_1', ?, '{}', jsonb_build_object('closingReason', ?::text))`,
      ...[BUILDER, TEXT],
    );
    const { mentionedIn } = await exportPerson(contextOf(database, storage), PRIYA_IDS);
    const named = mentionedIn.flatMap(({ type, mentions }) => mentions.map(({ at }) => `${type} ${at}`));
    expect(named).toEqual(expect.arrayContaining(['Upload fileName', 'Photo metadata', 'Project name']));
    const { texts, erasureId } = await erasePerson(contextOf(database, storage), PRIYA_IDS);
    expect(await findTablesWith(database, TEXT)).toEqual(['audit_entry', ...TABLES, 'sign_on_visit'].sort());
    const tables = new Set(texts.map(({ table }) => table));
    for (const table of [...TABLES, 'sign_on_visit', 'audit_entry']) expect(tables).toContain(table);
    const place = 'audit_entry/aud_reason/values_after';
    expect(await listed(erasureId)).toContain(place);
    await expect(replaceErasedText(contextOf(database, storage), erasureId, place, PRIYA.name)).rejects.toThrow(
      'entries of the audit log cannot change',
    );
    await expect(
      replaceErasedText(contextOf(database, storage), erasureId, 'meeting/none/notes', PRIYA.name),
    ).rejects.toThrow('is not on the list');
  });
});

describe('a name that is not in one text', () => {
  useDatabase();

  it('is listed in divided runs, labels and addresses of companies, and as a former name or address (PRV-2, PRV-4)', async () => {
    await renameWorker('Zelda Quartz');
    const runs = [{ text: 'Seen by Zel', marks: ['bold'] }, { text: 'da Quar', marks: ['italic'] }, { text: 'tz.' }];
    await run('update photo set metadata = ?::jsonb where builder_id = ?', JSON.stringify({ runs }), BUILDER);
    await run(
      `update subcontractor set tags = '{Zelda Quartz}', address = '{"street": "Zelda Quartz Lane"}' where builder_id = ?`,
      BUILDER,
    );
    await addMeeting('meet_former', 'Opened by Zelda Onyx.');
    await run(
      `insert into audit_entry (id, at, actor_type, action, object_type, object_id, person_id, origin, values_before)
        values ('aud_former', now(), 'JOB', 'worker.updated', 'worker', ?, ?, '{}', '{"fullName": "Zelda Onyx", "email": "zo@site.example"}')`,
      ...[WORKER.id, WORKER.id],
    );
    await addMeeting('meet_address', 'Write to zo@site.example.');
    const context = contextOf(database, storage);
    const { mentionedIn } = await exportPerson(context, [WORKER.id]);
    const meetings = mentionedIn.filter(({ type }) => type === 'Meeting').map(({ id }) => id);
    expect(meetings.sort()).toEqual(['meet_address', 'meet_former']);
    const { texts, erasureId } = await erasePerson(context, [WORKER.id]);
    const found = new Set(texts.map(({ table, column }) => `${table}.${column}`));
    expect([...found].sort()).toEqual([
      'meeting.notes',
      'photo.metadata',
      'subcontractor.address',
      'subcontractor.tags',
    ]);
    const { id } = texts.find(({ column }) => column === 'tags')!;
    const place = `subcontractor/${id}/tags`;
    const { value } = await replaceErasedText(context, erasureId, place, 'Zelda Quartz');
    expect(value).toEqual([expect.stringMatching(/^Erased person /)]);
  });
});

describe('a name in what others have written about themselves, and in a role', () => {
  useDatabase();

  it('is exported and listed, and stays in notes, answers and memberships of others and in the audit log (PRV-2, PRV-4)', async () => {
    await renameWorker('Zelda Quartz');
    const answers = JSON.stringify([{ name: 'Emergency contact', value: 'Zelda Quartz 0400 111 222' }]);
    await run(`update timesheet set notes = 'Drove Zelda Quartz home' where builder_id = ?`, BUILDER);
    await run('update induction set data = ?::jsonb where builder_id = ?', answers, BUILDER);
    await run(`update membership set role = 'Deputy of Zelda Quartz' where builder_id = ?`, BUILDER);
    await run(
      `insert into audit_entry (id, at, actor_type, action, object_type, object_id, person_id, builder_id, origin, values_after)
        values ('aud_role', now(), 'JOB', 'membership.updated', 'membership', ?, ?, ?, '{}', '{"role": "Deputy of Zelda Quartz"}')`,
      ...[`${PRIYA.user}/${BUILDER}`, PRIYA.user, BUILDER],
    );
    const [{ own }] = (await run('select count(*)::int as own from induction where worker_id = ?', WORKER.id)) as [
      { own: number },
    ];
    expect(own).toBeGreaterThan(0);
    const context = contextOf(database, storage);
    const { mentionedIn } = await exportPerson(context, [WORKER.id]);
    expect(new Set(mentionedIn.map(({ type }) => type))).toEqual(
      new Set(['Timesheet', 'Induction', 'Membership', 'AuditEntry']),
    );
    const { texts } = await erasePerson(context, [WORKER.id]);
    const found = new Set(texts.map(({ table, column }) => `${table}.${column}`));
    expect([...found].sort()).toEqual(
      ['audit_entry.values_after', 'induction.data', 'membership.role', 'timesheet.notes'].sort(),
    );
    // The person's own answers are cleared.
    const left = await run(`select worker_id from induction where data::text like '%Zelda Quartz%'`);
    expect(left.length).toBeGreaterThan(0);
    expect(left.map(({ worker_id }) => worker_id)).not.toContain(WORKER.id);
  });
});

describe('a name in an address or the key of a file', () => {
  useDatabase();

  it('is exported and listed, and is not replaced (PRV-2, PRV-4)', async () => {
    await renameWorker('Zelda Quartz');
    await run(
      `update swms_document set url = 'https://files.example/Licence%20Zelda%20Quartz.pdf' where builder_id = ?`,
      BUILDER,
    );
    await run(`update insurance set document_key = 'documents/' || builder_id || '/Zelda_Quartz.pdf'`);
    const context = contextOf(database, storage);
    const { mentionedIn } = await exportPerson(context, [WORKER.id]);
    expect(new Set(mentionedIn.map(({ type }) => type))).toEqual(new Set(['SwmsDocument', 'Insurance']));
    const { texts, erasureId } = await erasePerson(context, [WORKER.id]);
    expect(new Set(texts.map(({ column }) => column))).toEqual(new Set(['url', 'document_key']));
    for (const { table, id, column } of texts) {
      const replaced = replaceErasedText(context, erasureId, `${table}/${id}/${column}`, 'Zelda Quartz');
      await expect(replaced).rejects.toThrow('changes with its record');
    }
  });
});

describe('a report that names its author by address, in a builder that the person does not belong to', () => {
  useDatabase();

  it('has its texts listed, and counts as a record of the person for snapshots of the builder (PRV-2, PRV-4)', async () => {
    const [other] = await run('select id from builder where id <> ? limit 1', BUILDER);
    await run('delete from membership where user_id = ? and builder_id = ?', PRIYA.user, other!.id);
    const author = { externalId: 'author-1', name: 'P. N.', email: PRIYA.email.toUpperCase() };
    await run(
      `update photo_report set builder_id = ?, project_id = null, mapped_admin_user_id = null, title = ?, source_author = ?::jsonb`,
      ...[other!.id, `Walk of ${PRIYA.name}`, JSON.stringify(author)],
    );
    const context = contextOf(database, storage);
    const { mentionedIn } = await exportPerson(context, [PRIYA.user]);
    expect(mentionedIn.map(({ builderId }) => builderId)).toContain(other!.id);
    const { texts, erasureId } = await erasePerson(context, [PRIYA.user]);
    expect(texts.map(({ table, column }) => `${table}.${column}`)).toContain('photo_report.title');
    const [erasure] = await run('select builder_ids from erasure where id = ?', erasureId);
    expect(erasure!.builder_ids).toContain(other!.id);
  });
});

describe('the replacement of a name', () => {
  useDatabase();

  it('leaves blocks of synced notes in their place, and a report that is still one of its content', async () => {
    const notes = `${PRIYA.name} opens.\n\nSynced by Nair,  Priya.\n\nEnd.`;
    await addMeeting('meet_blocks', notes);
    const block = { noteId: 'mnote_1', start: notes.indexOf('Synced'), text: 'Synced by Nair,  Priya.' };
    await run(`update meeting set note_blocks = ?::jsonb where id = 'meet_blocks'`, JSON.stringify([block]));
    const [report] = await run('select id, content from photo_report limit 1');
    const content = {
      ...(report!.content as object),
      page: { ...(report!.content as { page: object }).page, title: `Walk of ${PRIYA.name}` },
    };
    await run(
      'update photo_report set content = ?::jsonb, title = ? where id = ?',
      JSON.stringify(content),
      content.page.title,
      report!.id,
    );
    const context = contextOf(database, storage);
    const { erasureId, pseudonym } = await erasePerson(context, PRIYA_IDS);
    await replaceErasedText(context, erasureId, 'meeting/meet_blocks/notes', 'priya nair');
    const [meeting] = await run(`select notes, note_blocks from meeting where id = 'meet_blocks'`);
    expect(meeting).toEqual({
      notes: `${pseudonym} opens.\n\nSynced by ${pseudonym}.\n\nEnd.`,
      note_blocks: [{ ...block, start: `${pseudonym} opens.\n\n`.length, text: `Synced by ${pseudonym}.` }],
    });
    await replaceErasedText(context, erasureId, `photo_report/${report!.id}/title`, PRIYA.name);
    const [replaced] = await run('select title, content, fingerprint from photo_report where id = ?', report!.id);
    expect(replaced!.title).toBe(`Walk of ${pseudonym}`);
    expect(replaced!.content).toMatchObject({ page: { title: replaced!.title } });
    expect(replaced!.fingerprint).toBe(createFingerprint(canonicalJson(replaced!.content)));
  });
});

describe('the replacement of a name in one text', () => {
  useDatabase();

  it('leaves the blocks of synced notes as they are in the notes, until these are replaced', async () => {
    const notes = `Synced by ${PRIYA.name}.\n\nEvacuate at 3 pm.`;
    await addMeeting('meet_title', notes);
    const block = { noteId: 'mnote_1', start: 0, text: `Synced by ${PRIYA.name}.` };
    await run(
      `update meeting set title = ?, note_blocks = ?::jsonb where id = 'meet_title'`,
      ...[`With ${PRIYA.name}`, JSON.stringify([block])],
    );
    const context = contextOf(database, storage);
    const { erasureId, pseudonym } = await erasePerson(context, PRIYA_IDS);
    const read = async () => (await run(`select title, notes, note_blocks from meeting where id = 'meet_title'`))[0];
    await replaceErasedText(context, erasureId, 'meeting/meet_title/title', PRIYA.name);
    expect(await read()).toEqual({ title: `With ${pseudonym}`, notes, note_blocks: [block] });
    await replaceErasedText(context, erasureId, 'meeting/meet_title/note_blocks', PRIYA.name);
    expect(await read()).toMatchObject({
      notes: `Synced by ${pseudonym}.\n\nEvacuate at 3 pm.`,
      note_blocks: [{ ...block, text: `Synced by ${pseudonym}.` }],
    });
  });

  it('changes nothing for a name without letters, digits and symbols', async () => {
    await renameWorker('-');
    await addMeeting('meet_blank', `Seen - by ${PRIYA.name}. (Noon)`);
    const context = contextOf(database, storage);
    expect(await previewErasure(context, [WORKER.id])).toEqual([]);
    const { erasureId } = await erasePerson(context, PRIYA_IDS);
    for (const name of ['', ' ', '\u200b', '-', ', ']) {
      const replaced = replaceErasedText(context, erasureId, 'meeting/meet_blank/notes', name);
      await expect(replaced, JSON.stringify(name)).rejects.toThrow('does not contain');
    }
  });

  it('replaces a name of symbols (PRV-4)', async () => {
    await renameWorker('🙂 🛠️');
    await addMeeting('meet_symbols', 'Seen by 🙂 🛠, and by 🙂.');
    const context = contextOf(database, storage);
    const { erasureId, pseudonym, texts } = await erasePerson(context, [WORKER.id]);
    expect(texts).toMatchObject([{ id: 'meet_symbols', column: 'notes' }]);
    const { value } = await replaceErasedText(context, erasureId, 'meeting/meet_symbols/notes', '🙂 🛠️');
    expect(value).toBe(`Seen by ${pseudonym}, and by 🙂.`);
  });

  it.each([
    ['Street', 'subcontractor', 'address', (name: string) => ({ street: `With ${name}`, suburb: 'Hobart' })],
    ['Company', 'defect', 'assignees', (name: string) => [{ id: 'sub_1', type: 'COMPANY', name: `${name} & Co` }]],
    ['Title', 'meeting_template', 'sections', (name: string) => [{ id: 'section-1', title: `By ${name}` }]],
  ])('keeps fields and types that have the name %s', async (name, table, column, toValue) => {
    await renameWorker(name);
    const [row] = await run(`select id from ${table} where builder_id = ? limit 1`, BUILDER);
    await run(`update ${table} set ${column} = ?::jsonb where id = ?`, JSON.stringify(toValue(name)), row!.id);
    const context = contextOf(database, storage);
    const { erasureId, pseudonym } = await erasePerson(context, [WORKER.id]);
    await replaceErasedText(context, erasureId, `${table}/${row!.id}/${column}`, name);
    const [replaced] = await run(`select ${column} as value from ${table} where id = ?`, row!.id);
    expect(replaced!.value).toEqual(toValue(pseudonym));
  });

  it('is refused where two fields of a photo would become one', async () => {
    const metadata = { [PRIYA.name]: 'seen at 7', 'priya  nair': 'seen at 9' };
    await run('update photo set metadata = ?::jsonb where builder_id = ?', JSON.stringify(metadata), BUILDER);
    const [photo] = await run('select id from photo where builder_id = ? limit 1', BUILDER);
    const context = contextOf(database, storage);
    const { erasureId } = await erasePerson(context, PRIYA_IDS);
    const replaced = replaceErasedText(context, erasureId, `photo/${photo!.id}/metadata`, PRIYA.name);
    await expect(replaced).rejects.toThrow('two fields that would have the same name');
    expect(await run('select metadata from photo where id = ?', photo!.id)).toEqual([{ metadata }]);
  });

  it('is refused where a report would have a text that is too long to be imported', async () => {
    const [report] = await run('select id, content from photo_report limit 1');
    const { page } = report!.content as { page: object };
    const title = `${PRIYA.name} ${'x'.repeat(19_985)}`;
    await run(
      'update photo_report set content = ?::jsonb, title = ? where id = ?',
      ...[JSON.stringify({ ...(report!.content as object), page: { ...page, title } }), title, report!.id],
    );
    const context = contextOf(database, storage);
    const { erasureId } = await erasePerson(context, PRIYA_IDS);
    const replaced = replaceErasedText(context, erasureId, `photo_report/${report!.id}/title`, PRIYA.name);
    await expect(replaced).rejects.toThrow('content.page.title');
  });

  it('leaves the address of an author an address, so that an export of the report is imported', async () => {
    const [report] = await run('select id, content from photo_report limit 1');
    const author = { externalId: 'author-1', name: 'P. N.', email: 'priya.nair@home.example' };
    const content = { ...(report!.content as object), sourceAuthor: author };
    await run(
      `update photo_report set content = ?::jsonb, source_author = ?::jsonb, mapped_admin_user_id = null, fingerprint = ? where id = ?`,
      ...[JSON.stringify(content), JSON.stringify(author), createFingerprint(canonicalJson(content)), report!.id],
    );
    await run(`update photo_report set content = content - 'mappedAdminUserId' where id = ?`, report!.id);
    const context = contextOf(database, storage);
    const { erasureId, pseudonym } = await erasePerson(context, PRIYA_IDS);
    await replaceErasedText(context, erasureId, `photo_report/${report!.id}/source_author`, PRIYA.name);
    const [replaced] = await run('select source_author from photo_report where id = ?', report!.id);
    const email = `${pseudonym.replaceAll(' ', '.')}@home.example`;
    expect(replaced!.source_author).toEqual({ ...author, email });
    const folder = join(await fixture.createTemporaryFolder(), 'export');
    await exportFolder(database, folder);
    expect((await importFolder(database, folder)).committed).toBe(true);
  });

  it('leaves identifiers and links of reports and photos, so that an export of them is imported', async () => {
    const [report] = await run('select id, content from photo_report limit 1');
    const link = 'https://notes.example/walks/priya-nair/1';
    const ids = { sourceExternalId: 'priya-nair-walk', sourceDeepLink: link };
    const { page } = report!.content as { page: object };
    const content = { ...(report!.content as object), ...ids, page: { ...page, title: `Walk of ${PRIYA.name}` } };
    await run(
      `update photo_report set content = ?::jsonb, title = ?, source_external_id = ?, source_deep_link = ?, fingerprint = ? where id = ?`,
      ...[JSON.stringify(content), content.page.title, ids.sourceExternalId, link],
      ...[createFingerprint(canonicalJson(content)), report!.id],
    );
    const metadata = { externalSourceId: 'priya-nair-1', caption: PRIYA.name };
    await run('update photo set metadata = ?::jsonb where builder_id = ?', JSON.stringify(metadata), BUILDER);
    const [photo] = await run('select id from photo where builder_id = ? limit 1', BUILDER);
    const context = contextOf(database, storage);
    const { erasureId, pseudonym } = await erasePerson(context, PRIYA_IDS);
    await replaceErasedText(context, erasureId, `photo_report/${report!.id}/title`, PRIYA.name);
    await replaceErasedText(context, erasureId, `photo/${photo!.id}/metadata`, PRIYA.name);
    const [replaced] = await run('select content from photo_report where id = ?', report!.id);
    expect(replaced!.content).toMatchObject({ ...ids, page: { title: `Walk of ${pseudonym}` } });
    expect(await run('select metadata from photo where id = ?', photo!.id)).toEqual([
      { metadata: { ...metadata, caption: pseudonym } },
    ]);
    const folder = join(await fixture.createTemporaryFolder(), 'export');
    await exportFolder(database, folder);
    expect((await importFolder(database, folder)).committed).toBe(true);
  });
});

describe('the builder that a user has left, whom only its defects name', () => {
  useDatabase();

  it('is searched, and its texts are listed (PRV-2, PRV-4)', async () => {
    await run(`insert into app_user (id, name, email, created_at, updated_at)
      values ('user_fiona', 'Fiona Formerly', 'fiona@old.example', now(), now())`);
    const assignees = JSON.stringify([{ type: 'USER', id: 'user_fiona', name: 'Fiona Formerly' }]);
    await run('update defect set assignees = ?::jsonb where builder_id = ?', assignees, BUILDER);
    await addMeeting('meet_fiona', 'Fiona Formerly left.');
    const { texts } = await erasePerson(contextOf(database, storage), ['user_fiona']);
    expect(texts.map(({ id }) => id)).toEqual(['meet_fiona']);
    expect(await run('select builder_ids from erasure')).toEqual([{ builder_ids: [BUILDER] }]);
  });
});

describe('a text that is changed while a name in it is replaced', () => {
  useDatabase();

  /** Begins the work while another transaction has changed the text, and awaits it after the commit of that one. */
  async function runAfter<T>(change: string, id: unknown, work: () => Promise<T>): Promise<T> {
    const other = await ConcurrentTransaction.open(database.url);
    try {
      let result: Promise<T> | undefined;
      await other.whileOpen(change, [id], async () => {
        result = work();
        await other.untilWaiting(1);
      });
      return await result!;
    } finally {
      await other.close();
    }
  }

  it('keeps the change (PRV-3, PRV-4)', async () => {
    const context = contextOf(database, storage);
    const author = JSON.stringify({ externalId: 'author-1', name: PRIYA.name, email: PRIYA.email });
    const [report] = await run(
      `update photo_report set source_author = ?::jsonb where id = (select min(id) from photo_report) returning id`,
      author,
    );
    await addMeeting('meet_changed', `${PRIYA.name} opens.`);
    const { erasureId, pseudonym } = await runAfter(
      `update photo_report set content = content || '{"later": true}' where id = $1`,
      report!.id,
      () => erasePerson(context, PRIYA_IDS),
    );
    const [erased] = await run('select source_author, content from photo_report where id = ?', report!.id);
    expect(erased).toMatchObject({ source_author: { name: pseudonym }, content: { later: true } });
    await runAfter(`update meeting set notes = notes || ' End.' where id = $1`, 'meet_changed', () =>
      replaceErasedText(context, erasureId, 'meeting/meet_changed/notes', PRIYA.name),
    );
    expect(await run(`select notes from meeting where id = 'meet_changed'`)).toEqual([
      { notes: `${pseudonym} opens. End.` },
    ]);
  });
});

describe('an erased member of staff', () => {
  useDatabase();

  it('appears everywhere as the pseudonym, in visits, conflicts and the audit log', async () => {
    await run(`insert into app_user (id, name, email, staff_role, created_at, updated_at)
      values ('user_kim', 'Kim New', 'kim@operator.example', 'OPERATOR', now(), now())`);
    const [visit] = await run('select id from sign_on_visit where builder_id = ? limit 1', BUILDER);
    await run(`update sign_on_visit set closed_by = 'Kim Former', closed_at = now() where id = ?`, visit!.id);
    await run(`update sign_on_conflict set resolved_by = 'KIM  new', resolved_at = now()`);
    const entry = (id: string, action: string, object: unknown, values: object | null = null) =>
      run(
        `insert into audit_entry (id, at, actor_type, actor_id, action, object_type, object_id, person_id, origin, values_after)
          values (?, now(), 'STAFF', 'user_kim', ?, 'visit', ?, ?, '{"address":"192.0.2.7"}', ?::jsonb)`,
        ...[id, action, object, object === 'user_kim' ? object : null, values && JSON.stringify(values)],
      );
    await entry('aud_1', 'visit.closed', visit!.id);
    await entry('aud_2', 'staff.updated', 'user_kim', { name: 'Kim New', email: 'kim@operator.example' });
    const { pseudonym, texts } = await erasePerson(contextOf(database, storage), ['user_kim']);
    expect(texts).toEqual([]);
    expect(await run('select closed_by from sign_on_visit where id = ?', visit!.id)).toEqual([
      { closed_by: pseudonym },
    ]);
    expect(await run('select distinct resolved_by from sign_on_conflict')).toEqual([{ resolved_by: pseudonym }]);
    for (const text of ['Kim New', 'Kim Former', 'kim@operator.example', '192.0.2.7'])
      expect(await findTablesWith(database, text), text).toEqual([]);
    const entries = JSON.stringify(await run('select * from audit_entry'));
    expect(entries).toContain(pseudonym);
    expect(entries).not.toMatch(/kim/i);
  });

  it('is in no change that waited for the erasure (PRV-3)', async () => {
    await run(`insert into app_user (id, name, email, staff_role, created_at, updated_at)
      values ('user_kim', 'Kim New', 'kim@operator.example', 'OPERATOR', now(), now())`);
    const [visit] = await run(`update sign_on_visit set signed_off_at = null, closed_at = null, archived_at = null
      where id = (select min(id) from sign_on_visit) returning id`);
    const context = contextOf(database, storage);
    const actor = { type: 'STAFF', id: 'user_kim', role: 'OPERATOR' } as const;
    const other = await ConcurrentTransaction.open(database.url);
    const closing = await other.whileOpen(
      'select 1 from sign_on_visit where id = $1 for update',
      [visit!.id],
      async () => {
        const source = { actor, origin: {} };
        const closed = closeVisit({ ...context, source }, { visitId: String(visit!.id), by: 'Kim New' });
        const outcome = closed.then(
          () => 'closed',
          (error: ApiError) => error.code,
        );
        await other.untilWaiting(1);
        await erasePerson(context, ['user_kim']);
        return { outcome };
      },
    );
    expect(await closing.outcome).toBe('FORBIDDEN');
    await other.close();
    expect(await findTablesWith(database, 'Kim New')).toEqual([]);
  });

  it('is in no change that the erasure waited for (PRV-3)', async () => {
    await run(`insert into app_user (id, name, email, staff_role, created_at, updated_at)
      values ('user_kin', 'Kin Late', 'kin@operator.example', 'OPERATOR', now(), now())`);
    const [visit] = await run(`select min(id) as id from sign_on_visit`);
    const em = database.fork();
    await em.begin();
    const actor = { type: 'STAFF', id: 'user_kin', role: 'OPERATOR' } as const;
    const change = { action: 'visit.closed', objectId: String(visit!.id), after: {} } as const;
    await recordAudit(em, { actor, origin: {}, at: new Date().toISOString(), ...change });
    await em.execute(
      `update sign_on_visit set signed_off_at = null, closed_at = now(), closed_by = 'Kin Late' where id = ?`,
      [visit!.id],
    );
    const erasing = erasePerson(contextOf(database, storage), ['user_kin']);
    await expect
      .poll(() => run(`select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`))
      .toHaveLength(1);
    await em.commit();
    await erasing;
    expect(await findTablesWith(database, 'Kin Late')).toEqual([]);
  });

  it('changes no report that gets another author meanwhile, and ends where one is deleted meanwhile (PRV-3)', async () => {
    for (const id of ['report_other', 'report_gone'])
      await run(
        `insert into photo_report select (jsonb_populate_record(r, jsonb_build_object('id', ?::text, 'source_external_id', ?::text))).*
          from photo_report r order by id limit 1`,
        id,
        id,
      );
    await run(
      `update photo_report set mapped_admin_user_id = null, source_author = '{"externalId": "p-1", "name": "Priya Nair"}'`,
    );
    const em = database.fork();
    await em.begin();
    await em.execute(
      `update photo_report set source_author = '{"externalId": "o-1", "name": "Olga Other"}' where id = 'report_other'`,
    );
    await em.execute(`delete from photo_report where id = 'report_gone'`);
    const erasing = erasePerson(contextOf(database, storage), PRIYA_IDS);
    await expect
      .poll(() => run(`select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`))
      .toHaveLength(1);
    await em.commit();
    await erasing;
    const [other] = await run(`select source_author ->> 'name' as name from photo_report where id = 'report_other'`);
    expect(other).toEqual({ name: 'Olga Other' });
  });

  it('does not come back with an import of an older export, nor of a part of it (PRV-11)', async () => {
    await run(`insert into app_user (id, name, email, staff_role, created_at, updated_at)
      values ('user_kim', 'Kim Older', 'kim@operator.example', 'OPERATOR', now(), now())`);
    await run(`update sign_on_visit set closed_by = 'Kim Older', closed_at = now()`);
    await run(`update sign_on_conflict set resolved_by = 'Kim Older', resolved_at = now()`);
    await run(`update defect set assignees = '[{"id": "legacy-1", "name": "Kim Older", "type": "USER"}]'`);
    for (const { id, content } of await run('select id, content from photo_report')) {
      const sourceAuthor = { externalId: 'author-1', name: 'Kim Older' };
      const changed = { ...(content as object), sourceAuthor };
      await run(
        'update photo_report set source_author = ?::jsonb, content = ?::jsonb, fingerprint = ? where id = ?',
        ...[JSON.stringify(sourceAuthor), JSON.stringify(changed), createFingerprint(canonicalJson(changed)), id],
      );
    }
    const folder = join(await fixture.createTemporaryFolder(), 'export');
    await exportFolder(database, folder);
    const { pseudonym, rows } = await erasePerson(contextOf(database, storage), ['user_kim']);
    expect(Object.keys(rows)).toEqual(
      expect.arrayContaining(['SignOnVisit', 'SignOnConflict', 'Defect', 'PhotoReport']),
    );
    for (let times = 0; times < 2; times++) {
      const { committed, files } = await importFolder(database, folder);
      expect([committed, files.length]).toEqual([true, 30]);
      expect(await findTablesWith(database, 'Kim Older')).toEqual([]);
    }
    const [first] = (await readFile(join(folder, 'sign-on-visits.ndjson'), 'utf8')).split('\n');
    const later = {
      ...JSON.parse(first!),
      closedBy: 'Sam Hill',
      updatedAt: new Date(Date.now() + 1_000).toISOString(),
    };
    await importFolder(database, await fixture.createFolder({ 'sign-on-visits': [later] }));
    expect(await run('select distinct closed_by as by from sign_on_visit order by 1')).toEqual([
      { by: pseudonym },
      { by: 'Sam Hill' },
    ]);
  });

  it('is not brought back by an import that began before the erasure (PRV-11)', async () => {
    const folder = await fixture.createFolder({ 'sign-on-visits': 'not JSON' });
    const onProblem = async () => void (await erasePerson(contextOf(database, storage), [WORKER.id]));
    await expect(importFolder(database, folder, { onProblem })).rejects.toThrow(
      'A person was erased during the import',
    );
  });

  it('waits for an import that is about to commit, and clears what it has written (PRV-11)', async () => {
    const [{ id, profile } = {}] =
      await run(`update timesheet set notes = 'Sick: back injury', updated_at = '2026-01-01'
      where id = (select min(id) from timesheet) returning id, profile_id as profile`);
    const folder = join(await fixture.createTemporaryFolder(), 'export');
    await exportFolder(database, folder);
    await run('delete from timesheet where id = ?', id);
    let erasing: ReturnType<typeof erasePerson> | undefined;
    const beginnings = new Set<string>();
    // A session that waits for the lock begins a transaction for each attempt.
    const countAttempts = async () => {
      const [waiter] = await run(`select xact_start::text as begin from pg_stat_activity
        where datname = current_database() and application_name like '%erasures of people%'`);
      return waiter ? beginnings.add(String(waiter.begin)).size : 0;
    };
    const beforeCommit = async () => {
      erasing = erasePerson(contextOf(database, storage), [String(profile)]);
      await Promise.race([erasing, expect.poll(countAttempts).toBeGreaterThan(2)]);
    };
    expect(await importFolder(database, folder, { beforeCommit })).toMatchObject({ committed: true });
    await erasing;
    expect(await run('select notes from timesheet where id = ?', id)).toEqual([{ notes: null }]);
  });

  it('is not a namesake, whose name stays and is listed', async () => {
    await run(
      `insert into app_user (id, name, email, staff_role, created_at, updated_at)
      values ('user_dan', ?, 'dan@operator.example', 'OPERATOR', now(), now())`,
      WORKER.name,
    );
    const [visit] = await run('select id from sign_on_visit where builder_id = ? limit 1', BUILDER);
    await run('update sign_on_visit set closed_by = ?, closed_at = now() where id = ?', WORKER.name, visit!.id);
    const { texts } = await erasePerson(contextOf(database, storage), [WORKER.id]);
    expect(texts).toMatchObject([{ table: 'sign_on_visit', id: visit!.id, column: 'closed_by' }]);
    expect(await run('select closed_by from sign_on_visit where id = ?', visit!.id)).toEqual([
      { closed_by: WORKER.name },
    ]);
  });
});

describe('person find', () => {
  beforeAll(async () => {
    database = await fixture.createSampleDatabase();
  });

  it.each(['daniel REYES', 'Reyes, Daniel', 'daniel\u00a0 reyes'])('finds a worker as %j', async (text) => {
    const found = await findPeople(database.fork(), listPersonalTables(database.metadata), text);
    expect(found).toContainEqual(expect.objectContaining({ id: WORKER.id, name: WORKER.name }));
  });
});

describe('names of companies, applications and labels, and the reference of an agreement', () => {
  useDatabase();

  it('are exported and listed, also in the audit log, and replaced (PRV-2, PRV-4)', async () => {
    await renameWorker('Zelda Quartz');
    await run(`update builder set name = 'Zelda Quartz Pty Ltd', logo_key = 'logos/' || id || '/zelda-quartz.png'`);
    await run(`update integrator set name = 'Zelda Quartz Apps'`);
    await run(
      `insert into oauth_client (id, integrator_id, name, type, grants, scopes, pilot_agreement, created_at, updated_at)
        select 'cli_zelda', min(id), 'App of Zelda Quartz', 'PUBLIC', '{}', '{}', 'Signed by Zelda Quartz', now(), now() from integrator`,
    );
    await run(`update timesheet_time_type set name = 'Zelda Quartz ' || id where builder_id = ?`, BUILDER);
    await run(`update timesheet_cost_code set code = 'Zelda Quartz ' || id where builder_id = ?`, BUILDER);
    await run(
      `insert into audit_entry (id, at, actor_type, action, object_type, object_id, origin, values_after)
        values ('aud_client', now(), 'JOB', 'client.created', 'client', 'cli_zelda', '{}', '{"pilotAgreement": "Signed by Zelda Quartz"}'),
          ('aud_builder', now(), 'JOB', 'builder.updated', 'builder', ?, '{}', '{"name": "Zelda Quartz Pty Ltd"}')`,
      BUILDER,
    );
    const context = contextOf(database, storage);
    const expected = [
      ...['AuditEntry.valuesAfter', 'Builder.logoKey', 'Builder.name', 'CostCode.code', 'Integrator.name'],
      ...['OAuthClient.name', 'OAuthClient.pilotAgreement', 'TimeType.name'],
    ];
    const { mentionedIn } = await exportPerson(context, [WORKER.id]);
    const mentions = mentionedIn.flatMap(({ type, mentions }) => mentions.map(({ at }) => `${type}.${at}`));
    expect([...new Set(mentions)].sort()).toEqual(expected);
    const { texts, erasureId, pseudonym } = await erasePerson(context, [WORKER.id]);
    expect([...new Set(texts.map(({ type, property }) => `${type}.${property}`))].sort()).toEqual(expected);
    // Of other builders, as of their records, none.
    expect(texts.filter(({ table }) => table === 'builder').map(({ id }) => id)).toEqual([BUILDER, BUILDER]);
    const replace = (place: string) => replaceErasedText(context, erasureId, place, 'zelda quartz');
    const place = `builder/${BUILDER}/name`;
    expect(await replace(place)).toEqual({ place, builderId: BUILDER, value: `${pseudonym} Pty Ltd` });
    await replace('oauth_client/cli_zelda/pilot_agreement');
    expect(await run(`select name, pilot_agreement as agreement from oauth_client where id = 'cli_zelda'`)).toEqual([
      { name: 'App of Zelda Quartz', agreement: `Signed by ${pseudonym}` },
    ]);
    const entry = `select builder_id from audit_entry where action = 'person.text_replaced' and values_after ->> 'place' = ?`;
    expect(await run(entry, place)).toEqual([{ builder_id: BUILDER }]);
  });

  it.each([
    ['timesheet_time_type', 'name'],
    ['timesheet_cost_code', 'code'],
  ])('are one line where a replacement would make a text twice, or too long: %s (PRV-4)', async (table, column) => {
    await renameWorker('Zelda Quartz');
    const [row] = await run(`select id from ${table} where builder_id = ? limit 1`, BUILDER);
    const set = (text: string) => run(`update ${table} set ${column} = ? where id = ?`, text, row!.id);
    await set(`Zelda Quartz ${'x'.repeat(980)}`);
    const context = contextOf(database, storage);
    const { erasureId, pseudonym } = await erasePerson(context, [WORKER.id]);
    const replace = () => replaceErasedText(context, erasureId, `${table}/${row!.id}/${column}`, 'Zelda Quartz');
    await expect(replace()).rejects.toThrow('longer than 1000 bytes');
    await set('Zelda Quartz');
    await run(
      `insert into ${table} select (jsonb_populate_record(t, jsonb_build_object('id', t.id || 'x', ?::text, ?::text))).* from ${table} t where id = ?`,
      ...[column, pseudonym, row!.id],
    );
    await expect(replace()).rejects.toThrow('another record of the builder has this text already');
    expect(await run(`select ${column} as text from ${table} where id = ?`, row!.id)).toEqual([
      { text: 'Zelda Quartz' },
    ]);
  });
});

describe('the export of a person who has changed something', () => {
  useDatabase();

  it('has the entries of it, with the address and without the values of others (PRV-2)', async () => {
    await run(`insert into app_user (id, name, email, staff_role, created_at, updated_at)
      values ('user_kim', 'Kim New', 'kim@operator.example', 'ADMIN', now(), now())`);
    await run(
      `insert into audit_entry (id, at, actor_type, actor_id, action, object_type, object_id, person_id, origin, values_after)
        values ('aud_other', now(), 'STAFF', 'user_kim', 'user.updated', 'user', ?, ?, '{"address":"192.0.2.7"}', '{"name": "Somebody"}'),
          ('aud_own', now(), 'STAFF', 'user_kim', 'staff.updated', 'staff', 'user_kim', 'user_kim', '{}', '{"name": "Kim New"}'),
          ('aud_third', now(), 'STAFF', 'user_alex', 'user.updated', 'user', ?, ?, '{}', '{"name": "Somebody"}')`,
      ...[PRIYA.user, PRIYA.user, PRIYA.user, PRIYA.user],
    );
    const { records } = await exportPerson(contextOf(database, storage), ['user_kim']);
    expect(records.AuditEntry).toMatchObject([
      { id: 'aud_other', actorId: 'user_kim', origin: { address: '192.0.2.7' }, valuesAfter: null },
      { id: 'aud_own', valuesAfter: { name: 'Kim New' } },
    ]);
  });
});
