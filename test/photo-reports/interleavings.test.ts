import type { LightMyRequestResponse } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { useBuilderClient } from '../support/builder-client.ts';
import { ConcurrentTransaction } from '../support/concurrent-transaction.ts';
import { useService } from '../support/harness.ts';
import { useLongerTimeLimits } from '../support/longer-time-limits.ts';
import { addProject } from '../support/rows.ts';
import { blocks, type Json, page, request } from './documents.ts';
import { addPhoto } from './photo-rows.ts';

const PATH = '/photo-reports/sync';
/** Blocks syncs before they save, while they hold all earlier locks. */
const HOLD_REPORTS = 'lock table photo_report in share mode';

const service = useService();
const client = useBuilderClient(service, 'A');
let otherTransaction: ConcurrentTransaction;

useLongerTimeLimits();
beforeAll(async () => {
  otherTransaction = await ConcurrentTransaction.open(service.databases.au1.url);
});

afterAll(() => otherTransaction.close());

const sync = (body: Json) => () => client.send('POST', PATH, body);
const withPhoto = (photo: string, more: object = {}) => request({ page: page([blocks.image('a', photo)]), ...more });
const outcomeOf = (answer: LightMyRequestResponse) => [answer.statusCode, answer.json().code];

describe('while a sync is being saved', () => {
  it('another one of its report waits, and is decided by what the first has stored (PRP-10)', async () => {
    const body = request();
    const contradiction = { ...body, page: page([blocks.text('other')]) };
    const [first, second] = await otherTransaction.respondWhileOpen(
      HOLD_REPORTS,
      [],
      [sync(body), sync(contradiction)],
    );
    expect(first!.json()).toMatchObject({ idempotent: false });
    expect(outcomeOf(second!)).toEqual([409, 'REVISION_CONFLICT']);
    expect(await client.sendOk('POST', PATH, body)).toMatchObject({ idempotent: true });
  });

  it('the archival of its report waits, and archives it', async () => {
    const body = request();
    const { sourceApp, sourceExternalId } = body;
    const archive = () => client.send('DELETE', PATH, { sourceApp, sourceExternalId });
    const [synced, archived] = await otherTransaction.respondWhileOpen(HOLD_REPORTS, [], [sync(body), archive]);
    expect(synced!.statusCode).toBe(200);
    expect(archived!.statusCode).toBe(200);
    const sql = 'select archived_at is not null as archived from photo_report where id = ?';
    const rows = await service.databases.au1.fork().execute(sql, [synced!.json().photoReportId]);
    expect(rows).toEqual([{ archived: true }]);
  });

  it('its photos are neither archived nor moved, and other reports may name them too (PRP-14)', async () => {
    const photo = await addPhoto(service, client.builderId);
    const [synced] = await otherTransaction.respondWhileOpen(HOLD_REPORTS, [], [sync(withPhoto(photo))], async () => {
      expect(await otherTransaction.findUnlocked('photo', [photo], 'update')).toEqual([]);
      expect(await otherTransaction.findUnlocked('photo', [photo], 'share')).toEqual([photo]);
    });
    expect(synced!.statusCode).toBe(200);
  });
});

describe('a sync that fails before it is saved', () => {
  it('is 503, because nothing of it was begun, and its retry succeeds (PRP-9)', async () => {
    const body = request();
    const terminate = `select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`;
    // Its first read waits for the lock.
    const [answer] = await otherTransaction.respondWhileOpen(
      'lock table photo_report in access exclusive mode',
      [],
      [sync(body)],
      async () => void (await service.databases.au1.fork().execute(terminate)),
    );
    expect(outcomeOf(answer!)).toEqual([503, 'UNAVAILABLE']);
    expect(await client.sendOk('POST', PATH, body)).toMatchObject({ idempotent: false });
  });
});

describe('a sync whose photo', () => {
  it('is archived before it has locked it is 409 (PRP-14)', async () => {
    const photo = await addPhoto(service, client.builderId);
    const archive = 'update photo set archived_at = now() where id = $1';
    const [answer] = await otherTransaction.respondWhileOpen(archive, [photo], [sync(withPhoto(photo))]);
    expect(outcomeOf(answer!)).toEqual([409, 'ATTACHMENT_CONFLICT']);
  });

  it('is put into another project before it has locked it is 409 (PRP-14)', async () => {
    const photo = await addPhoto(service, client.builderId);
    const [projectId, elsewhere] = [
      await addProject(service, client.builderId),
      await addProject(service, client.builderId),
    ];
    const move = 'update photo set project_id = $2 where id = $1';
    const [answer] = await otherTransaction.respondWhileOpen(
      move,
      [photo, elsewhere],
      [sync(withPhoto(photo, { projectId }))],
    );
    expect(outcomeOf(answer!)).toEqual([409, 'ATTACHMENT_CONFLICT']);
  });
});
