import type { Database } from '../../database/database.ts';
import type { Network } from '../../network/guarded-network.ts';
import type { Clock } from '../../shared/clock.ts';
import type { AuditSource } from '../audit/record-audit.ts';
import { ReceiverClient } from './receiver-client.ts';
import { SecretBox } from './secret-box.ts';

/** What every process that manages or delivers webhooks has one of. */
export interface WebhookTools {
  readonly secrets: SecretBox;
  readonly receivers: ReceiverClient;
}

/** @param network of deliveries; by default public addresses, and loopback outside production. */
export const createWebhookTools = (
  { production }: { production: boolean },
  tokenKeys: readonly string[],
  network?: Network,
): WebhookTools => ({
  secrets: new SecretBox(tokenKeys),
  receivers: new ReceiverClient({ production, network }),
});

/** Context of an operation on webhook endpoints of one region, from a request or a command. */
export interface WebhookContext {
  readonly database: Database;
  readonly clock: Clock;
  readonly webhooks: WebhookTools;
  /** The operator who makes the change, for the audit log; absent for an integrator's own change. */
  readonly source?: AuditSource;
  /** See `ChangeContext`. */
  readonly expectedUpdatedAt?: string;
}

/** Context of a change, which is recorded in the audit log with who makes it. */
export interface WebhookChangeContext extends WebhookContext {
  readonly source: AuditSource;
}

/** An endpoint. Another integrator's is not found; without an integrator that of any, for an operator. */
export interface EndpointKey {
  integratorId?: string;
  endpointId: string;
  /** Scopes of the caller; absent for an operator. */
  scopes?: ReadonlySet<string>;
}
