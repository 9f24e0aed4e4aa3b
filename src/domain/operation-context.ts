import type { Outcome } from '../../schema/rest.ts';
import type { Database } from '../database/database.ts';
import type { Clock } from '../shared/clock.ts';
import type { FairShares } from '../shared/fair-shares.ts';
import type { RegionId } from '../shared/regions.ts';
import type { Storage } from '../storage/storage.ts';

/** What an operation needs to know of the request that calls it. */
export interface OperationContext {
  readonly region: RegionId;
  /** The integrator that calls; null for an internal client. */
  readonly caller: { readonly integratorId: string | null };
  readonly database: Database;
  /** Bytes of the region, and signed URLs to them. */
  readonly storage: Storage;
  readonly clock: Clock;
  /** Limits of the process that callers share, and the share that this request is charged to. */
  readonly shares: FairShares;
  readonly shareKey: string;
  /** Bytes that unused uploads of an integrator may take; null for any number. */
  readonly uploadQuota: number | null;
  /** Set by an operation whose status is not the usual one. */
  outcome?: Outcome;
}
