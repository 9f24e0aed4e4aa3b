import { spawnSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createCopy } from '../../docs/stay-in-sync.ts';
import { startSequencer } from '../../src/domain/events/sequencer.ts';
import { CHANGES, LONG_IMPORT, withoutEmbedded } from '../support/changing-records.ts';
import { numberPendingEvents } from '../support/events.ts';
import { useService } from '../support/harness.ts';

const service = useService();
let client: pg.Client;
let get: (path: string, builderId?: string) => Promise<unknown>;

beforeAll(async () => {
  client = new pg.Client({ connectionString: service.databases.au1.url });
  await client.connect();
  await numberPendingEvents(service.databases.au1);
  const origin = await service.app.listen({ port: 0 });
  const token = await service.tokenOf('A');
  get = async (path, builderId) => {
    const headers = { authorization: `Bearer ${token}`, ...(builderId && { 'x-service-builder-id': builderId }) };
    const response = await fetch(`${origin}${path}`, { headers });
    if (response.status === 404 || response.status === 410) return null;
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return response.json();
  };
});

afterAll(() => client?.end());

describe('the program of the guide "Stay in sync"', () => {
  it('ends with an exact copy, made and followed while records change and a long import runs (EVT-4)', async () => {
    const importing = new pg.Client({ connectionString: service.databases.au1.url });
    await importing.connect();
    await importing.query('begin');
    for (const statement of LONG_IMPORT) await importing.query(statement);
    const stopSequencer = startSequencer(service.databases, { error: () => undefined, info: () => undefined });
    let changes = 0;
    let requests = 0;
    let isCurrent = false;
    /** Returns a fetch that changes a record before every third request. */
    const copy = createCopy(async (path, builderId) => {
      if (++requests % 3 === 0 && changes < 4 * CHANGES.length) {
        await client.query(CHANGES[changes % CHANGES.length]!, [String(changes++)]);
      }
      const body = (await get(path, builderId)) as { data: object[]; meta: { hasMore: boolean } };
      if (path.startsWith('/events?')) isCurrent = body.data.length === 0 && !body.meta.hasMore;
      return body;
    });
    let cursor = await copy.copyLists();
    await importing.query('commit');
    await importing.end();
    while (!isCurrent || changes < 4 * CHANGES.length) {
      while ((await client.query('select from event_pending limit 1')).rowCount! > 0);
      cursor = await copy.follow(cursor, 0);
    }
    await stopSequencer();
    const truth = createCopy(get);
    await truth.copyLists();
    expect(truth.rows.size).toBeGreaterThan(200);
    expect(withoutEmbedded(copy.rows)).toEqual(withoutEmbedded(truth.rows));
  });

  it('copies the lists again into an empty copy when its cursor has expired, as after 30 days (EVT-12)', async () => {
    const copy = createCopy(get);
    const expired = await copy.copyLists();
    copy.rows.set('ts_removed', { path: '/timesheets', row: { id: 'ts_removed' } });
    await client.query('select renew_event_epoch()');
    const cursor = await copy.follow(expired, 0);
    const truth = createCopy(get);
    expect(cursor).toBe(await truth.copyLists());
    expect(withoutEmbedded(copy.rows)).toEqual(withoutEmbedded(truth.rows));
  });

  it('is a program for Node alone', () => {
    expect(spawnSync(process.execPath, ['docs/stay-in-sync.ts'], { encoding: 'utf8' })).toMatchObject({
      status: 0,
      stderr: '',
    });
  });

  it('has at most 65 lines', async () => {
    expect((await readFile('docs/stay-in-sync.ts', 'utf8')).trimEnd().split('\n').length).toBeLessThanOrEqual(65);
  });
});
