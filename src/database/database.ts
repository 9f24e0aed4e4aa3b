import type { EntityManager, MikroORM } from '@mikro-orm/postgresql';
import type { RegionId } from '../shared/regions.ts';
import { createOrm } from './orm.ts';
import type { Statement } from './pool/pg-pipeline.ts';
import { StatementRunner } from './pool/statement-runner.ts';
import type { ReadDatabase, ReadLimits } from './read/reader.ts';
import { retryTransaction } from './write/retry.ts';
import { type Transaction, TransactionRunner } from './write/transaction-runner.ts';

const NOW = { name: 'database.now', text: 'select floor(extract(epoch from clock_timestamp()) * 1000)' };

/** What a request may use of a database. */
export interface DatabaseLimits extends ReadLimits {
  /** Runs a transaction once the share of the caller has a connection for it: one that waits for a lock keeps its connection. */
  runTransaction<T>(transaction: () => Promise<T>): Promise<T>;
  runWrite<T>(transaction: () => Promise<T>): Promise<T>;
}

/** Connections for reads that may take long; each opens when it is first used. */
const SLOW_CONNECTIONS = 4;

/** One region's database: MikroORM for writes that span rows, prepared statements for reads and for writes that are hot. */
export class Database implements ReadDatabase {
  readonly orm: MikroORM;
  readonly runner: StatementRunner;
  readonly slowRunner: StatementRunner;
  readonly limits: DatabaseLimits | null = null;
  readonly writer: TransactionRunner;

  constructor(
    readonly region: RegionId,
    readonly url: string,
  ) {
    this.orm = createOrm(url);
    this.runner = new StatementRunner(url);
    this.slowRunner = new StatementRunner(url, SLOW_CONNECTIONS);
    this.writer = new TransactionRunner(url);
  }

  /** The same database, within what a request may use of it. */
  withLimits(limits: DatabaseLimits): Database {
    return Object.create(this, { limits: { value: limits } });
  }

  get metadata() {
    return this.orm.getMetadata();
  }

  /** A unit of work of its own; never shared between requests. */
  fork() {
    return this.orm.em.fork();
  }

  /**
   * A unit of work in one transaction: it commits as a whole when the work is done, or not at all. When a concurrent transaction
   * prevents it, the work runs again in a new transaction.
   */
  transaction<T>(work: (em: EntityManager) => Promise<T>): Promise<T> {
    const run = () => retryTransaction(() => this.fork().transactional(work));
    return this.limits ? this.limits.runTransaction(run) : run();
  }

  /** The same for prepared statements: short transactions that are hot. */
  write<T>(work: (transaction: Transaction) => Promise<T>): Promise<T> {
    const run = () => this.writer.run(work);
    return this.limits ? this.limits.runWrite(run) : run();
  }

  /** Milliseconds since the Unix epoch by the one clock that all instances share. */
  async now(): Promise<number> {
    const [row] = await this.runner.run(NOW, []);
    return Number(row![0]);
  }

  /** Calls the listener with every read that is sent, so that tests can count them. Returns a function that ends it. */
  onStatement(listener: (statement: Statement) => void): () => void {
    const ends = [this.runner.onStatement(listener), this.slowRunner.onStatement(listener)];
    return () => {
      for (const end of ends) end();
    };
  }

  async close(): Promise<void> {
    await Promise.all([this.runner.close(), this.slowRunner.close(), this.writer.close(), this.orm.close()]);
  }
}

export type Databases = Record<RegionId, Database>;
