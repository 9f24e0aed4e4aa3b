import type { Database } from '../../src/database/database.ts';
import type { AuditSource } from '../../src/domain/audit/record-audit.ts';

/** Source of an operator's command, for tests that call its functions directly. */
export const OPERATOR: AuditSource = {
  actor: { type: 'OPERATOR', id: 'robin' },
  origin: { host: 'ops-1', command: 'test' },
};

/** Has the database refuse every entry of a change. Reads of personal data are recorded after the change that shows them. */
const REFUSE_ENTRIES = `create function refuse_entry() returns trigger language plpgsql as
    'begin raise exception ''no entry is written'' using errcode = ''53100''; end';
  create trigger refuse_entry before insert on audit_entry for each row when (new.action <> 'person.read') execute function refuse_entry()`;

/** Tables that are written beside a change: reads, requests and sign-ins are recorded, and events that are there already get their numbers. */
const OTHERS = /^event|audit_entry|rate|usage|attempt|session/;

async function findTables(database: Database): Promise<string[]> {
  const all: { name: string }[] = await database
    .fork()
    .execute(`select tablename as name from pg_tables where schemaname = 'public' order by 1`);
  return all.map(({ name }) => name).filter((name) => !OTHERS.test(name));
}

/** Notes which rows of which table each transaction changes, also one that skips the triggers of the service. */
const NOTE_CHANGES = `create schema noted;
  create table noted.change (name text, xid xid8);
  create function noted.note() returns trigger language plpgsql as
    'begin insert into noted.change values (tg_table_name, pg_current_xact_id()); return null; end'`;

interface NotedChanges {
  /**
   * Returns the tables that were changed since the last call by a transaction that wrote no entry into the audit log: what such a
   * transaction changes is made without an entry too.
   */
  takeUnrecorded(): Promise<string[]>;
  /** Runs the work while the audit log takes no entry. Returns the tables in which it has changed rows. */
  takeRefused(work: () => Promise<unknown>): Promise<string[]>;
}

/** Notes the changes of rows from now on. */
export async function noteChanges(database: Database): Promise<NotedChanges> {
  const em = database.fork();
  const trigger = (name: string, scope = 'insert or update or delete', when = '') =>
    `create trigger note after ${scope} on "${name}" for each row ${when} execute function noted.note();
    alter table "${name}" enable always trigger note`;
  const triggers = (await findTables(database)).map((name) => trigger(name));
  const entries = trigger('audit_entry', 'insert', `when (new.action <> 'person.read')`);
  await em.execute([NOTE_CHANGES, ...triggers, entries].join(';'));
  const take = `with taken as (delete from noted.change returning *)
    select distinct name from taken where xid not in (select xid from taken where name = 'audit_entry') order by 1`;
  const takeUnrecorded = async () => (await em.execute<{ name: string }[]>(take)).map(({ name }) => name);
  const takeRefused = async (work: () => Promise<unknown>) => {
    await em.execute(`delete from noted.change; ${REFUSE_ENTRIES}`);
    try {
      await work();
      return await takeUnrecorded();
    } finally {
      await em.execute('drop function refuse_entry cascade');
    }
  };
  return { takeUnrecorded, takeRefused };
}
