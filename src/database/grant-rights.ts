import { OperatorError } from '../shared/operator-error.ts';
import type { Database } from './database.ts';

/** Tables of which the service's role has fewer rights than on others, and those rights. */
const RESTRICTED = {
  audit_entry: 'select, insert',
  erasure: 'select, update (builder_ids, due_at, cancelled_at, completed_at, pending_keys, places)',
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
  const em = owner.fork();
  const isOther = 'select 1 from pg_roles where rolname = ? and rolname <> current_user';
  const rule = `DATABASE_URL_${owner.region.toUpperCase()} must name a user that exists and is not the owner of the tables.`;
  // From itself, the owner would take the rights that the functions of the audit log need.
  if ((await em.execute(isOther, [role])).length === 0) throw new OperatorError(rule);
  const name = `"${role.replaceAll('"', '""')}"`;
  const tables = Object.keys(RESTRICTED).join(', ');
  await em.execute(`
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
