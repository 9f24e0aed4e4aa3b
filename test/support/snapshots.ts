import { createHash } from 'node:crypto';
import { gunzipSync } from 'node:zlib';
import type { SnapshotFile } from '../../entities/snapshot.entity.ts';
import { endAndRemove, startSnapshots, writeNextSnapshot } from '../../src/domain/snapshots/start-snapshots.ts';
import type { SnapshotWriter } from '../../src/domain/snapshots/write-snapshot.ts';
import { createListReader } from '../../src/rest/list-reader.ts';
import { definition } from './definition.ts';
import { type Service } from './harness.ts';
import { openTestStorages } from './stores.ts';

/** Creates what writes the snapshots of the region au1 of a service, only when the test calls it. */
export async function createSnapshotWriter(
  service: Service,
  options: Partial<SnapshotWriter> = {},
): Promise<SnapshotWriter> {
  return {
    database: service.databases.au1,
    storage: openTestStorages(service).au1,
    readList: createListReader(definition),
    uploadQuota: null,
    now: service.clock.now,
    signal: new AbortController().signal,
    ...options,
  };
}

/** Deletes all snapshots and their files. */
export async function clearSnapshots({ database, storage }: SnapshotWriter): Promise<void> {
  await database.fork().execute('delete from snapshot');
  await storage.removeFolder('snapshots/');
}

/** Lets a writer do all that is due now. */
export async function runSnapshots(writer: SnapshotWriter): Promise<void> {
  await endAndRemove(writer);
  while (await writeNextSnapshot(writer));
}

/**
 * Writes the snapshots of a service as the service does, until the returned function is called.
 *
 * @param beforePage Called before each page of a list is read.
 */
export async function startSnapshotWriter(service: Service, beforePage = async () => {}): Promise<() => Promise<void>> {
  const readList = createListReader(definition);
  const options = {
    readList: async (...request: Parameters<typeof readList>) => {
      await beforePage();
      return readList(...request);
    },
    uploadQuota: null,
    now: service.clock.now,
  };
  const log = { error: () => undefined, info: () => undefined };
  return startSnapshots(service.databases, openTestStorages(service), options, log);
}

/** A line of a file. */
export interface SnapshotLine {
  parent: { type: string; id: string } | null;
  // biome-ignore lint/suspicious/noExplicitAny: the resource determines the type.
  record: any;
}

/** Downloads a file and returns its lines, after a check of its hash and its number of records. */
export async function downloadLines(service: Service, file: SnapshotFile): Promise<SnapshotLine[]> {
  const { pathname, search } = new URL(file.url!);
  const response = await service.request({ method: 'GET', url: `${pathname}${search}` });
  const bytes = response.rawPayload;
  if (response.statusCode !== 200) throw new Error(`${response.statusCode} ${response.body}`);
  if (bytes.length !== file.bytes) throw new Error(`${file.resource} has ${bytes.length} bytes.`);
  if (createHash('sha256').update(bytes).digest('hex') !== file.sha256) throw new Error(`${file.resource} is altered.`);
  const text = gunzipSync(bytes).toString();
  const lines = text === '' ? [] : text.trimEnd().split('\n');
  if (lines.length !== file.records) throw new Error(`${file.resource} has ${lines.length} lines.`);
  return lines.map((line) => JSON.parse(line));
}
