import { ConnectionError } from './errors.ts';
import type { components } from './generated/openapi.ts';
import type { Api, OPERATIONS, Parameters } from './operations.ts';
import { type CallOptions, sleep, type Transport } from './transport.ts';

export type Snapshot = components['schemas']['Snapshot'];

/** One record of a snapshot, as its list returns it, without signed URLs. */
export interface SnapshotRecord {
  resource: Snapshot['resources'][number];
  /** The record whose list has it; null where that is the builder's. */
  parent: { type: string; id: string } | null;
  record: { id: string; [field: string]: unknown };
}

/** Of a new snapshot, or of one that was created before. */
export type DownloadOptions = (Parameters<typeof OPERATIONS.snapshots.create> | { snapshotId: string }) & {
  /** Called while the snapshot is written. */
  onProgress?: (snapshot: Snapshot) => void;
};

export interface SnapshotDownload {
  /** Its `eventCursor` is where `events.follow` continues after the records. */
  snapshot: Snapshot;
  records: AsyncIterable<SnapshotRecord>;
}

/** The snapshot was not completed, has expired, or a file is not the one that was written. */
export class SnapshotError extends Error {
  override name = 'SnapshotError';
}

const MAX_WAIT_MS = 5_000;
/** Without a further record. */
const MAX_ATTEMPTS = 5;

export function createSnapshotDownloads(api: Api, transport: Transport) {
  return { download };

  /** Creates a snapshot, waits until it is written, and returns its records as they arrive. Throws `SnapshotError`. */
  async function download(options: DownloadOptions, callOptions: CallOptions = {}): Promise<SnapshotDownload> {
    const { onProgress, ...request } = options;
    let snapshot =
      'snapshotId' in request
        ? await api.snapshots.get(request, callOptions)
        : await api.snapshots.create(request, callOptions);
    for (let waitMs = 250; snapshot.status === 'PENDING' || snapshot.status === 'RUNNING'; waitMs *= 2) {
      onProgress?.(snapshot);
      await sleep(Math.min(waitMs, MAX_WAIT_MS), callOptions.signal);
      snapshot = await api.snapshots.get({ snapshotId: snapshot.id }, callOptions);
    }
    if (snapshot.status !== 'READY') throw new SnapshotError(`The snapshot ${snapshot.id} is ${snapshot.status}.`);
    return { snapshot, records: readRecords(snapshot, callOptions) };
  }

  async function* readRecords(snapshot: Snapshot, callOptions: CallOptions): AsyncGenerator<SnapshotRecord> {
    for (const { resource } of snapshot.files) yield* readFile(snapshot.id, resource, callOptions);
  }

  /** Yields the records of a file. When its connection is lost, it continues with a new URL, which is valid for 15 minutes. */
  async function* readFile(
    snapshotId: string,
    resource: SnapshotRecord['resource'],
    options: CallOptions,
  ): AsyncGenerator<SnapshotRecord> {
    let read = 0;
    for (let attempt = 1; ; attempt++) {
      const { files } = await api.snapshots.get({ snapshotId }, options);
      const file = files.find((other) => other.resource === resource);
      if (!file) throw new SnapshotError(`The snapshot ${snapshotId} has no files any more.`);
      let line = 0;
      try {
        for await (const text of readLines(file, options.signal)) {
          if (line++ < read) continue;
          read = line;
          attempt = 1;
          yield { resource, ...JSON.parse(text) };
        }
        return;
      } catch (error) {
        if (options.signal?.aborted || error instanceof SnapshotError) throw error;
        if (attempt >= MAX_ATTEMPTS)
          throw new ConnectionError(`The file of ${resource} did not arrive.`, { cause: error });
        await sleep(Math.random() * 1_000 * attempt, options.signal);
      }
    }
  }

  async function* readLines(file: Snapshot['files'][number], signal?: AbortSignal): AsyncGenerator<string> {
    const { body } = await transport.open(new Request(file.url!), signal);
    const hash = createSha256();
    const hashed = new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
      transform: (bytes, stream) => {
        hash.update(bytes);
        stream.enqueue(bytes);
      },
    });
    // Streams are not iterable in every browser.
    const reader = body!
      .pipeThrough(hashed)
      .pipeThrough(new DecompressionStream('gzip'))
      .pipeThrough(new TextDecoderStream())
      .getReader();
    try {
      let rest = '';
      for (let { value, done } = await reader.read(); !done; { value, done } = await reader.read()) {
        const lines = (rest + value).split('\n');
        rest = lines.pop()!;
        yield* lines;
      }
    } finally {
      await reader.cancel().catch(() => {});
    }
    if ((await hash.digest()) !== file.sha256)
      throw new SnapshotError(`The file of ${file.resource} is not the one that was written.`);
  }
}

/** Hashes bytes as they arrive in Node, and all of them at the end in browsers, which hash no parts. */
function createSha256() {
  const hash = globalThis.process?.getBuiltinModule?.('node:crypto')?.createHash('sha256');
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  return {
    update: (bytes: Uint8Array<ArrayBuffer>) => void (hash ? hash.update(bytes) : chunks.push(bytes)),
    async digest(): Promise<string> {
      if (hash) return hash.digest('hex');
      const digest = await crypto.subtle.digest('SHA-256', await new Blob(chunks).arrayBuffer());
      return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('');
    },
  };
}
