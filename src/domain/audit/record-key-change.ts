import { isDeepStrictEqual } from 'node:util';
import type { Database } from '../../database/database.ts';
import { acquireRecordLock } from '../../database/write/advisory-lock.ts';
import { type AuditSource, recordAudit } from './record-audit.ts';

/** Id of the audited object. */
const OBJECT = 'token-keys';

/** The start of an instance, for the audit log. */
const SOURCE: AuditSource = { actor: { type: 'JOB', id: 'start' }, origin: {} };

// SQL: a start creates no MikroORM, which takes long.
const SELECT_LAST = {
  name: '',
  text: `select values_after -> 'keyIds' from audit_entry
    where object_id = '${OBJECT}' and action = 'signing_key.changed' order by at desc, id desc limit 1`,
};

/**
 * Records the ids of the token keys in the audit log if they are not those of the last entry. Instances that start with the same keys
 * record them once. Returns whether an entry was written.
 */
export async function recordKeyChange(database: Database, keyIds: readonly string[], at: string): Promise<boolean> {
  const readLast = async (): Promise<string[] | null> => {
    const [row] = await database.runner.run(SELECT_LAST, []);
    return row ? JSON.parse(row[0]!) : null;
  };
  // The usual case.
  if (isDeepStrictEqual(await readLast(), keyIds)) return false;
  return database.transaction(async (em) => {
    await acquireRecordLock(em, 'audit of token keys');
    const last = await readLast();
    if (isDeepStrictEqual(last, keyIds)) return false;
    const change = { action: 'signing_key.changed', before: last && { keyIds: last }, after: { keyIds } } as const;
    await recordAudit(em, { ...SOURCE, at, objectId: OBJECT, ...change });
    return true;
  });
}
