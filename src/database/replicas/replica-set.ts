import { setTimeout as sleep } from 'node:timers/promises';
import { getErrorCode } from '../errors.ts';
import { statement, type TextRow } from '../pool/pg-pipeline.ts';
import { IDENTITY } from '../pool/session-settings.ts';
import { StatementRunner } from '../pool/statement-runner.ts';
import { Replica, type ReplicaPool } from './replica.ts';

/** Milliseconds by which a standby may be behind the primary and still answer reads. */
export const MAX_LAG_MS = 5_000;

/** Milliseconds by which standbys may differ and still share the reads. */
const EQUAL_LAG_MS = 1_000;

/** Pause after which the lags are measured again. */
const INTERVAL_MS = 500;

const PRIMARY_POSITION = statement('replica.primary_position')`
  select pg_current_wal_lsn() - '0/0'::pg_lsn, left(pg_walfile_name(pg_current_wal_lsn()), 8), ${IDENTITY}`;

/** Where the primary's log was at a time of this process's clock. */
interface Sample {
  at: number;
  position: number;
}

/** The standbys of a region. The primary answers every read that none of them can. */
export class ReplicaSet {
  readonly replicas: readonly Replica[];
  /** Reads by server: the name of a standby, or `primary` for those that no standby has answered. */
  readonly counts = new Map<string, { ok: number; failed: number }>();
  readonly #primary: StatementRunner;
  /** Oldest first, over a little more than the maximum lag. */
  readonly #samples: Sample[] = [];
  #timeline: string | null = null;
  #identity: string | null = null;
  #next = 0;
  /** The measurements, from the first use on: most processes of a command never read from a standby. */
  #measuring: Promise<void> | null = null;
  readonly #closing = new AbortController();

  /** @param primary Runner of the region's primary, to read its position. */
  constructor(urls: readonly string[], connections: Record<ReplicaPool, number>, primary: StatementRunner) {
    this.replicas = urls.map((url) => new Replica(url, connections));
    this.#primary = primary;
  }

  /** Returns the rows of a read from the standby with the smallest lag; from the primary where none answers. */
  async run(
    pool: ReplicaPool,
    primary: StatementRunner,
    ...read: Parameters<StatementRunner['run']>
  ): Promise<TextRow[]> {
    const replica = this.choose();
    if (replica) {
      try {
        const rows = await replica.run(pool, ...read);
        this.#count(replica.name, 'ok');
        return rows;
      } catch (error) {
        // The primary would reject an invalid value as well.
        if (getErrorCode(error)?.startsWith('22')) throw error;
        this.#count(replica.name, 'failed');
      }
    }
    this.#count('primary', 'ok');
    return primary.run(...read);
  }

  /** Returns a usable standby; null when there is none. Those of about the same lag take turns. */
  choose(): Replica | null {
    this.startMeasuring();
    const least = Math.min(...this.replicas.map(({ lagMs }) => lagMs));
    if (least > MAX_LAG_MS) return null;
    const equal = this.replicas.filter(({ lagMs }) => lagMs <= Math.min(MAX_LAG_MS, least + EQUAL_LAG_MS));
    this.#next = (this.#next + 1) % equal.length;
    return equal[this.#next]!;
  }

  startMeasuring(): void {
    this.#measuring ??= this.#measureRepeatedly();
  }

  /** Measures the lag of every standby, and rejects the reads of those that have become unusable. */
  async measure(): Promise<void> {
    await this.#addSample();
    const positions = await Promise.all(this.replicas.map((replica) => replica.readPosition()));
    // After the standbys: one that is ahead of its primary has changes that a promotion has lost.
    const primaryPosition = await this.#addSample();
    const now = performance.now();
    for (const [index, replica] of this.replicas.entries()) {
      const applied = positions[index];
      // The new primary passes the position of a diverged standby in time, but never becomes its history.
      if (applied && primaryPosition !== null) {
        const isAhead = applied.position > primaryPosition;
        replica.isDiverged = isAhead || (replica.isDiverged && applied.timeline !== this.#timeline);
      }
      const sample =
        applied && applied.identity === this.#identity && !replica.isDiverged
          ? this.#samples.findLast((each) => each.position <= applied.position)
          : undefined;
      replica.lagMs = sample ? now - sample.at : Number.POSITIVE_INFINITY;
      if (replica.lagMs > MAX_LAG_MS) replica.rejectReads();
    }
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.all(this.replicas.map((replica) => replica.close()));
    await this.#measuring;
  }

  async #measureRepeatedly(): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      await this.measure();
      await sleep(INTERVAL_MS, undefined, { signal, ref: false }).catch(() => undefined);
    }
  }

  /** Returns the primary's position; null when it does not answer. The samples then become old, and with them every lag. */
  async #addSample(): Promise<number | null> {
    const at = performance.now();
    const [row] = await this.#primary.run(PRIMARY_POSITION, []).catch(() => []);
    if (!row) return null;
    const [position, timeline] = [Number(row[0]), row[1]!];
    // Positions of another timeline mean other changes: a standby has to pass the first position that is known of this one.
    if (timeline !== this.#timeline) this.#samples.length = 0;
    [this.#timeline, this.#identity] = [timeline, row[2]!];
    this.#samples.push({ at, position });
    while (at - this.#samples[0]!.at > 2 * MAX_LAG_MS) this.#samples.shift();
    return position;
  }

  #count(server: string, outcome: 'ok' | 'failed'): void {
    const counts = this.counts.get(server) ?? { ok: 0, failed: 0 };
    counts[outcome]++;
    this.counts.set(server, counts);
  }
}

/** Runs reads on a standby, with the batches of `StatementRunner`. It has no connections of its own. */
export class ReplicaRunner extends StatementRunner {
  readonly #replicas: ReplicaSet;
  readonly #pool: ReplicaPool;
  readonly #primary: StatementRunner;

  constructor(replicas: ReplicaSet, pool: ReplicaPool, primary: StatementRunner) {
    super('', { regular: 0, reserve: 0 });
    this.#replicas = replicas;
    this.#pool = pool;
    this.#primary = primary;
  }

  override run(...read: Parameters<StatementRunner['run']>): Promise<TextRow[]> {
    return this.#replicas.run(this.#pool, this.#primary, ...read);
  }

  /** One set of names for both servers, because the primary may have to answer any read. */
  override tryReserveName(name: string): boolean {
    return this.#primary.tryReserveName(name);
  }
}
