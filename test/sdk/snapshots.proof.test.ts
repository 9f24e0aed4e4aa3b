import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Client, createClient, MemoryStore, type Snapshot, SnapshotError } from '../../sdk/src/index.ts';
import type { SnapshotWriter } from '../../src/domain/snapshots/write-snapshot.ts';
import { numberPendingEvents } from '../support/events.ts';
import { BASE_URL, type Service, startService } from '../support/harness.ts';
import { createSnapshotWriter, runSnapshots } from '../support/snapshots.ts';
import { FaultyNetwork } from './faulty-network.ts';

let service: Service;
let network: FaultyNetwork;
let writer: SnapshotWriter;
let client: Client;
let builderId: string;
/** Every snapshot is written when its client asks for its state. */
let isWriting: boolean;

beforeAll(async () => {
  service = await startService();
  network = await FaultyNetwork.start(service, 'POST /oauth/token');
  writer = await createSnapshotWriter(service);
  builderId = service.findDemoClient('A').builderIds[0]!;
  await numberPendingEvents(service.databases.au1);
});

afterAll(async () => {
  network?.close();
  await service?.stop();
});

beforeEach(async () => {
  await service.databases.au1.fork().execute('delete from snapshot');
  network.reset();
  isWriting = true;
  client = createClient(toOptions(service.findDemoClient('A').scopes));
});

function toOptions(scopes: string[]) {
  const { clientId, clientSecret } = service.findDemoClient('A');
  const fetchAfterWriting: typeof fetch = async (request, init) => {
    const { method, url } = request as Request;
    if (isWriting && method === 'GET' && url.includes('/snapshots/')) await runSnapshots(writer);
    // Signed URLs lead to the service's public address.
    const { pathname, search } = new URL(url);
    return fetch(url.startsWith(BASE_URL) ? network.url + pathname + search : (request as Request), init);
  };
  return {
    baseUrl: network.url,
    audience: BASE_URL,
    clientId,
    clientSecret: clientSecret!,
    scopes,
    retryDelayMs: 1,
    fetch: fetchAfterWriting,
  };
}

describe('snapshots.download', () => {
  it('waits for the snapshot, and yields the records of its lists', async () => {
    const states: Snapshot['status'][] = [];
    const { snapshot, records } = await client.snapshots.download({
      builderId,
      resources: ['projects', 'inductions'],
      onProgress: ({ status }) => states.push(status),
    });
    expect(states).toEqual(['PENDING']);
    expect(snapshot).toMatchObject({ status: 'READY', eventCursor: expect.any(String) });
    const ids: string[] = [];
    for await (const { resource, parent, record } of records) {
      if (resource === 'projects') ids.push(record.id);
      expect(parent?.type ?? null).toBe(resource === 'inductions' ? 'project' : null);
    }
    const listed: string[] = [];
    for await (const { id } of client.projects.list({ builderId })) listed.push(id);
    expect(ids.sort()).toEqual(listed.sort());
  });

  it('continues a file whose connection was lost, each record once', async () => {
    const { snapshot, records } = await client.snapshots.download({ builderId, resources: ['timesheets'] });
    // Each attempt requests the snapshot, for a URL, and the file.
    network.faults = [null, 'cut', null, 'lost', null];
    const ids: string[] = [];
    for await (const { record } of records) ids.push(record.id);
    expect(network.faults).toEqual([]);
    expect(ids.length).toBe(snapshot.files[0]!.records);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('rejects a file that is not the one that was written', async () => {
    const { snapshot, records } = await client.snapshots.download({ builderId, resources: ['projects'] });
    const change = `update snapshot set files = jsonb_set(files, '{0,sha256}', to_jsonb(repeat('0', 64))) where id = ?`;
    await service.databases.au1.fork().execute(change, [snapshot.id]);
    const read = async () => {
      for await (const { record } of records) expect(record.id).toMatch(/^proj_/);
    };
    await expect(read()).rejects.toThrow(SnapshotError);
  });

  it('throws when the snapshot was not completed', async () => {
    isWriting = false;
    const { id: snapshotId } = await client.snapshots.create({ builderId });
    await service.databases.au1.fork().execute(`update snapshot set status = 'FAILED', finished_at = now()`);
    await expect(client.snapshots.download({ snapshotId })).rejects.toThrow(`${snapshotId} is FAILED`);
  });
});

describe('sync', () => {
  /** Rows of a copy without signed URLs, which snapshots leave out. */
  async function copyOnce(options: ReturnType<typeof toOptions>) {
    const store = new MemoryStore();
    await createClient(options).sync(store).next();
    const { records } = store;
    for (const row of records.values()) {
      const { url, imageUrl, logoUrl, ...record } = row.record as Record<string, unknown>;
      row.record = record;
    }
    return records;
  }

  it('begins with snapshots, which have what the lists have', async () => {
    const options = toOptions(service.findDemoClient('A').scopes);
    const fromSnapshots = await copyOnce(options);
    const isRecordList = ({ route }: { route: string }) =>
      !/GET \/(builders|snapshots.*|events|storage.*)$/.test(route);
    expect(network.requests.filter(isRecordList).map(({ route }) => route)).toEqual(
      service.findDemoClient('A').builderIds.map(() => 'POST /snapshots'),
    );
    const withoutSnapshots: typeof fetch = async (request, init) =>
      (request as Request).url.endsWith('/snapshots') ? new Response('{}', { status: 403 }) : fetch(request, init);
    const fromLists = await copyOnce({ ...options, fetch: withoutSnapshots });
    expect(fromLists.size).toBeGreaterThan(200);
    expect(fromSnapshots).toEqual(fromLists);
  });
});
