import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ClientSecret } from '../../entities/client-secret.entity.ts';
import { Connection } from '../../entities/connection.entity.ts';
import { Integrator } from '../../entities/integrator.entity.ts';
import { OAuthClient } from '../../entities/oauth-client.entity.ts';
import { SCOPES } from '../../schema/scopes.ts';
import { isId } from '../../src/ids.ts';
import { findClient } from '../../src/oauth/clients.ts';
import { isSecretOf } from '../../src/oauth/secrets.ts';
import { at, type Operator, START, seedBuilders, startOperator } from './operator.ts';

let operator: Operator;
let integrator: string;

beforeAll(async () => {
  operator = await startOperator();
  ({ integratorId: integrator } = await operator.json(['integrator', 'create', '--name', 'Site Sync']));
  await seedBuilders(operator);
});
beforeEach(() => {
  operator.clock.at = START;
});
afterAll(() => operator.close());

const em = () => operator.databases.au1.fork();

describe('integrator create', () => {
  const create = (...args: string[]) => ['integrator', 'create', ...args];

  it('registers a vendor with its deep-link schemes, each once and in lower case', async () => {
    const schemes = ['SiteSync', 'site-sync.v2', 'sitesync'].flatMap((scheme) => ['--deep-link-scheme', scheme]);
    const made = await operator.json(create('--name', '  Site Sync  ', ...schemes));
    const expected = { name: 'Site Sync', deepLinkSchemes: ['sitesync', 'site-sync.v2'], createdAt: at(START) };
    expect(made).toEqual({ regionId: 'au1', integratorId: made.integratorId, ...expected });
    expect(isId('integrator', made.integratorId)).toBe(true);
    const row = await em().findOneOrFail(Integrator, made.integratorId);
    expect({ ...row }).toEqual({ id: made.integratorId, updatedAt: at(START), ...expected });
  });

  it('registers it in the region that is asked for and in no other', async () => {
    const { regionId, integratorId } = await operator.json(create('--name', 'Other', '--region', 'us1'));
    expect(regionId).toBe('us1');
    expect(await em().findOne(Integrator, integratorId)).toBeNull();
    expect(await operator.databases.us1.fork().findOne(Integrator, integratorId)).not.toBeNull();
  });

  it('says in words what it made', async () => {
    const { code, out, err } = await operator.run(create('--name', 'Site Sync', '--deep-link-scheme', 'sitesync'));
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out).toMatch(/^Integrator registered\.\n {2}integratorId {2}intg_\w+\n {2}name +Site Sync\n/);
  });

  it.each([
    ['no name', [], /--name/],
    ['an empty name', ['--name', '  '], /^--name: must not be empty\.$/],
    ['a name of several lines', ['--name', 'Site\nSync'], /^--name: must be one line/],
    ['a very long name', ['--name', 'x'.repeat(161)], /^--name: must have at most 160/],
    ['a scheme with a colon', ['--name', 'x', '--deep-link-scheme', 'app:'], /^--deep-link-scheme: "app:" is not a/],
    ['https', ['--name', 'x', '--deep-link-scheme', 'https'], /^--deep-link-scheme: "https" is always allowed\.$/],
    ['javascript', ['--name', 'x', '--deep-link-scheme', 'JavaScript'], /^--deep-link-scheme: .* no application\.$/],
    ['another region', ['--name', 'x', '--region', 'eu1'], /--region .*au1, us1/],
    ['an unknown option', ['--nam', 'x'], /'--nam'/],
  ])('refuses %s', async (_case, args, message) => {
    expect(await operator.refusal(create(...args))).toMatch(message);
  });
});

describe('client create', () => {
  const create = (...args: string[]) => ['client', 'create', '--name', 'App', ...args];
  const ours = (...args: string[]) => create('--integrator', integrator, '--scope', 'read:builders', ...args);
  const forPeople = (...args: string[]) => ours('--grant', 'authorization_code', ...args);

  it('registers a confidential client for client credentials and gives its secret, of which it keeps a digest', async () => {
    const scope = ['--scope', 'read:projects read:builders', '--scope', 'read:projects'];
    const made = await operator.json(create('--integrator', integrator, ...scope));
    const { clientId, clientSecret, ...rest } = made;
    const scopes = ['read:builders', 'read:projects'];
    expect(rest).toEqual({
      ...{ regionId: 'au1', integratorId: integrator, internal: false, name: 'App', type: 'confidential' },
      ...{ grants: ['client_credentials'], scopes, redirectUris: [], origins: [], pilotAgreement: null },
      createdAt: at(START),
    });
    const client = await findClient([operator.databases.au1], clientId);
    expect(client).toMatchObject({ type: 'CONFIDENTIAL', grants: ['client_credentials'], scopes });
    expect(isSecretOf(clientSecret, client!.digests)).toBe(true);
    expect(JSON.stringify(await em().find(ClientSecret, { clientId }))).not.toContain(clientSecret);
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

  it('registers an internal client, which alone may hold read:attendance', async () => {
    const made = await operator.json(create('--internal', '--scope', 'read:attendance read:projects'));
    const scopes = ['read:projects', 'read:attendance'];
    expect(made).toMatchObject({ internal: true, integratorId: null, type: 'confidential', scopes });
    expect(made.clientSecret).toMatch(/^[\w-]{43}$/);
  });

  it('keeps the agreement under which write:sign_on_events is granted', async () => {
    const { clientId } = await operator.json(
      ours('--scope', 'write:sign_on_events', '--pilot-agreement', 'PILOT-2026-07'),
    );
    const client = await em().findOneOrFail(OAuthClient, clientId);
    expect(client).toMatchObject({
      pilotAgreement: 'PILOT-2026-07',
      scopes: ['read:builders', 'write:sign_on_events'],
    });
  });

  it('shows the secret once, to people too', async () => {
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
    ['a redirect URI of no use', ['--redirect-uri', 'https://a.com/cb'], /^--redirect-uri: is of no use/],
    ['an origin of a confidential client', ['--origin', 'https://a.com'], /^--origin: only a public client/],
  ])('refuses %s', async (_case, args, message) => {
    expect(await operator.refusal(ours(...args))).toMatch(message);
  });

  it.each([
    ['a fragment', 'https://a.com/cb#x', 'has a fragment'],
    ['an empty fragment', 'https://a.com/cb#', 'has a fragment'],
    ['http elsewhere', 'http://a.com/cb', 'must be https'],
    ['a host that only begins like loopback', 'http://127.0.0.1.a.com/cb', 'must be https'],
    ['a script', 'javascript:alert(1)', 'must be https'],
    ['a scheme of no domain', 'myapp://cb', 'must be https'],
    ['credentials', 'https://user@a.com/cb', 'holds credentials'],
    ['a wildcard', 'https://*.a.com/cb', 'has a wildcard'],
    ['a path alone', '/cb', 'is not a URI'],
    ['a space', 'https://a.com/c b', 'is not a URI'],
    ['a backslash', 'https:\\\\a.com/cb', 'is not a URI'],
    ['missing slashes', 'https:a.com/cb', 'is not a URI'],
    ['great length', `https://a.com/${'x'.repeat(2000)}`, 'is longer than 2000'],
  ])('refuses a redirect URI with %s', async (_case, uri, message) => {
    expect(await operator.refusal(forPeople('--redirect-uri', uri))).toBe(
      await operator.refusal(forPeople('--redirect-uri', 'https://fine.com/', '--redirect-uri', uri)),
    );
    expect(await operator.refusal(forPeople('--redirect-uri', uri))).toContain(`--redirect-uri: "${uri}" ${message}`);
  });

  it.each([
    ['a path', 'https://a.com/', 'a browser would send https://a.com'],
    ['upper case', 'https://A.com', 'a browser would send https://a.com'],
    ['the default port', 'https://a.com:443', 'a browser would send https://a.com'],
    ['http elsewhere', 'http://a.com', 'must be https'],
    ['null', 'null', 'is not an origin'],
    ['any origin', '*', 'is not an origin'],
    ['a wildcard', 'https://*.a.com', 'has a wildcard'],
  ])('refuses an origin with %s', async (_case, origin, message) => {
    const args = ours('--type', 'public', '--redirect-uri', 'https://a.com/cb', '--origin', origin);
    const refusal = await operator.refusal(args);
    expect(refusal).toContain(`--origin: "${origin}"`);
    expect(refusal).toContain(message);
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

  it('adds a secret; the newest two are valid and older ones are gone', async () => {
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
  it('end the access and give it back; a second time changes nothing', async () => {
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

describe('connection create and revoke', () => {
  const both = (builder: string) => ['--integrator', integrator, '--builder', builder];
  const create = (builder: string, ...args: string[]) => ['connection', 'create', ...both(builder), ...args];
  const revoke = (builder: string) => ['connection', 'revoke', ...both(builder)];
  const scopes = (text: string) => ['--scope', text];

  it('connect, revoke, and connect again with other scopes', async () => {
    const made = await operator.json(create('buil_a', ...scopes('read:projects read:builders')));
    const base = { regionId: 'au1', integratorId: integrator, builderId: 'buil_a' };
    const first = { ...base, scopes: ['read:builders', 'read:projects'] };
    expect(made).toEqual({ ...first, status: 'ACTIVE', change: 'created' });
    operator.clock.at = START + 1000;
    expect(await operator.json(revoke('buil_a'))).toEqual({ ...first, status: 'REVOKED', changed: true });
    expect(await operator.json(revoke('buil_a'))).toEqual({ ...first, status: 'REVOKED', changed: false });
    operator.clock.at = START + 2000;
    const again = await operator.json(create('buil_a', ...scopes('read:swms')));
    expect(again).toEqual({ ...base, scopes: ['read:swms'], status: 'ACTIVE', change: 'reactivated' });
    const rows = await em().find(Connection, { integratorId: integrator, builderId: 'buil_a' });
    const stamps = { createdAt: at(START), updatedAt: at(START + 2000) };
    expect(rows.map((row) => ({ ...row }))).toEqual([
      {
        id: rows[0]!.id,
        ...stamps,
        integratorId: integrator,
        builderId: 'buil_a',
        status: 'ACTIVE',
        scopes: ['read:swms'],
      },
    ]);
  });

  it('refuse to connect twice, but for --replace, which changes the scopes', async () => {
    const args = create('buil_b', ...scopes('read:swms'));
    const attempts = await Promise.all(Array.from({ length: 4 }, () => operator.run([...args, '--json'])));
    expect(attempts.map(({ code }) => code).sort()).toEqual([0, 1, 1, 1]);
    const problem = `${integrator} is connected to buil_b already; --replace changes its scopes`;
    for (const { code, err } of attempts) if (code) expect(err).toBe(`{"error":"--builder: ${problem}."}\n`);
    const replaced = await operator.json(create('buil_b', ...scopes('read:projects'), '--replace'));
    expect(replaced).toMatchObject({ scopes: ['read:projects'], change: 'replaced' });
  });

  it.each([
    [
      'an unknown builder',
      () => create('buil_x', '--scope', 'read:swms'),
      '--builder: there is no builder buil_x in au1.',
    ],
    ['an unknown builder to revoke', () => revoke('buil_x'), '--builder: there is no builder buil_x in au1.'],
    [
      'a misshapen builder',
      () => create('a', '--scope', 'read:swms'),
      '--builder: "a" is not an id such as buil_a1b2c3.',
    ],
    ['no scope', () => create('buil_a'), '--scope: at least one is needed.'],
    [
      'an internal scope',
      () => create('buil_a', '--scope', 'read:attendance'),
      '--scope: read:attendance is for internal clients, which need no connection.',
    ],
    [
      'an unknown integrator',
      () => ['connection', 'create', '--integrator', 'intg_x', '--builder', 'buil_a', '--scope', 'read:swms'],
      '--integrator: there is no integrator intg_x in au1.',
    ],
  ])('refuse %s', async (_case, args, message) => {
    expect(await operator.refusal(args())).toBe(message);
  });

  it('refuse to revoke what was never there', async () => {
    const { integratorId } = await operator.json(['integrator', 'create', '--name', 'Stranger']);
    const args = ['connection', 'revoke', '--integrator', integratorId, '--builder', 'buil_a'];
    expect(await operator.refusal(args)).toBe(`--builder: ${integratorId} was never connected to buil_a.`);
  });
});
