import { AsyncLocalStorage } from 'node:async_hooks';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AuditEntry } from '../../../entities/audit-entry.entity.ts';
import { Builder } from '../../../entities/builder.entity.ts';
import { Profile } from '../../../entities/profile.entity.ts';
import { importFolder } from '../../../src/data-transfer/import.ts';
import type { Database } from '../../../src/database/database.ts';
import { addMembership } from '../../../src/domain/access/memberships.ts';
import {
  cancelBuilderErasure,
  executeBuilderErasure,
  listErasures,
  scheduleBuilderErasure,
} from '../../../src/domain/privacy/erase-builder.ts';
import { PEOPLE_LOCK } from '../../../src/domain/privacy/erase-person.ts';
import { readStoredErasure, storeErasure } from '../../../src/domain/privacy/erasure-list.ts';
import { createErasureJob, eraseDueBuilders, replayErasures } from '../../../src/domain/privacy/replay-erasures.ts';
import { claimBucket } from '../../../src/domain/uploads/bucket-owner.ts';
import type { Storage } from '../../../src/storage/storage.ts';
import { DataTransferFixture, SAMPLES } from '../../data-transfer/data-transfer-fixture.ts';
import { ConcurrentTransaction } from '../../support/concurrent-transaction.ts';
import { useLongerTimeLimits } from '../../support/longer-time-limits.ts';
import { startStore, type TestStore } from '../../support/stores.ts';
import { withWrongClock } from '../../support/wrong-clock.ts';
import { BUILDER, contextOf, findTablesWith, PRIYA, storeText } from './privacy-fixture.ts';

const DAY_MS = 24 * 3_600_000;
const fixture = new DataTransferFixture();
let store: TestStore;
let storage: Storage;
/** Of tests that erase nothing. */
let unerased: Database;

useLongerTimeLimits();
beforeAll(async () => {
  store = await startStore();
  storage = store.storages.au1;
  unerased = await fixture.createSampleDatabase();
});
afterAll(async () => {
  await store.stop();
  await fixture.dispose();
});

/** Returns the database of tests that erase nothing, without the erasures and entries of earlier ones. */
async function clearUnerased(): Promise<Database> {
  await unerased.fork().execute(`delete from erasure; alter table audit_entry disable trigger user;
    delete from audit_entry; alter table audit_entry enable trigger user`);
  return unerased;
}

const makeErasureDue = (database: Database) =>
  database.fork().execute(`update erasure set due_at = now() - interval '1 second' where completed_at is null`);

const countOf = async (database: Database, sql: string) =>
  ((await database.fork().execute(sql)) as { count: number }[])[0]!.count;

/** Tables that keep ids of an erased builder. Events have no other data and are dropped after 30 days. */
const KEPT = ['audit_entry', 'erasure', 'event_pending'];

describe('builder erase', () => {
  it('erases nothing before the end of the grace period (PRV-8)', async () => {
    const database = await clearUnerased();
    const context = contextOf(database, storage);
    const { erasure, changed } = await scheduleBuilderErasure(context, BUILDER, 30);
    expect([changed, Date.parse(erasure.dueAt) - Date.parse(erasure.requestedAt)]).toEqual([true, 30 * 24 * 3_600_000]);
    expect(await scheduleBuilderErasure(context, BUILDER, 30)).toMatchObject({
      changed: false,
      erasure: { id: erasure.id },
    });
    expect(await eraseDueBuilders(context)).toEqual({ builders: 0 });
    expect(await findTablesWith(database, BUILDER)).toContain('builder');
  });

  it('is scheduled once by requests at the same time (PRV-8)', async () => {
    const database = await clearUnerased();
    const context = contextOf(database, storage);
    const scheduled = await Promise.all(
      Array.from({ length: 6 }, (_, day) => scheduleBuilderErasure(context, BUILDER, 30 + day)),
    );
    const stored = await listErasures(database);
    expect(scheduled.map(({ erasure }) => erasure.id)).toEqual(Array(6).fill(stored[0]!.id));
    expect([stored.length, scheduled.filter(({ changed }) => changed).length]).toEqual([1, 1]);
    const entries = `select count(*)::int as count from audit_entry where action = 'builder.erasure_scheduled'`;
    expect(await countOf(database, entries)).toBe(1);
  });

  it('can be undone until it is due, and not afterwards (PRV-8)', async () => {
    const database = await clearUnerased();
    const context = contextOf(database, storage);
    await scheduleBuilderErasure(context, BUILDER, 30);
    await cancelBuilderErasure(context, BUILDER);
    await makeErasureDue(database);
    expect(await eraseDueBuilders(context)).toEqual({ builders: 0 });
    await expect(cancelBuilderErasure(context, BUILDER)).rejects.toThrow('no erasure of');
    await scheduleBuilderErasure(context, BUILDER, 0);
    await makeErasureDue(database);
    await expect(cancelBuilderErasure(context, BUILDER)).rejects.toThrow('cannot be undone');
    const actions = (await database.fork().execute('select action from audit_entry order by id')) as {
      action: string;
    }[];
    expect(actions.map(({ action }) => action)).toEqual([
      ...['builder.erasure_scheduled', 'builder.erasure_cancelled', 'builder.erasure_scheduled'],
    ]);
  });

  it('is due by the clock of the database, whatever the clock of the command (PRV-8)', async () => {
    const database = await clearUnerased();
    const now = Date.now();
    const context = (aheadMs: number) => ({ ...contextOf(database, storage), clock: { now: () => now + aheadMs } });
    await withWrongClock(90 * DAY_MS, async () => {
      const { erasure } = await scheduleBuilderErasure(context(-90 * DAY_MS), BUILDER, 30);
      expect(Math.abs(Date.parse(erasure.dueAt) - now - 30 * DAY_MS)).toBeLessThan(DAY_MS);
      expect(await eraseDueBuilders(context(90 * DAY_MS))).toEqual({ builders: 0 });
      await cancelBuilderErasure(context(90 * DAY_MS), BUILDER);
    });
    await scheduleBuilderErasure(context(0), BUILDER, 0);
    await expect(cancelBuilderErasure(context(-90 * DAY_MS), BUILDER)).rejects.toThrow('cannot be undone');
  });

  it('changes nothing when it was cancelled after it had been found due (PRV-8)', async () => {
    const database = await clearUnerased();
    const context = contextOf(database, storage);
    const { erasure } = await scheduleBuilderErasure(context, BUILDER, 0);
    await database.fork().execute('update erasure set cancelled_at = now() where id = ?', [erasure.id]);
    const connections = `select count(*)::int as count from connection where status = 'ACTIVE'`;
    const before = await countOf(database, connections);
    expect(await executeBuilderErasure(context, erasure)).toBe(false);
    expect(await findTablesWith(database, BUILDER)).toContain('project');
    expect(await countOf(database, connections)).toBe(before);
  });

  it('is not cancelled once it is completed, nor executed once it is cancelled, while the other one waits (PRV-8)', async () => {
    const database = await clearUnerased();
    const context = contextOf(database, storage);
    const { erasure } = await scheduleBuilderErasure(context, BUILDER, 30);
    const other = await ConcurrentTransaction.open(database.url);
    const runAfter = async (column: string, work: () => Promise<unknown>) => {
      let result: Promise<unknown> | undefined;
      await other.whileOpen(`update erasure set ${column} = now()`, [], async () => {
        result = work().catch((error: Error) => error.message);
        await other.untilWaiting(1);
      });
      return result;
    };
    try {
      const cancel = () => cancelBuilderErasure(context, BUILDER);
      expect(await runAfter('completed_at', cancel)).toMatch(/^builder: no erasure of/);
      const execute = () => executeBuilderErasure(context, erasure);
      expect(await runAfter('cancelled_at', execute)).toBe(false);
    } finally {
      await other.close();
    }
    expect(await findTablesWith(database, BUILDER)).toContain('project');
  });

  it('is executed by one instance at a time (PRV-8)', async () => {
    const database = await clearUnerased();
    const context = contextOf(database, storage);
    const other = await ConcurrentTransaction.open(database.url);
    const lock = `select pg_advisory_xact_lock(hashtext('builder-integration-api erasures of builders'))`;
    expect(await other.whileOpen(lock, [], () => eraseDueBuilders(context))).toBeNull();
    const storages = { au1: storage, us1: storage };
    const job = createErasureJob({ au1: database, us1: database }, storages, context.clock);
    // Beside an instance that erases people, the job erases builders only.
    const people = `select pg_advisory_xact_lock(hashtext('${PEOPLE_LOCK}'))`;
    expect(await other.whileOpen(people, [], () => job.run('au1'))).toEqual({ builders: 0 });
    await other.close();
  });

  it('erases nobody who becomes a member of another builder while the erasure of people waits (PRV-9)', async () => {
    const database = await fixture.createSampleDatabase();
    const context = contextOf(database, storage);
    const run = (sql: string, values: unknown[] = []) => database.fork().execute(sql, values);
    await run(`delete from membership where builder_id <> ?`, [BUILDER]);
    await run(`insert into builder (id, created_at, updated_at, name) values ('buil_other', now(), now(), 'Other')`);
    const { erasure } = await scheduleBuilderErasure(context, BUILDER, 0);
    const other = await ConcurrentTransaction.open(database.url);
    const { executed } = await other.whileOpen(
      `select from app_user where id = $1 for key share`,
      [PRIYA.user],
      async () => {
        const executed = executeBuilderErasure(context, erasure);
        await other.untilWaiting(1);
        await addMembership(context, { user: PRIYA.user, builderId: 'buil_other', role: 'MEMBER' });
        return { executed };
      },
    );
    expect(await executed).toBe(true);
    await other.close();
    expect(await run('select name, email from app_user where id = ?', [PRIYA.user])).toEqual([
      { name: PRIYA.name, email: PRIYA.email },
    ]);
    expect(await run('select builder_id from membership where user_id = ?', [PRIYA.user])).toEqual([
      { builder_id: 'buil_other' },
    ]);
    expect(await run('select from builder where id = ?', [BUILDER])).toEqual([]);
  });

  it('records the connections and memberships that it ends (ACC-20)', async () => {
    const database = await fixture.createSampleDatabase();
    const context = contextOf(database, storage);
    const run = (sql: string) => database.fork().execute(sql);
    await run(`insert into integrator (id, created_at, updated_at, name, deep_link_schemes) values ('intg_x', now(), now(), 'X', '{}'),
      ('intg_y', now(), now(), 'Y', '{}')`);
    await run(`insert into connection (integrator_id, builder_id, created_at, updated_at, status, scopes)
      select id, '${BUILDER}', now(), now(), 'ACTIVE', '{read:photos}' from integrator where id in ('intg_x', 'intg_y')`);
    const memberships = await countOf(
      database,
      `select count(*)::int as count from membership where builder_id = '${BUILDER}'`,
    );
    const { erasure } = await scheduleBuilderErasure(context, BUILDER, 0);
    const other = await ConcurrentTransaction.open(database.url);
    let executed: Promise<boolean> | undefined;
    await other.whileOpen(`update connection set status = 'REVOKED' where integrator_id = 'intg_y'`, [], async () => {
      executed = executeBuilderErasure(context, erasure);
      await other.untilWaiting(1);
    });
    expect(await executed).toBe(true);
    await other.close();
    const ended = (action: string) =>
      database.fork().find(AuditEntry, { action, builderId: BUILDER, actorId: 'robin' }, { orderBy: { id: 'asc' } });
    const revoked = await ended('connection.revoked');
    const connections = revoked.map(({ objectId }) => objectId);
    expect(connections).toContain(`intg_x/${BUILDER}`);
    expect(connections).not.toContain(`intg_y/${BUILDER}`);
    const deleted = await ended('membership.deleted');
    expect(deleted).toHaveLength(memberships);
    expect(deleted.length).toBeGreaterThan(1);
    const people = deleted.map(({ personId, objectId }) => [objectId, `${personId}/${BUILDER}`]);
    for (const [objectId, expected] of people) expect(objectId).toBe(expected);
    expect(deleted.some(({ personId }) => personId!.startsWith('Erased person '))).toBe(true);
  });

  it('stays scheduled after a restore from a backup before it was scheduled (PRV-6, PRV-8)', async () => {
    const separate = await startStore();
    const scheduledIn = contextOf(await clearUnerased(), separate.storages.au1);
    const { erasure } = await scheduleBuilderErasure(scheduledIn, BUILDER, 30);
    const restored = await fixture.createSampleDatabase();
    await replayErasures(contextOf(restored, separate.storages.au1));
    expect(await listErasures(restored)).toMatchObject([{ id: erasure.id, dueAt: erasure.dueAt, cancelledAt: null }]);
    await replayErasures(contextOf(restored, separate.storages.au1));
    const entries = await restored.fork().find(AuditEntry, { action: 'builder.erasure_scheduled' });
    expect(entries).toMatchObject([{ objectId: BUILDER, valuesAfter: { effectiveAt: erasure.dueAt } }]);
    expect(await eraseDueBuilders(contextOf(restored, separate.storages.au1))).toEqual({ builders: 0 });
    expect(await findTablesWith(restored, BUILDER)).toContain('project');
    await separate.stop();
  });

  it('stays cancelled after a restore from a backup before it was cancelled (PRV-6, PRV-8)', async () => {
    const separate = await startStore();
    const database = await fixture.createSampleDatabase();
    const context = contextOf(database, separate.storages.au1);
    const { erasure } = await scheduleBuilderErasure(context, BUILDER, 30);
    await cancelBuilderErasure(context, BUILDER);
    await database.fork().execute('update erasure set cancelled_at = null');
    await makeErasureDue(database);
    expect(await eraseDueBuilders(context)).toEqual({ builders: 0 });
    await replayErasures(context);
    expect(await listErasures(database)).toMatchObject([{ id: erasure.id, cancelledAt: expect.any(String) }]);
    expect(await eraseDueBuilders(context)).toEqual({ builders: 0 });
    expect(await database.fork().count(AuditEntry, { action: 'builder.erasure_cancelled' })).toBe(2);
    // The missing object is stored again, with the cancellation.
    await separate.storages.au1.byteStore.remove([`erasures/${erasure.id}.json`]);
    await replayErasures(context);
    expect(await readStoredErasure(separate.storages.au1, erasure.id)).toMatchObject({
      cancelledAt: expect.any(String),
    });
    await separate.stop();
  });

  it('changes nothing with the store of another deployment (PRV-6, UPL-34)', async () => {
    const separate = await startStore();
    const foreign = separate.storages.au1;
    const database = await fixture.createSampleDatabase();
    const context = contextOf(database, foreign);
    const { erasure } = await scheduleBuilderErasure(context, BUILDER, 0);
    await claimBucket(unerased, foreign);
    const readAll = async () => [
      await database.fork().execute('select * from erasure'),
      await database.fork().execute('select id from audit_entry order by id'),
      await countOf(database, 'select count(*)::int as count from membership'),
    ];
    const rejects = async (change: () => Promise<unknown>) => {
      const before = await readAll();
      await expect(change()).rejects.toThrow('storage claim');
      expect(await readAll()).toEqual(before);
    };
    await rejects(() => scheduleBuilderErasure(context, BUILDER, 30));
    await rejects(() => cancelBuilderErasure(context, BUILDER));
    await rejects(() => executeBuilderErasure(context, erasure));
    await database.fork().execute('delete from erasure');
    await rejects(() => replayErasures(context));
    await separate.stop();
  });

  it('rejects a builder that does not exist', async () => {
    const context = contextOf(unerased, storage);
    await expect(scheduleBuilderErasure(context, 'buil_none', 30)).rejects.toThrow(
      'there is no builder buil_none in au1',
    );
  });

  it('deletes every record and object of the builder, erases its members, and touches no other builder (PRV-9)', async () => {
    const database = await fixture.createSampleDatabase();
    const context = contextOf(database, storage);
    const [other] = (await database.fork().execute('select id from builder where id <> ?', [BUILDER])) as {
      id: string;
    }[];
    for (const id of [BUILDER, other!.id]) await storeText(storage, `photos/${id}/site.jpg`);
    const others = await countOf(
      database,
      `select count(*)::int as count from membership where builder_id = '${other!.id}'`,
    );
    await scheduleBuilderErasure(context, BUILDER, 30);
    await makeErasureDue(database);
    const results = await Promise.all([eraseDueBuilders(context), eraseDueBuilders(context)]);
    expect(results.map((result) => result?.builders ?? null)).toEqual(expect.arrayContaining([1]));
    const left = await findTablesWith(database, BUILDER);
    expect(left).toEqual(KEPT);
    expect(await findTablesWith(database, 'tom.gallagher@harbourline.example')).toEqual([]);
    expect(await findTablesWith(database, PRIYA.email)).toEqual(['app_user']);
    expect(await storage.byteStore.stat(`photos/${BUILDER}/site.jpg`)).toBeNull();
    expect(await storage.byteStore.stat(`photos/${other!.id}/site.jpg`)).not.toBeNull();
    expect(
      await countOf(database, `select count(*)::int as count from membership where builder_id = '${other!.id}'`),
    ).toBe(others);
    expect(
      await countOf(database, `select count(*)::int as count from project where builder_id = '${other!.id}'`),
    ).toBeGreaterThan(0);
    expect(
      await countOf(
        database,
        `select coalesce(sum(added), 0)::int as count from list_total where builder_id = '${BUILDER}'`,
      ),
    ).toBe(0);
    const [erasure] = (await listErasures(database)).filter(({ kind }) => kind === 'BUILDER');
    expect(erasure!.completedAt).not.toBeNull();
  });

  it('erases no member who becomes one of another builder while others are erased (PRV-9)', async () => {
    const database = await fixture.createSampleDatabase();
    const run = (sql: string): Promise<Record<string, unknown>[]> => database.fork().execute(sql);
    const add = (user: string, builder: string) =>
      `insert into membership (user_id, builder_id, role, created_at, updated_at) values ('${user}', ${builder}, 'ADMIN', now(), now())`;
    for (const id of ['user_a1', 'user_z1']) {
      await run(`insert into app_user (id, name, email, created_at, updated_at)
        values ('${id}', 'Zoe Moves', '${id}@home.example', now(), now())`);
      await run(add(id, `'${BUILDER}'`));
    }
    let stored = 0;
    // Not on the connection of the erasure.
    const runOutside = AsyncLocalStorage.snapshot();
    const value: Storage['store'] = async (...values) => {
      // The second is that of the first member.
      if (++stored === 2)
        await runOutside(run, add('user_z1', `(select min(id) from builder where id <> '${BUILDER}')`));
      return storage.store(...values);
    };
    const context = { ...contextOf(database, storage), storage: Object.create(storage, { store: { value } }) };
    const { erasure } = await scheduleBuilderErasure(contextOf(database, storage), BUILDER, 0);
    await executeBuilderErasure(context, erasure);
    const select = `select id, name = 'Zoe Moves' as kept from app_user where id in ('user_a1', 'user_z1') order by 1`;
    expect(await run(select)).toEqual([
      { id: 'user_a1', kept: false },
      { id: 'user_z1', kept: true },
    ]);
    const entries = `select object_id from audit_entry where action = 'membership.deleted' and person_id = 'user_z1'`;
    expect(await run(entries)).toEqual([{ object_id: `user_z1/${BUILDER}` }]);
  });

  it('is completed after an interruption, and erases again what a restore has brought back (PRV-6)', async () => {
    const database = await fixture.createSampleDatabase();
    const separate = await startStore();
    const context = contextOf(database, separate.storages.au1);
    const erasure = {
      ...{ id: 'era_builder', kind: 'BUILDER' as const, subjectIds: [BUILDER], builderIds: [], pseudonym: null },
      ...{ requestedAt: '2026-06-01T00:00:00.000Z', dueAt: '2026-06-01T00:00:00.000Z', cancelledAt: null },
    };
    await storeErasure(context.storage, erasure);
    // As if it had been killed after some tables.
    await database.fork().execute('delete from timesheet');
    await replayErasures(context);
    await eraseDueBuilders(context);
    expect(await findTablesWith(database, BUILDER)).toEqual(KEPT);
    await importFolder(database, SAMPLES);
    expect(await eraseDueBuilders(context)).toEqual({ builders: 1 });
    expect(await findTablesWith(database, BUILDER)).toEqual(KEPT);
    await separate.stop();
  });

  it('is not prevented by an erasure that fails (PRV-6, PRV-8)', async () => {
    const database = await fixture.createSampleDatabase();
    const separate = await startStore();
    const context = contextOf(database, separate.storages.au1);
    const [other] = await database.fork().find(Builder, { id: { $ne: BUILDER } });
    const { erasure: failing } = await scheduleBuilderErasure(context, other!.id, 0);
    await scheduleBuilderErasure(context, BUILDER, 0);
    await storeErasure(context.storage, {
      ...{ id: 'era_priya', kind: 'PERSON', subjectIds: [PRIYA.profile], builderIds: [] },
      ...{ pseudonym: 'Erased person 0123456789', requestedAt: failing.requestedAt, dueAt: failing.dueAt },
      cancelledAt: null,
    });
    for (const id of ['era_a', failing.id]) await storeText(context.storage, `erasures/${id}.json`, '{}');
    await expect(replayErasures(context)).rejects.toThrow('is no erasure that this service has written');
    expect((await database.fork().findOneOrFail(Profile, PRIYA.profile)).fullName).toMatch(/^Erased person/);
    await expect(eraseDueBuilders(context)).rejects.toThrow('is no erasure that this service has written');
    expect((await database.fork().find(Builder, {})).map(({ id }) => id)).toEqual([other!.id]);
    await separate.stop();
  });

  it('waits for requests that still write, and completes', async () => {
    const database = await fixture.createSampleDatabase();
    const context = contextOf(database, storage);
    const { erasure } = await scheduleBuilderErasure(context, BUILDER, 0);
    const em = database.fork();
    await em.begin();
    await em.execute(
      `insert into photo_folder (id, created_at, updated_at, builder_id, name) values ('fold_late', now(), now(), ?, 'Late')`,
      [BUILDER],
    );
    await claimBucket(database, storage);
    const erasing = executeBuilderErasure(context, erasure);
    await em.commit();
    await erasing;
    expect(await findTablesWith(database, BUILDER)).toEqual(KEPT);
  });

  it('erases and records those who become members, and connections, while records are deleted (PRV-9, ACC-20)', async () => {
    const database = await fixture.createSampleDatabase();
    const separate = await startStore();
    const context = contextOf(database, separate.storages.au1);
    const run = (sql: string) => database.fork().execute(sql);
    await run(`insert into app_user (id, name, email, created_at, updated_at)
      values ('user_late', 'Zoe Late', 'zoe@late.example', now(), now())`);
    const { erasure } = await scheduleBuilderErasure(context, BUILDER, 0);
    const other = await ConcurrentTransaction.open(database.url);
    let executed: Promise<boolean> | undefined;
    const add = `with added as (insert into membership (user_id, builder_id, role, created_at, updated_at)
        values ('user_late', '${BUILDER}', 'ADMIN', now(), now())),
      integrator as (insert into integrator (id, created_at, updated_at, name, deep_link_schemes)
        values ('intg_late', now(), now(), 'X', '{}'))
      insert into connection (integrator_id, builder_id, created_at, updated_at, status, scopes)
        values ('intg_late', '${BUILDER}', now(), now(), 'ACTIVE', '{read:photos}')`;
    await other.whileOpen(add, [], async () => {
      executed = executeBuilderErasure(context, erasure);
      // The statement that deletes the builder.
      await other.untilWaiting(1);
    });
    expect(await executed).toBe(true);
    await other.close();
    await separate.stop();
    expect(await findTablesWith(database, BUILDER)).toEqual(KEPT);
    expect(await findTablesWith(database, 'Zoe Late')).toEqual([]);
    const [user] = (await run(`select name from app_user where id = 'user_late'`)) as { name: string }[];
    const ended = `select action, object_id from audit_entry
      where object_id in ('${user!.name}/${BUILDER}', 'intg_late/${BUILDER}') order by 1`;
    expect(await run(ended)).toEqual([
      { action: 'connection.revoked', object_id: `intg_late/${BUILDER}` },
      { action: 'membership.deleted', object_id: `${user!.name}/${BUILDER}` },
    ]);
  });

  it('leaves no total of the builder when the totals are compacted meanwhile (PRV-9)', async () => {
    const database = await fixture.createSampleDatabase();
    const separate = await startStore();
    const context = contextOf(database, separate.storages.au1);
    const { erasure } = await scheduleBuilderErasure(context, BUILDER, 0);
    // As a compaction does, whose new rows the erasure cannot see.
    const compacting = database.fork();
    await compacting.begin();
    await compacting.execute(
      `with deleted as (delete from list_total where builder_id = ? returning list, builder_id, project_id, parent_id, kind, added)
       insert into list_total (list, builder_id, project_id, parent_id, kind, added)
         select list, builder_id, project_id, parent_id, kind, sum(added) from deleted group by 1, 2, 3, 4, 5`,
      [BUILDER],
    );
    const erasing = executeBuilderErasure(context, erasure);
    const waiting = `select count(*)::int as count from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
    await expect.poll(() => countOf(database, waiting)).toBe(1);
    await compacting.commit();
    await erasing;
    expect(await findTablesWith(database, BUILDER)).toEqual(KEPT);
    await separate.stop();
  });
});
