import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ClientSecret } from '../../entities/client-secret.entity.ts';
import { GRANTS, OAuthClient } from '../../entities/oauth-client.entity.ts';
import { SCOPES } from '../../schema/scopes.ts';
import { findSecretsOf } from '../../src/domain/access/batched-access.ts';
import { findClient } from '../../src/oauth/clients.ts';
import { isSecretOf } from '../../src/shared/secrets.ts';
import { CLI_START, toTimestamp, useCli } from './cli-harness.ts';

const cli = useCli();
let integrator: string;

beforeAll(async () => {
  ({ integratorId: integrator } = await cli.json(['integrator', 'create', '--name', 'Site Sync']));
});

beforeEach(() => {
  cli.clock.at = CLI_START;
});
const em = () => cli.databases.au1.fork();

describe('client create', () => {
  const create = (...args: string[]) => ['client', 'create', '--name', 'App', ...args];
  const ours = (...args: string[]) => create('--integrator', integrator, '--scope', 'read:builders', ...args);

  it('registers a confidential client for every grant, prints its secret and stores only a digest (OAU-4, OAU-6)', async () => {
    const scope = ['--scope', 'read:projects read:builders', '--scope', 'read:projects'];
    const created = await cli.json(create('--integrator', integrator, ...scope));
    const { clientId, clientSecret, ...rest } = created;
    const scopes = ['read:builders', 'read:projects'];
    expect(rest).toEqual({
      ...{ regionId: 'au1', integratorId: integrator, internal: false, name: 'App', type: 'confidential' },
      ...{ grants: [...GRANTS], scopes, redirectUris: [], origins: [], pilotAgreement: null },
      createdAt: toTimestamp(CLI_START),
    });
    const client = await findClient([cli.databases.au1], clientId);
    expect(client).toMatchObject({ type: 'CONFIDENTIAL', grants: [...GRANTS], scopes });
    expect(isSecretOf(clientSecret, client!.digests)).toBe(true);
    expect(JSON.stringify(await em().find(ClientSecret, { clientId }))).not.toContain(clientSecret);
  });

  it('registers the redirect URIs of a confidential client without --grant', async () => {
    const created = await cli.json(ours('--redirect-uri', 'https://app.example.com/cb'));
    expect(created).toMatchObject({ grants: [...GRANTS], redirectUris: ['https://app.example.com/cb'] });
  });

  it.each([
    [['client_credentials'], []],
    [['authorization_code'], ['--redirect-uri', 'https://app.example.com/cb']],
    [
      ['authorization_code', 'refresh_token'],
      ['--redirect-uri', 'https://app.example.com/cb'],
    ],
  ])('registers a confidential client only for the grants %j of --grant', async (grants, more) => {
    const created = await cli.json(ours(...grants.flatMap((grant) => ['--grant', grant]), ...more));
    expect(created.grants).toEqual(grants);
  });

  it('updates one redirect URI with a comma to the two that were meant', async () => {
    const [one, other] = ['https://app.example.com/cb', 'https://app.example.com/other'];
    const { clientId } = await cli.json(ours('--redirect-uri', `${one},${other}`));
    const update = ['client', 'update', clientId, '--redirect-uri', one, '--redirect-uri', other];
    expect(await cli.json(update)).toMatchObject({ redirectUris: [one, other], changed: true });
    expect((await em().findOneOrFail(OAuthClient, clientId)).redirectUris).toEqual([one, other]);
    expect(await cli.json(update)).toMatchObject({ changed: false });
  });

  it('does not change the grants of an existing client (OAU-4)', async () => {
    const { clientId } = await cli.json(ours('--grant', 'client_credentials'));
    for (const command of ['rotate-secret', 'disable', 'enable']) await cli.json(['client', command, clientId]);
    expect((await em().findOneOrFail(OAuthClient, clientId)).grants).toEqual(['client_credentials']);
  });

  it('registers a public client with redirect URIs and origins, and without a secret', async () => {
    const uris = ['https://app.example.com/cb', 'http://127.0.0.1:8123/cb', 'com.example.app:/cb'];
    const origins = ['https://app.example.com', 'http://localhost:3000'];
    const args = [
      ...uris.flatMap((uri) => ['--redirect-uri', uri]),
      ...origins.flatMap((origin) => ['--origin', origin]),
    ];
    const created = await cli.json(ours('--type', 'public', ...args));
    const grants = ['authorization_code', 'refresh_token'];
    expect(created).toMatchObject({ type: 'public', clientSecret: null, grants, redirectUris: uris, origins });
    expect(await em().count(ClientSecret, { clientId: created.clientId })).toBe(0);
  });

  it('registers an internal client with the internal scope read:attendance (ACC-16)', async () => {
    const created = await cli.json(create('--internal', '--scope', 'read:attendance read:projects'));
    const scopes = ['read:projects', 'read:attendance'];
    const grants = ['client_credentials'];
    expect(created).toMatchObject({ internal: true, integratorId: null, type: 'confidential', grants, scopes });
    expect(created.clientSecret).toMatch(/^[\w-]{43}$/);
  });

  it('stores the pilot agreement of write:sign_on_events (ACC-9)', async () => {
    const { clientId } = await cli.json(ours('--scope', 'write:sign_on_events', '--pilot-agreement', 'PILOT-2026-07'));
    const client = await em().findOneOrFail(OAuthClient, clientId);
    expect(client).toMatchObject({
      pilotAgreement: 'PILOT-2026-07',
      scopes: ['read:builders', 'write:sign_on_events'],
    });
  });

  it('prints the secret without --json too (OAU-6)', async () => {
    const { out } = await cli.run(ours());
    expect(out).toMatch(/^Client registered\. This secret is not shown again\.\n {2}clientId +cli_\w+\n/);
    expect(out).toMatch(/\n {2}clientSecret +[\w-]{43}\n/);
  });

  it.each([
    [
      'neither an integrator nor --internal',
      ['--scope', 'read:builders'],
      /^--integrator: is required, except for an internal client\.$/,
    ],
    ['an invalid integrator', ['--integrator', 'buil_a', '--scope', 'read:builders'], /^--integrator: "buil_a" is not/],
    [
      'an unknown integrator',
      ['--integrator', 'intg_x', '--scope', 'read:builders'],
      /^--integrator: .*intg_x in au1\.$/,
    ],
    [
      'an internal public client',
      ['--internal', '--type', 'public', '--scope', 'read:builders'],
      /^--type: .*internal/,
    ],
    [
      'an internal client that signs people in',
      ['--internal', '--grant', 'authorization_code', '--redirect-uri', 'https://a.com/', '--scope', 'read:builders'],
      /^--grant: an internal client only uses client_credentials\.$/,
    ],
  ])('rejects %s', async (_case, args, message) => {
    expect(await cli.errorOf(create(...args))).toMatch(message);
  });

  it('rejects an integrator for an internal client', async () => {
    expect(await cli.errorOf(ours('--internal'))).toMatch(/^--internal: .*no integrator/);
  });

  it.each([
    ['no scope', [], /^--scope: at least one is required\.$/],
    ['an unknown scope', ['--scope', 'read:everything'], /^--scope: "read:everything" is not a scope; use read:b/],
    ['read:attendance without --internal', ['--scope', 'read:attendance'], /^--scope: read:attendance is for internal/],
    ['write:sign_on_events without agreement', ['--scope', 'write:sign_on_events'], /^--pilot-agreement: is required/],
    [
      'an agreement without write:sign_on_events',
      ['--scope', 'read:builders', '--pilot-agreement', 'P'],
      /^--pilot-agreement: is only/,
    ],
    [
      'an empty agreement',
      ['--scope', 'write:sign_on_events', '--pilot-agreement', ' '],
      /^--pilot-agreement: must not be empty/,
    ],
  ])('rejects %s', async (_case, args, message) => {
    expect(await cli.errorOf(create('--integrator', integrator, ...args))).toMatch(message);
  });

  it.each([
    ['an unknown type', ['--type', 'secret'], /--type .*confidential, public/],
    ['an unknown grant', ['--grant', 'password'], /^--grant: "password" is not a grant; use client_credentials/],
    ['a public client with client credentials', ['--type', 'public', '--grant', 'client_credentials'], /^--grant: /],
    [
      'refreshing without signing in',
      ['--grant', 'refresh_token'],
      /^--grant: refresh_token requires authorization_code/,
    ],
    ['signing in without a redirect URI', ['--type', 'public'], /^--redirect-uri: .*at least one\.$/],
    [
      'the code flow of a confidential client without a redirect URI',
      ['--grant', 'authorization_code'],
      /^--redirect-uri: authorization_code requires at least one\.$/,
    ],
    [
      'a redirect URI without the code flow',
      ['--grant', 'client_credentials', '--redirect-uri', 'https://a.com/cb'],
      /^--redirect-uri: requires authorization_code/,
    ],
    [
      'an invalid redirect URI',
      ['--grant', 'authorization_code', '--redirect-uri', 'https://a.com/', '--redirect-uri', 'http://a.com/'],
      /^--redirect-uri: "http:\/\/a.com\/" must be https/,
    ],
    [
      'an invalid origin',
      ['--type', 'public', '--redirect-uri', 'https://a.com/cb', '--origin', 'https://a.com/'],
      /^--origin: "https:\/\/a.com\/" is not an origin; a browser would send https:\/\/a.com\.$/,
    ],
    ['an origin of a confidential client', ['--origin', 'https://a.com'], /^--origin: only a public client/],
  ])('rejects %s', async (_case, args, message) => {
    expect(await cli.errorOf(ours(...args))).toMatch(message);
  });
});

describe('client rotate-secret', () => {
  const rotate = (id: string) => cli.json(['client', 'rotate-secret', id]);
  const create = (...args: string[]) =>
    cli.json(['client', 'create', '--name', 'App', '--integrator', integrator, '--scope', SCOPES[0], ...args]);
  const validFor = async (id: string, secrets: string[]) => {
    const { digests } = (await findClient([cli.databases.au1], id))!;
    return secrets.map((secret) => isSecretOf(secret, digests));
  };

  it('adds a secret, keeps the newest two valid and deletes older ones (OAU-6)', async () => {
    const { clientId, clientSecret } = await create();
    const secrets = [clientSecret];
    for (const minutes of [1, 2]) {
      cli.clock.at = CLI_START + minutes * 60_000;
      const rotated = await rotate(clientId);
      expect(rotated).toMatchObject({ regionId: 'au1', clientId, validSecrets: 2, dropped: minutes - 1 });
      secrets.push(rotated.clientSecret);
    }
    expect(await validFor(clientId, secrets)).toEqual([false, true, true]);
    expect(await em().count(ClientSecret, { clientId })).toBe(2);
  });

  it('makes the new secret valid even if the clock was ahead before', async () => {
    cli.clock.at = CLI_START + 60_000;
    const { clientId, clientSecret } = await create();
    cli.clock.at = CLI_START;
    const second = (await rotate(clientId)).clientSecret;
    const third = (await rotate(clientId)).clientSecret;
    expect(await validFor(clientId, [clientSecret, second, third])).toEqual([false, true, true]);
    const ids = (await findSecretsOf(cli.databases.au1, [clientId])).get(clientId)!.map(({ id }) => id);
    expect(ids).toEqual(ids.toSorted((one, other) => other - one));
  });

  it('keeps two valid secrets after concurrent rotations', async () => {
    const { clientId } = await create();
    const rotated = await Promise.all(Array.from({ length: 4 }, () => rotate(clientId)));
    const valid = await validFor(
      clientId,
      rotated.map(({ clientSecret }) => clientSecret),
    );
    expect(valid.filter(Boolean)).toHaveLength(2);
    expect(await em().count(ClientSecret, { clientId })).toBe(2);
  });

  it('rejects a public client, an unknown client and an invalid id', async () => {
    const { clientId } = await create('--type', 'public', '--redirect-uri', 'https://a.com/cb');
    const errorOf = (id: string) => cli.errorOf(['client', 'rotate-secret', id]);
    expect(await errorOf(clientId)).toBe(`CLIENT: ${clientId} is a public client and has no secret.`);
    expect(await errorOf('cli_x')).toBe('CLIENT: there is no client cli_x in au1.');
    expect(await errorOf('nobody')).toMatch(/^CLIENT: "nobody" is not an id such as cli_/);
  });
});

describe('client disable and enable', () => {
  it('disable and enable a client, without effect the second time (ACC-5)', async () => {
    const args = ['client', 'create', '--name', 'App', '--integrator', integrator, '--scope', SCOPES[0]];
    const { clientId } = await cli.json(args);
    cli.clock.at = CLI_START + 1000;
    const disabled = { regionId: 'au1', clientId, name: 'App', disabledAt: toTimestamp(CLI_START + 1000) };
    expect(await cli.json(['client', 'disable', clientId])).toEqual({ ...disabled, changed: true });
    expect(await findClient([cli.databases.au1], clientId)).toBeNull();
    cli.clock.at = CLI_START + 2000;
    expect(await cli.json(['client', 'disable', clientId])).toEqual({ ...disabled, changed: false });
    const enabled = { ...disabled, disabledAt: null };
    expect(await cli.json(['client', 'enable', clientId])).toEqual({ ...enabled, changed: true });
    expect(await cli.json(['client', 'enable', clientId])).toEqual({ ...enabled, changed: false });
    expect(await findClient([cli.databases.au1], clientId)).not.toBeNull();
    expect((await em().findOneOrFail(OAuthClient, clientId)).updatedAt).toBe(toTimestamp(CLI_START + 2000));
  });

  it('reject an unknown client', async () => {
    expect(await cli.errorOf(['client', 'disable', 'cli_x'])).toBe('CLIENT: there is no client cli_x in au1.');
    expect(await cli.errorOf(['client', 'enable', 'cli_x'])).toBe('CLIENT: there is no client cli_x in au1.');
    expect(await cli.errorOf(['client', 'disable'])).toMatch(/'client'/);
  });
});
