import type { Outcome } from '../../schema/rest.ts';
import type { Database } from '../database/database.ts';
import type { FairShares } from '../limits/fair-shares.ts';
import type { Clock } from '../shared/clock.ts';
import type { RegionId } from '../shared/regions.ts';
import type { Storage } from '../storage/storage.ts';
import type { WebhookTools } from './webhooks/webhook-context.ts';

/** Context of an operation's request. */
export interface OperationContext {
  readonly region: RegionId;
  /** `integratorId` is null for an internal client. */
  readonly caller: { readonly integratorId: string | null };
  readonly database: Database;
  /** Storage of the region. */
  readonly storage: Storage;
  readonly clock: Clock;
  readonly webhooks: WebhookTools;
  /** Concurrency limits of the process, and the key of the caller's share. */
  readonly shares: FairShares;
  readonly shareKey: string;
  /** Maximum bytes of unused uploads of an integrator; null for no limit. */
  readonly uploadQuota: number | null;
  /** Set by an operation to select a status other than the default. */
  outcome?: Outcome;
}
