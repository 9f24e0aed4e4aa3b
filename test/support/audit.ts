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

/** Runs the work while the audit log takes no entry. Returns the tables in which it has changed rows. */
export async function findChangesWithoutEntry(database: Database, work: () => Promise<unknown>): Promise<string[]> {
  const em = database.fork();
  const all = await em.execute<{ name: string }[]>(
    `select table_name as name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE' order by 1`,
  );
  const tables = all.filter(({ name }) => !OTHERS.test(name));
  // A changed row has another place or transaction.
  const selects = tables.map(
    ({ name }) =>
      `select '${name}' as name, (select sum(hashtextextended(xmin::text || ctid::text, 0))::text from "${name}") as digest`,
  );
  const digest = () => em.execute<{ name: string; digest: string }[]>(selects.join(' union all '));
  await em.execute(REFUSE_ENTRIES);
  try {
    const before = await digest();
    await work();
    const after = await digest();
    const isChanged = (each: { digest: string }, at: number) => each.digest !== before[at]!.digest;
    return after.filter(isChanged).map(({ name }) => name);
  } finally {
    await em.execute('drop function refuse_entry cascade');
  }
}
