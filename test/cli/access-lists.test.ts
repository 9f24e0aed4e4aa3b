import { beforeAll, describe, expect, it } from 'vitest';
import { VERSION } from '../../src/shared/version.ts';
import { CLI_START, seedBuilders, toTimestamp, useCli } from './cli-harness.ts';

const cli = useCli();
let integrator: string;
let client: string;
let user: string;

const CALLBACK = 'https://app.example.com/cb';
const MAIL = 'sam@example.com';

beforeAll(async () => {
  ({ integratorId: integrator } = await cli.json(['integrator', 'create', '--name', 'Site Sync']));
  await seedBuilders(cli);
  ({ clientId: client } = await cli.json([
    ...['client', 'create', '--integrator', integrator, '--name', 'App', '--redirect-uri', CALLBACK],
    ...['--scope', 'read:builders read:projects'],
  ]));
  await cli.json([...'connection create --scope read:projects --builder buil_a --integrator'.split(' '), integrator]);
  ({ userId: user } = await cli.json(['user', 'create', '--email', MAIL, '--name', 'Sam', '--no-password']));
  await cli.json(['membership', 'add', '--user', MAIL, '--builder', 'buil_a', '--role', 'ADMIN']);
  await cli.json(['image-host', 'approve', 'images.example.com']);
});

describe('list', () => {
  it('returns pages that contain each row once', async () => {
    const ids: string[] = [];
    for (const name of ['B', 'C', 'D', 'E']) await cli.json(['integrator', 'create', '--name', `Vendor ${name}`]);
    for (let cursor: string[] = []; ; ) {
      const page = await cli.json(['integrator', 'list', '--limit', '2', ...cursor]);
      ids.push(...page.integrators.map((row: { integratorId: string }) => row.integratorId));
      if (page.nextCursor === null) break;
      cursor = ['--cursor', page.nextCursor];
    }
    expect([ids.length, new Set(ids).size]).toEqual([5, 5]);
  });

  it.each([
    [['integrator', '--name', 'site'], 'integrators', 1],
    [['integrator', '--name', '%'], 'integrators', 0],
    [['client', '--type', 'confidential', '--scope', 'read:projects', '--disabled', 'no'], 'clients', 1],
    [['client', '--type', 'public'], 'clients', 0],
    [['client', '--type', 'internal'], 'clients', 0],
    [['client', '--scope', 'write:photos'], 'clients', 0],
    [['client', '--disabled', 'yes'], 'clients', 0],
    [['connection', '--builder', 'buil_a', '--status', 'active', '--scope', 'read:projects'], 'connections', 1],
    [['connection', '--status', 'revoked'], 'connections', 0],
    [['user', '--email', 'SAM@', '--password', 'no', '--staff', 'no', '--builder', 'buil_a'], 'users', 1],
    [['user', '--builder', 'buil_b'], 'users', 0],
    [['membership', '--user', MAIL, '--role', 'ADMIN'], 'memberships', 1],
    [['image-host', '--host', 'example'], 'hosts', 1],
    [['image-host', '--region', 'us1'], 'hosts', 0],
  ])('filters with %j', async ([group, ...filter], name, count) => {
    expect((await cli.json([group!, 'list', ...filter]))[name]).toHaveLength(count);
  });

  it('prints a table', async () => {
    const { out } = await cli.run(['membership', 'list']);
    expect(out).toMatch(/^userId +builderId +role +createdAt\nuser_\w+ +buil_a +ADMIN +2026-06-01T00:00:00.000Z\n$/);
  });

  it.each([
    [['client', 'list', '--type', 'secret'], '--type: "secret" is not one of confidential, public.'],
    [['connection', 'list', '--cursor', 'x'], '--cursor: "x" is not the cursor of a page.'],
    [['user', 'list', '--limit', '1001'], /at most 1000/],
    [['user', 'list', '--staff', 'perhaps'], /yes or no/],
  ])('rejects %j', async (args, message) => {
    expect(await cli.errorOf(args)).toMatch(message);
  });
});

describe('show', () => {
  it('shows an integrator, a client, a connection, a user, a membership and an image host', async () => {
    const stamps = { createdAt: toTimestamp(CLI_START), updatedAt: toTimestamp(CLI_START) };
    expect(await cli.json(['integrator', 'show', integrator])).toMatchObject({
      ...{ integratorId: integrator, name: 'Site Sync', ...stamps },
      ...{ clients: [{ clientId: client }], connections: [{ builderId: 'buil_a', status: 'ACTIVE' }] },
    });
    const shown = await cli.json(['client', 'show', client]);
    expect(shown).toMatchObject({ integratorName: 'Site Sync', redirectUris: [CALLBACK], disabledAt: null });
    expect(shown.secrets).toEqual([{ secretId: expect.any(Number), createdAt: toTimestamp(CLI_START) }]);
    const connection = ['--integrator', integrator, '--builder', 'buil_a'];
    expect(await cli.json(['connection', 'show', ...connection])).toMatchObject({ scopes: ['read:projects'] });
    expect(await cli.json(['user', 'show', MAIL])).toMatchObject({
      ...{ userId: user, hasPassword: false, staffRole: null },
      memberships: [{ builderId: 'buil_a', role: 'ADMIN' }],
    });
    expect(await cli.json(['membership', 'show', '--user', user, '--builder', 'buil_a'])).toMatchObject({
      role: 'ADMIN',
    });
    expect(await cli.json(['image-host', 'show', 'Images.example.com'])).toMatchObject({
      createdAt: toTimestamp(CLI_START),
    });
  });

  it('contains no secret, digest or password hash', async () => {
    const { clientSecret } = await cli.json(['client', 'rotate-secret', client]);
    for (const args of [
      ['client', 'show', client],
      ['client', 'list'],
      ['user', 'show', user],
      ['user', 'list'],
    ]) {
      const { out } = await cli.run([...args, '--json']);
      expect(out).not.toMatch(/digest|passwordHash|argon2/);
      expect(out).not.toContain(clientSecret);
    }
  });

  it.each([
    [['integrator', 'show', 'intg_none'], 'INTEGRATOR: there is no integrator intg_none in au1.'],
    [['client', 'show', 'cli_none'], 'CLIENT: there is no client cli_none in au1.'],
    [['client', 'show', 'x'], /^CLIENT: "x" is not an id/],
    [['user', 'show', 'nobody@example.com'], 'USER: there is no user nobody@example.com in au1.'],
    [['membership', 'show', '--user', MAIL, '--builder', 'buil_b'], `--user: ${MAIL} is not a member of buil_b.`],
    [['image-host', 'show', 'other.example.com'], 'HOST: other.example.com is not approved in au1.'],
  ])('rejects %j', async (args, message) => {
    expect(await cli.errorOf(args)).toMatch(message);
  });
});

describe('update', () => {
  it('replaces only the properties that are given', async () => {
    const updated = await cli.json(['client', 'update', client, '--name', 'New', '--scope', 'read:builders']);
    expect(updated).toMatchObject({ changed: true, name: 'New', scopes: ['read:builders'], redirectUris: [CALLBACK] });
    expect(await cli.json(['client', 'update', client, '--name', 'New'])).toMatchObject({ changed: false });
    expect(await cli.json(['client', 'update', client, '--no-redirect-uris'])).toMatchObject({ redirectUris: [] });
    const grants = ['--grant', 'client_credentials'];
    expect(await cli.json(['client', 'update', client, ...grants])).toMatchObject({ grants: ['client_credentials'] });
  });

  it('keeps the pilot agreement with its scope, and removes it with the scope (ACC-9)', async () => {
    const update = (...args: string[]) => ['client', 'update', client, ...args];
    const pilot = ['--scope', 'write:sign_on_events read:builders'];
    expect(await cli.errorOf(update(...pilot))).toBe('--pilot-agreement: is required for write:sign_on_events.');
    await cli.json(update(...pilot, '--pilot-agreement', 'PILOT-7'));
    expect(await cli.json(update('--name', 'Gate'))).toMatchObject({ pilotAgreement: 'PILOT-7' });
    expect(await cli.json(update('--scope', 'read:builders'))).toMatchObject({ pilotAgreement: null });
  });

  it('updates an integrator, a connection, a user and a membership', async () => {
    const schemes = ['--deep-link-scheme', 'sitesync'];
    expect(await cli.json(['integrator', 'update', integrator, ...schemes])).toMatchObject({
      ...{ name: 'Site Sync', deepLinkSchemes: ['sitesync'], changed: true },
    });
    expect(await cli.json(['integrator', 'update', integrator, '--no-deep-link-schemes'])).toMatchObject({
      deepLinkSchemes: [],
    });
    const connection = ['--integrator', integrator, '--builder', 'buil_a', '--scope', 'read:photos'];
    expect(await cli.json(['connection', 'update', ...connection])).toMatchObject({ scopes: ['read:photos'] });
    expect(await cli.json(['user', 'update', MAIL, '--name', 'Sam Lee'])).toMatchObject({
      name: 'Sam Lee',
      email: MAIL,
    });
    const membership = ['--user', MAIL, '--builder', 'buil_a', '--role', 'MANAGER'];
    expect(await cli.json(['membership', 'update', ...membership])).toMatchObject({ role: 'MANAGER', changed: true });
  });

  it.each([
    [
      ['client', 'update', 'CLIENT', '--redirect-uri', 'http://a.com/cb'],
      '--redirect-uri: requires authorization_code.',
    ],
    [['client', 'update', 'CLIENT', '--scope', 'read:attendance'], '--scope: read:attendance is for internal clients.'],
    [['client', 'update', 'CLIENT', '--origin', 'https://a.com'], '--origin: only a public client runs in browsers.'],
    [['client', 'update', 'cli_none', '--name', 'x'], 'CLIENT: there is no client cli_none in au1.'],
    [['user', 'update', MAIL, '--email', 'x'], '--email: "x" is not an e-mail address.'],
    [
      ['user', 'update', MAIL, '--email', 'User_a1@Erased.invalid'],
      '--email: "User_a1@Erased.invalid" is an address of an erased user.',
    ],
    [
      ['user', 'update', MAIL, '--email', 'user_a1@era\u017fed.invalid'],
      '--email: "user_a1@era\u017fed.invalid" is an address of an erased user.',
    ],
    [['user', 'update', MAIL, '--role', 'ADMIN'], `--role: ${MAIL} is not a staff user, and cannot become one.`],
  ])('rejects %j', async (args, message) => {
    expect(await cli.errorOf(args.map((each) => (each === 'CLIENT' ? client : each)))).toBe(message);
  });

  it('rejects the e-mail address of another user', async () => {
    await cli.json(['user', 'create', '--email', 'kim@example.com', '--name', 'Kim', '--no-password']);
    expect(await cli.errorOf(['user', 'update', MAIL, '--email', 'kim@example.com'])).toBe(
      '--email: au1 has a user kim@example.com already.',
    );
  });

  it('rejects a revoked connection', async () => {
    const key = ['--integrator', integrator, '--builder', 'buil_a'];
    await cli.json(['connection', 'revoke', ...key]);
    expect(await cli.errorOf(['connection', 'update', ...key, '--scope', 'read:photos'])).toMatch(/is revoked\.$/);
  });
});

describe('--version', () => {
  it('prints the version of the service', async () => {
    expect(await cli.run(['--version'])).toEqual({ code: 0, out: `${VERSION}\n`, err: '' });
  });
});
