import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CLAIM_NEXT, claimNext, FIND_SHARE, findShare } from '../../src/domain/photos/rendition-claims.ts';
import { createBuilderClient } from '../support/builder-client.ts';
import { ConcurrentTransaction } from '../support/concurrent-transaction.ts';
import { useService } from '../support/harness.ts';

const POSTPONED = 5_000;

const service = useService();
let client: pg.Client;
let shareKey: string;

/** Buffers of the database that one statement reads. */
async function countBuffers({ text }: { text: string }, value: string): Promise<number> {
  const sql = text.replace('$1', pg.escapeLiteral(value));
  const { rows } = await client.query(`explain (analyze, buffers, format json) ${sql}`);
  const { Plan: plan } = rows[0]['QUERY PLAN'][0];
  return plan['Shared Hit Blocks'] + plan['Shared Read Blocks'];
}

beforeAll(async () => {
  client = new pg.Client(service.databases.au1.url);
  await client.connect();
  const { id } = await (await createBuilderClient(service, 'A')).createPhoto();
  await client.query(
    `insert into photo select (jsonb_populate_record(p, jsonb_build_object('id', 'att_many' || n))).* from photo p, generate_series(1, $2) n
      where p.id = $1`,
    [id, POSTPONED - 1],
  );
  await client.query(`delete from photo_rendition where photo_id <> $1 and photo_id not like 'att_many%'`, [id]);
  await client.query(`update photo_rendition set problem = 'x', claimed_until = now() + interval '1 hour'`);
  await client.query('vacuum analyze photo_rendition');
  shareKey = (await client.query('select min(share_key) as key, count(*)::int from photo_rendition')).rows[0].key;
});

afterAll(() => client?.end());

describe('photos that are tried again later', () => {
  it('are not read while a share looks for others', async () => {
    const { rows } = await client.query('select count(*)::int from photo_rendition');
    expect(rows[0].count).toBe(POSTPONED);
    expect(await findShare(service.databases.au1, '')).toBeNull();
    expect(await claimNext(service.databases.au1, shareKey)).toBeNull();
    expect(await countBuffers(FIND_SHARE, '')).toBeLessThan(30);
    expect(await countBuffers(CLAIM_NEXT, shareKey)).toBeLessThan(30);
  });

  it('do not hide a share with photos that are due', async () => {
    await client.query(
      `update photo_rendition set share_key = 'zzz_' || right(photo_id, 1), claimed_until = null where photo_id in ('att_many1', 'att_many2')`,
    );
    expect(await findShare(service.databases.au1, '')).toBe('zzz_1');
    expect(await findShare(service.databases.au1, 'zzz_1')).toBe('zzz_2');
    expect(await claimNext(service.databases.au1, 'zzz_1')).toMatchObject({ attempts: 1, failures: 0 });
    expect(await claimNext(service.databases.au1, 'zzz_1')).toBeNull();
  });

  it('are left to the process that is claiming them', async () => {
    await client.query(`update photo_rendition set claimed_until = null where photo_id = 'att_many9'`);
    const other = await ConcurrentTransaction.open(service.databases.au1.url);
    const lock = `select 1 from photo_rendition where photo_id = 'att_many9' for update`;
    expect(await other.whileOpen(lock, [], () => claimNext(service.databases.au1, shareKey))).toBeNull();
    await other.close();
    expect(await claimNext(service.databases.au1, shareKey)).toMatchObject({ photo: { id: 'att_many9' } });
  });

  it('are claimed in the order in which they are due', async () => {
    await client.query(
      `update photo_rendition set claimed_until = now() - interval '1 minute' where photo_id = 'att_many7'`,
    );
    await client.query(
      `update photo_rendition set claimed_until = now() - interval '1 hour' where photo_id = 'att_many8'`,
    );
    const claim = async () => (await claimNext(service.databases.au1, shareKey))?.photo.id;
    expect([await claim(), await claim(), await claim()]).toEqual(['att_many8', 'att_many7', undefined]);
  });
});
