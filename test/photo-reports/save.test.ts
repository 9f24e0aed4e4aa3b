import { describe, expect, it } from 'vitest';
import { useBuilderClient } from '../support/builder-client.ts';
import { useService } from '../support/harness.ts';
import { blocks, type Json, page, request } from './documents.ts';

const PATH = '/photo-reports/sync';

const service = useService();
const A = useBuilderClient(service, 'A');
const C = useBuilderClient(service, 'C');

const sql = (text: string, values: unknown[] = []) =>
  service.databases.au1.fork().execute(text, values) as Promise<Json[]>;

const snapshot = async (id: string) => [
  await sql('select * from photo_report where id = ?', [id]),
  await sql('select * from photo_report_page where report_id = ? order by id', [id]),
];

const createTree = (...titles: string[]) =>
  page(titles.map((title) => blocks.page(title, page([blocks.text('a')], { title }))));

/** Runs the work with a trigger that executes a PL/pgSQL body on each write of the table. */
async function whileWriting(table: string, body: string, work: () => Promise<void>): Promise<void> {
  await sql(`create function sabotage() returns trigger language plpgsql as $$ begin ${body} return new; end $$`);
  await sql(`create trigger sabotage before insert or update on ${table} for each row execute function sabotage()`);
  try {
    await work();
  } finally {
    await sql(`drop function sabotage cascade`);
  }
}

describe('a save that fails', () => {
  it.each([
    ['by an error', `raise exception 'disk full' using errcode = '53100';`],
    ['by a timeout', `raise exception 'too slow' using errcode = '57014';`],
    ['by a deadlock, each time', `raise exception 'deadlock' using errcode = '40P01';`],
    ['by the loss of its connection', `perform pg_terminate_backend(pg_backend_pid()); perform pg_sleep(1);`],
  ])('%s is 500, leaves the previous snapshot whole, and its identical retry succeeds (PRP-9)', async (_, sabotage) => {
    for (const table of ['photo_report', 'photo_report_page']) {
      const body = request({ page: createTree('east', 'west') });
      const { photoReportId } = await A.sendOk('POST', PATH, body);
      const before = await snapshot(photoReportId);
      const next = { ...body, sourceRevision: 2, page: createTree('north') };
      const fresh = request({ page: createTree('east') });
      await whileWriting(table, sabotage, async () => {
        for (const attempt of [next, fresh]) {
          const answer = await A.send('POST', PATH, attempt);
          expect([answer.statusCode, answer.json().code]).toEqual([500, 'INTERNAL']);
        }
      });
      expect(await snapshot(photoReportId)).toEqual(before);
      expect(await A.sendOk('POST', PATH, next)).toMatchObject({
        photoReportId,
        idempotent: false,
        sourceRevision: 2,
      });
      expect(await A.sendOk('POST', PATH, next)).toMatchObject({ photoReportId, idempotent: true });
      expect(await A.sendOk('POST', PATH, fresh)).toMatchObject({ idempotent: false });
    }
  });
});

describe('a save', () => {
  it('of a report of more than 1 MiB has one second more for each MiB until PostgreSQL gives up', async () => {
    const timeoutOf = async (texts: number) => {
      const items = Array.from({ length: texts }, (_, at) => ({
        id: `i${at}`,
        richText: [{ text: 'a'.repeat(20_000) }],
      }));
      const body = request({ page: page([blocks.list('l', items)]) });
      const { photoReportId } = await A.sendOk('POST', PATH, body);
      const [row] = await sql('select title from photo_report where id = ?', [photoReportId]);
      return Number(row!.title);
    };
    const setting = `(select setting from pg_settings where name = 'statement_timeout')`;
    await whileWriting('photo_report', `new.title := ${setting};`, async () => {
      expect(await timeoutOf(1)).toBe(6_000);
      // 100 texts have 1.91 MiB with their names.
      const timeout = await timeoutOf(100);
      expect(timeout).toBeGreaterThan(7_900);
      expect(timeout).toBeLessThan(8_000);
    });
  });
});

describe('concurrent syncs', () => {
  const outcomes = async (answers: Promise<{ statusCode: number; json(): Json }>[]) =>
    (await Promise.all(answers)).map((answer) => ({ ...answer.json(), http: answer.statusCode }));

  it('of one snapshot commit it once; the others are idempotent (PRP-10)', async () => {
    const body = request();
    const all = await outcomes(Array.from({ length: 20 }, () => A.send('POST', PATH, body)));
    expect(all.every(({ http }) => http === 200)).toBe(true);
    expect(all.filter(({ idempotent }) => idempotent === false)).toHaveLength(1);
    expect(new Set(all.map(({ photoReportId, pageId }) => `${photoReportId} ${pageId}`)).size).toBe(1);
  });

  // PRP-10
  it('of different contents under one revision have one winner; the others are REVISION_CONFLICT', async () => {
    const body = request();
    const all = await outcomes(
      Array.from({ length: 20 }, (_, at) => A.send('POST', PATH, { ...body, page: createTree(`t${at}`) })),
    );
    expect(all.filter(({ idempotent }) => idempotent === false)).toHaveLength(1);
    expect(all.filter(({ code }) => code === 'REVISION_CONFLICT')).toHaveLength(19);
  });

  it('of many revisions end with the highest one, complete (PRP-10)', async () => {
    const body = request();
    const revisions = Array.from({ length: 20 }, (_, at) => at + 1).sort(() => Math.random() - 0.5);
    const all = await outcomes(
      revisions.map((sourceRevision) =>
        A.send('POST', PATH, { ...body, sourceRevision, page: createTree(`t${sourceRevision}`, 'same') }),
      ),
    );
    const committed = all.filter(({ idempotent }) => idempotent === false);
    expect(committed.length + all.filter(({ code }) => code === 'STALE_REVISION').length).toBe(20);
    expect(Math.max(...committed.map(({ sourceRevision }) => sourceRevision))).toBe(20);
    const { photoReportId } = committed[0]!;
    const [[report], pages] = (await snapshot(photoReportId)) as [Json[], Json[]];
    expect(report).toMatchObject({ source_revision: 20, content: { page: createTree('t20', 'same') } });
    expect(pages.map(({ path }) => path.join('/')).toSorted()).toEqual(['', 'same', 't20']);
  });

  it('of two integrators have one owner (PRP-10)', async () => {
    for (let round = 0; round < 5; round++) {
      const body = request();
      const all = await outcomes(
        Array.from({ length: 10 }, (_, at) => (at % 2 ? A : C).send('POST', PATH, { ...body, sourceRevision: 1 })),
      );
      expect(all.filter(({ idempotent }) => idempotent === false)).toHaveLength(1);
      expect(all.filter(({ idempotent }) => idempotent === true)).toHaveLength(4);
      expect(all.filter(({ code }) => code === 'SOURCE_OWNERSHIP_REQUIRED')).toHaveLength(5);
    }
  });

  it('and archives of one report leave it consistently in one of the states', async () => {
    const body = request({ page: createTree('east') });
    const { photoReportId } = await A.sendOk('POST', PATH, body);
    const { sourceApp, sourceExternalId } = body;
    const all = await outcomes(
      Array.from({ length: 20 }, (_, at) =>
        at % 2
          ? A.send('DELETE', PATH, { sourceApp, sourceExternalId })
          : A.send('POST', PATH, { ...body, sourceRevision: at + 2, page: createTree(`t${at}`) }),
      ),
    );
    expect(all.every(({ http, code }) => http === 200 || code === 'STALE_REVISION')).toBe(true);
    const [[report], pages] = (await snapshot(photoReportId)) as [Json[], Json[]];
    expect(report.source_revision).toBe(20);
    expect(pages.map(({ path }) => path.join('/')).toSorted()).toEqual(['', 't18']);
  });
});
