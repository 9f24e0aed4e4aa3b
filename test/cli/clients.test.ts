import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ClientSecret } from '../../entities/client-secret.entity.ts';
import { GRANTS, OAuthClient } from '../../entities/oauth-client.entity.ts';
import { SCOPES } from '../../schema/scopes.ts';
import { findClient } from '../../src/oauth/clients.ts';
import { isSecretOf } from '../../src/shared/secrets.ts';
import { at, type Operator, START, startOperator } from './operator.ts';

let operator: Operator;
let integrator: string;

beforeAll(async () => {
  operator = await startOperator();
  ({ integratorId: integrator } = await operator.json(['integrator', 'create', '--name', 'Site Sync']));
});
beforeEach(() => {
  operator.clock.at = START;
});
afterAll(() => operator.close());

const em = () => operator.databases.au1.fork();

describe('client create', () => {
  const create = (...args: string[]) => ['client', 'create', '--name', 'App', ...args];
  const ours = (...args: string[]) => create('--integrator', integrator, '--scope', 'read:builders', ...args);

  it('registers a confidential client for every grant and gives its secret, of which it keeps a digest (OAU-4, OAU-6)', async () => {
    const scope = ['--scope', 'read:projects read:builders', '--scope', 'read:projects'];
    const made = await operator.json(create('--integrator', integrator, ...scope));
    const { clientId, clientSecret, ...rest } = made;
    const scopes = ['read:builders', 'read:projects'];
    expect(rest).toEqual({
      ...{ regionId: 'au1', integratorId: integrator, internal: false, name: 'App', type: 'confidential' },
      ...{ grants: [...GRANTS], scopes, redirectUris: [], origins: [], pilotAgreement: null },
      createdAt: at(START),
    });
    const client = await findClient([operator.databases.au1], clientId);
    expect(client).toMatchObject({ type: 'CONFIDENTIAL', grants: [...GRANTS], scopes });
    expect(isSecretOf(clientSecret, client!.digests)).toBe(true);
    expect(JSON.stringify(await em().find(ClientSecret, { clientId }))).not.toContain(clientSecret);
  });

  it('registers the redirect URIs of a confidential client that names no grant', async () => {
    const made = await operator.json(ours('--redirect-uri', 'https://app.example.com/cb'));
    expect(made).toMatchObject({ grants: [...GRANTS], redirectUris: ['https://app.example.com/cb'] });
  });

  it.each([
    [['client_credentials'], []],
    [['authorization_code'], ['--redirect-uri', 'https://app.example.com/cb']],
    [
      ['authorization_code', 'refresh_token'],
      ['--redirect-uri', 'https://app.example.com/cb'],
    ],
  ])('registers a confidential client for the grants %j alone when --grant names them', async (grants, more) => {
    const made = await operator.json(ours(...grants.flatMap((grant) => ['--grant', grant]), ...more));
    expect(made.grants).toEqual(grants);
  });

  it('leaves the grants of a client that was registered before (OAU-4)', async () => {
    const { clientId } = await operator.json(ours('--grant', 'client_credentials'));
    for (const command of ['rotate-secret', 'disable', 'enable']) await operator.json(['client', command, clientId]);
    expect((await em().findOneOrFail(OAuthClient, clientId)).grants).toEqual(['client_credentials']);
  });

  it('registers a public client with PKCE in mind: no secret, redirect URIs, origins', async () => {
    const uris = ['https://app.example.com/cb', 'http://127.0.0.1:8123/cb', 'com.example.app:/cb'];
    const origins = ['https://app.example.com', 'http://localhost:3000'];
    const args = [
      ...uris.flatMap((uri) => ['--redirect-uri', uri]),
      ...origins.flatMap((origin) => ['--origin', origin]),
    ];
    const made = await operator.json(ours('--type', 'public', ...args));
    const grants = ['authorization_code', 'refresh_token'];
    expect(made).toMatchObject({ type: 'public', clientSecret: null, grants, redirectUris: uris, origins });
    expect(await em().count(ClientSecret, { clientId: made.clientId })).toBe(0);
  });

  it('registers an internal client, which alone may hold read:attendance (ACC-16)', async () => {
    const made = await operator.json(create('--internal', '--scope', 'read:attendance read:projects'));
    const scopes = ['read:projects', 'read:attendance'];
    const grants = ['client_credentials'];
    expect(made).toMatchObject({ internal: true, integratorId: null, type: 'confidential', grants, scopes });
    expect(made.clientSecret).toMatch(/^[\w-]{43}$/);
  });

  it('keeps the agreement under which write:sign_on_events is granted (ACC-9)', async () => {
    const { clientId } = await operator.json(
      ours('--scope', 'write:sign_on_events', '--pilot-agreement', 'PILOT-2026-07'),
    );
    const client = await em().findOneOrFail(OAuthClient, clientId);
    expect(client).toMatchObject({
      pilotAgreement: 'PILOT-2026-07',
      scopes: ['read:builders', 'write:sign_on_events'],
    });
  });

  it('shows the secret once, to people too (OAU-6)', async () => {
    const { out } = await operator.run(ours());
    expect(out).toMatch(/^Client registered\. This secret is not shown again\.\n {2}clientId +cli_\w+\n/);
    expect(out).toMatch(/\n {2}clientSecret +[\w-]{43}\n/);
  });

  it.each([
    [
      'neither an integrator nor --internal',
      ['--scope', 'read:builders'],
      /^--integrator: is needed, or --internal\.$/,
    ],
    [
      'a misshapen integrator',
      ['--integrator', 'buil_a', '--scope', 'read:builders'],
      /^--integrator: "buil_a" is not/,
    ],
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
      /^--grant: an internal client uses client_credentials alone\.$/,
    ],
  ])('refuses %s', async (_case, args, message) => {
    expect(await operator.refusal(create(...args))).toMatch(message);
  });

  it('refuses an integrator for an internal client', async () => {
    expect(await operator.refusal(ours('--internal'))).toMatch(/^--internal: .*no integrator/);
  });

  it.each([
    ['no scope', [], /^--scope: at least one is needed\.$/],
    ['an unknown scope', ['--scope', 'read:everything'], /^--scope: "read:everything" is no scope; there are read:b/],
    ['read:attendance without --internal', ['--scope', 'read:attendance'], /^--scope: read:attendance is for internal/],
    ['write:sign_on_events without agreement', ['--scope', 'write:sign_on_events'], /^--pilot-agreement: .*needs/],
    ['an agreement for nothing', ['--scope', 'read:builders', '--pilot-agreement', 'P'], /^--pilot-agreement: is only/],
    [
      'an empty agreement',
      ['--scope', 'write:sign_on_events', '--pilot-agreement', ' '],
      /^--pilot-agreement: must not be empty/,
    ],
  ])('refuses %s', async (_case, args, message) => {
    expect(await operator.refusal(create('--integrator', integrator, ...args))).toMatch(message);
  });

  it.each([
    ['an unknown type', ['--type', 'secret'], /--type .*confidential, public/],
    ['an unknown grant', ['--grant', 'password'], /^--grant: "password" is no grant; there are client_credentials/],
    ['a public client with client credentials', ['--type', 'public', '--grant', 'client_credentials'], /^--grant: /],
    ['refreshing without signing in', ['--grant', 'refresh_token'], /^--grant: refresh_token needs authorization_code/],
    ['signing in without a redirect URI', ['--type', 'public'], /^--redirect-uri: .*at least one\.$/],
    [
      'the code flow of a confidential client without a redirect URI',
      ['--grant', 'authorization_code'],
      /^--redirect-uri: authorization_code needs at least one\.$/,
    ],
    [
      'a redirect URI of no use',
      ['--grant', 'client_credentials', '--redirect-uri', 'https://a.com/cb'],
      /^--redirect-uri: is of no use/,
    ],
    [
      'a redirect URI that cannot be one',
      ['--grant', 'authorization_code', '--redirect-uri', 'https://a.com/', '--redirect-uri', 'http://a.com/'],
      /^--redirect-uri: "http:\/\/a.com\/" must be https/,
    ],
    [
      'an origin that is none',
      ['--type', 'public', '--redirect-uri', 'https://a.com/cb', '--origin', 'https://a.com/'],
      /^--origin: "https:\/\/a.com\/" is not an origin; a browser would send https:\/\/a.com\.$/,
    ],
    ['an origin of a confidential client', ['--origin', 'https://a.com'], /^--origin: only a public client/],
  ])('refuses %s', async (_case, args, message) => {
    expect(await operator.refusal(ours(...args))).toMatch(message);
  });
});

describe('client rotate-secret', () => {
  const rotate = (id: string) => operator.json(['client', 'rotate-secret', id]);
  const create = (...args: string[]) =>
    operator.json(['client', 'create', '--name', 'App', '--integrator', integrator, '--scope', SCOPES[0], ...args]);
  const validFor = async (id: string, secrets: string[]) => {
    const { digests } = (await findClient([operator.databases.au1], id))!;
    return secrets.map((secret) => isSecretOf(secret, digests));
  };

  it('adds a secret; the newest two are valid and older ones are gone (OAU-6)', async () => {
    const { clientId, clientSecret } = await create();
    const secrets = [clientSecret];
    for (const minutes of [1, 2]) {
      operator.clock.at = START + minutes * 60_000;
      const rotated = await rotate(clientId);
      expect(rotated).toMatchObject({ regionId: 'au1', clientId, validSecrets: 2, dropped: minutes - 1 });
      secrets.push(rotated.clientSecret);
    }
    expect(await validFor(clientId, secrets)).toEqual([false, true, true]);
    expect(await em().count(ClientSecret, { clientId })).toBe(2);
  });

  it('makes the new secret valid where the clock was ahead before', async () => {
    operator.clock.at = START + 60_000;
    const { clientId, clientSecret } = await create();
    operator.clock.at = START;
    const second = (await rotate(clientId)).clientSecret;
    const third = (await rotate(clientId)).clientSecret;
    expect(await validFor(clientId, [clientSecret, second, third])).toEqual([false, true, true]);
  });

  it('leaves two when many rotate at once', async () => {
    const { clientId } = await create();
    const rotated = await Promise.all(Array.from({ length: 4 }, () => rotate(clientId)));
    const valid = await validFor(
      clientId,
      rotated.map(({ clientSecret }) => clientSecret),
    );
    expect(valid.filter(Boolean)).toHaveLength(2);
    expect(await em().count(ClientSecret, { clientId })).toBe(2);
  });

  it('refuses a public client, an unknown one and a misshapen id', async () => {
    const { clientId } = await create('--type', 'public', '--redirect-uri', 'https://a.com/cb');
    const refusal = (id: string) => operator.refusal(['client', 'rotate-secret', id]);
    expect(await refusal(clientId)).toBe(`CLIENT: ${clientId} is a public client and has no secret.`);
    expect(await refusal('cli_x')).toBe('CLIENT: there is no client cli_x in au1.');
    expect(await refusal('nobody')).toMatch(/^CLIENT: "nobody" is not an id such as cli_/);
  });
});

describe('client disable and enable', () => {
  it('end the access and give it back; a second time changes nothing (ACC-5)', async () => {
    const args = ['client', 'create', '--name', 'App', '--integrator', integrator, '--scope', SCOPES[0]];
    const { clientId } = await operator.json(args);
    operator.clock.at = START + 1000;
    const disabled = { regionId: 'au1', clientId, name: 'App', disabledAt: at(START + 1000) };
    expect(await operator.json(['client', 'disable', clientId])).toEqual({ ...disabled, changed: true });
    expect(await findClient([operator.databases.au1], clientId)).toBeNull();
    operator.clock.at = START + 2000;
    expect(await operator.json(['client', 'disable', clientId])).toEqual({ ...disabled, changed: false });
    const enabled = { ...disabled, disabledAt: null };
    expect(await operator.json(['client', 'enable', clientId])).toEqual({ ...enabled, changed: true });
    expect(await operator.json(['client', 'enable', clientId])).toEqual({ ...enabled, changed: false });
    expect(await findClient([operator.databases.au1], clientId)).not.toBeNull();
    expect((await em().findOneOrFail(OAuthClient, clientId)).updatedAt).toBe(at(START + 2000));
  });

  it('refuse an unknown client', async () => {
    expect(await operator.refusal(['client', 'disable', 'cli_x'])).toBe('CLIENT: there is no client cli_x in au1.');
    expect(await operator.refusal(['client', 'enable', 'cli_x'])).toBe('CLIENT: there is no client cli_x in au1.');
    expect(await operator.refusal(['client', 'disable'])).toMatch(/'client'/);
  });
});
