import { randomBytes } from 'node:crypto';
import { escapeIdentifier, Pool, type PoolClient } from 'pg';
import { inject } from 'vitest';
// For the types of the values that the global setup provides.
import type {} from './cluster.ts';

/**
 * Clones a fresh database from a template of the run's cluster: by default one with empty tables; `template1` has no tables. `drop`
 * closes its open connections.
 */
export async function createDatabase(
  template: string = inject('cluster').empty,
): Promise<{ url: string; drop(): Promise<void> }> {
  const name = `test_${randomBytes(8).toString('hex')}`;
  await asSuperuser(async (client) => {
    // PostgreSQL rejects a clone while another connection uses the template, so test files clone one after the other.
    await client.query(`select pg_advisory_lock(hashtext('createDatabase'))`);
    // Copying files takes a third of the time of writing their pages to the log.
    const source = `template ${escapeIdentifier(template)} strategy file_copy`;
    await client
      .query(`create database ${escapeIdentifier(name)} ${source}`)
      .finally(() => client.query(`select pg_advisory_unlock(hashtext('createDatabase'))`));
  });
  const url = new URL(inject('cluster').url);
  url.pathname = `/${name}`;
  const drop = () =>
    asSuperuser(async (client) => {
      await client.query(`drop database if exists ${escapeIdentifier(name)} with (force)`);
    });
  return { url: url.href, drop };
}

let superuser: Pool | undefined;

/** Runs the work on the one connection of a superuser that the test files of this worker share. */
async function asSuperuser(work: (client: PoolClient) => Promise<void>): Promise<void> {
  superuser ??= new Pool({ connectionString: inject('cluster').url, max: 1, allowExitOnIdle: true })
    // The cluster of the run may stop first.
    .on('error', () => undefined);
  const client = await superuser.connect();
  try {
    await work(client);
  } finally {
    client.release();
  }
}
