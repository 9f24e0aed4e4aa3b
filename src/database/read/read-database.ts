import type { MetadataStorage } from '@mikro-orm/core';
import type { StatementRunner } from '../pool/statement-runner.ts';

/** The parts of a regional database that readers use. */
export interface ReadDatabase {
  readonly metadata: MetadataStorage;
  readonly runner: StatementRunner;
  /** Connections for large values and slow reads, which must not delay other reads. */
  readonly slowRunner: StatementRunner;
  /** Limits of the request; null when its reads are not limited. */
  readonly limits: ReadLimits | null;
}

/** Limits of a request's large and slow reads. */
export interface ReadLimits {
  /** Waits until the request may hold large values; rejects with `RATE_LIMITED` or `UNAVAILABLE`. */
  acquireLargeRead(): Promise<void>;
  /** Counts bytes of large values that the request holds. */
  countLargeBytes(bytes: number): void;
  /** Runs a slow read once the caller's fair share allows it. */
  runSlowRead<T>(read: () => Promise<T>): Promise<T>;
}
