import type { Database } from '../../database/database.ts';

/** Names of the records that entries refer to, by table. Of the address of a webhook, the path may be secret. */
const NAMES = {
  integrator: 'name',
  oauth_client: 'name',
  builder: 'name',
  project: 'name',
  app_user: 'name',
  worker: 'full_name',
  person_profile: 'full_name',
  webhook_endpoint: "split_part(url, '/', 3)",
};

// SQL: one statement for records of several tables.
const SELECT_NAMES = `with named (id) as (select unnest(string_to_array(?, ','))) ${Object.entries(NAMES)
  .map(([table, name]) => `select id, ${name} as name from ${table} join named using (id)`)
  .join(' union all ')}`;

/** Identifiers of those records. */
const IDS = /\b(?:intg|cli|buil|proj|user|wkr|pers|whe)_[a-z0-9]+\b/g;

export const isPersonId = (id: string): boolean => /^(?:user|wkr|pers)_/.test(id);

/** Returns the ids of records in each value, in its members too. */
export const findIds = (value: unknown): string[] => JSON.stringify(value).match(IDS) ?? [];

/** Returns the present names of records by id, without those that are no longer there. */
export async function findRecordNames(database: Database, ids: Iterable<string>): Promise<Map<string, string>> {
  const rows = await database.fork().execute<{ id: string; name: string }[]>(SELECT_NAMES, [[...new Set(ids)].join()]);
  return new Map(rows.map(({ id, name }) => [id, name]));
}
