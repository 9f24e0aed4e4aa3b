import { statement, type TextRow } from '../pool/pg-pipeline.ts';
import { PipelinedConnection } from '../pool/pipelined-connection.ts';
import { IDENTITY } from '../pool/session-settings.ts';
import { StatementRunner } from '../pool/statement-runner.ts';

/** Which connections of a standby a read uses. */
export type ReplicaPool = 'reads' | 'slowReads';

/** Milliseconds within which a standby must return its position. A slower one is stalled. */
const PROBE_MS = 1_000;

/** Position of the write-ahead log that a standby has applied, null on a server that is none, the timeline of its last restart point, and the database. */
const POSITION = statement('replica.position')`
  select case when pg_is_in_recovery() then pg_last_wal_replay_lsn() - '0/0'::pg_lsn end,
  upper(lpad(to_hex((pg_control_checkpoint()).timeline_id), 8, '0')), ${IDENTITY}`;

/** A standby that answers reads, with its lag as `ReplicaSet` last measured it. */
export class Replica {
  /** Host, port and database, for metrics. */
  readonly name: string;
  readonly reads: StatementRunner;
  readonly slowReads: StatementRunner;
  /** Milliseconds by which its data are at most behind the primary's; infinite while it cannot be used. */
  lagMs = Number.POSITIVE_INFINITY;
  /** Whether it has been ahead of its primary, and so has changes that a promotion has lost. */
  isDiverged = false;
  readonly #probe: PipelinedConnection;
  /** Rejections of the reads in flight. */
  readonly #rejections = new Set<(error: Error) => void>();

  constructor(
    readonly url: string,
    connections: Record<ReplicaPool, number>,
  ) {
    const { host, pathname } = new URL(url);
    this.name = `${host}${pathname}`;
    this.reads = new StatementRunner(url, { regular: connections.reads, reserve: 0 });
    this.slowReads = new StatementRunner(url, { regular: connections.slowReads, reserve: 0 });
    this.#probe = new PipelinedConnection(url);
  }

  /** Returns the rows of a read. Rejects also when the standby becomes unusable meanwhile, because a stalled one answers nothing. */
  run(pool: ReplicaPool, ...read: Parameters<StatementRunner['run']>): Promise<TextRow[]> {
    return new Promise((resolve, reject) => {
      this.#rejections.add(reject);
      this[pool]
        .run(...read)
        .then(resolve, reject)
        .finally(() => this.#rejections.delete(reject));
    });
  }

  /** Sends its reads in flight back to their callers. */
  rejectReads(): void {
    for (const reject of this.#rejections)
      reject(new Error(`Connection terminated: the standby ${this.name} is unusable.`));
  }

  /** Returns what `POSITION` reads, the position in bytes; null when it is no standby or does not answer in time. */
  async readPosition() {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<null>((resolve) => {
      timer = setTimeout(resolve, PROBE_MS, null);
    });
    const read = this.#probe.query(POSITION, []).then(([row]) => {
      const [position, timeline, identity] = row!;
      return position == null ? null : { position: Number(position), timeline: timeline!, identity: identity! };
    });
    try {
      return await Promise.race([read.catch(() => null), late]);
    } finally {
      clearTimeout(timer);
    }
  }

  async close(): Promise<void> {
    this.rejectReads();
    await Promise.all([this.#probe.close(), this.reads.close(), this.slowReads.close()]);
  }
}
