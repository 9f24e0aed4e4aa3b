import type { Database } from './database.ts';

/** Tables of which the service's role has fewer rights than on others, and those rights. */
const RESTRICTED = {
  audit_entry: 'select, insert',
  erasure: 'select, update (due_at, cancelled_at, completed_at, pending_keys, places)',
  app_user: 'select, insert, update',
  mikro_orm_migrations: 'select',
};

/**
 * Gives a role the rights that the service needs on the tables of another owner, and no others: it cannot change or delete entries of the
 * audit log, nor insert an erasure. ACC-20. Repeating it changes nothing.
 *
 * @param owner the database as the owner of its tables.
 */
export async function grantServiceRights(owner: Database, role: string): Promise<void> {
  const name = `"${role.replaceAll('"', '""')}"`;
  const tables = Object.keys(RESTRICTED).join(', ');
  await owner.fork().execute(`
    grant usage on schema public to ${name};
    grant select, insert, update, delete on all tables in schema public to ${name};
    grant usage, select, update on all sequences in schema public to ${name};
    grant execute on all functions in schema public to ${name};
    revoke all on ${tables} from ${name};
    ${Object.entries(RESTRICTED)
      .map(([table, rights]) => `grant ${rights} on ${table} to ${name};`)
      .join('\n')}
  `);
}
