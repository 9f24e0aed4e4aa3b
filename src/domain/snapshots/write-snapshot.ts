import { createHash } from 'node:crypto';
import { pipeline, Readable, Transform } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { createGzip } from 'node:zlib';
import type { Snapshot, SnapshotFile } from '../../../entities/snapshot.entity.ts';
import { SNAPSHOT_RESOURCES, type SnapshotResource } from '../../../schema/snapshot.scalars.ts';
import type { Database } from '../../database/database.ts';
import { readInSnapshot } from '../../database/read/snapshot-runner.ts';
import { DAY_MS } from '../../shared/clock.ts';
import { DurationCounts } from '../../shared/duration-counts.ts';
import { SizeLimitError } from '../../storage/spool.ts';
import type { Storage } from '../../storage/storage.ts';
import { encodeEventCursor } from '../events/event-cursor.ts';
import { readHead } from '../events/event-log.ts';
import { readQuotaUse } from '../uploads/quota.ts';
import { countErasures, toFolder } from './end-snapshots.ts';
import { ClaimLost, saveProgress } from './snapshot-claims.ts';
import { PAGE_SIZE, SIGNED_URL, SNAPSHOT_LISTS } from './snapshot-lists.ts';

/** Characters of lines that are compressed at once, and milliseconds after which fewer are: the claim is checked as often. */
const MAX_LENGTH = 128 * 1024;
const MAX_MS = 200;

/** Lifetime of the files of a snapshot (SNP-5). */
const FILES_MS = DAY_MS;

const IDENTIFIERS = { paths: new Set(['id']), total: false, key: 'snapshot' };

/** Files that this process has written, by resource, for metrics. */
export const fileCounts = new DurationCounts(SNAPSHOT_RESOURCES.length);

/** Reads a page of a v1 list as REST returns it. */
export type ReadList = (
  database: Database,
  request: {
    /** Root field of the schema. */
    field: string;
    variables: Record<string, unknown>;
    snapshot: Pick<Snapshot, 'integratorId' | 'clientId' | 'builderId' | 'scopes'>;
  },
) => Promise<{ data: Record<string, unknown>[]; meta?: { nextCursor?: string | null } }>;

/** What a process writes snapshots with. */
export interface SnapshotWriter {
  database: Database;
  storage: Storage;
  readList: ReadList;
  /** Maximum bytes of an integrator; null for no limit. */
  uploadQuota: number | null;
  now: () => number;
  /** Ends the work when the process stops. */
  signal: AbortSignal;
}

/**
 * Writes a claimed snapshot: all files from one transaction of a standby, or of the primary where there is none or it fails. Throws `ClaimLost`
 * when it has ended meanwhile or another process writes it, and `SizeLimitError` at the quota of the integrator.
 */
export async function writeSnapshot(writer: SnapshotWriter, snapshot: Snapshot): Promise<void> {
  const { database } = writer;
  const standby = database.replicas?.choose();
  if (standby) {
    try {
      return await writeFrom(standby.url, writer, snapshot);
    } catch (error) {
      // Anything else may be the standby's reason: it cancels a transaction that conflicts with its recovery.
      if (error instanceof ClaimLost || error instanceof SizeLimitError || writer.signal.aborted) throw error;
    }
  }
  await writeFrom(database.url, writer, snapshot);
}

async function writeFrom(url: string, writer: SnapshotWriter, snapshot: Snapshot): Promise<void> {
  const { database, now } = writer;
  const { builderId, resources } = snapshot;
  // Creates the log where there is none yet, which the transaction cannot.
  await readHead(database);
  await readInSnapshot(url, async (runner) => {
    const reading = database.withRunner(runner);
    // In the same transaction as the records: every event that it sees, and no later one, has its change in them.
    const head = await readHead(reading);
    // SQL: figures.
    const counts = resources.map(
      (resource) => `(select count(*) from ${SNAPSHOT_LISTS[resource].table} where builder_id = $1)`,
    );
    const text = `select ${countErasures('$1')}, ${counts.join(' + ')}`;
    const [row] = await runner.run({ name: '', text }, [builderId]);
    Object.assign(snapshot, {
      eventCursor: encodeEventCursor(database.region, head, head),
      erasures: row![0]!,
      progress: { done: 0, total: Number(row![1]) },
      files: [],
    });
    const work = { ...writer, snapshot, reading };
    for (const resource of resources) {
      const file = await fileCounts.measure(resource, () => writeFile(work, resource));
      snapshot.files.push(file);
      await saveProgress(database, snapshot);
    }
    snapshot.progress.total = snapshot.progress.done;
    const finishedAt = now();
    await saveProgress(database, snapshot, {
      status: 'READY',
      finishedAt: new Date(finishedAt).toISOString(),
      expiresAt: new Date(finishedAt + FILES_MS).toISOString(),
    });
  });
}

interface FileWork extends SnapshotWriter {
  snapshot: Snapshot;
  /** The transaction that all records are read in. */
  reading: Database;
}

async function writeFile(work: FileWork, resource: SnapshotResource): Promise<SnapshotFile> {
  const { database, signal, snapshot, storage, uploadQuota } = work;
  const { integratorId } = snapshot;
  const before = snapshot.progress.done;
  const used = uploadQuota === null ? 0 : await readQuotaUse(database.fork(), integratorId);
  const limit = uploadQuota === null ? Number.POSITIVE_INFINITY : Math.max(0, uploadQuota - used);
  const hash = createHash('sha256');
  const hashing = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      hash.update(chunk);
      done(null, chunk);
    },
  });
  // `pipeline` passes errors of the lines on to the reader of the compressed bytes.
  const stream = pipeline(Readable.from(readLines(work, resource)), createGzip(), hashing, () => undefined);
  const key = `${toFolder(snapshot, snapshot.attempts)}${resource}.ndjson.gz`;
  const bytes = await storage.store(key, stream, 'application/gzip', limit, { signal, shareKey: integratorId });
  const records = snapshot.progress.done - before;
  return { resource, records, bytes, sha256: hash.digest('hex'), url: null, key };
}

/** Returns the lines of a file, some at a time. Pauses as long as it has worked, which leaves half of the time to others. */
async function* readLines({ database, readList, reading, signal, snapshot }: FileWork, resource: SnapshotResource) {
  const { field, arguments: fixed, parents, pageSize = PAGE_SIZE, signedUrl } = SNAPSHOT_LISTS[resource];
  let lines = '';
  let startedAt = performance.now();
  for (const parent of await listParents(reading, resource, snapshot.builderId)) {
    const owner = parent && parents ? { [parents.argument]: parent.id } : {};
    for (let cursor: string | null = ''; cursor !== null; ) {
      const variables = { builderId: snapshot.builderId, ...fixed, ...owner, limit: pageSize, cursor };
      const page = await readList(reading, { field, variables, snapshot });
      for (const record of page.data) {
        if (signedUrl && record[signedUrl] === SIGNED_URL) delete record[signedUrl];
        lines += `${JSON.stringify({ parent, record })}\n`;
      }
      snapshot.progress.done += page.data.length;
      cursor = page.meta?.nextCursor ?? null;
      const workedMs = performance.now() - startedAt;
      if (lines.length < MAX_LENGTH && workedMs < MAX_MS) continue;
      await saveProgress(database, snapshot);
      yield lines;
      lines = '';
      await sleep(workedMs, undefined, { signal });
      startedAt = performance.now();
    }
  }
  yield lines;
}

/** Returns the records in whose lists the records of the resource are; one null where the list is that of the builder. */
async function listParents(reading: Database, resource: SnapshotResource, builderId: string) {
  const { parents } = SNAPSHOT_LISTS[resource];
  if (!parents) return [null];
  const { type, reader } = parents;
  const records = await reader.select(IDENTIFIERS).findAll(reading, { builderId });
  return records.map(({ id }) => ({ type, id }));
}
