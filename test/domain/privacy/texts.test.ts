import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Database } from '../../../src/database/database.ts';
import { erasePerson } from '../../../src/domain/privacy/erase-person.ts';
import { exportPerson } from '../../../src/domain/privacy/export-person.ts';
import type { Storage } from '../../../src/storage/storage.ts';
import { DataTransferFixture } from '../../data-transfer/data-transfer-fixture.ts';
import { startStore, type TestStore } from '../../support/stores.ts';
import { BUILDER, contextOf, findTablesWith, PRIYA, PRIYA_IDS, WORKER } from './privacy-fixture.ts';

const fixture = new DataTransferFixture();
let store: TestStore;
let storage: Storage;

beforeAll(async () => {
  store = await startStore();
  storage = store.storages.au1;
});
afterAll(async () => {
  await store.stop();
  await fixture.dispose();
});

const addMeeting = (database: Database, id: string, notes: string) =>
  database.fork().execute(
    `insert into meeting (id, created_at, updated_at, builder_id, title, date, status, notes)
      values (?, now(), now(), ?, 'Meeting', now(), 'COMPLETED', ?)`,
    [id, BUILDER, notes],
  );

const notesOf = async (database: Database, id: string) =>
  ((await database.fork().execute('select notes from meeting where id = ?', [id])) as { notes: string }[])[0]!.notes;

describe('a text with an e-mail address that another person of the builder has', () => {
  it('is kept and reported (PRV-4)', async () => {
    const database = await fixture.createSampleDatabase();
    await addMeeting(database, 'meet_mail', `Write to ${PRIYA.email.toUpperCase()}.`);
    await database.fork().execute('update contact set email = ? where builder_id = ?', [PRIYA.email, BUILDER]);
    const { ambiguousBuilderIds, keptMentions } = await erasePerson(contextOf(database, storage), PRIYA_IDS);
    expect(ambiguousBuilderIds).toEqual([BUILDER]);
    expect(await notesOf(database, 'meet_mail')).toBe(`Write to ${PRIYA.email.toUpperCase()}.`);
    const place = { type: 'Meeting', id: 'meet_mail', builderId: BUILDER, at: 'plainNotes' };
    expect(keptMentions).toContainEqual(place);
  });

  it('is changed where the other person belongs to another builder', async () => {
    const database = await fixture.createSampleDatabase();
    await addMeeting(database, 'meet_mail', `Write to ${PRIYA.email}.`);
    await database.fork().execute(`update contact set email = ? where builder_id <> ?`, [PRIYA.email, BUILDER]);
    const { keptMentions } = await erasePerson(contextOf(database, storage), PRIYA_IDS);
    expect(await notesOf(database, 'meet_mail')).toMatch(/^Write to [0-9a-f]{10}@erased\.invalid\.$/);
    expect(keptMentions.filter(({ builderId }) => builderId === BUILDER)).toEqual([]);
  });
});

describe('a text with a name of one word', () => {
  it('is kept and reported, as a word of its own (PRV-4)', async () => {
    const database = await fixture.createSampleDatabase();
    await database.fork().execute(`update worker set full_name = 'Cher' where id = ?`, [WORKER.id]);
    await addMeeting(database, 'meet_cher', 'Opened by cher.');
    await addMeeting(database, 'meet_cherry', 'A cherry tree.');
    const { ambiguousBuilderIds, keptMentions } = await erasePerson(contextOf(database, storage), [WORKER.id]);
    expect(ambiguousBuilderIds).toEqual([]);
    expect(keptMentions).toEqual([{ type: 'Meeting', id: 'meet_cher', builderId: BUILDER, at: 'plainNotes' }]);
    expect(await notesOf(database, 'meet_cher')).toBe('Opened by cher.');
  });
});

describe('names in file names, titles and metadata', () => {
  const TEXT = `House of ${PRIYA.name}`;

  it('are exported and replaced (PRV-1, PRV-2, PRV-4)', async () => {
    const database = await fixture.createSampleDatabase();
    const run = (sql: string, ...values: unknown[]) => database.fork().execute(sql, values);
    await run(
      `insert into upload (key, builder_id, file_name, content_type, size, created_at) values ('uploads/x', ?, ?, 'image/png', 1, now())`,
      ...[BUILDER, `${TEXT}.png`],
    );
    await run(
      'update photo set metadata = jsonb_build_object(?::text, ?::text) where builder_id = ?',
      'title',
      TEXT,
      BUILDER,
    );
    for (const table of ['project', 'insurance', 'swms_document', 'project_location', 'meeting_template']) {
      await run(`update ${table} set name = ? || id where builder_id = ?`, `${TEXT} `, BUILDER);
    }
    const tables = ['insurance', 'meeting_template', 'photo', 'project', 'project_location', 'swms_document', 'upload'];
    expect(await findTablesWith(database, TEXT)).toEqual(tables);
    const { mentionedIn } = await exportPerson(contextOf(database, storage), PRIYA_IDS);
    const named = mentionedIn.flatMap(({ type, mentions }) => mentions.map(({ at }) => `${type} ${at}`));
    expect(named).toEqual(expect.arrayContaining(['Upload fileName', 'Photo metadata.title', 'Project name']));
    const { pseudonym, rows } = await erasePerson(contextOf(database, storage), PRIYA_IDS);
    expect(await findTablesWith(database, TEXT)).toEqual([]);
    expect(await findTablesWith(database, `House of ${pseudonym}`)).toEqual(tables);
    expect(rows).toMatchObject({ Upload: 1, Insurance: expect.any(Number), SwmsDocument: expect.any(Number) });
  });
});
