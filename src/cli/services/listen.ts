import { setTimeout as sleep } from 'node:timers/promises';
import { Connection } from '../../../entities/connection.entity.ts';
import { OAuthClient } from '../../../entities/oauth-client.entity.ts';
import { EVERY_EVENT, EventFilter } from '../../domain/events/event-filter.ts';
import { type LoggedEvent, readHead, readLogPage } from '../../domain/events/event-log.ts';
import { eventTypes } from '../../domain/events/event-types.ts';
import { createEventBody } from '../../domain/webhooks/event-body.ts';
import { ReceiverClient } from '../../domain/webhooks/receiver-client.ts';
import { newWebhookSecret, signWebhook } from '../../domain/webhooks/signature.ts';
import type { WebhookContext } from '../../domain/webhooks/webhook-context.ts';
import { printText, toTerminalLine } from '../../shared/terminal-text.ts';
import { CliError } from '../cli-error.ts';
import type { CliIo } from '../io/cli-io.ts';

/** Interval at which the log is read. */
const POLL_MS = 200;

const PAGE_SIZE = 100;

interface ListenOptions {
  integratorId: string;
  /** Address that receives the events, at any address: the operator has chosen it. */
  forward?: string;
  type?: string[];
  secret?: string;
  count?: number;
  json?: boolean;
}

/**
 * Prints the events that the clients of an integrator may see from now on, and forwards each once, until it is interrupted or has
 * received `count`. Endpoints and their deliveries are not involved.
 */
export async function forwardEvents(
  io: CliIo,
  { clock, database }: WebhookContext,
  { integratorId, forward, type, secret = newWebhookSecret(), count = Number.POSITIVE_INFINITY, json }: ListenOptions,
): Promise<{ received: number }> {
  for (const each of type ?? []) {
    if (!eventTypes.has(each)) throw CliError.forOption('--type', `"${each}" is not a type of event`);
  }
  if (forward !== undefined && !URL.canParse(forward))
    throw CliError.forOption('--forward', `"${forward}" is not a URL`);
  const clients = await database.fork().find(OAuthClient, { integratorId });
  if (clients.length === 0)
    throw CliError.forOption('--integrator', `${integratorId} has no client in ${database.region}`);
  const receivers = new ReceiverClient({ production: false, network: { isAllowedAddress: () => true } });
  const selectVisible = async (events: LoggedEvent[]) => {
    const em = database.fork();
    const found = await em.find(Connection, { integratorId, status: 'ACTIVE' });
    const connections = new Map(found.map(({ builderId, scopes }) => [builderId, new Set<string>(scopes)]));
    const filters = (await em.find(OAuthClient, { integratorId, disabledAt: null })).map(({ scopes }) => {
      const audience = { internal: false, scopes: new Set<string>(scopes), connections };
      return new EventFilter(audience, { types: type ?? null, builderIds: null });
    });
    return events.filter((event) => filters.some((filter) => filter.includes(event)));
  };
  const send = async (event: LoggedEvent): Promise<string> => {
    if (forward === undefined) return '';
    const body = createEventBody(event);
    const headers = { ...signWebhook([secret], { id: event.id, timestamp: Math.floor(clock.now() / 1000), body }) };
    const { status, error } = await receivers.post(forward, headers, body);
    return ` -> ${status ?? error}`;
  };
  printText(io.stderr, `Listening to the events of ${integratorId}.${forward ? ` Signing secret: ${secret}` : ''}`);
  let received = 0;
  try {
    for (let position: { day: string; number: number } = await readHead(database); received < count; ) {
      const page = await readLogPage(database, position, EVERY_EVENT, PAGE_SIZE);
      for (const event of page.events.length > 0 ? await selectVisible(page.events) : []) {
        if (received >= count) break;
        received++;
        const result = await send(event);
        const line = json
          ? createEventBody(event)
          : toTerminalLine(`${event.occurredAt} ${event.type} ${event.recordId}${result}`);
        printText(io.stdout, line);
      }
      position = page.next;
      if (!page.hasMore && received < count) await sleep(POLL_MS);
    }
  } finally {
    receivers.close();
  }
  return { received };
}
