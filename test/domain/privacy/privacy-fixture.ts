import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import type { Database } from '../../../src/database/database.ts';
import { canonicalJson, createFingerprint } from '../../../src/domain/canonical-json.ts';
import type { PrivacyContext } from '../../../src/domain/privacy/erase-person.ts';
import { systemClock } from '../../../src/shared/clock.ts';
import type { Storage } from '../../../src/storage/storage.ts';
import { OPERATOR } from '../../support/audit.ts';

/** Records of one person in the sample company. */
export const PRIYA = {
  name: 'Priya Nair',
  email: 'priya.nair@harbourline.example',
  user: 'user_a0mdxoa2js0d2e5u3caximzhm5',
  profile: 'pers_a0mdxp1mrmh692g4gpf4ozw4sw',
};
export const PRIYA_IDS = [PRIYA.user, PRIYA.profile];
export const WORKER = { id: 'wkr_a0mdxov2iwj5sqnvdwzrakpei7', name: 'Daniel Reyes' };
export const CONTACT = { id: 'con_a0mdxotr9yxuktga5od6utqsw7', name: "Maeve O'Sullivan" };
export const BUILDER = 'buil_a0mdxo7g1wjnyg83ufpjub7f10';

export const PICTURE = `pictures/${PRIYA.user}/portrait.png`;

export const contextOf = (database: Database, storage: Storage): PrivacyContext => ({
  ...{ database, storage, clock: systemClock, source: OPERATOR },
});

export async function storeText(storage: Storage, key: string, text = randomBytes(8).toString('hex')): Promise<void> {
  await storage.store(key, Readable.from([Buffer.from(text)]), 'application/octet-stream', 1_000);
}

/** Adds what names Priya Nair outside of her own records. */
export async function namePriyaEverywhere(database: Database, storage: Storage): Promise<void> {
  await storeText(storage, PICTURE);
  const run = (sql: string, values: unknown[] = []) => database.fork().execute(sql, values);
  await run('update app_user set picture_key = ?, password_hash = ? where id = ?', [PICTURE, 'hash', PRIYA.user]);
  const now = new Date().toISOString();
  await run(
    `insert into oauth_session (digest, user_id, credential_digest, created_at, expires_at) values ('d', ?, 'p', ?, ?)`,
    [PRIYA.user, now, now],
  );
  const [report] = (await run('select id, content from photo_report limit 1')) as { id: string; content: object }[];
  const author = { externalId: 'author-1', name: 'Priya N.', email: PRIYA.email.toUpperCase() };
  const page = {
    title: 'Walk with priya nair',
    schemaVersion: 1,
    blocks: [{ type: 'TEXT', sourceBlockId: 't', properties: {}, runs: [{ text: 'Seen\nPriya Nair, foreman' }] }],
  };
  const content = { ...report!.content, sourceAuthor: author, page };
  await run(
    'update photo_report set content = ?::jsonb, source_author = ?::jsonb, title = ?, fingerprint = ? where id = ?',
    [
      ...[
        JSON.stringify(content),
        JSON.stringify(author),
        page.title,
        createFingerprint(canonicalJson(content)),
        report!.id,
      ],
    ],
  );
  await run(
    `insert into meeting (id, created_at, updated_at, builder_id, title, date, status, notes, note_blocks)
      values ('meet_priya', ?, ?, ?, 'Meeting', ?, 'COMPLETED', ?, ?::jsonb)`,
    [
      ...[now, now, BUILDER, now, 'Priya Nair opens.\n\nSynced by Priya Nair.\n\nEnd.'],
      JSON.stringify([{ noteId: 'mnote_1', start: 19, text: 'Synced by Priya Nair.' }]),
    ],
  );
  await run('update sign_on_visit set closed_by = ? where builder_id = ?', [PRIYA.name, BUILDER]);
  await run(
    'update timesheet set notes = ?, profile_id = ? where id = (select min(id) from timesheet where builder_id = ?)',
    [...['My back hurt.', PRIYA.profile, BUILDER]],
  );
}

/** Returns the names of the tables, other than the audit log, in whose rows the text occurs, in any case. */
export async function findTablesWith(database: Database, text: string): Promise<string[]> {
  const em = database.fork();
  const tables = (await em.execute(
    `select table_name as name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE' order by 1`,
  )) as { name: string }[];
  const selects = tables.map(
    ({ name }) =>
      `select '${name}' as name where exists (select from "${name}" t where strpos(lower(to_jsonb(t)::text), (table wanted)) > 0)`,
  );
  const found: { name: string }[] = await em.execute(
    `with wanted as materialized (select lower(?)) ${selects.join(' union all ')}`,
    [text],
  );
  return found.map(({ name }) => name);
}
