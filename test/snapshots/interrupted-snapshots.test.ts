import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { SnapshotFile } from '../../entities/snapshot.entity.ts';
import { scheduleBuilderErasure } from '../../src/domain/privacy/erase-builder.ts';
import { erasePerson, type PrivacyContext } from '../../src/domain/privacy/erase-person.ts';
import { eraseDueBuilders } from '../../src/domain/privacy/replay-erasures.ts';
import { claimSnapshot } from '../../src/domain/snapshots/snapshot-claims.ts';
import { endAndRemove, writeNextSnapshot } from '../../src/domain/snapshots/start-snapshots.ts';
import type { SnapshotWriter } from '../../src/domain/snapshots/write-snapshot.ts';
import { ConcurrentTransaction } from '../support/concurrent-transaction.ts';
import { useService } from '../support/harness.ts';
import { addMeeting } from '../support/rows.ts';
import { clearSnapshots, createSnapshotWriter, downloadLines, runSnapshots } from '../support/snapshots.ts';

const service = useService();
let builderIds: string[];
let writer: SnapshotWriter;

beforeAll(async () => {
  ({ builderIds } = service.findDemoClient('A'));
  writer = await createSnapshotWriter(service);
});

beforeEach(() => clearSnapshots(writer));

const sql = <T = Record<string, unknown>>(statement: string, ...values: unknown[]) =>
  service.databases.au1.fork().execute<T[]>(statement, values as never);

async function send(method: 'GET' | 'POST', url: string, payload?: object) {
  const headers = { authorization: `Bearer ${await service.tokenOf('A')}` };
  return (await service.request({ method, url, headers, ...(payload && { payload }) })).json();
}

/** Of few resources: a snapshot of all has some hundred pages. */
const createId = async (builderId = builderIds[0], resources = ['projects', 'contacts', 'meetings']): Promise<string> =>
  (await send('POST', '/snapshots', { builderId, resources })).id;

const listKeys = async (): Promise<string[]> => {
  const keys: string[] = [];
  for await (const { key } of writer.storage.byteStore.list('snapshots/')) keys.push(key);
  return keys;
};

/** The lease of a process that was killed ends. */
const endLeases = () => sql(`update snapshot set leased_until = now() - interval '1 second' where status = 'RUNNING'`);

/** Calls the function before a page of the snapshot is read. */
const beforePage = (page: number, act: () => Promise<unknown>): SnapshotWriter => {
  let pages = 0;
  const readList: SnapshotWriter['readList'] = async (...request) => {
    if (++pages === page) await act();
    return writer.readList(...request);
  };
  return { ...writer, readList };
};

describe('a snapshot whose process is killed', () => {
  it('begins again in another one, and the first cannot disturb it (SNP-8)', async () => {
    const { id } = await send('POST', '/snapshots', { builderId: builderIds[0] });
    const stalled = Promise.withResolvers<void>();
    const reached = Promise.withResolvers<void>();
    const first = writeNextSnapshot(
      beforePage(40, () => {
        reached.resolve();
        return stalled.promise;
      }),
    );
    await reached.promise;
    const { eventCursor } = await send('GET', `/snapshots/${id}`);
    expect(await writeNextSnapshot(writer)).toBe(false);
    await endLeases();
    expect(await writeNextSnapshot(writer)).toBe(true);
    stalled.resolve();
    await first;
    const snapshot = await send('GET', `/snapshots/${id}`);
    expect(snapshot).toMatchObject({ status: 'READY', progress: { done: expect.any(Number) } });
    expect(eventCursor).not.toBeNull();
    for (const file of snapshot.files as SnapshotFile[]) await downloadLines(service, file);
    expect((await listKeys()).every((key) => key.includes(`${id}/2/`))).toBe(true);
  });

  it('fails after five attempts, without files', async () => {
    const id = await createId();
    const broken = { ...writer, readList: () => Promise.reject(new Error('broken')) };
    for (let attempt = 0; attempt < 5; attempt++) {
      await expect(writeNextSnapshot(broken)).rejects.toThrow('broken');
      // While its lease runs, the process may still write.
      await endAndRemove(writer);
      expect(await sql('select status from snapshot')).toEqual([{ status: 'RUNNING' }]);
      await endLeases();
      await endAndRemove(writer);
    }
    expect(await send('GET', `/snapshots/${id}`)).toMatchObject({ status: 'FAILED', files: [] });
    expect(await writeNextSnapshot(writer)).toBe(false);
    expect(await listKeys()).toEqual([]);
  });
});

describe('a snapshot of records that change meanwhile', () => {
  it('has those of its beginning only (SNP-2)', async () => {
    const id = await createId(builderIds[0], ['projects', 'meetings']);
    let added: string | undefined;
    const adding = beforePage(2, async () => {
      added = await addMeeting(service, builderIds[0]!);
    });
    await writeNextSnapshot(adding);
    const files = (await send('GET', `/snapshots/${id}`)).files as SnapshotFile[];
    const meetings = await downloadLines(service, files.find(({ resource }) => resource === 'meetings')!);
    expect(added).toBeDefined();
    expect(meetings.map(({ record }) => record.id)).not.toContain(added);
  });
});

describe('a process that stops', () => {
  it('leaves its snapshot to another one at once', async () => {
    const id = await createId();
    const stopping = new AbortController();
    const stopped = beforePage(2, async () => stopping.abort());
    await writeNextSnapshot({ ...stopped, signal: stopping.signal });
    expect(await sql('select status, attempts from snapshot')).toEqual([{ status: 'PENDING', attempts: 0 }]);
    await runSnapshots(writer);
    expect(await send('GET', `/snapshots/${id}`)).toMatchObject({ status: 'READY' });
  });
});

describe('two instances', () => {
  it('write each snapshot once, at the same time', async () => {
    for (const builderId of builderIds.slice(0, 2)) await createId(builderId);
    const written = await Promise.all([writer, writer, writer].map(writeNextSnapshot));
    expect(written.filter(Boolean)).toHaveLength(2);
    const rows = await sql('select status, attempts from snapshot');
    expect(rows).toEqual(Array(2).fill({ status: 'READY', attempts: 1 }));
  });

  it('claim another one each, without a wait for the claim that is stored', async () => {
    const [, second] = [await createId(), await createId(builderIds[1])];
    const other = await ConcurrentTransaction.open(service.databases.au1.url);
    const claim = `update snapshot set status = 'RUNNING', leased_until = now() + interval '1 minute' where id <> $1`;
    const claimed = await other.whileOpen(claim, [second], () => claimSnapshot(service.databases.au1));
    await other.close();
    expect(claimed?.id).toBe(second);
  });

  it('give integrators turns', async () => {
    const { clientId, builderIds: others } = service.findDemoClient('B');
    const token = await service.createToken({ clientId, scope: service.findDemoClient('B').scopes });
    for (const builderId of builderIds.slice(0, 2)) await createId(builderId);
    service.clock.advance(1_000);
    const headers = { authorization: `Bearer ${token}` };
    await service.request({
      method: 'POST',
      url: '/snapshots',
      headers,
      payload: { builderId: others[0], resources: ['projects'] },
    });
    const order: string[] = [];
    const readList: SnapshotWriter['readList'] = (database, request) => {
      if (order.at(-1) !== request.snapshot.integratorId) order.push(request.snapshot.integratorId);
      return writer.readList(database, request);
    };
    await runSnapshots({ ...writer, readList });
    expect(order).toHaveLength(3);
  });
});

describe('an erasure', () => {
  const context = (): PrivacyContext => ({
    database: service.databases.au1,
    storage: writer.storage,
    clock: service.clock,
    source: { actor: { type: 'OPERATOR', id: 'test' }, origin: {} },
  });
  const findContact = async () => {
    const found = await sql<{ id: string }>(
      `select id from contact where builder_id = ? and name not like 'Erased%' limit 1`,
      builderIds[0],
    );
    return found[0]!.id;
  };

  it("of a person in the builder's records deletes the files, also of a transaction from before its commit (SNP-7)", async () => {
    const ready = await createId();
    await runSnapshots(writer);
    expect(await listKeys()).not.toEqual([]);
    await erasePerson(context(), [await findContact()]);
    await endAndRemove(writer);
    expect(await send('GET', `/snapshots/${ready}`)).toMatchObject({ status: 'EXPIRED', files: [] });
    expect(await listKeys()).toEqual([]);

    const running = await createId();
    const contact = await findContact();
    await writeNextSnapshot(beforePage(2, () => erasePerson(context(), [contact])));
    expect(await send('GET', `/snapshots/${running}`)).toMatchObject({ status: 'EXPIRED', files: [] });
    await endAndRemove(writer);
    expect(await listKeys()).toEqual([]);
  });

  it('of another builder leaves it', async () => {
    const id = await createId(builderIds[1]);
    await runSnapshots(writer);
    await erasePerson(context(), [await findContact()]);
    await endAndRemove(writer);
    expect(await send('GET', `/snapshots/${id}`)).toMatchObject({ status: 'READY' });
  });

  it('of the builder deletes files and rows, also those that a process writes meanwhile (SNP-7)', async () => {
    await createId();
    await runSnapshots(writer);
    service.clock.advance(1_000);
    await createId();
    const erase = async () => {
      await scheduleBuilderErasure(context(), builderIds[0]!, 0);
      await sleep(10);
      await eraseDueBuilders(context());
    };
    await writeNextSnapshot(beforePage(2, erase));
    expect(await sql('select 1 from snapshot')).toEqual([]);
    expect(await listKeys()).toEqual([]);
  });
});
