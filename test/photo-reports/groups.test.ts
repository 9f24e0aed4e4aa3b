import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { OAuthClient } from '../../entities/oauth-client.entity.ts';
import { syncReport } from '../../src/domain/photo-reports/sync.ts';
import { ConcurrentTransaction } from '../support/concurrent-transaction.ts';
import { type Service, startService } from '../support/harness.ts';
import { addProject } from '../support/rows.ts';
import { type Client, clientOf } from '../support/uploads.ts';
import { blocks, type Json, page, request } from './documents.ts';
import { addPhoto, archivePhoto } from './photos.ts';

let service: Service;
let client: Client;
let other: ConcurrentTransaction;
let integratorId: string;

beforeAll(async () => {
  service = await startService();
  client = await clientOf(service, 'A');
  other = await ConcurrentTransaction.open(service.databases.au1.url);
  const { clientId } = service.demo('A');
  integratorId = (await service.databases.au1.fork().findOneOrFail(OAuthClient, clientId)).integratorId!;
});

afterAll(async () => {
  await other.close();
  await service.stop();
});

const sql = (text: string, values: unknown[] = []) =>
  service.databases.au1.fork().execute(text, values) as Promise<Json[]>;

const small = (more: object = {}) => request({ page: page([blocks.text('a')]), ...more });
const withPhotos = (...ids: string[]) => request({ page: page(ids.map((id) => blocks.image(id, id))) });

/** Syncs reports in one tick. The first has a transaction of its own; the others share the next, unless they have the same report. */
function syncAll(requests: Json[]): Promise<Json>[] {
  const { builderId } = client;
  return requests.map((body) => {
    const { sourceApp, sourceExternalId } = body;
    const source = { integratorId, builderId, sourceApp, sourceExternalId };
    return syncReport({ database: service.databases.au1, clock: service.clock }, source, body, false);
  });
}

/** Returns whether each sync was saved, with its status or error code otherwise. */
async function outcomesOf(syncs: Promise<Json>[]): Promise<string[]> {
  const settled = await Promise.allSettled(syncs);
  return settled.map((one) => {
    if (one.status === 'rejected') return one.reason.code;
    return one.value.idempotent ? 'replayed' : 'saved';
  });
}

const transactionsOf = async (requests: Json[]): Promise<string[]> => {
  const ids = requests.map(({ sourceExternalId }) => sourceExternalId);
  const rows = await sql(
    'select source_external_id as id, xmin::text from photo_report where source_external_id in (?)',
    [ids],
  );
  return ids.map((id) => rows.find((row) => row.id === id)?.xmin);
};

/** A report whose sync is saved while the others arrive. */
let first: Json;
beforeEach(() => {
  first = small();
});

describe('syncs of one builder that arrive while another is saved', () => {
  it('share one transaction, and each has its own result', async () => {
    const requests = [first, ...Array.from({ length: 8 }, (_, at) => small({ sourceRevision: at + 1 }))];
    const results = await Promise.all(syncAll(requests));
    expect(results.map(({ sourceRevision }) => sourceRevision)).toEqual([1, 1, 2, 3, 4, 5, 6, 7, 8]);
    expect(new Set((await transactionsOf(requests)).slice(1)).size).toBe(1);
    const rows = await sql(
      `select r.id, r.source_external_id, p.id as page from photo_report r join photo_report_page p on p.report_id = r.id
        where r.id in (?)`,
      [results.map(({ photoReportId }) => photoReportId)],
    );
    expect(rows).toHaveLength(9);
    for (const [index, { photoReportId, pageId }] of results.entries()) {
      const row = { id: photoReportId, source_external_id: requests[index]!.sourceExternalId, page: pageId };
      expect(rows).toContainEqual(row);
    }
  });

  it('are decided by themselves: one that is rejected does not stop the others (PRP-5, PRP-13, PRP-14)', async () => {
    const stored = small({ sourceRevision: 2 });
    await Promise.all(syncAll([stored]));
    const [photo, archived] = [await addPhoto(service, client.builderId), await addPhoto(service, client.builderId)];
    await archivePhoto(service, archived);
    const requests = [
      first,
      small(),
      stored,
      { ...stored, sourceExternalId: `${stored.sourceExternalId} 2`, projectId: 'proj_none' },
      small({ mappedAdminUserId: 'user_none' }),
      withPhotos(photo),
      withPhotos(photo, archived),
      small({ projectId: await addProject(service, client.builderId) }),
    ];
    expect(await outcomesOf(syncAll(requests))).toEqual([
      ...['saved', 'saved', 'replayed', 'NOT_FOUND', 'BAD_USER_INPUT', 'saved', 'ATTACHMENT_CONFLICT', 'saved'],
    ]);
  });

  it('are decided one after the other where they have the same report (PRP-10)', async () => {
    const body = small({ sourceRevision: 3 });
    const requests = [first, body, { ...body, page: page() }, body, { ...body, sourceRevision: 2 }, small()];
    const syncs = syncAll(requests);
    expect(await outcomesOf(syncs)).toEqual([
      ...['saved', 'saved', 'REVISION_CONFLICT', 'replayed', 'STALE_REVISION', 'saved'],
    ]);
  });

  it('have a transaction of their own where they are large', async () => {
    const large = () => {
      const items = Array.from({ length: 35 }, (_, at) => ({ id: `${at}`, richText: [{ text: 'a'.repeat(20_000) }] }));
      return request({ page: page([blocks.list('l', items)]) });
    };
    const requests = [first, small(), large(), small(), large()];
    await Promise.all(syncAll(requests));
    const [, one, two, three, four] = await transactionsOf(requests);
    expect([two, three]).toEqual([one, one]);
    expect(four).not.toBe(one);
  });

  it('are saved although PostgreSQL rejects a value of another one, which is 500 (PRP-9)', async () => {
    await sql(`create function reject() returns trigger language plpgsql as $$ begin
      if new.title = 'rejected' then raise exception 'no' using errcode = '22000'; end if; return new; end $$`);
    await sql('create trigger reject before insert on photo_report for each row execute function reject()');
    const rejected = request({ page: page([blocks.text('a')], { title: 'rejected' }) });
    const syncs = syncAll([first, small(), rejected, small()]);
    expect(await outcomesOf(syncs)).toEqual(['saved', 'saved', 'INTERNAL', 'saved']);
    await sql('drop function reject cascade');
    expect(await outcomesOf(syncAll([rejected]))).toEqual(['saved']);
  });

  it('are all 500 where their transaction fails, and may be sent again; one that is only answered is 503 (PRP-9)', async () => {
    await sql(`create function fail() returns trigger language plpgsql as $$ begin
      if new.title = 'failing' then raise exception 'disk full' using errcode = '53100'; end if; return new; end $$`);
    await sql('create trigger fail before insert on photo_report for each row execute function fail()');
    const stored = small();
    const failing = request({ page: page([blocks.text('a')], { title: 'failing' }) });
    await Promise.all(syncAll([stored]));
    const group = [small(), failing, stored];
    expect(await outcomesOf(syncAll([first, ...group]))).toEqual([...['saved', 'INTERNAL', 'INTERNAL', '53100']]);
    expect(await transactionsOf(group.slice(0, 2))).toEqual([undefined, undefined]);
    await sql('drop function fail cascade');
    expect(await outcomesOf(syncAll([first, ...group]))).toEqual([...['replayed', 'saved', 'saved', 'replayed']]);
  });

  it('lock their photos in the order of the ids, whichever names them first', async () => {
    const photos = [await addPhoto(service, client.builderId), await addPhoto(service, client.builderId)];
    const [low, high] = photos.toSorted() as [string, string];
    let syncs: Promise<Json>[] = [];
    await other.whileOpen('select 1 from photo where id = $1 for update', [low], async () => {
      syncs = syncAll([first, withPhotos(high), withPhotos(low)]);
      await other.untilWaiting(1);
      expect(await other.findUnlocked('photo', [high], 'update')).toEqual([high]);
    });
    expect(await outcomesOf(syncs)).toEqual(['saved', 'saved', 'saved']);
  });

  it('lock their reports in one order, whichever comes first', async () => {
    const lockOf = ({ sourceApp, sourceExternalId }: Json) => {
      return JSON.stringify(['photo-report', client.builderId, sourceApp, sourceExternalId]);
    };
    const requests = [small(), small()];
    const sorted = 'select key from (values (?), (?)) as report (key) order by hashtextextended(key, 0)';
    const [low, high] = (await sql(sorted, requests.map(lockOf))).map(({ key }) => key);
    const descending = requests.toSorted((body) => (lockOf(body) === high ? -1 : 1));
    let syncs: Promise<Json>[] = [];
    await other.whileOpen('select pg_advisory_xact_lock(hashtextextended($1, 0))', [low], async () => {
      syncs = syncAll([first, ...descending]);
      await other.untilWaiting(1);
      const [row] = await sql('select pg_try_advisory_xact_lock(hashtextextended(?, 0)) as free', [high]);
      expect(row).toEqual({ free: true });
    });
    expect(await outcomesOf(syncs)).toEqual(['saved', 'saved', 'saved']);
  });
});
