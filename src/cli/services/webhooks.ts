import { WebhookEndpoint } from '../../../entities/webhook-endpoint.entity.ts';
import { WebhookUrl } from '../../../schema/webhook.scalars.ts';
import { loadTokenKeys } from '../../auth/token-keys.ts';
import { loadConfig } from '../../config.ts';
import { parseId } from '../../domain/access/access-values.ts';
import type { ChangeContext } from '../../domain/change-context.ts';
import type { EndpointChanges } from '../../domain/webhooks/endpoint-input.ts';
import type { SecretKey } from '../../domain/webhooks/secret-box.ts';
import {
  createWebhookTools,
  type EndpointKey,
  type WebhookChangeContext,
  type WebhookContext,
  type WebhookTools,
} from '../../domain/webhooks/webhook-context.ts';
import { ApiError } from '../../shared/errors.ts';
import { CliError } from '../cli-error.ts';
import type { CommandOptions } from '../commands/command-group.ts';
import type { CliIo } from '../io/cli-io.ts';

/** Runs the work of a command on webhooks. An error that a client would get is one of the operator's input. */
export async function withWebhooks<T>(
  io: CliIo,
  context: ChangeContext,
  work: (context: WebhookChangeContext) => Promise<T>,
): Promise<T> {
  const config = loadConfig(io.env);
  const webhooks = createWebhookTools(config, await loadTokenKeys(config));
  try {
    return await work({ ...context, webhooks });
  } catch (error) {
    throw error instanceof ApiError ? new CliError(error.message) : error;
  } finally {
    webhooks.receivers.close();
  }
}

/** Returns the key of an endpoint, whichever integrator it belongs to. Throws `CliError` if there is none. */
export async function findEndpointKey({ database }: WebhookContext, id: string): Promise<EndpointKey> {
  const endpointId = parseId('endpointId', 'webhookEndpoint', id);
  const endpoint = await database.fork().findOne(WebhookEndpoint, { id: endpointId, deletedAt: null });
  if (!endpoint) throw CliError.forOption('ENDPOINT', `there is no webhook endpoint ${id} in ${database.region}`);
  return { endpointId, integratorId: endpoint.integratorId };
}

/** Returns the URL and the filters of the options. Throws `CliError` for a URL of the wrong form. */
export function parseEndpointOptions({ url, type, allTypes, builder, allBuilders }: CommandOptions): EndpointChanges {
  const builderIds = builder?.map((id: string) => parseId('builderIds', 'builder', id));
  return {
    ...(url !== undefined && { url: parseUrl(url) }),
    ...((type || allTypes) && { types: type ?? null }),
    ...((builderIds || allBuilders) && { builderIds: builderIds ?? null }),
  };
}

function parseUrl(text: string): string {
  try {
    return WebhookUrl.parseValue(text) as string;
  } catch (error) {
    throw CliError.forOption('--url', (error as Error).message);
  }
}

/** Returns which key of TOKEN_KEY the endpoint's secrets need: `UNKNOWN` if its deliveries wait for one that was removed. */
function keyOfSecrets({ secrets }: WebhookTools, { secret, previousSecrets }: WebhookEndpoint): SecretKey {
  const keys = [secret, ...previousSecrets.map((each) => each.secret)].map((stored) => secrets.keyOf(stored));
  return keys.find((key) => key === 'UNKNOWN') ?? keys.find((key) => key === 'OTHER') ?? 'FIRST';
}

/** Returns an endpoint as commands print it, with the integrator and client that it belongs to. */
export const describeEndpoint = ({ webhooks }: WebhookContext, endpoint: WebhookEndpoint) => ({
  endpointId: endpoint.id,
  integratorId: endpoint.integratorId,
  clientId: endpoint.clientId,
  url: endpoint.url,
  types: endpoint.types,
  builderIds: endpoint.builderIds,
  status: endpoint.status,
  disabledReason: endpoint.disabledReason,
  secretKey: keyOfSecrets(webhooks, endpoint),
  createdAt: endpoint.createdAt,
  updatedAt: endpoint.updatedAt,
});
