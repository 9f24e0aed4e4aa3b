import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { AuditEntry } from '../../entities/audit-entry.entity.ts';
import { SignOnVisit } from '../../entities/sign-on-visit.entity.ts';
import { User } from '../../entities/user.entity.ts';
import { noteChanges } from '../support/audit.ts';
import { createPicture } from '../support/images.ts';
import { CLI_START, seedBuilders, toTimestamp, useCli } from './cli-harness.ts';

const cli = useCli();
/** Secrets that the commands have read or printed. */
const secrets: string[] = [];
const ids: Record<string, string> = {};
let noted: Awaited<ReturnType<typeof noteChanges>>;

const PASSWORD = 'correct horse battery';
const REFUSED = 'cannot be used now: 53100';

beforeAll(async () => {
  await seedBuilders(cli);
  ids.IMAGE = join(cli.env.DATA_DIR!, 'image.png');
  await writeFile(ids.IMAGE, await createPicture('png'));
  const visit = {
    builderId: 'buil_a',
    projectId: 'proj_a',
    workerId: 'wkr_a',
    signedOnAt: toTimestamp(CLI_START - 3_600_000),
  };
  const stamps = { createdAt: toTimestamp(CLI_START), updatedAt: toTimestamp(CLI_START) };
  await cli.databases.au1.fork().insert(SignOnVisit, { ...stamps, ...visit, id: 'signon_a' } as unknown as SignOnVisit);
  noted = await noteChanges(cli.databases.au1);
});

const MAIL = 'sam@example.com';
const KEY = '--integrator INTEGRATOR --builder buil_a';
const MEMBER = `--user ${MAIL} --builder buil_a`;
const SITE = '--worker wkr_a --project proj_a';

/** Commands in the order in which they can run, and the action that each records. */
const COMMANDS: [command: string, ...actions: string[]][] = [
  ['integrator create --name Sync', 'integrator.created'],
  ['integrator update INTEGRATOR --name Sync2', 'integrator.updated'],
  ['client create --integrator INTEGRATOR --name App --scope read:builders', 'client.created'],
  ['client update CLIENT --scope read:photos', 'client.updated'],
  ['client rotate-secret CLIENT', 'client_secret.rotated'],
  ['client disable CLIENT', 'client.disabled'],
  ['client enable CLIENT', 'client.enabled'],
  [`connection create ${KEY} --scope read:builders`, 'connection.created'],
  [`connection create ${KEY} --scope read:photos --replace`, 'connection.updated'],
  [`connection update ${KEY} --scope read:builders`, 'connection.updated'],
  ['webhook create --client CLIENT --url https://hooks.example.com/T0/path-secret', 'webhook_endpoint.created'],
  ['webhook replay ENDPOINT --since 2026-05-31', 'webhook_endpoint.replayed'],
  ['webhook update ENDPOINT --status paused', 'webhook_endpoint.updated'],
  ['webhook rotate-secret ENDPOINT', 'webhook_endpoint.secret_rotated'],
  ['webhook delete ENDPOINT', 'webhook_endpoint.deleted'],
  [`connection revoke ${KEY}`, 'connection.revoked'],
  [`connection create ${KEY} --scope read:builders`, 'connection.reactivated'],
  [`user create --email ${MAIL} --name Sam --password-stdin`, 'password.set', 'user.created'],
  [`user create --email kim@example.com --name Kim --no-password`, 'user.created'],
  [`user update ${MAIL} --name Sam2`, 'user.updated'],
  [`user reset-password ${MAIL}`, 'password_link.created'],
  ['user invite kim@example.com', 'password_link.created'],
  [`user disable ${MAIL}`, 'user.disabled'],
  [`user enable ${MAIL}`, 'user.enabled'],
  [`user create --staff --role VIEWER --email ops@example.com --name Ops --no-password`, 'staff.created'],
  ['user update ops@example.com --role ADMIN', 'staff.updated'],
  ['user invite ops@example.com', 'staff.password_link_created'],
  ['user disable ops@example.com', 'staff.disabled'],
  ['user enable ops@example.com', 'staff.enabled'],
  [`membership add ${MEMBER}`, 'membership.created'],
  [`membership update ${MEMBER} --role ADMIN`, 'membership.updated'],
  [`membership remove ${MEMBER}`, 'membership.deleted'],
  ['builder update buil_a --time-zone Australia/Perth', 'builder.updated'],
  ['builder set-logo buil_a IMAGE', 'builder.updated'],
  [`user set-picture ${MAIL} IMAGE`, 'user.updated'],
  ['user set-picture ops@example.com IMAGE', 'staff.updated'],
  ['image-host approve images.example.com', 'image_host.approved'],
  ['image-host revoke images.example.com', 'image_host.revoked'],
  [`site-access grant ${SITE}`, 'site_access.granted'],
  [`site-access revoke ${SITE}`, 'site_access.revoked'],
  ['attendance close signon_a --by Robin', 'visit.closed'],
  ['attendance archive signon_a', 'visit.archived'],
];

/** Commands that change no access, or whose entries other tests check. */
const OTHERS =
  `audit list, person find, person export, person erase, person texts, person replay-erasures, renditions retry,
  builder export, builder erase, builder erasures, webhook test, webhook deliveries, gate simulate,
  migrate up, migrate status, migrate create, totals rebuild, events renew-epoch, schema emit, backup verify, storage claim`.split(
    /,\s+/,
  );

async function run(command: string) {
  const args = command.split(' ').map((each) => ids[each] ?? each);
  const result = await cli.json(args, PASSWORD);
  if (result.integratorId && command.startsWith('integrator create')) ids.INTEGRATOR = result.integratorId;
  if (command.startsWith('client create')) ids.CLIENT = result.clientId;
  if (command.startsWith('webhook create')) ids.ENDPOINT = result.endpointId;
  for (const secret of [
    result.clientSecret,
    result.secret,
    result.password,
    result.link && new URL(result.link).searchParams.get('token'),
  ])
    if (secret) secrets.push(secret);
}

const list = async (...args: string[]) => (await cli.json(['audit', 'list', ...args])).entries;

describe('each command that changes access', () => {
  it('is recorded with operator, host and command, or not made (ACC-20, ACC-21)', async () => {
    const times: string[] = [];
    const refusedGroups = new Set<string>();
    for (const [command] of COMMANDS) {
      cli.clock.at += 1000;
      times.push(toTimestamp(cli.clock.at));
      // That a change and its entry are of one transaction is tested for every command, and that the command fails without it for one of a group.
      const [group] = command.split(' ', 1);
      if (!refusedGroups.has(group!)) {
        const refuse = () => expect(run(command)).rejects.toThrow(REFUSED);
        expect([command, await noted.takeRefused(refuse)]).toEqual([command, []]);
        refusedGroups.add(group!);
      }
      await run(command);
      expect([command, await noted.takeUnrecorded()]).toEqual([command, []]);
    }
    const entries: Record<string, string>[] = await list('--limit', '100');
    const recorded = COMMANDS.map(([command], index) => [
      command,
      ...entries.flatMap(({ at, action }) => (at === times[index] ? action! : [])).toSorted(),
    ]);
    expect(recorded).toEqual(COMMANDS.map(([command, ...actions]) => [command, ...actions.toSorted()]));
    for (const entry of entries) {
      const [command] = COMMANDS[times.indexOf(entry.at!)]!;
      expect(entry).toMatchObject({
        actor: { type: 'OPERATOR', id: userInfo().username },
        origin: { host: expect.any(String), command: command.split(' ', 2).join(' ') },
      });
    }
  });

  it('is in the list of this test, as every command of the help', async () => {
    const { out } = await cli.run(['--help']);
    const listed = [...out.matchAll(/^ {2}([a-z-]+) ([a-z|-]+) {2,}/gm)].flatMap(([, group, names]) =>
      names!.split('|').map((name) => `${group} ${name}`),
    );
    const tested = new Set(COMMANDS.map(([command]) => command.split(' ', 2).join(' ')));
    const others = listed.filter((name) => !tested.has(name) && !/ (list|show)$/.test(name));
    expect([...others, 'audit list'].toSorted()).toEqual(OTHERS.toSorted());
  });

  it('leaves no secret, password or digest in the log (ACC-22)', async () => {
    const log = JSON.stringify(await cli.databases.au1.fork().find(AuditEntry, {}));
    expect(secrets.length).toBeGreaterThanOrEqual(7);
    for (const secret of [...secrets, PASSWORD, 'path-secret']) expect(log).not.toContain(secret);
    expect(log).not.toMatch(/digest|passwordHash|argon2|clientSecret|"token/i);
  });

  it('leaves no entry without a change', async () => {
    const before = await list();
    for (const command of ['client enable CLIENT', 'client update CLIENT --scope read:photos', `user enable ${MAIL}`])
      await run(command);
    const failing = ['client', 'update', ids.CLIENT!, '--scope', 'nothing'];
    await cli.errorOf(failing);
    expect(await list()).toEqual(before);
  });
});

describe('audit list', () => {
  it('shows the values before and after', async () => {
    const [entry] = await list('--action', 'connection.revoked');
    expect(entry).toMatchObject({
      ...{ objectId: `${ids.INTEGRATOR}/buil_a`, builderId: 'buil_a', integratorId: ids.INTEGRATOR },
      ...{ before: { status: 'ACTIVE' }, after: { status: 'REVOKED' } },
    });
    const { out } = await cli.run(['audit', 'list', '--action', 'connection.revoked']);
    expect(out).toMatch(
      /connection\.revoked {2}intg_\w+\/buil_a {2}by OPERATOR \S+ from \S+ {2}aud_\w+\n {4}status: "ACTIVE" → "REVOKED"\n$/,
    );
  });

  it('filters by actor, action, object, person and builder, and pages (ACC-23)', async () => {
    expect(await list('--actor', 'STAFF')).toEqual([]);
    for (const actor of ['OPERATOR', 'operator', `Operator:${userInfo().username}`, userInfo().username])
      expect(await list('--actor', actor, '--action', 'client', '--limit', '100')).toHaveLength(4);
    expect(await list('--object', ids.CLIENT!)).toHaveLength(5);
    expect(await list('--person', 'wkr_a')).toHaveLength(4);
    expect((await list('--builder', 'buil_a')).length).toBeGreaterThan(8);
    const first = await cli.json(['audit', 'list', '--limit', '3']);
    const second = await cli.json(['audit', 'list', '--limit', '3', '--cursor', first.nextCursor]);
    expect([...first.entries, ...second.entries]).toEqual(await list('--limit', '6'));
  });

  it('lists the entries of one region', async () => {
    expect(await list('--region', 'us1')).toEqual([]);
  });

  it.each([
    ...['GOD', 'GOD:root', 'USER:', ''].map((actor): [string[], string] => [
      ['--actor', actor],
      `--actor: "${actor}" is not one of OPERATOR STAFF USER CLIENT JOB IMPORT.`,
    ]),
    [['--action', 'client.eaten'], /^--action: "client.eaten" is not one of /],
    [['--action', 'toString'], /^--action: "toString" is not one of /],
    [['--since', 'yesterday'], '--since: "yesterday" is not a date or a date-time with a time zone.'],
    [['--cursor', 'aud_none'], '--cursor: au1 has no entry aud_none.'],
  ])('rejects %j', async (args, message) => {
    expect(await cli.errorOf(['audit', 'list', ...args])).toMatch(message);
  });
});

describe('import and export', () => {
  it('are recorded, an import with its counts in its own transaction (ACC-20, ACC-21)', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'builder-api-audit-'));
    try {
      cli.clock.at += 1000;
      await cli.json(['export', join(folder, 'out'), '--region', 'us1']);
      const [exported] = await list('--region', 'us1', '--action', 'region.exported');
      expect(exported).toMatchObject({ actor: { type: 'OPERATOR' }, objectId: 'us1', origin: { command: 'export' } });
      const stamps = { createdAt: toTimestamp(CLI_START), updatedAt: toTimestamp(CLI_START) };
      const row = { id: 'buil_i', ...stamps, name: 'Imported', logoKey: null };
      await writeFile(join(folder, 'builders.ndjson'), `${JSON.stringify(row)}\n`);
      await cli.json(['import', folder, '--region', 'us1']);
      const [imported] = await list('--region', 'us1', '--action', 'region.imported');
      expect(imported).toMatchObject({ actor: { type: 'IMPORT', id: userInfo().username }, objectId: 'us1' });
      expect(imported.after.files).toContainEqual({
        file: expect.stringMatching(/^builders/),
        inserted: 1,
        updated: 0,
      });
      await writeFile(join(folder, 'builders.ndjson'), '{}\n');
      await cli.run(['import', folder, '--region', 'us1']);
      expect(await list('--region', 'us1', '--action', 'region.imported')).toHaveLength(1);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});

describe('other commands with an entry', () => {
  it.each([
    'import FOLDER',
    'export FOLDER/out',
    'builder export buil_b FOLDER/out',
    'person export FOLDER/out wkr_b',
    'person erase wkr_b --yes',
    'builder erase buil_b',
  ])('%s does nothing where the entry cannot be written (ACC-21)', async (command) => {
    ids.FOLDER = await mkdtemp(join(tmpdir(), 'builder-api-audit-'));
    const stamps = { createdAt: toTimestamp(CLI_START), updatedAt: toTimestamp(CLI_START) };
    const row = { id: 'buil_b', ...stamps, name: 'Renamed', logoKey: null };
    await writeFile(join(ids.FOLDER, 'builders.ndjson'), `${JSON.stringify(row)}\n`);
    const args = command.replace('FOLDER', ids.FOLDER).split(' ');
    const changed = await noted.takeRefused(async () => {
      expect(await cli.run(args)).toMatchObject({ code: 1, err: expect.stringContaining(REFUSED) });
    });
    expect([changed, await readdir(ids.FOLDER)]).toEqual([[], ['builders.ndjson']]);
    await rm(ids.FOLDER, { recursive: true });
  });
});

describe('a staff user of both regions', () => {
  it('has one id, and an entry in the log of each region (ACC-21, ACC-26)', async () => {
    const staff = ['--staff', '--role', 'OPERATOR', '--no-password', '--region', 'both'];
    const created = await cli.json(['user', 'create', '--email', 'both@example.com', '--name', 'Both', ...staff]);
    expect(created).toMatchObject({ staffRole: 'OPERATOR', regionIds: ['au1', 'us1'] });
    for (const region of ['au1', 'us1']) {
      const [entry] = await list('--region', region, '--object', created.userId);
      expect(entry).toMatchObject({ action: 'staff.created', after: { staffRole: 'OPERATOR' } });
    }
    const again = ['user', 'create', '--email', 'both@example.com', '--name', 'Both', ...staff];
    expect(await cli.errorOf(again)).toBe('--email: au1 has a user both@example.com already.');
  });

  const create = (email: string, region: string) => [
    ...['user', 'create', '--email', email, '--name', 'Half', '--staff', '--role', 'VIEWER', '--no-password'],
    ...['--region', region],
  ];

  it.each(['us1', 'both'])(
    'keeps the id of the other region when registered later with --region %s (ACC-26)',
    async (region) => {
      const email = `later-${region}@example.com`;
      const { userId } = await cli.json(create(email, 'au1'));
      expect(await cli.json(create(email, region))).toMatchObject({ userId, regionIds: ['us1'] });
      expect(await cli.errorOf(create(email, region))).toMatch(/has a user .* already/);
      expect(await cli.errorOf(['user', 'create', '--email', email, '--name', 'X', '--no-password'])).toMatch(
        /already/,
      );
    },
  );

  it('is registered in no region when one of them fails', async () => {
    const [au1, us1] = [cli.databases.au1.fork(), cli.databases.us1.fork()];
    await us1.execute(`alter table app_user add constraint no_half check (email <> 'half@example.com')`);
    expect((await cli.run(create('half@example.com', 'both'))).code).not.toBe(0);
    expect(await au1.count(User, { email: 'half@example.com' })).toBe(0);
    await us1.execute('alter table app_user drop constraint no_half');
    expect(await cli.json(create('half@example.com', 'both'))).toMatchObject({ regionIds: ['au1', 'us1'] });
  });

  it.each([
    [['--staff'], '--role: is required with --staff.'],
    [['--role', 'ADMIN'], '--role: is only for a staff user: add --staff.'],
    [['--staff', '--role', 'KING'], '--role: "KING" is not one of VIEWER, OPERATOR, ADMIN.'],
    [['--region', 'both'], '--region: both is only for a staff user.'],
  ])('is not created with %j', async (args, message) => {
    const create = ['user', 'create', '--email', 'x@example.com', '--name', 'X', '--no-password'];
    expect(await cli.errorOf([...create, ...args])).toBe(message);
  });

  it('cannot become a member of a builder (ACC-26)', async () => {
    const add = ['membership', 'add', '--user', 'both@example.com', '--builder', 'buil_a'];
    expect(await cli.errorOf(add)).toBe('--user: both@example.com is a staff user.');
  });
});
