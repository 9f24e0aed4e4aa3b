import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createClient, MemoryStore } from '../../sdk/src/index.ts';
import { renewEpoch } from '../../src/domain/events/event-log.ts';
import { startSequencer } from '../../src/domain/events/sequencer.ts';
import { CHANGES, LONG_IMPORT, withoutEmbedded } from '../support/changing-records.ts';
import { numberPendingEvents } from '../support/events.ts';
import { type Service, startService } from '../support/harness.ts';
import { freePort } from '../support/ports.ts';
import { startSnapshotWriter } from '../support/snapshots.ts';

let service: Service;
let database: pg.Client;
let options: Parameters<typeof createClient>[0] & { clientSecret: string };

beforeAll(async () => {
  const port = await freePort();
  const baseUrl = `http://localhost:${port}`;
  service = await startService({ BASE_URL: baseUrl });
  await service.app.listen({ port });
  database = new pg.Client({ connectionString: service.databases.au1.url });
  await database.connect();
  await numberPendingEvents(service.databases.au1);
  const { clientId, clientSecret, scopes } = service.findDemoClient('A');
  options = { baseUrl, clientId, clientSecret: clientSecret!, scopes };
});

afterAll(async () => {
  await database?.end();
  await service?.stop();
});

/** Imports so far: the changes during each have identifiers of their own. */
let imports = 0;

const rowsOf = ({ records }: MemoryStore) =>
  withoutEmbedded(new Map([...records].map(([id, { record }]) => [id, { row: record }])));

/** For a client that gets no snapshots. */
const listsOnly: typeof fetch = async (request, init) =>
  (request as Request).url.endsWith('/snapshots') ? new Response('{}', { status: 403 }) : fetch(request, init);

async function copyOnce(): Promise<MemoryStore> {
  const store = new MemoryStore();
  await createClient({ ...options, fetch: listsOnly })
    .sync(store)
    .next();
  return store;
}

describe('client.sync', () => {
  it.each([
    ['snapshots', fetch],
    ['lists', listsOnly],
  ])(
    'ends with an exact copy, made from %s and followed while records change and a long import runs',
    async (_, send) => {
      const importing = new pg.Client({ connectionString: service.databases.au1.url });
      await importing.connect();
      await importing.query('begin');
      imports++;
      for (const table of ['meeting_note', 'meeting', 'contact'])
        await database.query(`delete from ${table} where id like '%imported'`);
      for (const statement of LONG_IMPORT) await importing.query(statement);
      const stopSequencer = startSequencer(service.databases, { error: () => undefined, info: () => undefined });
      let changes = 0;
      let requests = 0;
      /** Changes a record before every third request, or page of a snapshot. */
      const change = async () => {
        if (++requests % 3 === 0 && changes < 4 * CHANGES.length)
          await database.query(CHANGES[changes % CHANGES.length]!, [`${imports}${changes++}`]);
      };
      const fetchWithChanges: typeof fetch = async (...request) => {
        await change();
        return send(...request);
      };
      const stopSnapshots = await startSnapshotWriter(service, change);
      const store = new MemoryStore();
      let isImporting = true;
      for await (const { events } of createClient({ ...options, fetch: fetchWithChanges }).sync(store)) {
        if (isImporting) {
          isImporting = false;
          await importing.query('commit');
          await importing.end();
          continue;
        }
        if (changes < 4 * CHANGES.length) continue;
        // The last change: its event is the end of what the copy has to follow.
        const last = `update project set name = 'last' where id = (select min(id) from project where builder_id = $1)`;
        if (changes++ === 4 * CHANGES.length) {
          while ((await database.query('select from event_pending limit 1')).rowCount! > 0);
          await database.query(last, [service.findDemoClient('A').builderIds[0]]);
        } else if (events.at(-1)?.type === 'project.updated') break;
      }
      await stopSequencer();
      await stopSnapshots();
      const truth = await copyOnce();
      expect(truth.records.size).toBeGreaterThan(200);
      expect(rowsOf(store)).toEqual(rowsOf(truth));
    },
  );

  it('copies what the scopes of the token allow', async () => {
    const store = new MemoryStore();
    await createClient({ ...options, fetch: listsOnly, scopes: ['read:builders', 'read:defects'] })
      .sync(store)
      .next();
    const prefixes = [...store.records.keys()].map((id) => id.split('_')[0]);
    expect(new Set(prefixes)).toEqual(new Set(['buil', 'defect']));
  });

  it('copies again into an empty copy when its cursor has expired', async () => {
    const store = await copyOnce();
    store.records.set('ts_removed', {
      id: 'ts_removed',
      path: '/timesheets',
      builderId: 'buil_a',
      record: { id: 'ts_removed' },
    });
    await renewEpoch(service.databases.au1);
    const steps = createClient({ ...options, fetch: listsOnly }).sync(store);
    await steps.next();
    await steps.next();
    await steps.return(undefined);
    expect(rowsOf(store)).toEqual(rowsOf(await copyOnce()));
  });
});
