import type { Option } from 'commander';
import { parseId } from '../../domain/access/access-values.ts';
import { listDeliveries } from '../../domain/webhooks/deliveries.ts';
import type { NewEndpoint } from '../../domain/webhooks/endpoint-input.ts';
import {
  createEndpoint,
  deleteEndpoint,
  findOwner,
  getEndpoint,
  rotateEndpointSecret,
  updateEndpoint,
} from '../../domain/webhooks/endpoints.ts';
import { listEndpoints } from '../../domain/webhooks/list-endpoints.ts';
import { startReplay } from '../../domain/webhooks/replay.ts';
import { sendTestEvent } from '../../domain/webhooks/test-event.ts';
import type { EndpointKey, WebhookChangeContext } from '../../domain/webhooks/webhook-context.ts';
import { CliError } from '../cli-error.ts';
import { type CommandResult, formatFields } from '../io/cli-io.ts';
import { parseInstant } from '../services/audit.ts';
import { describeEndpoint, findEndpointKey, parseEndpointOptions, withWebhooks } from '../services/webhooks.ts';
import { SHOWN_ONCE } from './access.ts';
import { type CommandGroup, type CommandOptions, option, repeatable, required } from './command-group.ts';

type Endpoint = ReturnType<typeof describeEndpoint>;

/** Adds the commands for webhook endpoints. */
export function addWebhookCommands(program: CommandGroup): void {
  const group = program.addGroup('webhook', "integrators' webhook endpoints");
  addEndpointCommands(group);
  addDeliveryCommands(group);
}

function addEndpointCommands(group: CommandGroup): void {
  const url = ['--url <url>', 'address that receives the events'] as const;
  const filters = () => [
    repeatable('--type <type>', 'type of events, such as timesheet.updated; default: all'),
    repeatable('--builder <id>', 'connected builder; default: all'),
  ];
  const list = 'list webhook endpoints, or those of an integrator, with the key of TOKEN_KEY that their secrets need';
  const owner = [option('--integrator <id>', 'integrator')];
  addWebhookCommand(group, 'list', list, owner, async (context, { integrator }) => {
    const integratorId = integrator && parseId('integratorId', 'integrator', integrator);
    const found = await listEndpoints(context.database, integratorId);
    const endpoints = found.map((endpoint) => describeEndpoint(context, endpoint));
    const lines = endpoints.map(({ endpointId, status, secretKey, url }) =>
      [endpointId, status.padEnd(8), `key ${secretKey}`.padEnd(11), url].join('  '),
    );
    return { data: { endpoints }, text: lines.join('\n') || 'There are no webhook endpoints.' };
  });

  addEndpointCommand(group, 'show', 'show an endpoint', [], async (context, key) =>
    formatEndpoint('Webhook endpoint', describeEndpoint(context, await getEndpoint(context, key))),
  );

  const created = [
    ...filters(),
    required('--client <id>', 'client-credentials client whose scopes decide what it receives'),
    required(...url),
  ];
  const create = 'create an endpoint; prints its secret once';
  addWebhookCommand(group, 'create', create, created, async (context, options) => {
    const owner = await findOwner(context, options.client);
    const { endpoint, secret } = await createEndpoint(context, owner, parseEndpointOptions(options) as NewEndpoint);
    const heading = secret ? `Endpoint created. ${SHOWN_ONCE}` : 'The endpoint existed already.';
    return formatEndpoint(heading, { ...describeEndpoint(context, endpoint), secret });
  });

  const replaced = [
    ...filters(),
    option(...url),
    option('--all-types', 'deliver events of all types'),
    option('--all-builders', 'deliver events of all connected builders'),
    option('--status <status>', 'stop or continue the delivery').choices(['active', 'paused']),
  ];
  addEndpointCommand(group, 'update', 'change an endpoint', replaced, async (context, key, options) => {
    const status = options.status && { status: options.status.toUpperCase() };
    const changed = await updateEndpoint(context, key, { ...parseEndpointOptions(options), ...status });
    return formatEndpoint('Endpoint changed.', describeEndpoint(context, changed));
  });

  addEndpointCommand(group, 'delete', 'delete an endpoint; nothing more is delivered', [], async (context, key) =>
    formatEndpoint('Endpoint deleted.', describeEndpoint(context, await deleteEndpoint(context, key))),
  );

  const rotate = 'give an endpoint a new secret and print it once';
  const command = addEndpointCommand(group, 'rotate-secret', rotate, [], async (context, key) => {
    const { endpoint, secret } = await rotateEndpointSecret(context, key);
    return formatEndpoint(`Secret changed. ${SHOWN_ONCE}`, { ...describeEndpoint(context, endpoint), secret });
  });
  command.addHelpText('after', '\nDeliveries are also signed with the previous secret for 24 hours.');
}

function addDeliveryCommands(group: CommandGroup): void {
  const test = 'send a test event and print what the receiver answers';
  addEndpointCommand(group, 'test', test, [], async (context, key) => {
    const data = await sendTestEvent(context, key);
    const { status, body, error, durationMs } = data;
    const heading = `The receiver ${data.succeeded ? 'accepted' : 'did not accept'} the test event.`;
    return { data, text: formatFields(heading, { status, body, error, milliseconds: durationMs }) };
  });

  const from = [
    option('--after <cursor>', 'nextCursor of a page of GET /events').conflicts('since'),
    option('--since <instant>', 'date, or date-time with a time zone; inclusive'),
  ];
  const replay = 'deliver the events after a cursor of the feed, or since a time, again';
  addEndpointCommand(group, 'replay', replay, from, async (context, key, { after, since }) => {
    const instant = parseInstant('--since', since);
    if (after === undefined && instant === undefined) throw CliError.forOption('--since', 'or --after is required');
    const data = await startReplay(context, key, instant === undefined ? { after } : { since: instant });
    const events = instant === undefined ? `after ${after}` : `since ${instant}`;
    return { data, text: `The events ${events} are delivered to ${data.endpointId} again.` };
  });

  const states = ['pending', 'delivered', 'failed', 'dropped'];
  const filters = [
    option('--status <status>', 'only deliveries in this state').choices(states),
    option('--after <cursor>', 'nextCursor of the page before'),
  ];
  const list = "list an endpoint's deliveries, the newest first";
  addEndpointCommand(group, 'deliveries', list, filters, async (context, key, { status, after }) => {
    if (after !== undefined) parseId('after', 'webhookDelivery', after);
    const { data, meta } = await listDeliveries(context, key, { status: status?.toUpperCase(), after });
    const lines = data.map(
      ({ id, status, type, attempts, responseStatus, error }) =>
        `${id}  ${status.padEnd(9)}  ${type}  ${attempts} × ${responseStatus ?? error ?? ''}`,
    );
    const deliveries = data.map(({ id, ...each }) => ({
      deliveryId: id,
      eventId: each.eventId,
      type: each.type,
      builderId: each.builderId,
      status: each.status,
      attempts: each.attempts,
      createdAt: each.createdAt,
      lastAttemptAt: each.lastAttemptAt,
      nextAttemptAt: each.nextAttemptAt,
      responseStatus: each.responseStatus,
      responseBody: each.responseBody,
      error: each.error,
    }));
    return { data: { deliveries, ...meta }, text: lines.join('\n') || 'There are no deliveries.' };
  });
}

function formatEndpoint(heading: string, data: Endpoint & { secret?: string | null }): CommandResult {
  const { types, builderIds, ...fields } = data;
  return { data, text: formatFields(heading, { ...fields, types: types ?? 'all', builders: builderIds ?? 'all' }) };
}

const addWebhookCommand = (
  group: CommandGroup,
  signature: string,
  description: string,
  options: readonly Option[],
  work: (context: WebhookChangeContext, options: CommandOptions, ...args: string[]) => Promise<CommandResult>,
) =>
  group.addRegional(signature, description, options, (context, values, ...args) =>
    withWebhooks(group.io, context, (webhookContext) => work(webhookContext, values, ...args)),
  );

const addEndpointCommand = (
  group: CommandGroup,
  name: string,
  description: string,
  options: readonly Option[],
  work: (context: WebhookChangeContext, key: EndpointKey, options: CommandOptions) => Promise<CommandResult>,
) =>
  addWebhookCommand(group, `${name} <endpoint>`, description, options, async (context, values, id) =>
    work(context, await findEndpointKey(context, id!), values),
  );
