import type { EntityManager, MikroORM } from '@mikro-orm/postgresql';
import type pg from 'pg';
import { type ConnectionSplit, splitConnections } from '../limits/connection-split.ts';
import { DurationCounts } from '../shared/duration-counts.ts';
import type { RegionId } from '../shared/regions.ts';
import { createOrm } from './orm.ts';
import type { Statement } from './pool/pg-pipeline.ts';
import { StatementRunner } from './pool/statement-runner.ts';
import type { ReadDatabase, ReadLimits } from './read/read-database.ts';
import { ReplicaRunner, ReplicaSet } from './replicas/replica-set.ts';
import { retryTransaction } from './write/retry.ts';
import { type Transaction, TransactionRunner } from './write/transaction-runner.ts';

const NOW = { name: 'database.now', text: 'select floor(extract(epoch from clock_timestamp()) * 1000)' };

/** Limits of a request's use of a database. */
export interface DatabaseLimits extends ReadLimits {
  /** Runs a transaction once the caller's fair share has a connection for it. */
  runTransaction<T>(transaction: () => Promise<T>): Promise<T>;
  /**
   * Waits until the request may write large values of so many bytes; rejects with `RATE_LIMITED` or `UNAVAILABLE`. Not to be called in a
   * transaction.
   */
  acquireLargeWrite(bytes: number): Promise<void>;
}

/** Maximum names of statements in metrics: those of the service, and the prepared selections. */
const MAX_STATEMENTS = 500;

/** One region's database: MikroORM for most writes, prepared statements for reads and frequent writes. */
export class Database implements ReadDatabase {
  readonly runner: StatementRunner;
  readonly slowRunner: StatementRunner;
  /** For the numbering of events, the deliveries of webhooks and the polls of the console: short statements that no request may delay. */
  readonly backgroundRunner: StatementRunner;
  readonly limits: DatabaseLimits | null = null;
  readonly writer: TransactionRunner;
  /** Prepared statements by name, for metrics. */
  readonly statements = new DurationCounts(MAX_STATEMENTS);
  /** Waits for a connection by pool, for metrics. */
  readonly poolWaits = new DurationCounts(2);
  /** The region's standbys; null without any. */
  readonly replicas: ReplicaSet | null;
  /** No private name, because `withLimits` derives objects. */
  protected readonly replicaRunners: Record<'runner' | 'slowRunner', PropertyDescriptor> | null;
  /** Creates MikroORM at its first call, which takes long. No private method, because `withLimits` derives objects. */
  protected readonly loadOrm: () => MikroORM;
  #orm: MikroORM | null = null;
  #ormPool: pg.Pool | null = null;

  /** @param replicaUrls Address of each standby. */
  constructor(
    readonly region: RegionId,
    readonly url: string,
    { reads, readReserve, slowReads, background, writes, orm }: ConnectionSplit = splitConnections(),
    replicaUrls: readonly string[] = [],
  ) {
    this.loadOrm = () => {
      this.#orm ??= createOrm(url, { pool: { min: 0, max: orm } }, (pool) => {
        this.#ormPool = pool;
        measureWaits(pool, 'orm', this.poolWaits);
      });
      return this.#orm;
    };
    this.runner = new StatementRunner(url, { regular: reads, reserve: readReserve }, this.statements);
    this.slowRunner = new StatementRunner(url, { regular: slowReads, reserve: 0 }, this.statements);
    this.backgroundRunner = new StatementRunner(url, { regular: background, reserve: 0 }, this.statements);
    this.writer = new TransactionRunner(url, writes, this.statements);
    measureWaits(this.writer.pool, 'writes', this.poolWaits);
    this.replicas = replicaUrls.length > 0 ? new ReplicaSet(replicaUrls, { reads, slowReads }, this.runner) : null;
    this.replicaRunners = this.replicas && {
      runner: { value: new ReplicaRunner(this.replicas, 'reads', this.runner) },
      slowRunner: { value: new ReplicaRunner(this.replicas, 'slowReads', this.slowRunner) },
    };
  }

  /** Returns the same database with the limits of a request. */
  withLimits(limits: DatabaseLimits): Database {
    // Property descriptors would take 2 µs of every request.
    const limited: { limits: DatabaseLimits } = Object.create(this);
    limited.limits = limits;
    return limited as Database;
  }

  /**
   * Returns the same database with prepared reads from a standby, for callers that need not read their own writes. The primary answers
   * where no standby can. Without standbys it is this database.
   */
  onReplica(): Database {
    if (!this.replicaRunners) return this;
    return Object.create(this, { ...this.replicaRunners, primary: { value: this.primary } });
  }

  /** Returns the same database with every prepared read by the runner, such as that of a transaction. */
  withRunner(runner: StatementRunner): Database {
    const own = { runner: { value: runner }, slowRunner: { value: runner }, limits: { value: null } };
    return Object.create(this, own);
  }

  /** The same database with every read from the primary. */
  get primary(): Database {
    return this;
  }

  get orm(): MikroORM {
    return this.loadOrm();
  }

  get metadata() {
    return this.orm.em.getMetadata();
  }

  /** Returns a new entity manager, which requests must not share. */
  fork() {
    return this.orm.em.fork();
  }

  /** Runs the work in one transaction, and again in a new one when a concurrent transaction prevented it. */
  transaction<T>(work: (em: EntityManager) => Promise<T>): Promise<T> {
    const run = () => retryTransaction(() => this.fork().transactional(work));
    return this.limits ? this.limits.runTransaction(run) : run();
  }

  /** Does the same with prepared statements, for short and frequent transactions. The work must commit. */
  write<T>(work: (transaction: Transaction) => Promise<T>): Promise<T> {
    const run = () => this.writer.run(work);
    return this.limits ? this.limits.runTransaction(run) : run();
  }

  /** Returns the database's time, which all instances share, in milliseconds since the Unix epoch. */
  async now(): Promise<number> {
    const [row] = await this.runner.run(NOW, []);
    return Number(row![0]);
  }

  /** Calls the listener with every read that is sent, so that tests can count them. Returns a function that removes it. */
  onStatement(listener: (statement: Statement) => void): () => void {
    const removers = [this.runner, this.slowRunner, this.backgroundRunner].map((each) => each.onStatement(listener));
    return () => {
      for (const remove of removers) remove();
    };
  }

  /** Returns the connection pools by name, for metrics. MikroORM creates its own at its first query. */
  pools(): [name: string, pool: pg.Pool][] {
    return [['writes', this.writer.pool], ...(this.#ormPool ? ([['orm', this.#ormPool]] as [string, pg.Pool][]) : [])];
  }

  async close(): Promise<void> {
    await this.replicas?.close();
    const pools = [this.runner, this.slowRunner, this.backgroundRunner, this.writer, this.#orm];
    await Promise.all(pools.map((pool) => pool?.close()));
  }
}

export type Databases = Record<RegionId, Database>;

/** Counts the waits of callers for a connection of the pool. */
function measureWaits(pool: pg.Pool, name: string, counts: DurationCounts): void {
  const connect = pool.connect.bind(pool) as () => Promise<pg.PoolClient>;
  // The callback form is not used: neither MikroORM nor this service calls `pool.query`.
  pool.connect = (() => counts.measure(name, connect)) as typeof pool.connect;
}
