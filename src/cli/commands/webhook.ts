import { type Command, Option } from 'commander';
import { parseId } from '../../domain/access/access-values.ts';
import { listDeliveries } from '../../domain/webhooks/deliveries.ts';
import {
  createEndpoint,
  deleteEndpoint,
  getEndpoint,
  listEndpoints,
  rotateEndpointSecret,
  updateEndpoint,
} from '../../domain/webhooks/endpoints.ts';
import { startReplay } from '../../domain/webhooks/replay.ts';
import { sendTestEvent } from '../../domain/webhooks/test-event.ts';
import type { EndpointKey, WebhookChangeContext } from '../../domain/webhooks/webhook-context.ts';
import { type CliIo, type CommandResult, formatFields } from '../io/cli-io.ts';
import { forwardEvents } from '../services/listen.ts';
import {
  describeEndpoint,
  findEndpointKey,
  findOwner,
  parseEndpointOptions,
  withWebhooks,
} from '../services/webhooks.ts';
import {
  addCommandGroup,
  type CommandOptions,
  createRepeatableOption,
  defineRegionalCommand,
  parsePositiveInteger,
} from './define-command.ts';

type Endpoint = ReturnType<typeof describeEndpoint>;

/** Adds the commands for webhook endpoints, and the one that receives events on a developer's machine. */
export function addWebhookCommands(program: Command, io: CliIo): void {
  const group = addCommandGroup(program, 'webhook', "integrators' webhook endpoints");
  addEndpointCommands(group, io);
  addDeliveryCommands(group, io);
  addListenCommand(program, io);
}

function addEndpointCommands(group: Command, io: CliIo): void {
  const list = group
    .command('list')
    .description('list webhook endpoints, or those of an integrator, with the key of TOKEN_KEY that their secrets need')
    .option('--integrator <id>', 'integrator');
  defineWebhookCommand(io, list, async (context, { integrator }) => {
    const integratorId = integrator && parseId('integratorId', 'integrator', integrator);
    const found = await listEndpoints(context, integratorId);
    const endpoints = found.map((endpoint) => describeEndpoint(context, endpoint));
    const lines = endpoints.map(({ endpointId, status, secretKey, url }) =>
      [endpointId, status.padEnd(8), `key ${secretKey}`.padEnd(11), url].join('  '),
    );
    return { data: { endpoints }, text: lines.join('\n') || 'There are no webhook endpoints.' };
  });

  const show = group.command('show <endpoint>').description('show an endpoint');
  defineEndpointCommand(io, show, async (context, key) =>
    formatEndpoint('Webhook endpoint', describeEndpoint(context, await getEndpoint(context, key))),
  );

  const create = addFilterOptions(group.command('create').description('create an endpoint; prints its secret once'))
    .requiredOption('--client <id>', 'client-credentials client whose scopes decide what it receives')
    .requiredOption('--url <url>', 'address that receives the events');
  defineWebhookCommand(io, create, async (context, options) => {
    const owner = await findOwner(context, options.client);
    const { endpoint, secret } = await createEndpoint(context, owner, parseEndpointOptions(options));
    const heading = secret ? `Endpoint created. ${SHOWN_ONCE}` : 'The endpoint existed already.';
    return formatEndpoint(heading, { ...describeEndpoint(context, endpoint), secret });
  });

  const update = addFilterOptions(group.command('update <endpoint>').description('change an endpoint'))
    .option('--url <url>', 'address that receives the events')
    .option('--all-types', 'deliver events of all types')
    .option('--all-builders', 'deliver events of all connected builders')
    .addOption(new Option('--status <status>', 'stop or continue the delivery').choices(['active', 'paused']));
  defineEndpointCommand(io, update, async (context, key, options) => {
    const status = options.status && { status: options.status.toUpperCase() };
    const changed = await updateEndpoint(context, key, { ...parseEndpointOptions(options), ...status });
    return formatEndpoint('Endpoint changed.', describeEndpoint(context, changed));
  });

  const remove = group.command('delete <endpoint>').description('delete an endpoint; nothing more is delivered');
  defineEndpointCommand(io, remove, async (context, key) =>
    formatEndpoint('Endpoint deleted.', describeEndpoint(context, await deleteEndpoint(context, key))),
  );

  const rotate = group
    .command('rotate-secret <endpoint>')
    .description('give an endpoint a new secret and print it once');
  rotate.addHelpText('after', '\nDeliveries are also signed with the previous secret for 24 hours.');
  defineEndpointCommand(io, rotate, async (context, key) => {
    const { endpoint, secret } = await rotateEndpointSecret(context, key);
    return formatEndpoint(`Secret changed. ${SHOWN_ONCE}`, { ...describeEndpoint(context, endpoint), secret });
  });
}

const SHOWN_ONCE = 'This secret is not shown again.';

function addDeliveryCommands(group: Command, io: CliIo): void {
  const test = group.command('test <endpoint>').description('send a test event and print what the receiver answers');
  defineEndpointCommand(io, test, async (context, key) => {
    const data = await sendTestEvent(context, key);
    const { status, body, error, durationMs } = data;
    const heading = data.succeeded
      ? 'The receiver accepted the test event.'
      : 'The receiver did not accept the test event.';
    const fields = { status: status === null ? null : String(status), body, error, milliseconds: String(durationMs) };
    return { data, text: formatFields(heading, fields) };
  });

  const replay = group
    .command('replay <endpoint>')
    .description('deliver the events after a cursor of the feed again')
    .requiredOption('--after <cursor>', 'nextCursor of a page of GET /events');
  defineEndpointCommand(io, replay, async (context, key, { after }) => {
    const data = await startReplay(context, key, after);
    return { data, text: `The events after ${after} are delivered to ${data.endpointId} again.` };
  });

  const deliveries = group
    .command('deliveries <endpoint>')
    .description("list an endpoint's deliveries, the newest first")
    .addOption(
      new Option('--status <status>', 'only deliveries in this state').choices([
        'pending',
        'delivered',
        'failed',
        'dropped',
      ]),
    )
    .option('--after <cursor>', 'nextCursor of the page before');
  defineEndpointCommand(io, deliveries, async (context, key, { status, after }) => {
    if (after !== undefined) parseId('after', 'webhookDelivery', after);
    const { data, meta } = await listDeliveries(context, key, { status: status?.toUpperCase(), after });
    const lines = data.map(
      (each) =>
        `${each.id}  ${each.status.padEnd(9)}  ${each.type}  ${each.attempts} × ${each.responseStatus ?? each.error ?? ''}`,
    );
    const shown = data.map(({ id, eventId, type, builderId, attempts, ...each }) => ({
      ...{ deliveryId: id, eventId, type, builderId, status: each.status, attempts, createdAt: each.createdAt },
      ...{ lastAttemptAt: each.lastAttemptAt, nextAttemptAt: each.nextAttemptAt },
      ...{ responseStatus: each.responseStatus, responseBody: each.responseBody, error: each.error },
    }));
    return { data: { deliveries: shown, ...meta }, text: lines.join('\n') || 'There are no deliveries.' };
  });
}

function addListenCommand(program: Command, io: CliIo): void {
  const listen = program
    .command('listen')
    .description('print events as they arrive, and forward them signed to a program on this machine')
    .requiredOption('--integrator <id>', 'integrator whose events are received')
    .option('--forward <url>', 'address that receives the events, such as http://127.0.0.1:3000/hook')
    .addOption(createRepeatableOption('--type <type>', 'type of events; default: all'))
    .option('--count <number>', 'end after so many events', parsePositiveInteger)
    .option('--secret <secret>', 'signing secret, whsec_…; default: a new one, which is printed');
  defineWebhookCommand(io, listen, async (context, options) => {
    const integratorId = parseId('integratorId', 'integrator', options.integrator);
    const data = await forwardEvents(io, context, { ...options, integratorId });
    return { data, text: `${data.received} events were received.` };
  });
}

const addFilterOptions = (command: Command): Command =>
  command
    .addOption(createRepeatableOption('--type <type>', 'type of events, such as timesheet.updated; default: all'))
    .addOption(createRepeatableOption('--builder <id>', 'connected builder; default: all'));

function formatEndpoint(heading: string, data: Endpoint & { secret?: string | null }): CommandResult {
  const { types, builderIds, ...fields } = data;
  return { data, text: formatFields(heading, { ...fields, types: types ?? 'all', builders: builderIds ?? 'all' }) };
}

function defineWebhookCommand(
  io: CliIo,
  command: Command,
  work: (context: WebhookChangeContext, options: CommandOptions, ...args: string[]) => Promise<CommandResult>,
): void {
  defineRegionalCommand(io, command, (context, options, ...args) =>
    withWebhooks(io, context, (webhookContext) => work(webhookContext, options, ...args)),
  );
}

function defineEndpointCommand(
  io: CliIo,
  command: Command,
  work: (context: WebhookChangeContext, key: EndpointKey, options: CommandOptions) => Promise<CommandResult>,
): void {
  defineWebhookCommand(io, command, async (context, options, id) =>
    work(context, await findEndpointKey(context, id!), options),
  );
}
