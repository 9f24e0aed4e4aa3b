import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { readHead } from '../../src/domain/events/event-log.ts';
import { noteChanges } from '../support/audit.ts';
import { numberPendingEvents } from '../support/events.ts';
import { isVerified, WebhookReceiver } from '../support/webhook-receiver.ts';
import { CLI_START, seedBuilders, toTimestamp, useCli } from './cli-harness.ts';

const cli = useCli();
let receiver: WebhookReceiver;
let integrator: string;
let client: string;

beforeAll(async () => {
  ({ integratorId: integrator } = await cli.json(['integrator', 'create', '--name', 'Site Sync']));
  const create = ['client', 'create', '--name', 'App', '--integrator', integrator, '--scope', 'read:projects'];
  ({ clientId: client } = await cli.json(create));
  await seedBuilders(cli);
  const scopes = ['--scope', 'read:projects'];
  await cli.json(['connection', 'create', '--integrator', integrator, '--builder', 'buil_a', ...scopes]);
});

beforeEach(async () => {
  receiver = await WebhookReceiver.start();
});
afterEach(async () => {
  await receiver.close();
  await cli.databases.au1.fork().execute('delete from webhook_endpoint');
});
const create = (...args: string[]) =>
  cli.json(['webhook', 'create', '--client', client, '--url', receiver.url, ...args]);

describe('webhook create', () => {
  it('creates an endpoint of the client’s integrator, and prints its secret once (WHK-4)', async () => {
    const created = await create('--type', 'project.updated', '--builder', 'buil_a');
    expect(created).toEqual({
      ...{ regionId: 'au1', endpointId: expect.stringMatching(/^whe_/), integratorId: integrator, clientId: client },
      ...{
        url: receiver.url,
        types: ['project.updated'],
        builderIds: ['buil_a'],
        status: 'ACTIVE',
        disabledReason: null,
        secretKey: 'FIRST',
      },
      ...{
        createdAt: toTimestamp(CLI_START),
        updatedAt: toTimestamp(CLI_START),
        secret: expect.stringMatching(/^whsec_/),
      },
    });
    expect(await create('--type', 'project.updated', '--builder', 'buil_a')).toMatchObject({ secret: null });
  });

  it.each([
    ['an unknown client', ['--client', 'cli_x', '--url', 'https://a.com/'], /^--client: there is no client cli_x/],
    ['a URL of the wrong form', ['--url', 'ftp://a.com/'], /^--url: must be an https: URL/],
    ['a private address', ['--url', 'https://10.0.0.1/'], /^url: must be on a public address/],
    [
      'an unknown type',
      ['--url', 'https://a.com/', '--type', 'x'],
      /^types\[0\]: must be one of the resources .*\bphoto, /,
    ],
    [
      'an unconnected builder',
      ['--url', 'https://a.com/', '--builder', 'buil_b'],
      /^builderIds\[0\]: is not connected/,
    ],
  ])('rejects %s', async (_case, args, message) => {
    const owner = args.includes('--client') ? [] : ['--client', client];
    expect(await cli.errorOf(['webhook', 'create', ...owner, ...args])).toMatch(message);
  });
});

describe('webhook list, show, update, rotate-secret and delete', () => {
  it('manage an endpoint', async () => {
    const { secret, ...created } = await create('--type', 'project.updated');
    const { regionId, ...endpoint } = created;
    const { endpointId: id } = created;
    expect(await cli.json(['webhook', 'list', '--integrator', integrator])).toEqual({
      regionId,
      endpoints: [endpoint],
    });
    expect(await cli.json(['webhook', 'show', id])).toEqual(created);
    const paused = await cli.json(['webhook', 'update', id, '--all-types', '--status', 'paused']);
    expect(paused).toEqual({ ...created, types: null, status: 'PAUSED' });
    const rotated = await cli.json(['webhook', 'rotate-secret', id]);
    expect(rotated.secret).not.toBe(secret);
    expect((await cli.json(['webhook', 'deliveries', id])).deliveries).toEqual([]);
    await cli.json(['webhook', 'delete', id]);
    expect(await cli.errorOf(['webhook', 'show', id])).toBe(`ENDPOINT: there is no webhook endpoint ${id} in au1.`);
    expect((await cli.json(['webhook', 'list', '--integrator', integrator])).endpoints).toEqual([]);
  });
});

describe('webhook list with several keys in TOKEN_KEY', () => {
  it('shows the key that the secrets need, of all integrators', async () => {
    const [old, next] = [0, 1].map(() => randomBytes(32).toString('base64url'));
    const keyWith = async (keys: string) => {
      cli.env.TOKEN_KEY = keys;
      const { endpoints } = await cli.json(['webhook', 'list']);
      return endpoints.map(({ secretKey }: { secretKey: string }) => secretKey);
    };
    try {
      cli.env.TOKEN_KEY = old!;
      await create();
      expect(await keyWith(`${old},${next}`)).toEqual(['FIRST']);
      expect(await keyWith(`${next},${old}`)).toEqual(['OTHER']);
      expect(await keyWith(next!)).toEqual(['UNKNOWN']);
      expect((await cli.run(['webhook', 'list'])).out).toContain('key UNKNOWN');
    } finally {
      delete cli.env.TOKEN_KEY;
    }
  });
});

describe('webhook test', () => {
  it('sends a signed event and prints what the receiver answers (WHK-14)', async () => {
    const { endpointId: id, secret } = await create();
    cli.clock.at = Date.now();
    receiver.respond = (_received, response) => void response.writeHead(418).end('teapot');
    const result = await cli.json(['webhook', 'test', id]);
    expect(result).toMatchObject({ succeeded: false, status: 418, body: 'teapot', error: null });
    expect(isVerified(receiver.received[0]!, secret)).toBe(true);
    expect(receiver.received[0]!.event).toMatchObject({ id: result.eventId, type: 'webhook_endpoint.test' });
    cli.clock.at = CLI_START;
  });

  it('is recorded before the event is sent (ACC-20)', async () => {
    const { endpointId: id } = await create();
    const refuse = () => expect(cli.json(['webhook', 'test', id])).rejects.toThrow('cannot be used now: 53100');
    expect(await (await noteChanges(cli.databases.au1)).takeRefused(refuse)).toEqual([]);
    expect(receiver.received).toEqual([]);
    await cli.json(['webhook', 'test', id]);
    const { entries } = await cli.json(['audit', 'list', '--action', 'webhook_endpoint.tested', '--object', id]);
    expect([entries.length, receiver.received.length]).toEqual([1, 1]);
  });
});

describe('webhook replay', () => {
  it('rejects a text that is no cursor (WHK-15)', async () => {
    const { endpointId: id } = await create();
    expect(await cli.errorOf(['webhook', 'replay', id, '--after', 'x'])).toMatch(/^after: must be the nextCursor/);
  });

  it('delivers the events since a time again (WHK-15)', async () => {
    const { endpointId: id } = await create();
    const database = cli.databases.au1;
    const change = () => database.fork().execute(`update project set updated_at = now() where id = 'proj_a'`);
    await change();
    // Times of events are rounded to milliseconds.
    await sleep(5);
    const since = new Date().toISOString();
    await change();
    await numberPendingEvents(database);
    const { number } = await readHead(database);
    await database.fork().execute('update webhook_progress set number = ?', [number]);
    await cli.json(['webhook', 'replay', id, '--since', since]);
    const [progress] = await database.fork().execute('select number, replay_until from webhook_progress');
    expect(progress).toEqual({ number: String(number - 1), replay_until: String(number) });
  });

  it.each([
    ['a text that is no time', ['--since', 'x'], '--since: "x" is not a date or a date-time with a time zone.'],
    ['neither a time nor a cursor', [], '--since: or --after is required.'],
  ])('rejects %s', async (_title, args, message) => {
    const { endpointId: id } = await create();
    expect(await cli.errorOf(['webhook', 'replay', id, ...args])).toBe(message);
  });
});
