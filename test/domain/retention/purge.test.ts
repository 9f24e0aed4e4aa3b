import { afterAll, describe, expect, it } from 'vitest';
import { createRetentionJob } from '../../../src/domain/events/retention.job.ts';
import { createPurgeJob, purgeExpired } from '../../../src/domain/retention/purge.job.ts';
import { MAX_ROWS, RETENTION_RULES, type RetentionRule } from '../../../src/domain/retention/retention-rules.ts';
import type { Job } from '../../../src/shared/jobs.ts';
import { DataTransferFixture } from '../../data-transfer/data-transfer-fixture.ts';
import { withWrongClock } from '../../support/wrong-clock.ts';

const DAY = 24 * 3_600_000;
const fixture = new DataTransferFixture();
afterAll(() => fixture.dispose());

describe('the jobs that delete', () => {
  it('keep what their process has a wrong time for: they go by the clock of the database (EVT-11, WHK-12)', async () => {
    const database = await fixture.createSampleDatabase();
    const databases = { au1: database, us1: database };
    await createRetentionJob(databases).run('au1');
    await database.fork().execute(`insert into oauth_revoked_token (jti, expires_at) values ('later', now())`);
    const run = (job: Job) => withWrongClock(1_000 * DAY, () => job.run('au1'));
    expect(await run(createRetentionJob(databases))).toMatchObject({ created: 0, dropped: 0 });
    expect(await run(createPurgeJob(databases))).toMatchObject({ revokedTokens: 0, conflicts: 0 });
  });
});

describe('the purge', () => {
  it('deletes refused gate events a year after their last repetition, and none before', async () => {
    const database = await fixture.createSampleDatabase();
    const [row] = (await database.fork().execute('select updated_at from sign_on_conflict')) as {
      updated_at: string;
    }[];
    const end = new Date(row!.updated_at).getTime() + 365 * DAY;
    expect(await purgeExpired(database, end - 1)).toMatchObject({ conflicts: 0 });
    expect(await purgeExpired(database, end + 1)).toMatchObject({ conflicts: 1 });
  });

  it('deletes entries of the audit log after a year, and none earlier by a wrong clock', async () => {
    const database = await fixture.createSampleDatabase();
    const insert = (id: string, at: string) =>
      database.fork().execute(
        `insert into audit_entry (id, at, actor_type, action, object_type, object_id, origin)
          values (?, ${at}, 'JOB', 'region.exported', 'region', 'au1', '{}')`,
        [id],
      );
    await insert('aud_old', `now() - interval '367 days'`);
    await insert('aud_new', `now() - interval '1 day'`);
    expect(await purgeExpired(database, Date.now() + 1_000 * DAY)).toMatchObject({ audit: 1 });
    expect(await database.fork().execute('select id from audit_entry')).toEqual([{ id: 'aud_new' }]);
  });

  it('deletes more entries of the audit log than one batch holds', async () => {
    const database = await fixture.createEmptyDatabase();
    await database.fork().execute(
      `insert into audit_entry (id, at, actor_type, action, object_type, object_id, origin)
        select 'aud_' || n, now() - interval '367 days', 'JOB', 'region.exported', 'region', 'au1', '{}'
        from generate_series(1, ?) n`,
      [2 * MAX_ROWS + 1],
    );
    expect(await purgeExpired(database, Date.now())).toMatchObject({ audit: 2 * MAX_ROWS + 1 });
  });

  it('applies the other rules when one fails, and throws its error', async () => {
    const database = await fixture.createSampleDatabase();
    await database.fork().execute('alter table oauth_session rename to oauth_session_away');
    await database
      .fork()
      .execute(`insert into oauth_revoked_token (jti, expires_at) values ('over', now() - interval '2 days')`);
    await expect(purgeExpired(database, Date.now())).rejects.toThrow(/oauth_session/);
    expect(await database.fork().execute('select jti from oauth_revoked_token')).toEqual([]);
  });

  it('has a statement for each rule of the purge job', () => {
    const rules = Object.entries<RetentionRule>(RETENTION_RULES);
    expect(rules.filter(([, { by, purge }]) => (by === undefined) !== (purge !== undefined))).toEqual([]);
  });
});
