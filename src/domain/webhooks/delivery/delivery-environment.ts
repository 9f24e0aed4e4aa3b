import type { Clock } from '../../../shared/clock.ts';
import type { Attempt } from '../receiver-client.ts';
import type { WebhookTools } from '../webhook-context.ts';
import type { Audiences } from './audiences.ts';
import type { IntegratorCounts } from './integrator-counts.ts';
import type { LeasedEndpoint } from './leases.ts';
import type { LogTail } from './log-tail.ts';
import type { DeliveryRow } from './results.ts';
import type { PendingDeliveries } from './unloaded-deliveries.ts';

/** What the deliveries of all endpoints of a process and region share. */
export interface DeliveryEnvironment extends PendingDeliveries {
  readonly clock: Clock;
  readonly webhooks: WebhookTools;
  readonly audiences: Audiences;
  readonly tail: LogTail;
  readonly requests: IntegratorCounts;
  /** Unfinished deliveries when events were read last. */
  readonly unfinished: IntegratorCounts;
  /** Returns the endpoint as it is stored now; undefined where it is not leased or delivered to any more. */
  loadEndpoint(id: string): Promise<LeasedEndpoint | undefined>;
  /** Whether this process still holds its leases. */
  mayDeliver(): boolean;
  /** Aborts when the leases are lost. */
  signal(): AbortSignal;
  onAttempt(attempt: Attempt, row: DeliveryRow): void;
  /** Called once for secrets that cannot be decrypted, of which the endpoint's deliveries wait. */
  onUnreadableSecret(endpointId: string, error: unknown): void;
  /** Called when the database rejects the results of an endpoint, which then starts again from its stored state. */
  onRejectedResults(endpointId: string, error: unknown): void;
}
