import { appendFile, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { EntityManager } from '@mikro-orm/postgresql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { exportFolder } from '../../../src/data-transfer/export.ts';
import { importFolder } from '../../../src/data-transfer/import.ts';
import type { Database } from '../../../src/database/database.ts';
import { removeMembership } from '../../../src/domain/access/memberships.ts';
import { updateUser } from '../../../src/domain/access/users.ts';
import { closeVisit } from '../../../src/domain/attendance/manual-changes.ts';
import { recordAudit } from '../../../src/domain/audit/record-audit.ts';
import { canonicalJson, createFingerprint } from '../../../src/domain/canonical-json.ts';
import { erasePerson, previewErasure } from '../../../src/domain/privacy/erase-person.ts';
import { exportPerson } from '../../../src/domain/privacy/export-person.ts';
import { listErasedTexts, replaceErasedText } from '../../../src/domain/privacy/listed-texts.ts';
import { findPeople } from '../../../src/domain/privacy/person.ts';
import { listPersonalTables } from '../../../src/domain/privacy/personal-tables.ts';
import { replayErasures } from '../../../src/domain/privacy/replay-erasures.ts';
import type { ApiError } from '../../../src/shared/errors.ts';
import type { Storage } from '../../../src/storage/storage.ts';
import { DataTransferFixture, importAndCollect, type Row } from '../../data-transfer/data-transfer-fixture.ts';
import { OPERATOR } from '../../support/audit.ts';
import { ConcurrentTransaction } from '../../support/concurrent-transaction.ts';
import { startStore, type TestStore } from '../../support/stores.ts';
import { BUILDER, CONTACT, contextOf, findTablesWith, PRIYA, WORKER } from './privacy-fixture.ts';

const fixture = new DataTransferFixture();
let store: TestStore;
let storage: Storage;
/** The tests share it: each adds people of its own, whose names no other test has. */
let database: Database;
let context: ReturnType<typeof contextOf>;

beforeAll(async () => {
  store = await startStore();
  storage = store.storages.au1;
  database = await fixture.createSampleDatabase();
  context = contextOf(database, storage);
});
afterAll(async () => {
  await store.stop();
  await fixture.dispose();
});

/** Waits until one connection waits for a lock. */
const untilOneWaits = () =>
  expect
    .poll(() => run(`select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`))
    .toHaveLength(1);

/** Closes a visit again, with the entry of the user who does so. */
async function storeClosing(em: EntityManager, visitId: unknown, userId: string, name: string): Promise<void> {
  const actor = { type: 'STAFF', id: userId, role: 'OPERATOR' } as const;
  const change = { action: 'visit.closed', objectId: String(visitId), after: {} } as const;
  await recordAudit(em, { actor, origin: {}, at: new Date().toISOString(), ...change });
  await em.execute(
    'update sign_on_visit set signed_off_at = null, closed_at = now(), closed_by = ?, updated_at = now() where id = ?',
    [name, visitId],
  );
}

const run = async (sql: string, ...values: unknown[]): Promise<Record<string, unknown>[]> =>
  database.fork().execute(sql, values);
const SAMPLE_REPORT = 'phrep_walk';
const AUTHOR: { externalId: string; name: string; email?: string } = { externalId: 'author-1', name: 'Mia Tran' };
const ADD_MEETING = `insert into meeting (id, created_at, updated_at, builder_id, title, date, status, notes)
  values (?, now(), now(), ?, 'Meeting', now(), 'COMPLETED', ?)`;
const addMeeting = (id: string, notes: string) => run(ADD_MEETING, id, BUILDER, notes);
/** Returns SQL that inserts a copy of the row with the id, with some columns changed. */
const toCopySql = (table: string) =>
  `insert into ${table} select (jsonb_populate_record(t, ?::jsonb)).* from ${table} t where id = ?`;
const copyRow = (table: string, id: unknown, changes: object) => run(toCopySql(table), JSON.stringify(changes), id);
let people = 0;
/** Adds a worker of the builder. */
async function addWorker(name: string): Promise<string> {
  const id = `wkr_added${++people}`;
  await copyRow('worker', WORKER.id, { id, full_name: name });
  return id;
}
/** Adds a user, by default a member of the builder. */
async function addUser(id: string, name: string, staffRole: string | null = null): Promise<void> {
  await copyRow('app_user', PRIYA.user, { id, name, email: `${id}@people.example`, staff_role: staffRole });
  if (!staffRole)
    await run(
      `insert into membership (user_id, builder_id, role, created_at, updated_at) values (?, ?, 'ADMIN', now(), now())`,
      ...[id, BUILDER],
    );
}
/** Adds a report with this title, and other fields, of its content. */
async function addReport(
  id: string,
  title: string,
  { sourceAuthor = AUTHOR, sourceDeepLink = undefined as string | undefined, sourceExternalId = id } = {},
) {
  const [{ content: sample } = {}] = await run(`select content from photo_report where id = ?`, SAMPLE_REPORT);
  const { page, ...others } = sample as { page: object };
  const content = { ...others, sourceAuthor, sourceDeepLink, sourceExternalId, page: { ...page, title } };
  await copyRow('photo_report', SAMPLE_REPORT, {
    ...{ id, title, content, source_author: sourceAuthor, source_deep_link: sourceDeepLink },
    ...{ source_external_id: sourceExternalId, fingerprint: createFingerprint(canonicalJson(content)) },
  });
}
/** Exports the database, and returns a folder with these rows alone. */
async function exportRows(idsOf: Record<string, unknown[]>): Promise<string> {
  const folder = join(await fixture.createTemporaryFolder(), 'export');
  await exportFolder(database, folder);
  const files: Record<string, Row[]> = {};
  for (const [file, ids] of Object.entries(idsOf)) {
    const lines = (await readFile(join(folder, `${file}.ndjson`), 'utf8')).split('\n').filter(Boolean);
    files[file] = lines.map((line) => JSON.parse(line)).filter(({ id }) => ids.includes(id));
    expect(files[file]).toHaveLength(ids.length);
  }
  return fixture.createFolder(files);
}
const listed = async (id: string) => (await listErasedTexts(context, id)).map(({ place }) => place);

const SPELLINGS: [string, string][] = [
  ['Tama Webb', 'Opened by Tama Webb.'],
  ['Tama Webb', 'TAMA  WEBB\u00a0left'],
  ['Tama Webb', 'seen: tama\nwebb'],
  ['Tama Webb', 'Webb, Tama'],
  ['Tama Webb', 'webb,tama'],
  ['Rewi Rangi Webb', 'Webb, Rewi Rangi'],
  ['Rewi Rangi Webb', 'Rangi Webb, Rewi'],
  ['Zoë Müller', 'Zoe\u0308 Mu\u0308ller'],
  ['Jörg Weiß', 'JÖRG WEISS'],
  ['İlker Işık', 'ilker ışık'],
  ['İlker Işık', 'ILKER IŞIK'],
  ['Οδυσσέας Παππάς', 'ΟΔΥΣΣΈΑΣ ΠΑΠΠΆΣ'],
  ['Maeve O\u2019Sullivan', "Maeve O'Sullivan"],
  ['Cher', 'Opened by cher.'],
  ['Zelda Quartz', 'see Zelda_Quartz_licence.jpg'],
  ['Zelda Quartz', 'QUARTZ-zelda.2026.pdf'],
  ['Noë Müller-Webb', 'noë_müller_webb.png'],
];

describe('the spellings of the names of a person who is erased', () => {
  const texts = SPELLINGS.map(([name, text], index) => {
    const place = `meeting/meet_text${index}/notes`;
    return { name, text, id: `meet_text${index}`, workerId: `wkr_spelled${index}`, place };
  });
  const workerIds = texts.map(({ workerId }) => workerId);
  let erased: Awaited<ReturnType<typeof erasePerson>>;
  const byId = <T extends { id: string }>(rows: T[]) => rows.toSorted((a, b) => a.id.localeCompare(b.id));

  beforeAll(async () => {
    for (const { name, text, id, workerId } of texts) {
      await copyRow('worker', WORKER.id, { id: workerId, full_name: name });
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
  it('is found by a name of many words, as it is written', async () => {
    const name = Array.from({ length: 400 }, (_, index) => `n${index}`).join(' ');
    const id = await addWorker(name);
    await addMeeting('meet_words', `Seen ${name.toUpperCase()}.`);
    expect(await previewErasure(context, [id])).toMatchObject([{ id: 'meet_words' }]);
  });

  it('is found beside a name of any length, and many former names', async () => {
    const words = (letter: string) => Array.from({ length: 12 }, () => letter.repeat(200)).join(' ');
    const id = 'con_long';
    await copyRow('contact', CONTACT.id, { id, name: 'Lena Long' });
    const [before] = await run('select id, builder_id, name from contact where id = ?', id);
    await addMeeting('meet_long', 'Seen Lena Long.');
    for (const [index, name] of ['q'.repeat(200_000), ...'abcd'].entries()) {
      const after = { name: name.length === 1 ? words(name) : name };
      await database.transaction((em) =>
        recordAudit(em, {
          ...OPERATOR,
          at: `2026-01-01T00:00:0${index}.000Z`,
          action: 'user.updated',
          objectId: id,
          personId: id,
          before: before!,
          after,
        }),
      );
    }
    expect(await previewErasure(context, [id])).toMatchObject([{ id: 'meet_long' }]);
    await run('update contact set name = ? where id = ?', words('z').repeat(100), id);
    const { erasureId } = await erasePerson(context, [id]);
    expect(await listed(erasureId)).toEqual(['meeting/meet_long/notes']);
    await expect(
      replaceErasedText(context, erasureId, 'meeting/meet_long/notes', words('z').repeat(100)),
    ).rejects.toThrow('does not contain');
  });

  it.each([
    ['张伟', '今天张伟来了。'],
    ['田中太郎', '田中太郎さんが閉めた。'],
    ['김민수', '김민수가 닫았다'],
    ['สมชาย ใจดี', 'คุณสมชาย ใจดีมาแล้ว'],
  ])('is found without spaces where its script has none: %s', async (name, text) => {
    const id = await addWorker(name);
    const meeting = `meet_${id.slice(4)}`;
    await addMeeting(meeting, text);
    const { erasureId, pseudonym } = await erasePerson(context, [id]);
    const { value } = await replaceErasedText(context, erasureId, `meeting/${meeting}/notes`, name);
    expect(value).toBe(text.replace(name, pseudonym));
  });

  it('is no other word or name', async () => {
    const id = await addWorker('Sher Lee');
    await addMeeting('meet_other', 'Sherry Lee; Sher Leeson. xSher Lee, Lee');
    expect(await previewErasure(context, [id])).toEqual([]);
  });

  it('is listed with another record of the same name or address, which keeps it', async () => {
    await addUser('user_mail', 'Mila Mail');
    const email = 'user_mail@people.example';
    await copyRow('contact', CONTACT.id, { id: 'con_mail', email });
    await addMeeting('meet_mail', `Write to ${email.toUpperCase()}.`);
    const { erasureId } = await erasePerson(context, ['user_mail']);
    expect(await listed(erasureId)).toContain('meeting/meet_mail/notes');
    expect(await findTablesWith(database, email)).toEqual(['contact', 'meeting']);
  });

  it('is a report of a builder that knows the person by a former address only', async () => {
    await addUser('user_moved', 'Mona Moved');
    const sourceAuthor = { externalId: 'author-3', name: 'Mona Moved', email: 'user_moved@people.example' };
    await addReport('phrep_moved', 'Walk', { sourceAuthor });
    const away = `update photo_report set builder_id = (select id from builder where id <> ? limit 1), project_id = null where id = ?`;
    await run(away, BUILDER, 'phrep_moved');
    await updateUser({ ...context, source: OPERATOR }, 'user_moved', { email: 'mona@people.example' });
    await erasePerson(context, ['user_moved']);
    expect(await findTablesWith(database, 'Mona Moved')).toEqual([]);
  });

  it('is not the report of another user whose address a row with the id of the erased person has', async () => {
    await addUser('user_living', 'Bob Living');
    const email = 'user_living@people.example';
    await addReport('phrep_living', 'Walk', { sourceAuthor: { externalId: 'author-4', name: 'Bob Living', email } });
    await copyRow('contact', CONTACT.id, { id: 'con_again', name: 'Olga Once' });
    await erasePerson(context, ['con_again']);
    await run(`delete from contact where id = 'con_again'`);
    await copyRow('contact', CONTACT.id, { id: 'con_again', name: 'Anne Anybody', email });
    await replayErasures(context);
    expect(await findTablesWith(database, 'Anne Anybody')).toEqual([]);
    const author = `select source_author ->> 'name' as name from photo_report where id = 'phrep_living'`;
    expect(await run(author)).toEqual([{ name: 'Bob Living' }]);
  });

  it('is only one of the builders of the person', async () => {
    const id = await addWorker('Abel Abroad');
    await run(
      `insert into meeting (id, created_at, updated_at, builder_id, title, date, status, notes)
        select 'meet_b', now(), now(), id, 'Meeting', now(), 'COMPLETED', ? from builder where id <> ? limit 1`,
      ...['Abel Abroad', BUILDER],
    );
    expect(await previewErasure(context, [id])).toEqual([]);
  });
});

describe('names in file names, titles, metadata and reasons', () => {
  const NAME = 'Hugo House';
  const TEXT = `House of ${NAME}`;
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
    const id = await addWorker(NAME);
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
    const { mentionedIn } = await exportPerson(context, [id]);
    const named = mentionedIn.flatMap(({ type, mentions }) => mentions.map(({ at }) => `${type} ${at}`));
    expect(named).toEqual(expect.arrayContaining(['Upload fileName', 'Photo metadata', 'Project name']));
    const { texts, erasureId } = await erasePerson(context, [id]);
    expect(await findTablesWith(database, TEXT)).toEqual(['audit_entry', ...TABLES, 'sign_on_visit'].sort());
    const tables = new Set(texts.map(({ table }) => table));
    for (const table of [...TABLES, 'sign_on_visit', 'audit_entry']) expect(tables).toContain(table);
    const place = 'audit_entry/aud_reason/values_after';
    expect(await listed(erasureId)).toContain(place);
    await expect(replaceErasedText(context, erasureId, place, NAME)).rejects.toThrow(
      'entries of the audit log cannot change',
    );
    await expect(replaceErasedText(context, erasureId, 'meeting/none/notes', NAME)).rejects.toThrow(
      'is not on the list',
    );
  });
});

describe('a name that is not in one text', () => {
  it('is listed in divided runs, labels and addresses of companies, and as a former name or address (PRV-2, PRV-4)', async () => {
    const worker = await addWorker('Zara Quarry');
    const runs = [{ text: 'Seen by Za', marks: ['bold'] }, { text: 'ra Quar', marks: ['italic'] }, { text: 'ry.' }];
    await run('update photo set metadata = ?::jsonb where builder_id = ?', JSON.stringify({ runs }), BUILDER);
    await run(
      `update subcontractor set tags = '{Zara Quarry}', address = '{"street": "Zara Quarry Lane"}' where builder_id = ?`,
      BUILDER,
    );
    await addMeeting('meet_former', 'Opened by Zara Onyx.');
    await run(
      `insert into audit_entry (id, at, actor_type, action, object_type, object_id, person_id, origin, values_before)
        values ('aud_former', now(), 'JOB', 'worker.updated', 'worker', ?, ?, '{}', '{"fullName": "Zara Onyx", "email": "zo@site.example"}')`,
      ...[worker, worker],
    );
    await addMeeting('meet_address', 'Write to zo@site.example.');
    const { mentionedIn } = await exportPerson(context, [worker]);
    const meetings = mentionedIn.filter(({ type }) => type === 'Meeting').map(({ id }) => id);
    expect(meetings.sort()).toEqual(['meet_address', 'meet_former']);
    const { texts, erasureId } = await erasePerson(context, [worker]);
    const found = new Set(texts.map(({ table, column }) => `${table}.${column}`));
    expect([...found].sort()).toEqual([
      'meeting.notes',
      'photo.metadata',
      'subcontractor.address',
      'subcontractor.tags',
    ]);
    const { id } = texts.find(({ column }) => column === 'tags')!;
    const place = `subcontractor/${id}/tags`;
    const { value } = await replaceErasedText(context, erasureId, place, 'Zara Quarry');
    expect(value).toEqual([expect.stringMatching(/^Erased person /)]);
  });
});

describe('a name in what others have written about themselves, and in a role', () => {
  it('is exported and listed, and stays in notes, answers and memberships of others and in the audit log (PRV-2, PRV-4)', async () => {
    const worker = await addWorker('Dora Deputy');
    const [{ id } = {}] = await run('select min(id) as id from induction where worker_id = ?', WORKER.id);
    await copyRow('induction', id, { id: 'ind_dora', worker_id: worker, identifier: 99 });
    const answers = JSON.stringify([{ name: 'Emergency contact', value: 'Dora Deputy 0400 111 222' }]);
    await run(`update timesheet set notes = 'Drove Dora Deputy home' where builder_id = ?`, BUILDER);
    await run('update induction set data = ?::jsonb where builder_id = ?', answers, BUILDER);
    await run(`update membership set role = 'Deputy of Dora Deputy' where builder_id = ?`, BUILDER);
    await run(
      `insert into audit_entry (id, at, actor_type, action, object_type, object_id, person_id, builder_id, origin, values_after)
        values ('aud_role', now(), 'JOB', 'membership.updated', 'membership', ?, ?, ?, '{}', '{"role": "Deputy of Dora Deputy"}')`,
      ...[`${PRIYA.user}/${BUILDER}`, PRIYA.user, BUILDER],
    );
    const { mentionedIn } = await exportPerson(context, [worker]);
    expect(new Set(mentionedIn.map(({ type }) => type))).toEqual(
      new Set(['Timesheet', 'Induction', 'Membership', 'AuditEntry']),
    );
    const { texts } = await erasePerson(context, [worker]);
    const found = new Set(texts.map(({ table, column }) => `${table}.${column}`));
    expect([...found].sort()).toEqual(
      ['audit_entry.values_after', 'induction.data', 'membership.role', 'timesheet.notes'].sort(),
    );
    // The person's own answers are cleared.
    const left = await run(`select worker_id from induction where data::text like '%Dora Deputy%'`);
    expect(left.length).toBeGreaterThan(0);
    expect(left.map(({ worker_id }) => worker_id)).not.toContain(worker);
  });
});

describe('a name in an address or the key of a file', () => {
  it('is exported and listed, and is not replaced (PRV-2, PRV-4)', async () => {
    const worker = await addWorker('Lina License');
    await run(
      `update swms_document set url = 'https://files.example/Licence%20Lina%20License.pdf' where builder_id = ?`,
      BUILDER,
    );
    await run(`update insurance set document_key = 'documents/' || builder_id || '/Lina_License.pdf'`);
    const { mentionedIn } = await exportPerson(context, [worker]);
    expect(new Set(mentionedIn.map(({ type }) => type))).toEqual(new Set(['SwmsDocument', 'Insurance']));
    const { texts, erasureId } = await erasePerson(context, [worker]);
    expect(new Set(texts.map(({ column }) => column))).toEqual(new Set(['url', 'document_key']));
    for (const { table, id, column } of texts) {
      const replaced = replaceErasedText(context, erasureId, `${table}/${id}/${column}`, 'Lina License');
      await expect(replaced).rejects.toThrow('changes with its record');
    }
  });
});

describe('a report that names its author by address, in a builder that the person does not belong to', () => {
  it('has its texts listed, and counts as a record of the person for snapshots of the builder (PRV-2, PRV-4)', async () => {
    const [other] = await run('select id from builder where id <> ? limit 1', BUILDER);
    await addUser('user_away', 'Alma Away');
    const author = { externalId: 'author-1', name: 'A. A.', email: 'USER_AWAY@PEOPLE.EXAMPLE' };
    await addReport('report_away', 'Walk of Alma Away', { sourceAuthor: author });
    await run(`update photo_report set builder_id = ?, project_id = null where id = 'report_away'`, other!.id);
    const { mentionedIn } = await exportPerson(context, ['user_away']);
    expect(mentionedIn.map(({ builderId }) => builderId)).toContain(other!.id);
    const { texts, erasureId } = await erasePerson(context, ['user_away']);
    expect(texts.map(({ table, column }) => `${table}.${column}`)).toContain('photo_report.title');
    const [erasure] = await run('select builder_ids from erasure where id = ?', erasureId);
    expect(erasure!.builder_ids).toContain(other!.id);
  });
});

describe('the replacement of a name', () => {
  it('leaves blocks of synced notes in their place, and a report that is still one of its content', async () => {
    const notes = 'Bess Block opens.\n\nSynced by Block,  Bess.\n\nEnd.';
    await addMeeting('meet_blocks', notes);
    const block = { noteId: 'mnote_1', start: notes.indexOf('Synced'), text: 'Synced by Block,  Bess.' };
    await run(`update meeting set note_blocks = ?::jsonb where id = 'meet_blocks'`, JSON.stringify([block]));
    await addReport('report_blocks', 'Walk of Bess Block');
    const { erasureId, pseudonym } = await erasePerson(context, [await addWorker('Bess Block')]);
    await replaceErasedText(context, erasureId, 'meeting/meet_blocks/notes', 'bess block');
    const [meeting] = await run(`select notes, note_blocks from meeting where id = 'meet_blocks'`);
    expect(meeting).toEqual({
      notes: `${pseudonym} opens.\n\nSynced by ${pseudonym}.\n\nEnd.`,
      note_blocks: [{ ...block, start: `${pseudonym} opens.\n\n`.length, text: `Synced by ${pseudonym}.` }],
    });
    await replaceErasedText(context, erasureId, 'photo_report/report_blocks/title', 'Bess Block');
    const [replaced] = await run('select title, content, fingerprint from photo_report where id = ?', 'report_blocks');
    expect(replaced!.title).toBe(`Walk of ${pseudonym}`);
    expect(replaced!.content).toMatchObject({ page: { title: replaced!.title } });
    expect(replaced!.fingerprint).toBe(createFingerprint(canonicalJson(replaced!.content)));
  });
});

describe('the replacement of a name in one text', () => {
  it('leaves the blocks of synced notes as they are in the notes, until these are replaced', async () => {
    const notes = `Synced by Titus Title.\n\nEvacuate at 3 pm.`;
    await addMeeting('meet_title', notes);
    const block = { noteId: 'mnote_1', start: 0, text: `Synced by Titus Title.` };
    await run(
      `update meeting set title = ?, note_blocks = ?::jsonb where id = 'meet_title'`,
      ...[`With Titus Title`, JSON.stringify([block])],
    );
    const { erasureId, pseudonym } = await erasePerson(context, [await addWorker('Titus Title')]);
    const read = async () => (await run(`select title, notes, note_blocks from meeting where id = 'meet_title'`))[0];
    await replaceErasedText(context, erasureId, 'meeting/meet_title/title', 'Titus Title');
    expect(await read()).toEqual({ title: `With ${pseudonym}`, notes, note_blocks: [block] });
    await replaceErasedText(context, erasureId, 'meeting/meet_title/note_blocks', 'Titus Title');
    expect(await read()).toMatchObject({
      notes: `Synced by ${pseudonym}.\n\nEvacuate at 3 pm.`,
      note_blocks: [{ ...block, text: `Synced by ${pseudonym}.` }],
    });
  });

  it('changes nothing for a name without letters, digits and symbols, and replaces one of symbols (PRV-4)', async () => {
    const worker = await addWorker('-');
    await addMeeting('meet_blank', `Seen - by Blanche Blank. (Noon)`);
    expect(await previewErasure(context, [worker])).toEqual([]);
    await addMeeting('meet_symbols', 'Seen by 🙂 🛠, and by 🙂.');
    const people = [await addWorker('Blanche Blank'), await addWorker('🙂 🛠️')];
    const { erasureId, pseudonym, texts } = await erasePerson(context, people);
    for (const name of ['', ' ', '\u200b', '-', ', ']) {
      const replaced = replaceErasedText(context, erasureId, 'meeting/meet_blank/notes', name);
      await expect(replaced, JSON.stringify(name)).rejects.toThrow('does not contain');
    }
    expect(texts.filter(({ id }) => id !== 'meet_blank')).toMatchObject([{ id: 'meet_symbols', column: 'notes' }]);
    const { value } = await replaceErasedText(context, erasureId, 'meeting/meet_symbols/notes', '🙂 🛠️');
    expect(value).toBe(`Seen by ${pseudonym}, and by 🙂.`);
  });

  it('keeps fields and types that have the name', async () => {
    const cases: [name: string, table: string, column: string, toValue: (name: string) => unknown][] = [
      ['Street', 'subcontractor', 'address', (name) => ({ street: `With ${name}`, suburb: 'Hobart' })],
      ['Company', 'defect', 'assignees', (name) => [{ id: 'sub_1', type: 'COMPANY', name: `${name} & Co` }]],
      ['Title', 'meeting_template', 'sections', (name) => [{ id: 'section-1', title: `By ${name}` }]],
    ];
    const workers: string[] = [];
    for (const [name, table, column, toValue] of cases) {
      workers.push(await addWorker(name));
      const first = `(select min(id) from ${table} where builder_id = ?)`;
      await run(`update ${table} set ${column} = ?::jsonb where id = ${first}`, JSON.stringify(toValue(name)), BUILDER);
    }
    const { erasureId, pseudonym } = await erasePerson(context, workers);
    for (const [name, table, column, toValue] of cases) {
      const [row] = await run(`select min(id) as id from ${table} where builder_id = ?`, BUILDER);
      await replaceErasedText(context, erasureId, `${table}/${row!.id}/${column}`, name);
      const [replaced] = await run(`select ${column} as value from ${table} where id = ?`, row!.id);
      expect(replaced!.value, name).toEqual(toValue(pseudonym));
    }
  });

  it('is refused where two fields of a photo would become one, or a report would have a text that is too long to be imported', async () => {
    const metadata = { 'Fred Field': 'seen at 7', 'fred  field': 'seen at 9' };
    await run('update photo set metadata = ?::jsonb where builder_id = ?', JSON.stringify(metadata), BUILDER);
    const [photo] = await run('select id from photo where builder_id = ? limit 1', BUILDER);
    await addReport('report_long', `Tess Text ${'x'.repeat(19_985)}`);
    const people = [await addWorker('Fred Field'), await addWorker('Tess Text')];
    const { erasureId } = await erasePerson(context, people);
    const replaced = replaceErasedText(context, erasureId, `photo/${photo!.id}/metadata`, 'Fred Field');
    await expect(replaced).rejects.toThrow('two fields that would have the same name');
    expect(await run('select metadata from photo where id = ?', photo!.id)).toEqual([{ metadata }]);
    const lengthened = replaceErasedText(context, erasureId, 'photo_report/report_long/title', 'Tess Text');
    await expect(lengthened).rejects.toThrow('content.page.title');
  });

  it('leaves an author with a longer name out of the title and the content of a report (PRV-4)', async () => {
    const sourceAuthor = { externalId: 'author-2', name: 'Sam Hill-Jones', email: 'sam@people.example' };
    await addReport('phrep_hill', 'Walk with Sam Hill', { sourceAuthor });
    const { erasureId, pseudonym } = await erasePerson(context, [await addWorker('Sam Hill')]);
    await replaceErasedText(context, erasureId, 'photo_report/phrep_hill/title', 'Sam Hill');
    const select = `select source_author as "sourceAuthor", content from photo_report where id = 'phrep_hill'`;
    const page = { title: `Walk with ${pseudonym}` };
    expect(await run(select)).toMatchObject([{ sourceAuthor, content: { sourceAuthor, page } }]);
    await replaceErasedText(context, erasureId, 'photo_report/phrep_hill/source_author', 'Sam Hill');
    const author = { ...sourceAuthor, name: `${pseudonym}-Jones` };
    expect(await run(select)).toMatchObject([{ sourceAuthor: author, content: { sourceAuthor: author, page } }]);
  });

  it('is that of a former address which is the id of an assignee or author', async () => {
    await addUser('user_formerly', 'Fay Renamed');
    await updateUser(context, 'user_formerly', { email: 'fay.now@people.example' });
    const [defect] = await run('select min(id) as id from defect where builder_id = ?', BUILDER);
    const id = 'user_formerly@people.example';
    const assignees = [{ id, name: 'F. R.', type: 'USER' }];
    await run('update defect set assignees = ?::jsonb where id = ?', JSON.stringify(assignees), defect!.id);
    await addReport('phrep_readdressed', 'Walk', { sourceAuthor: { externalId: id, name: 'F. R.' } });
    const { erasureId, pseudonym } = await erasePerson(context, ['user_formerly']);
    await replaceErasedText(context, erasureId, `defect/${defect!.id}/assignees`, id);
    await replaceErasedText(context, erasureId, 'photo_report/phrep_readdressed/source_author', id);
    expect(await run('select assignees from defect where id = ?', defect!.id)).toEqual([
      { assignees: [{ id: pseudonym, name: 'F. R.', type: 'USER' }] },
    ]);
    const author = { externalId: pseudonym, name: 'F. R.' };
    expect(
      await run(
        `select source_author, content -> 'sourceAuthor' as content from photo_report where id = 'phrep_readdressed'`,
      ),
    ).toEqual([{ source_author: author, content: author }]);
  });

  it('leaves the address of an author an address, and identifiers and links, so that an export of reports and photos is imported', async () => {
    const author = { externalId: 'author-1', name: 'N. P.', email: 'nora.pell@home.example' };
    await addReport('phrep_author', 'Walk', { sourceAuthor: author });
    const ids = { sourceExternalId: 'nora-pell-walk', sourceDeepLink: 'https://notes.example/walks/nora-pell/1' };
    await addReport('phrep_links', 'Walk of Nora Pell', ids);
    const metadata = { externalSourceId: 'nora-pell-1', caption: 'Nora Pell' };
    await run('update photo set metadata = ?::jsonb where builder_id = ?', JSON.stringify(metadata), BUILDER);
    const [photo] = await run('select id from photo where builder_id = ? limit 1', BUILDER);
    const { erasureId, pseudonym } = await erasePerson(context, [await addWorker('Nora Pell')]);
    const replace = (place: string) => replaceErasedText(context, erasureId, place, 'Nora Pell');
    await replace('photo_report/phrep_author/source_author');
    await replace('photo_report/phrep_links/title');
    await replace(`photo/${photo!.id}/metadata`);
    const [replaced] = await run(`select source_author from photo_report where id = 'phrep_author'`);
    const email = `${pseudonym.replaceAll(' ', '.')}@home.example`;
    expect(replaced!.source_author).toEqual({ ...author, email });
    const [linked] = await run(`select content from photo_report where id = 'phrep_links'`);
    expect(linked!.content).toMatchObject({ ...ids, page: { title: `Walk of ${pseudonym}` } });
    expect(await run('select metadata from photo where id = ?', photo!.id)).toEqual([
      { metadata: { ...metadata, caption: pseudonym } },
    ]);
    const reports = ['phrep_author', 'phrep_links'];
    for (const [index, id] of reports.entries()) {
      await copyRow('photo_report_page', 'page_root', { id: `page_root${index}`, report_id: id });
      await copyRow('photo_report_page', 'page_east', {
        ...{ id: `page_east${index}`, report_id: id, parent_id: `page_root${index}` },
      });
    }
    const pages = ['page_root0', 'page_east0', 'page_root1', 'page_east1'];
    const folder = await exportRows({ 'photo-reports': reports, 'photo-report-pages': pages, photos: [photo!.id] });
    expect(await importAndCollect(database, folder)).toMatchObject({ committed: true, problems: [] });
  });
});

describe('the builder that a user has left, whom only its defects name', () => {
  it('is searched, and its texts are listed (PRV-2, PRV-4)', async () => {
    await copyRow('app_user', PRIYA.user, { id: 'user_fiona', name: 'Fiona Formerly', email: 'fiona@old.example' });
    const assignees = JSON.stringify([{ type: 'USER', id: 'user_fiona', name: 'Fiona Formerly' }]);
    await run('update defect set assignees = ?::jsonb where builder_id = ?', assignees, BUILDER);
    await addMeeting('meet_fiona', 'Fiona Formerly left.');
    const { texts, erasureId } = await erasePerson(context, ['user_fiona']);
    expect(texts.map(({ id }) => id)).toEqual(['meet_fiona']);
    expect(await run('select builder_ids from erasure where id = ?', erasureId)).toEqual([{ builder_ids: [BUILDER] }]);
  });
});

describe('a text that is changed while a name in it is replaced', () => {
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
    await addUser('user_changing', 'Cara Change');
    const sourceAuthor = { externalId: 'author-1', name: 'Cara Change', email: 'user_changing@people.example' };
    await addReport('report_changed', 'Walk', { sourceAuthor });
    await addMeeting('meet_changed', `Cara Change opens.`);
    const { erasureId, pseudonym } = await runAfter(
      `update photo_report set content = content || '{"later": true}' where id = $1`,
      'report_changed',
      () => erasePerson(context, ['user_changing']),
    );
    const [erased] = await run('select source_author, content from photo_report where id = ?', 'report_changed');
    expect(erased).toMatchObject({ source_author: { name: pseudonym }, content: { later: true } });
    await runAfter(`update meeting set notes = notes || ' End.' where id = $1`, 'meet_changed', () =>
      replaceErasedText(context, erasureId, 'meeting/meet_changed/notes', 'Cara Change'),
    );
    expect(await run(`select notes from meeting where id = 'meet_changed'`)).toEqual([
      { notes: `${pseudonym} opens. End.` },
    ]);
  });
});

describe('an erased member of staff', () => {
  it('appears everywhere as the pseudonym, in visits, conflicts and the audit log', async () => {
    await addUser('user_kim', 'Kim New', 'OPERATOR');
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
    await entry('aud_2', 'staff.updated', 'user_kim', { name: 'Kim New', email: 'user_kim@people.example' });
    const { pseudonym, texts } = await erasePerson(context, ['user_kim']);
    expect(texts).toEqual([]);
    expect(await run('select closed_by from sign_on_visit where id = ?', visit!.id)).toEqual([
      { closed_by: pseudonym },
    ]);
    expect(await run('select distinct resolved_by from sign_on_conflict')).toEqual([{ resolved_by: pseudonym }]);
    for (const text of ['Kim New', 'Kim Former', 'user_kim@people.example', '192.0.2.7'])
      expect(await findTablesWith(database, text), text).toEqual([]);
    const entries = JSON.stringify(await run('select * from audit_entry'));
    expect(entries).toContain(pseudonym);
    expect(entries).not.toMatch(/user_kim|kim +(new|former)/i);
  });

  it('is in no change that waited for the erasure (PRV-3)', async () => {
    await addUser('user_wait', 'Walt Wait', 'OPERATOR');
    const [visit] = await run(`update sign_on_visit set signed_off_at = null, closed_at = null, archived_at = null
      where id = (select min(id) from sign_on_visit) returning id`);
    const actor = { type: 'STAFF', id: 'user_wait', role: 'OPERATOR' } as const;
    const other = await ConcurrentTransaction.open(database.url);
    const closing = await other.whileOpen(
      'select 1 from sign_on_visit where id = $1 for update',
      [visit!.id],
      async () => {
        const source = { actor, origin: {} };
        const closed = closeVisit({ ...context, source }, { visitId: String(visit!.id), by: 'Walt Wait' });
        const outcome = closed.then(
          () => 'closed',
          (error: ApiError) => error.code,
        );
        await other.untilWaiting(1);
        await erasePerson(context, ['user_wait']);
        return { outcome };
      },
    );
    expect(await closing.outcome).toBe('FORBIDDEN');
    await other.close();
    expect(await findTablesWith(database, 'Walt Wait')).toEqual([]);
  });

  it('is in no change that the erasure waited for (PRV-3)', async () => {
    await addUser('user_late', 'Lars Late', 'OPERATOR');
    const [visit] = await run(`select min(id) as id from sign_on_visit`);
    const em = database.fork();
    await em.begin();
    await storeClosing(em, visit!.id, 'user_late', 'Lars Late');
    const erasing = erasePerson(context, ['user_late']);
    await untilOneWaits();
    await em.commit();
    await erasing;
    expect(await findTablesWith(database, 'Lars Late')).toEqual([]);
  });

  it('is in one entry about a membership that is removed meanwhile (ACC-20)', async () => {
    await addUser('user_leaves', 'Lee Leaves');
    const em = database.fork();
    await em.begin();
    await removeMembership({ ...context, em }, { user: 'user_leaves', builderId: BUILDER });
    await em.flush();
    const erasing = erasePerson(context, ['user_leaves']);
    await untilOneWaits();
    await em.commit();
    const { pseudonym } = await erasing;
    const entries = `select from audit_entry where action = 'membership.deleted' and person_id = ?`;
    expect(await run(entries, pseudonym)).toHaveLength(1);
  });

  it('is not taken from a visit that somebody else closes again meanwhile (PRV-3)', async () => {
    await addUser('user_first', 'Fay First', 'OPERATOR');
    await addUser('user_second', 'Sue Second', 'OPERATOR');
    const [visit] = await run(`select max(id) as id from sign_on_visit`);
    await storeClosing(database.fork(), visit!.id, 'user_first', 'Fay First');
    const em = database.fork();
    await em.begin();
    await storeClosing(em, visit!.id, 'user_second', 'Sue Second');
    const erasing = erasePerson(context, ['user_first']);
    await untilOneWaits();
    await em.commit();
    await erasing;
    expect(await run('select closed_by from sign_on_visit where id = ?', visit!.id)).toEqual([
      { closed_by: 'Sue Second' },
    ]);
  });

  it('changes no report that gets another author meanwhile, and ends where one is deleted meanwhile (PRV-3)', async () => {
    const sourceAuthor = { externalId: 'p-1', name: 'Petra Novak' };
    for (const id of ['report_gone', 'report_kept', 'report_other']) await addReport(id, 'Walk', { sourceAuthor });
    const worker = await addWorker('Petra Novak');
    const em = database.fork();
    await em.begin();
    await em.execute(
      `update photo_report set source_author = '{"externalId": "o-1", "name": "Olga Other"}' where id = 'report_other'`,
    );
    await em.execute(`delete from photo_report where id = 'report_gone'`);
    const erasing = erasePerson(context, [worker]);
    await untilOneWaits();
    await em.commit();
    const { pseudonym } = await erasing;
    const authors = `select source_author ->> 'name' as name from photo_report where id in ('report_kept', 'report_other') order by id`;
    expect(await run(authors)).toEqual([{ name: pseudonym }, { name: 'Olga Other' }]);
  });

  it('does not come back with an import of an older export, nor of a part of it (PRV-11)', async () => {
    const older = await fixture.createSampleDatabase();
    const runThere = (sql: string, ...values: unknown[]): Promise<Record<string, unknown>[]> =>
      older.fork().execute(sql, values);
    await runThere(`insert into app_user (id, name, email, staff_role, created_at, updated_at)
      values ('user_kim', 'Kim Older', 'kim@operator.example', 'OPERATOR', now(), now())`);
    await runThere(`update sign_on_visit set closed_by = 'Kim Older', closed_at = now()`);
    await runThere(`update sign_on_conflict set resolved_by = 'Kim Older', resolved_at = now()`);
    await runThere(`update defect set assignees = '[{"id": "legacy-1", "name": "Kim Older", "type": "USER"}]'`);
    for (const { id, content } of await runThere('select id, content from photo_report')) {
      const sourceAuthor = { externalId: 'author-1', name: 'Kim Older' };
      const changed = { ...(content as object), sourceAuthor };
      await runThere(
        'update photo_report set source_author = ?::jsonb, content = ?::jsonb, fingerprint = ? where id = ?',
        ...[JSON.stringify(sourceAuthor), JSON.stringify(changed), createFingerprint(canonicalJson(changed)), id],
      );
    }
    const folder = join(await fixture.createTemporaryFolder(), 'export');
    await exportFolder(older, folder);
    const { pseudonym, rows } = await erasePerson(contextOf(older, storage), ['user_kim']);
    expect(Object.keys(rows)).toEqual(
      expect.arrayContaining(['SignOnVisit', 'SignOnConflict', 'Defect', 'PhotoReport']),
    );
    const files = (await readdir(folder)).filter((name) => name.endsWith('.ndjson'));
    const others = files.filter((name) => !/^(sign-on-(visits|conflicts)|defects|photo-reports)\./.test(name));
    for (const imported of [files.length, files.length - others.length]) {
      const result = await importFolder(older, folder);
      expect([result.committed, result.files.length]).toEqual([true, imported]);
      expect(await findTablesWith(older, 'Kim Older')).toEqual([]);
      for (const name of others) await rm(join(folder, name), { force: true });
    }
    const [first] = (await readFile(join(folder, 'sign-on-visits.ndjson'), 'utf8')).split('\n');
    const later = {
      ...JSON.parse(first!),
      closedBy: 'Sam Hill',
      updatedAt: new Date(Date.now() + 1_000).toISOString(),
    };
    await importFolder(older, await fixture.createFolder({ 'sign-on-visits': [later] }));
    expect(await runThere('select distinct closed_by as by from sign_on_visit order by 1')).toEqual([
      { by: pseudonym },
      { by: 'Sam Hill' },
    ]);
  });

  it('is not brought back by an import that began before the erasure (PRV-11)', async () => {
    const folder = await fixture.createFolder({ 'sign-on-visits': 'not JSON' });
    const worker = await addWorker('Ivo Import');
    const onProblem = async () => void (await erasePerson(context, [worker]));
    await expect(importFolder(database, folder, { onProblem })).rejects.toThrow(
      'A person was erased during the import',
    );
  });

  it('is not brought back by an import during which it is applied again (PRV-11)', async () => {
    await addUser('user_again', 'Ada Again');
    const [{ id } = {}] = await run(
      `update defect set assignees = '[{"id": "ada-1", "name": "Ada Again", "type": "USER"}]', updated_at = '2026-01-01'
        where id = (select min(id) from defect) returning id`,
    );
    const whole = await exportRows({ users: ['user_again'], defects: [id] });
    const part = await fixture.createFolder({ defects: await readFile(join(whole, 'defects.ndjson'), 'utf8') });
    await run('delete from defect where id = ?', id);
    await erasePerson(context, ['user_again']);
    await importFolder(database, whole, { allowUserChanges: true });
    // It applies the erasure while the next import reads what it has written.
    await appendFile(join(part, 'defects.ndjson'), 'not JSON');
    const onProblem = async () => void (await replayErasures(context));
    const second = importFolder(database, part, { keepGood: true, onProblem });
    await expect(second).rejects.toThrow('A person was erased during the import');
    expect(await findTablesWith(database, 'Ada Again')).toEqual([]);
  });

  it('is not brought back to records that named others when it was erased (PRV-11)', async () => {
    await addUser('user_former', 'Fritz Former', 'OPERATOR');
    await addUser('user_mapped', 'Mia Mapped');
    await addUser('user_bob', 'Bob Stone');
    const idOf = async (table: string) => (await run(`select min(id) as id from ${table}`))[0]!.id;
    const [visit, defect] = [await idOf('sign_on_visit'), await idOf('defect')];
    await addReport('phrep_former', 'Walk');
    const pages = ['page_former1', 'page_former2'];
    await copyRow('photo_report_page', 'page_root', { id: pages[0], report_id: 'phrep_former' });
    const changes = { id: pages[1], report_id: 'phrep_former', parent_id: pages[0] };
    await copyRow('photo_report_page', 'page_east', changes);
    const [{ content: sample } = {}] = await run(`select content from photo_report where id = 'phrep_former'`);
    const name = async (by: string, userId: string | null) => {
      const assignees = JSON.stringify([{ id: 'former-1', name: by, type: 'USER' }]);
      await run('update defect set assignees = ?::jsonb, updated_at = now() where id = ?', assignees, defect);
      const close = 'update sign_on_visit set closed_at = now(), closed_by = ?, updated_at = now() where id = ?';
      await run(close, by, visit);
      const sourceAuthor = { externalId: 'f', name: by };
      const content = { ...(sample as object), sourceAuthor, ...(userId && { mappedAdminUserId: userId }) };
      const fingerprint = createFingerprint(canonicalJson(content));
      await run(
        `update photo_report set content = ?::jsonb, source_author = ?::jsonb, mapped_admin_user_id = ?, fingerprint = ?,
          updated_at = now() where id = 'phrep_former'`,
        ...[JSON.stringify(content), JSON.stringify(sourceAuthor), userId, fingerprint],
      );
      return { content, fingerprint, mapped_admin_user_id: userId };
    };
    for (const [former, present] of [
      ['user_mapped', null],
      [null, 'user_bob'],
    ] as const) {
      await name('Fritz Former', former);
      const files = { defects: [defect], 'sign-on-visits': [visit], 'photo-reports': ['phrep_former'] };
      const folder = await exportRows({ ...files, 'photo-report-pages': pages });
      const report = await name('Bob Stone', present);
      await erasePerson(context, ['user_former', 'user_mapped']);
      expect(await importAndCollect(database, folder)).toMatchObject({ committed: true, problems: [] });
      await replayErasures(context);
      expect(await findTablesWith(database, 'Fritz Former')).toEqual([]);
      const closedBy = await run('select closed_by as by from sign_on_visit where id = ?', visit);
      expect(closedBy).toEqual([{ by: 'Bob Stone' }]);
      const columns = Object.keys(report).join();
      expect(await run(`select ${columns} from photo_report where id = 'phrep_former'`)).toEqual([report]);
    }
  });

  it('is not brought back to a visit that names nobody (PRV-11)', async () => {
    const [{ id } = {}] = await run('select id from sign_on_visit order by id limit 1');
    const close = `update sign_on_visit set closed_at = now(), closed_by = ?, updated_at = '2026-01-01' where id = ?`;
    await run(close, 'Vera Visitor', id);
    const folder = await exportRows({ 'sign-on-visits': [id] });
    await run('update sign_on_visit set closed_by = null where id = ?', id);
    await erasePerson(context, [await addWorker('Somebody Else')]);
    expect(await importAndCollect(database, folder)).toMatchObject({ committed: true, problems: [] });
    expect(await run('select closed_by as by from sign_on_visit where id = ?', id)).toEqual([{ by: null }]);
  });

  it('waits for an import that is about to commit, and clears what it has written (PRV-11)', async () => {
    const [{ id, profile } = {}] =
      await run(`update timesheet set notes = 'Sick: back injury', updated_at = '2026-01-01'
      where id = (select min(id) from timesheet) returning id, profile_id as profile`);
    const folder = await exportRows({ timesheets: [id] });
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
      erasing = erasePerson(context, [String(profile)]);
      await Promise.race([erasing, expect.poll(countAttempts).toBeGreaterThan(2)]);
    };
    expect(await importFolder(database, folder, { beforeCommit })).toMatchObject({ committed: true });
    await erasing;
    expect(await run('select notes from timesheet where id = ?', id)).toEqual([{ notes: null }]);
  });

  it('is not another user whose id or address is beside the name, which stays and is listed (PRV-3)', async () => {
    const worker = await addWorker('O. Other');
    await addUser('user_others', 'Olga Other');
    const [defect] = await run('select min(id) as id from defect where builder_id = ?', BUILDER);
    const assignee = { id: 'user_others', name: 'O. Other', type: 'USER' };
    await run('update defect set assignees = ?::jsonb where id = ?', JSON.stringify([assignee]), defect!.id);
    const sourceAuthor = { externalId: 'author-9', name: 'O. Other', email: 'user_others@people.example' };
    await addReport('phrep_by_address', 'Walk', { sourceAuthor });
    await addReport('phrep_by_id', 'Walk', { sourceAuthor: { externalId: 'author-9', name: 'O. Other' } });
    await run(`update photo_report set mapped_admin_user_id = 'user_others' where id = 'phrep_by_id'`);
    const { rows, texts } = await erasePerson(context, [worker]);
    expect(rows).toEqual({ Worker: 1 });
    const places = new Set(texts.map(({ table, id, column }) => `${table}/${id}/${column}`));
    expect(places).toContain(`defect/${defect!.id}/assignees`);
    expect(places).toContain('photo_report/phrep_by_address/source_author');
    expect(places).toContain('photo_report/phrep_by_id/source_author');
  });

  it('is not another user whose address an assignee has as its id, or who is the author by it (PRV-3)', async () => {
    const worker = await addWorker('Uma Unlike');
    await addUser('user_unlike', 'Ulla Unlike');
    const [defect] = await run('select min(id) as id from defect where builder_id = ?', BUILDER);
    const assignees = [{ id: 'USER_unlike@people.example', name: 'Uma Unlike', type: 'USER' }];
    await run('update defect set assignees = ?::jsonb where id = ?', JSON.stringify(assignees), defect!.id);
    for (const externalId of ['user_unlike', 'user_unlike@people.example'])
      await addReport(`phrep_${externalId}`, 'Walk', { sourceAuthor: { externalId, name: 'Uma Unlike' } });
    const email = 'user_unlike@people.example';
    await copyRow('contact', CONTACT.id, { id: 'con_unlike', name: 'Una Unlike', email });
    const [visit] = await run('select id from sign_on_visit where builder_id = ? limit 1', BUILDER);
    await run('update sign_on_visit set closed_by = ?, closed_at = now() where id = ?', email, visit!.id);
    expect((await erasePerson(context, ['con_unlike'])).rows).toEqual({ Contact: 1 });
    expect(await run('select closed_by from sign_on_visit where id = ?', visit!.id)).toEqual([{ closed_by: email }]);
    const { rows, texts } = await erasePerson(context, [worker]);
    expect(rows).toEqual({ Worker: 1 });
    const left = texts.map(({ table, column }) => `${table}.${column}`).toSorted();
    const reports = ['content', 'content', 'source_author', 'source_author'].map((column) => `photo_report.${column}`);
    expect(left).toEqual(['defect.assignees', ...reports]);
  });

  it('is whose address an assignee or author has as its id, and who closed a visit by it, in any builder (PRV-3)', async () => {
    const [other] = await run('select id from builder where id <> ? limit 1', BUILDER);
    await copyRow('app_user', PRIYA.user, { id: 'user_ida', name: 'Ida Ident', email: 'ida@people.example' });
    const [defect] = await run('select min(id) as id from defect where builder_id = ?', BUILDER);
    const assignees = [{ id: 'Ida@People.example', name: 'I. I.', type: 'USER' }];
    await run('update defect set assignees = ?::jsonb where id = ?', JSON.stringify(assignees), defect!.id);
    await addReport('phrep_ident', 'Walk of Ida Ident', {
      sourceAuthor: { externalId: 'ida@people.example', name: 'I. I.' },
    });
    await run(`update photo_report set builder_id = ?, project_id = null where id = 'phrep_ident'`, other!.id);
    const [visit] = await run('select id from sign_on_visit where builder_id = ? limit 1', BUILDER);
    await run(`update sign_on_visit set closed_by = 'ida@people.example', closed_at = now() where id = ?`, visit!.id);
    const { rows, texts, pseudonym } = await erasePerson(context, ['user_ida']);
    expect(rows).toMatchObject({ Defect: 1, PhotoReport: 1, SignOnVisit: 1, User: 1 });
    expect(texts.map(({ id, column }) => `${id}/${column}`)).toEqual(['phrep_ident/title', 'phrep_ident/content']);
    const replaced = { id: pseudonym, name: pseudonym, type: 'USER' };
    expect(await run('select assignees from defect where id = ?', defect!.id)).toEqual([{ assignees: [replaced] }]);
    const author = { externalId: pseudonym, name: pseudonym };
    expect(
      await run(
        `select source_author, content -> 'sourceAuthor' as content from photo_report where id = 'phrep_ident'`,
      ),
    ).toEqual([{ source_author: author, content: author }]);
    expect(await run('select closed_by from sign_on_visit where id = ?', visit!.id)).toEqual([
      { closed_by: pseudonym },
    ]);
  });

  it('has its former address listed where it closed a visit, in any builder (PRV-4)', async () => {
    await copyRow('app_user', PRIYA.user, { id: 'user_vera', name: 'Vera Visit', email: 'vera@people.example' });
    const [visit] = await run('select id from sign_on_visit where builder_id = ? limit 1', BUILDER);
    await run(`update sign_on_visit set closed_by = 'vera@people.example', closed_at = now() where id = ?`, visit!.id);
    expect((await exportPerson(context, ['user_vera'])).mentionedIn).toMatchObject([{ id: visit!.id }]);
    await updateUser(context, 'user_vera', { email: 'vera.now@people.example' });
    const { texts } = await erasePerson(context, ['user_vera']);
    expect(texts).toMatchObject([{ id: visit!.id, column: 'closed_by' }]);
  });

  it('is not a namesake, whose name stays and is listed', async () => {
    const name = 'Nick Namesake';
    const worker = await addWorker(name);
    await addUser('user_namesake', name, 'OPERATOR');
    const [visit] = await run('select id from sign_on_visit where builder_id = ? limit 1', BUILDER);
    await run('update sign_on_visit set closed_by = ?, closed_at = now() where id = ?', name, visit!.id);
    const { texts } = await erasePerson(context, [worker]);
    expect(texts).toMatchObject([{ table: 'sign_on_visit', id: visit!.id, column: 'closed_by' }]);
    expect(await run('select closed_by from sign_on_visit where id = ?', visit!.id)).toEqual([{ closed_by: name }]);
  });
});

describe('person find', () => {
  let worker: string;
  beforeAll(async () => {
    worker = await addWorker('Finn Findable');
  });

  it.each(['finn FINDABLE', 'Findable, Finn', 'finn\u00a0 findable'])('finds a worker as %j', async (text) => {
    const found = await findPeople(database.fork(), listPersonalTables(database.metadata), text);
    expect(found).toContainEqual(expect.objectContaining({ id: worker, name: 'Finn Findable' }));
  });

  it.each([
    ['Lena Findable', 'Findable,Lena'],
    ['Lena Findable', 'Findable , Lena'],
    ['Anne Marie Findable', 'Anne-Marie Findable'],
    ['...', '...'],
  ])('of %j finds the worker %j', async (text, name) => {
    const id = await addWorker(name);
    const found = await findPeople(database.fork(), listPersonalTables(database.metadata), text);
    expect(found.map((person) => person.id)).toEqual([id]);
    await run('delete from worker where id = ?', id);
  });
});

describe('names of companies, applications and labels, and the reference of an agreement', () => {
  it('are exported and listed, also in the audit log, and replaced (PRV-2, PRV-4)', async () => {
    const worker = await addWorker('Cleo Company');
    await run(`update builder set name = 'Cleo Company Pty Ltd', logo_key = 'logos/' || id || '/cleo-company.png'`);
    await run(`update integrator set name = 'Cleo Company Apps'`);
    await run(
      `insert into oauth_client (id, integrator_id, name, type, grants, scopes, pilot_agreement, created_at, updated_at)
        select 'cli_cleo', min(id), 'App of Cleo Company', 'PUBLIC', '{}', '{}', 'Signed by Cleo Company', now(), now() from integrator`,
    );
    await run(`update timesheet_time_type set name = 'Cleo Company ' || id where builder_id = ?`, BUILDER);
    await run(`update timesheet_cost_code set code = 'Cleo Company ' || id where builder_id = ?`, BUILDER);
    await run(
      `insert into audit_entry (id, at, actor_type, action, object_type, object_id, origin, values_after)
        values ('aud_client', now(), 'JOB', 'client.created', 'client', 'cli_cleo', '{}', '{"pilotAgreement": "Signed by Cleo Company"}'),
          ('aud_builder', now(), 'JOB', 'builder.updated', 'builder', ?, '{}', '{"name": "Cleo Company Pty Ltd"}')`,
      BUILDER,
    );
    const expected = [
      ...['AuditEntry.valuesAfter', 'Builder.logoKey', 'Builder.name', 'CostCode.code', 'Integrator.name'],
      ...['OAuthClient.name', 'OAuthClient.pilotAgreement', 'TimeType.name'],
    ];
    const { mentionedIn } = await exportPerson(context, [worker]);
    const mentions = mentionedIn.flatMap(({ type, mentions }) => mentions.map(({ at }) => `${type}.${at}`));
    expect([...new Set(mentions)].sort()).toEqual(expected);
    const { texts, erasureId, pseudonym } = await erasePerson(context, [worker]);
    expect([...new Set(texts.map(({ type, property }) => `${type}.${property}`))].sort()).toEqual(expected);
    // Of other builders, as of their records, none.
    expect(texts.filter(({ table }) => table === 'builder').map(({ id }) => id)).toEqual([BUILDER, BUILDER]);
    const replace = (place: string) => replaceErasedText(context, erasureId, place, 'cleo company');
    const place = `builder/${BUILDER}/name`;
    expect(await replace(place)).toEqual({ place, builderId: BUILDER, value: `${pseudonym} Pty Ltd` });
    await replace('oauth_client/cli_cleo/pilot_agreement');
    expect(await run(`select name, pilot_agreement as agreement from oauth_client where id = 'cli_cleo'`)).toEqual([
      { name: 'App of Cleo Company', agreement: `Signed by ${pseudonym}` },
    ]);
    const entry = `select builder_id from audit_entry where action = 'person.text_replaced' and values_after ->> 'place' = ?`;
    expect(await run(entry, place)).toEqual([{ builder_id: BUILDER }]);
  });

  it('are one line where a replacement would make a text twice, or too long (PRV-4)', async () => {
    const worker = await addWorker('Leo Line');
    const columns: [table: string, column: string, id: unknown][] = [];
    for (const [table, column] of [
      ['timesheet_time_type', 'name'],
      ['timesheet_cost_code', 'code'],
    ] as const) {
      const [row] = await run(`select id from ${table} where builder_id = ? limit 1`, BUILDER);
      columns.push([table, column, row!.id]);
      await run(`update ${table} set ${column} = ? where id = ?`, `Leo Line ${'x'.repeat(980)}`, row!.id);
    }
    const { erasureId, pseudonym } = await erasePerson(context, [worker]);
    for (const [table, column, id] of columns) {
      const replace = () => replaceErasedText(context, erasureId, `${table}/${id}/${column}`, 'Leo Line');
      await expect(replace(), table).rejects.toThrow('longer than 1000 bytes');
      await run(`update ${table} set ${column} = 'Leo Line' where id = ?`, id);
      await run(
        `insert into ${table} select (jsonb_populate_record(t, jsonb_build_object('id', t.id || 'x', ?::text, ?::text))).* from ${table} t where id = ?`,
        ...[column, pseudonym, id],
      );
      await expect(replace(), table).rejects.toThrow('another record of the builder has this text already');
      expect(await run(`select ${column} as text from ${table} where id = ?`, id)).toEqual([{ text: 'Leo Line' }]);
    }
  });
});

describe('the export of a person who has changed something', () => {
  it('has the entries of it, with the address and without the values of others (PRV-2)', async () => {
    await addUser('user_edith', 'Edith Editor', 'ADMIN');
    await run(
      `insert into audit_entry (id, at, actor_type, actor_id, action, object_type, object_id, person_id, origin, values_after)
        values ('aud_other', now(), 'STAFF', 'user_edith', 'user.updated', 'user', ?, ?, '{"address":"192.0.2.8"}', '{"name": "Somebody"}'),
          ('aud_own', now(), 'STAFF', 'user_edith', 'staff.updated', 'staff', 'user_edith', 'user_edith', '{}', '{"name": "Edith Editor"}'),
          ('aud_third', now(), 'STAFF', 'user_alex', 'user.updated', 'user', ?, ?, '{}', '{"name": "Somebody"}')`,
      ...[PRIYA.user, PRIYA.user, PRIYA.user, PRIYA.user],
    );
    const { records } = await exportPerson(context, ['user_edith']);
    expect(records.AuditEntry).toMatchObject([
      { id: 'aud_other', actorId: 'user_edith', origin: { address: '192.0.2.8' }, valuesAfter: null },
      { id: 'aud_own', valuesAfter: { name: 'Edith Editor' } },
    ]);
  });
});
