import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Membership } from '../../entities/membership.entity.ts';
import { SiteAccess } from '../../entities/site-access.entity.ts';
import { User } from '../../entities/user.entity.ts';
import { Worker } from '../../entities/worker.entity.ts';
import { verifyPassword } from '../../src/domain/access/passwords.ts';
import { ConcurrentTransaction } from '../support/concurrent-transaction.ts';
import { useLongerTimeLimits } from '../support/longer-time-limits.ts';
import { CLI_START, seedBuilders, toTimestamp, useCli } from './cli-harness.ts';

const PASSWORD = 'correct horse battery';

const cli = useCli();

useLongerTimeLimits();
beforeAll(async () => {
  await seedBuilders(cli);
});

beforeEach(() => {
  cli.clock.at = CLI_START;
});
const em = () => cli.databases.au1.fork();
const createUserArguments = (email: string, ...args: string[]) => [
  'user',
  'create',
  '--email',
  email,
  '--name',
  'Sam Hill',
  ...args,
];
const addUser = (email: string) => cli.json(createUserArguments(email, '--password-stdin'), PASSWORD);

describe('user create', () => {
  it('registers a user with a password from stdin, stored as an argon2id hash', async () => {
    const created = await cli.json(createUserArguments('Sam@Example.com', '--password-stdin'), `${PASSWORD}\n`);
    const { userId, ...rest } = created;
    const shown = { email: 'sam@example.com', name: 'Sam Hill', createdAt: toTimestamp(CLI_START) };
    expect(rest).toEqual({ regionId: 'au1', ...shown, password: null });
    const { passwordHash, ...row } = { ...(await em().findOneOrFail(User, userId)) };
    expect(row).toEqual({
      id: userId,
      ...shown,
      pictureKey: null,
      oidcIssuer: null,
      oidcSubject: null,
      staffRole: null,
      disabledAt: null,
      updatedAt: toTimestamp(CLI_START),
    });
    expect(passwordHash).toMatch(/^\$argon2id\$/);
    expect(await verifyPassword(PASSWORD, passwordHash)).toBe(true);
  });

  it('generates and prints a password with --generate-password', async () => {
    const { userId, password } = await cli.json(createUserArguments('kim@example.com', '--generate-password'));
    expect(password).toMatch(/^[\w-]{20}$/);
    expect(await verifyPassword(password, (await em().findOneOrFail(User, userId)).passwordHash)).toBe(true);
    const { out } = await cli.run(createUserArguments('lee@example.com', '--generate-password'));
    expect(out).toMatch(/not shown again\.\n[\s\S]* {2}password +[\w-]{20}\n/);
  });

  it('registers only one of several concurrent users with the same e-mail address in different case', async () => {
    const emails = ['two@example.com', 'TWO@example.com', 'Two@Example.com'];
    const attempts = await Promise.all(
      emails.map((email) => cli.run(createUserArguments(email, '--generate-password'))),
    );
    expect(attempts.map(({ code }) => code).sort()).toEqual([0, 1, 1]);
    for (const { code, err } of attempts)
      if (code) expect(err).toBe('--email: au1 has a user two@example.com already.\n');
  });

  it.each([
    ['an invalid e-mail address', createUserArguments('sam', '--password-stdin'), /^--email: "sam" is not/],
    ['no e-mail address', ['user', 'create', '--name', 'Sam'], /--email/],
    ['no name', ['user', 'create', '--email', 'a@b.com'], /--name/],
    ['an empty name', ['user', 'create', '--email', 'a@b.com', '--name', '', '--password-stdin'], /^--name: must not/],
    [
      'no way to set the password',
      createUserArguments('a@b.com'),
      /^password: is required: use --password-stdin, --generate-p/,
    ],
  ])('rejects %s', async (_case, args, message) => {
    expect(await cli.errorOf(args, PASSWORD)).toMatch(message);
  });

  it.each([
    ['short', 'eleven-0001', /^password: must have at least 12 characters\.$/],
    ['long', 'x'.repeat(201), /^password: must have at most 200 characters\.$/],
    ['of two lines', 'correct\nhorse', /^password: must be one line of text\.$/],
  ])('rejects a password that is %s', async (_case, password, message) => {
    expect(await cli.errorOf(createUserArguments('a@b.com', '--password-stdin'), password)).toMatch(message);
  });
});

describe('user disable and enable', () => {
  it('disable and enable a user by id or e-mail address', async () => {
    const { userId } = await addUser('out@example.com');
    const disabled = { regionId: 'au1', userId, email: 'out@example.com', disabledAt: toTimestamp(CLI_START) };
    expect(await cli.json(['user', 'disable', userId])).toEqual({ ...disabled, changed: true });
    cli.clock.at = CLI_START + 1000;
    expect(await cli.json(['user', 'disable', 'Out@example.com'])).toEqual({ ...disabled, changed: false });
    const enabled = { ...disabled, disabledAt: null };
    expect(await cli.json(['user', 'enable', userId])).toEqual({ ...enabled, changed: true });
    expect((await em().findOneOrFail(User, userId)).updatedAt).toBe(toTimestamp(CLI_START + 1000));
  });

  it('reject an unknown user and an invalid id', async () => {
    const errorOf = (who: string) => cli.errorOf(['user', 'disable', who]);
    expect(await errorOf('user_x')).toBe('USER: there is no user user_x in au1.');
    expect(await errorOf('x@y.com')).toBe('USER: there is no user x@y.com in au1.');
    expect(await errorOf('Sam')).toBe('USER: "Sam" is not an id such as user_a1b2c3.');
  });
});

describe('membership add and remove', () => {
  const both = (user: string, builder: string) => ['--user', user, '--builder', builder];
  const add = (user: string, builder: string, ...args: string[]) => [
    'membership',
    'add',
    ...both(user, builder),
    ...args,
  ];
  const remove = (user: string, builder: string) => ['membership', 'remove', ...both(user, builder)];

  it('add a user to an account and remove the user again', async () => {
    const { userId } = await addUser('member@example.com');
    const member = {
      regionId: 'au1',
      userId,
      email: 'member@example.com',
      builderId: 'buil_a',
      builderName: 'Builder A',
    };
    expect(await cli.json(add(userId, 'buil_a', '--role', 'ADMIN'))).toEqual({ ...member, role: 'ADMIN' });
    const rows = await em().find(Membership, { userId });
    expect(rows).toMatchObject([
      { builderId: 'buil_a', role: 'ADMIN', createdAt: toTimestamp(CLI_START), updatedAt: toTimestamp(CLI_START) },
    ]);
    expect(await cli.json(remove('member@example.com', 'buil_a'))).toEqual({ ...member, role: 'ADMIN' });
    expect(await em().count(Membership, { userId })).toBe(0);
    expect(await cli.json(add(userId, 'buil_a'))).toEqual({ ...member, role: 'MEMBER' });
  });

  it('reject a second membership, also concurrently, and the removal of a missing one', async () => {
    const { userId } = await addUser('twice@example.com');
    const attempts = await Promise.all([1, 2, 3].map(() => cli.run(add(userId, 'buil_b'))));
    expect(attempts.map(({ code }) => code).sort()).toEqual([0, 1, 1]);
    const taken = `--user: ${userId} is a member of buil_b already.\n`;
    for (const { code, err } of attempts) if (code) expect(err).toBe(taken);
    expect(await cli.errorOf(remove(userId, 'buil_a'))).toBe(`--user: ${userId} is not a member of buil_a.`);
  });

  it('reject an unknown user, an unknown builder and an empty role', async () => {
    const { userId } = await addUser('unknown@example.com');
    expect(await cli.errorOf(add('user_x', 'buil_a'))).toBe('--user: there is no user user_x in au1.');
    expect(await cli.errorOf(remove(userId, 'buil_x'))).toBe('--builder: there is no builder buil_x in au1.');
    expect(await cli.errorOf(add(userId, 'a'))).toBe('--builder: "a" is not an id such as buil_a1b2c3.');
    expect(await cli.errorOf(add(userId, 'buil_a', '--role', ' '))).toBe('--role: must not be empty.');
  });
});

describe('site-access grant and revoke', () => {
  const both = (worker: string, project: string) => ['--worker', worker, '--project', project];
  const grant = (worker = 'wkr_a', project = 'proj_a') => ['site-access', 'grant', ...both(worker, project)];
  const revoke = (worker = 'wkr_a', project = 'proj_a') => ['site-access', 'revoke', ...both(worker, project)];

  it('grant, revoke and renew access, without effect when repeated', async () => {
    const base = {
      regionId: 'au1',
      workerId: 'wkr_a',
      projectId: 'proj_a',
      builderId: 'buil_a',
      grantedAt: toTimestamp(CLI_START),
    };
    expect(await cli.json(grant())).toEqual({ ...base, revokedAt: null, changed: true });
    expect(await cli.json(grant())).toEqual({ ...base, revokedAt: null, changed: false });
    cli.clock.at = CLI_START + 1000;
    const revoked = { ...base, revokedAt: toTimestamp(CLI_START + 1000) };
    expect(await cli.json(revoke())).toEqual({ ...revoked, changed: true });
    expect(await cli.json(revoke())).toEqual({ ...revoked, changed: false });
    cli.clock.at = CLI_START + 2000;
    const again = { ...base, grantedAt: toTimestamp(CLI_START + 2000), revokedAt: null };
    expect(await cli.json(grant())).toEqual({ ...again, changed: true });
    const rows = await em().find(SiteAccess, { workerId: 'wkr_a' });
    expect(rows).toMatchObject([{ builderId: 'buil_a', grantedAt: toTimestamp(CLI_START + 2000), revokedAt: null }]);
  });

  it('reject a grant that another command commits first', async () => {
    const { builderId, subcontractorId, createdAt } = await em().findOneOrFail(Worker, 'wkr_a');
    const worker = {
      id: 'wkr_late',
      builderId,
      subcontractorId,
      fullName: 'Lee Park',
      createdAt,
      updatedAt: createdAt,
    };
    await em().insert(Worker, worker);
    const other = await ConcurrentTransaction.open(cli.databases.au1.url);
    try {
      const insert =
        'insert into site_access (worker_id, project_id, builder_id, granted_at) values ($1, $2, $3, now())';
      let rejection: Promise<string> | undefined;
      await other.whileOpen(insert, [worker.id, 'proj_a', builderId], async () => {
        rejection = cli.errorOf(grant(worker.id));
        await other.untilWaiting(1);
      });
      expect(await rejection).toBe(
        '--worker: wkr_late was given access to proj_a by another command at the same time.',
      );
    } finally {
      await other.close();
    }
  });

  it.each([
    ['a worker of another builder', grant('wkr_b'), '--project: proj_a belongs to buil_a, the worker to buil_b.'],
    ['an unknown worker', grant('wkr_x'), '--worker: there is no worker wkr_x in au1.'],
    ['an unknown project', revoke('wkr_a', 'proj_x'), '--project: there is no project proj_x in au1.'],
    ['an invalid worker', grant('kim'), '--worker: "kim" is not an id such as wkr_a1b2c3.'],
    ['an invalid project', grant('wkr_a', 'p'), '--project: "p" is not an id such as proj_a1b2c3.'],
    ['what was never granted', revoke('wkr_b', 'proj_b'), '--worker: wkr_b was never given access to proj_b.'],
  ])('reject %s', async (_case, args, message) => {
    expect(await cli.errorOf(args)).toBe(message);
  });
});
