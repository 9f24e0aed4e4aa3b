import type { Network } from '../../network/guarded-network.ts';
import type { ChangeContext } from '../change-context.ts';
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
): WebhookTools => ({ secrets: new SecretBox(tokenKeys), receivers: new ReceiverClient({ production, network }) });

/** Context of a change of a webhook endpoint, from a request, a command or the console. */
export interface WebhookChangeContext extends ChangeContext {
  readonly webhooks: WebhookTools;
}

/** Context of an operation on webhook endpoints. It has the operator who makes a change, for the audit log, but no integrator. */
export type WebhookContext = Omit<WebhookChangeContext, 'source'> & Partial<Pick<ChangeContext, 'source'>>;

/** An endpoint. Another integrator's is not found; without an integrator that of any, for an operator. */
export interface EndpointKey {
  integratorId?: string;
  endpointId: string;
  /** Scopes of the caller; absent for an operator. */
  scopes?: ReadonlySet<string>;
}
