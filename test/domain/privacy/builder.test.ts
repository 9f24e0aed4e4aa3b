import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { importFolder } from '../../../src/data-transfer/import.ts';
import type { Database } from '../../../src/database/database.ts';
import {
  BuilderErasureError,
  cancelBuilderErasure,
  executeBuilderErasure,
  listErasures,
  scheduleBuilderErasure,
} from '../../../src/domain/privacy/erase-builder.ts';
import { storeErasure } from '../../../src/domain/privacy/erasure-list.ts';
import { eraseDueBuilders, replayErasures } from '../../../src/domain/privacy/replay-erasures.ts';
import { claimBucket } from '../../../src/domain/uploads/bucket-owner.ts';
import type { Storage } from '../../../src/storage/storage.ts';
import { DataTransferFixture, SAMPLES } from '../../data-transfer/fixture.ts';
import { startStore, type TestStore } from '../../support/stores.ts';
import { BUILDER, contextOf, findTablesWith, PRIYA, storeText } from './privacy-fixture.ts';

const fixture = new DataTransferFixture();
let store: TestStore;
let storage: Storage;

beforeAll(async () => {
  store = await startStore();
  storage = store.storages.au1;
});
afterAll(async () => {
  await store.stop();
  await fixture.dispose();
});

const makeDue = (database: Database) =>
  database.fork().execute(`update erasure set due_at = now() - interval '1 second' where completed_at is null`);

const countOf = async (database: Database, sql: string) =>
  ((await database.fork().execute(sql)) as { count: number }[])[0]!.count;

/** Tables that keep ids of an erased builder. Events have no other data and are dropped after 30 days. */
const KEPT = ['audit_entry', 'erasure', 'event_pending'];

describe('builder erase', () => {
  it('erases nothing before the end of the grace period (PRV-8)', async () => {
    const database = await fixture.sampleDatabase();
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

  it('can be undone until it is due, and not afterwards (PRV-8)', async () => {
    const database = await fixture.sampleDatabase();
    const context = contextOf(database, storage);
    await scheduleBuilderErasure(context, BUILDER, 30);
    await cancelBuilderErasure(context, BUILDER);
    await makeDue(database);
    expect(await eraseDueBuilders(context)).toEqual({ builders: 0 });
    await expect(cancelBuilderErasure(context, BUILDER)).rejects.toThrow(BuilderErasureError);
    await scheduleBuilderErasure(context, BUILDER, 0);
    await makeDue(database);
    await expect(cancelBuilderErasure(context, BUILDER)).rejects.toThrow('cannot be undone');
    const actions = (await database.fork().execute('select action from audit_entry order by id')) as {
      action: string;
    }[];
    expect(actions.map(({ action }) => action)).toEqual([
      ...['builder.erasure_scheduled', 'builder.erasure_cancelled', 'builder.erasure_scheduled'],
    ]);
  });

  it('rejects a builder that does not exist', async () => {
    const context = contextOf(await fixture.sampleDatabase(), storage);
    await expect(scheduleBuilderErasure(context, 'buil_none', 30)).rejects.toThrow(
      'there is no builder buil_none in au1',
    );
  });

  it('deletes every record and object of the builder, erases its members, and touches no other builder (PRV-9)', async () => {
    const database = await fixture.sampleDatabase();
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
    await makeDue(database);
    const results = await Promise.all([eraseDueBuilders(context), eraseDueBuilders(context)]);
    expect(results.map((result) => result?.builders ?? null)).toEqual(expect.arrayContaining([1]));
    const left = await findTablesWith(database, BUILDER);
    expect(left).toEqual(KEPT);
    expect(await findTablesWith(database, 'tom.gallagher@harbourline.example')).toEqual([]);
    expect(await findTablesWith(database, PRIYA.email)).toEqual(['app_user']);
    expect(await storage.bytes.stat(`photos/${BUILDER}/site.jpg`)).toBeNull();
    expect(await storage.bytes.stat(`photos/${other!.id}/site.jpg`)).not.toBeNull();
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

  it('is completed after an interruption, and erases again what a restore has brought back (PRV-6)', async () => {
    const database = await fixture.sampleDatabase();
    const separate = await startStore();
    const context = contextOf(database, separate.storages.au1);
    const erasure = {
      ...{ id: 'era_builder', kind: 'BUILDER' as const, subjectIds: [BUILDER], pseudonym: null },
      requestedAt: '2026-06-01T00:00:00.000Z',
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

  it('waits for requests that still write, and completes', async () => {
    const database = await fixture.sampleDatabase();
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
});
