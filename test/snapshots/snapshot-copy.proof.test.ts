import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { SnapshotFile } from '../../entities/snapshot.entity.ts';
import { createClient, MemoryStore } from '../../sdk/src/index.ts';
import { startSequencer } from '../../src/domain/events/sequencer.ts';
import type { SnapshotWriter } from '../../src/domain/snapshots/write-snapshot.ts';
import { CHANGES, LONG_IMPORT, withoutEmbedded } from '../support/changing-records.ts';
import { numberPendingEvents } from '../support/events.ts';
import { BASE_URL, type Service, startService } from '../support/harness.ts';
import { createSnapshotWriter, downloadLines, runSnapshots } from '../support/snapshots.ts';

const WRITERS = 16;
/** Changes of all writers before each page of the snapshot. Each has up to a hundred events. */
const CHANGES_PER_PAGE = 2;
const DEADLOCK = '40P01';

let service: Service;
let builderId: string;
let options: Parameters<typeof createClient>[0];

beforeAll(async () => {
  service = await startService();
  builderId = service.findDemoClient('A').builderIds[0]!;
  await numberPendingEvents(service.databases.au1);
  const baseUrl = await service.app.listen({ port: 0 });
  const { clientId, clientSecret, scopes } = service.findDemoClient('A');
  options = { baseUrl, audience: BASE_URL, clientId, clientSecret: clientSecret!, scopes };
});

afterAll(() => service?.stop());

async function connect(): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: service.databases.au1.url });
  await client.connect();
  return client;
}

/** Changes records of every resource from many connections, as many as are allowed, until it is stopped. */
function startWriters() {
  let allowed = 0;
  let changes = 0;
  let isStopping = false;
  const write = async (writer: number) => {
    const client = await connect();
    for (let count = writer; !isStopping; count++) {
      while (changes >= allowed && !isStopping) await sleep(1);
      await client.query(CHANGES[count % CHANGES.length]!, [String(1_000 * writer + count)]).catch((error) => {
        if (error.code !== DEADLOCK) throw error;
      });
      changes++;
    }
    await client.end();
  };
  const writing = Promise.all(Array.from({ length: WRITERS }, (_, writer) => write(writer)));
  return {
    count: () => changes,
    /** Resolves when the writers have made so many more changes; others are under way. */
    change: async (more: number) => {
      allowed = changes + more;
      while (changes < allowed) await Promise.race([sleep(1), writing]);
    },
    stop: async () => {
      isStopping = true;
      await writing;
    },
  };
}

/** Path of the lines of a file, as the client package names it. */
function toPath(resource: string, parent: { id: string } | null): string {
  if (resource === 'inductions') return `/builders/${builderId}/projects/${parent!.id}/inductions`;
  if (resource === 'meeting_notes') return `/builders/${builderId}/meetings/${parent!.id}/notes`;
  return parent ? `/subcontractors/${parent.id}/${resource}` : `/${resource}`;
}

const rowsOf = ({ records }: MemoryStore) =>
  withoutEmbedded(
    new Map(
      [...records.values()]
        .filter((each) => each.builderId === builderId && each.id !== builderId)
        .map(({ id, record }) => [id, { row: record }]),
    ),
  );

describe('a snapshot and the events after its cursor', () => {
  it('are an exact copy, while 16 writers change records and a long import commits (SNP-8)', async () => {
    const importing = await connect();
    await importing.query('begin');
    for (const statement of LONG_IMPORT) await importing.query(statement);
    const stopSequencer = startSequencer(service.databases, { error: () => undefined, info: () => undefined });
    const writers = startWriters();
    const writer = await createSnapshotWriter(service);
    let pages = 0;
    const readList: SnapshotWriter['readList'] = async (...request) => {
      await writers.change(CHANGES_PER_PAGE);
      if (++pages === 10) await importing.query('commit');
      return writer.readList(...request);
    };
    const headers = { authorization: `Bearer ${await service.tokenOf('A')}` };
    const created = await service.request({ method: 'POST', url: '/snapshots', headers, payload: { builderId } });
    await runSnapshots({ ...writer, readList });
    const snapshot = (await service.request({ method: 'GET', url: `/snapshots/${created.json().id}`, headers })).json();
    // While one is pending the client gets no snapshot, and copies from the lists.
    for (const each of service.findDemoClient('A').builderIds) {
      const pending = await service.request({
        method: 'POST',
        url: '/snapshots',
        headers,
        payload: { builderId: each },
      });
      expect(pending.statusCode).toBe(202);
    }
    const store = new MemoryStore();
    for (const file of snapshot.files as SnapshotFile[]) {
      // The projects of a subcontractor are those of the builder.
      if (file.resource === 'subcontractor_projects') continue;
      for (const { parent, record } of await downloadLines(service, file))
        await store.put([{ id: record.id, path: toPath(file.resource, parent), builderId, record }]);
    }
    await store.saveCursor(snapshot.eventCursor);
    const before = rowsOf(store);
    await writers.stop();
    await importing.end();

    const database = await connect();
    while ((await database.query('select from event_pending limit 1')).rowCount! > 0);
    // The event of the last change is the end of what the copy has to follow.
    await database.query(`update builder set name = 'last' where id = $1`, [builderId]);
    for await (const { events } of createClient(options).sync(store))
      if (events.at(-1)?.type === 'builder.updated') break;
    await database.end();
    await stopSequencer();

    const truth = new MemoryStore();
    await createClient(options).sync(truth).next();
    expect(writers.count()).toBeGreaterThan(CHANGES_PER_PAGE * pages);
    expect(rowsOf(store)).toEqual(rowsOf(truth));
    expect(before).not.toEqual(rowsOf(truth));
    console.info(`snapshot copy: ${rowsOf(truth).size} records equal after ${writers.count()} changes, ${pages} pages`);
  });
});
