import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Connection } from '../../entities/connection.entity.ts';
import { Integrator } from '../../entities/integrator.entity.ts';
import { isId } from '../../schema/ids.ts';
import { CLI_START, seedBuilders, toTimestamp, useCli } from './cli-harness.ts';

const cli = useCli();
let integrator: string;

beforeAll(async () => {
  ({ integratorId: integrator } = await cli.json(['integrator', 'create', '--name', 'Site Sync']));
  await seedBuilders(cli);
});

beforeEach(() => {
  cli.clock.at = CLI_START;
});
const em = () => cli.databases.au1.fork();

describe('integrator create', () => {
  const create = (...args: string[]) => ['integrator', 'create', ...args];

  it('registers an integrator with its deep-link schemes, without duplicates and in lower case', async () => {
    const schemes = ['SiteSync', 'site-sync.v2', 'sitesync', 'Null'].flatMap((scheme) => [
      '--deep-link-scheme',
      scheme,
    ]);
    const created = await cli.json(create('--name', '  Site Sync  ', ...schemes));
    const expected = {
      name: 'Site Sync',
      deepLinkSchemes: ['sitesync', 'site-sync.v2', 'null'],
      createdAt: toTimestamp(CLI_START),
    };
    expect(created).toEqual({ regionId: 'au1', integratorId: created.integratorId, ...expected });
    expect(isId('integrator', created.integratorId)).toBe(true);
    const row = await em().findOneOrFail(Integrator, created.integratorId);
    expect({ ...row }).toEqual({ id: created.integratorId, updatedAt: toTimestamp(CLI_START), ...expected });
  });

  it('registers it only in the given region', async () => {
    const { regionId, integratorId } = await cli.json(create('--name', 'Other', '--region', 'us1'));
    expect(regionId).toBe('us1');
    expect(await em().findOne(Integrator, integratorId)).toBeNull();
    expect(await cli.databases.us1.fork().findOne(Integrator, integratorId)).not.toBeNull();
  });

  it('prints the new integrator as text without --json', async () => {
    const { code, out, err } = await cli.run(create('--name', 'Site Sync', '--deep-link-scheme', 'sitesync'));
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out).toMatch(/^Integrator registered\.\n {2}integratorId {5}intg_\w+\n {2}name +Site Sync\n/);
  });

  it.each([
    ['no name', [], /--name/],
    ['an empty name', ['--name', '  '], /^--name: must not be empty\.$/],
    ['a name of several lines', ['--name', 'Site\nSync'], /^--name: must be one line/],
    ['a very long name', ['--name', 'x'.repeat(161)], /^--name: must have at most 160/],
    ['a scheme with a colon', ['--name', 'x', '--deep-link-scheme', 'app:'], /^--deep-link-scheme: "app:" is not a/],
    [
      'https as a scheme',
      ['--name', 'x', '--deep-link-scheme', 'https'],
      /^--deep-link-scheme: "https" is always allowed\.$/,
    ],
    [
      'a reserved scheme',
      ['--name', 'x', '--deep-link-scheme', 'JavaScript'],
      /^--deep-link-scheme: .* is reserved\.$/,
    ],
    ['another region', ['--name', 'x', '--region', 'eu1'], /--region .*au1, us1/],
    ['an unknown option', ['--name', 'x', '--nam', 'x'], /'--nam'/],
  ])('rejects %s', async (_case, args, message) => {
    expect(await cli.errorOf(create(...args))).toMatch(message);
  });
});

describe('connection create and revoke', () => {
  const both = (builder: string) => ['--integrator', integrator, '--builder', builder];
  const create = (builder: string, ...args: string[]) => ['connection', 'create', ...both(builder), ...args];
  const revoke = (builder: string) => ['connection', 'revoke', ...both(builder)];
  const scopes = (text: string) => ['--scope', text];

  it('create, revoke and reactivate a connection with other scopes (ACC-2)', async () => {
    const created = await cli.json(create('buil_a', ...scopes('read:projects read:builders')));
    const base = { regionId: 'au1', integratorId: integrator, builderId: 'buil_a' };
    const first = { ...base, scopes: ['read:builders', 'read:projects'] };
    expect(created).toEqual({ ...first, status: 'ACTIVE', change: 'created' });
    cli.clock.at = CLI_START + 1000;
    expect(await cli.json(revoke('buil_a'))).toEqual({ ...first, status: 'REVOKED', changed: true });
    expect(await cli.json(revoke('buil_a'))).toEqual({ ...first, status: 'REVOKED', changed: false });
    cli.clock.at = CLI_START + 2000;
    const again = await cli.json(create('buil_a', ...scopes('read:swms')));
    expect(again).toEqual({ ...base, scopes: ['read:swms'], status: 'ACTIVE', change: 'reactivated' });
    const rows = await em().find(Connection, { integratorId: integrator, builderId: 'buil_a' });
    const stamps = { createdAt: toTimestamp(CLI_START), updatedAt: toTimestamp(CLI_START + 2000) };
    expect(rows.map((row) => ({ ...row }))).toEqual([
      {
        id: rows[0]!.id,
        ...stamps,
        integratorId: integrator,
        builderId: 'buil_a',
        status: 'ACTIVE',
        scopes: ['read:swms'],
        activeAfter: null,
      },
    ]);
  });

  it('reject a second connection unless --replace changes its scopes', async () => {
    const args = create('buil_b', ...scopes('read:swms'));
    const attempts = await Promise.all(Array.from({ length: 4 }, () => cli.run([...args, '--json'])));
    expect(attempts.map(({ code }) => code).sort()).toEqual([0, 1, 1, 1]);
    const problem = `${integrator} is connected to buil_b already; update the connection to change its scopes`;
    for (const { code, err } of attempts) if (code) expect(err).toBe(`{"error":"--builder: ${problem}."}\n`);
    const replaced = await cli.json(create('buil_b', ...scopes('read:projects'), '--replace'));
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
      'an invalid builder',
      () => create('a', '--scope', 'read:swms'),
      '--builder: "a" is not an id such as buil_a1b2c3.',
    ],
    ['no scope', () => create('buil_a'), '--scope: at least one is required.'],
    [
      'an internal scope',
      () => create('buil_a', '--scope', 'read:attendance'),
      '--scope: read:attendance is for internal clients, which require no connection.',
    ],
    [
      'an unknown integrator',
      () => ['connection', 'create', '--integrator', 'intg_x', '--builder', 'buil_a', '--scope', 'read:swms'],
      '--integrator: there is no integrator intg_x in au1.',
    ],
  ])('reject %s', async (_case, args, message) => {
    expect(await cli.errorOf(args())).toBe(message);
  });

  it('reject the revocation of a connection that never existed', async () => {
    const { integratorId } = await cli.json(['integrator', 'create', '--name', 'Stranger']);
    const args = ['connection', 'revoke', '--integrator', integratorId, '--builder', 'buil_a'];
    expect(await cli.errorOf(args)).toBe(`--builder: ${integratorId} was never connected to buil_a.`);
  });
});
