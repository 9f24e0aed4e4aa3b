import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, inject, it, vi } from 'vitest';
import { revokeConsent } from '../../src/domain/access/consents.ts';
import { usePasswordLink } from '../../src/domain/access/password-links.ts';
import { canonicalJson, createFingerprint } from '../../src/domain/canonical-json.ts';
import { createSession, findAccount, findSessionUser } from '../../src/oauth/interaction/sessions.ts';
import { hashSecret } from '../../src/shared/secrets.ts';
import { type Row, readSample, SAMPLES, toNdjson } from '../data-transfer/data-transfer-fixture.ts';
import { OPERATOR } from '../support/audit.ts';
import { ConcurrentTransaction } from '../support/concurrent-transaction.ts';
import { startMailServer } from '../support/mail-server.ts';
import { CLI_START, type CliHarness, seedBuilders, startCli, toTimestamp } from './cli-harness.ts';

const stamps = { createdAt: toTimestamp(CLI_START), updatedAt: toTimestamp(CLI_START) };
const SAM = {
  id: 'user_sam',
  ...stamps,
  name: 'Sam Hill',
  email: 'sam@example.com',
  pictureKey: null,
  disabledAt: null,
};
const ADMIN = { ...SAM, id: 'user_admin', name: 'Ada Admin', email: 'ada@operator.example' };
const OLGA = { ...SAM, id: 'user_operator', name: 'Olga Operator', email: 'olga@operator.example' };
const membership = (userId: string, builderId: string, role = 'MEMBER') => ({ userId, builderId, ...stamps, role });

let cli: CliHarness;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'builder-api-import-'));
  cli = await startCli();
  await seedBuilders(cli);
});
afterAll(async () => {
  await cli.close();
  await rm(folder, { recursive: true, force: true });
});

/** Before each test, the only people are two staff users and a user with a session and a password link who is a member of builder A. */
beforeEach(async () => {
  await execute(`delete from photo_report_page; delete from photo_report; delete from membership; delete from app_user;
    insert into app_user (id, created_at, updated_at, name, email, staff_role) values
      ('user_sam', '${stamps.createdAt}', '${stamps.updatedAt}', '${SAM.name}', '${SAM.email}', null),
      ('user_admin', '${stamps.createdAt}', '${stamps.updatedAt}', '${ADMIN.name}', '${ADMIN.email}', 'ADMIN'),
      ('user_operator', '${stamps.createdAt}', '${stamps.updatedAt}', '${OLGA.name}', '${OLGA.email}', 'OPERATOR');
    insert into membership (user_id, builder_id, created_at, updated_at, role)
      values ('user_sam', 'buil_a', '${stamps.createdAt}', '${stamps.updatedAt}', 'MEMBER');
    insert into oauth_session (digest, user_id, credential_digest, created_at, expires_at)
      values ('s', 'user_sam', 'p', now(), now() + interval '1 day');
    insert into password_link (digest, user_id, purpose, created_at, expires_at)
      values ('l', 'user_sam', 'RESET', now(), now() + interval '1 day')`);
});

const execute = async (sql: string): Promise<Row[]> => cli.databases.au1.fork().execute(sql);
const userOf = async (id: string) =>
  (await execute(`select name, email, staff_role, disabled_at from app_user where id = '${id}'`))[0];
const countAccess = async () =>
  (
    await execute('select (select count(*)::int from oauth_session) + (select count(*)::int from password_link) as n')
  )[0]!.n;

let written = 0;
async function write(files: Record<string, Row[]>): Promise<string> {
  const target = join(folder, String(written++));
  await mkdir(target);
  for (const [file, rows] of Object.entries(files)) await writeFile(join(target, `${file}.ndjson`), toNdjson(rows));
  return target;
}

/** Imports and returns the reported problems, or the entries that the import has written. */
async function importRows(files: Record<string, Row[]>, ...options: string[]) {
  const before = new Set((await execute('select id from audit_entry')).map(({ id }) => id));
  const { code, err } = await cli.run(['import', await write(files), ...options]);
  const entries = await execute(`select * from audit_entry order by action <> 'region.imported', action, id`);
  return { code, err, entries: entries.filter(({ id }) => !before.has(id)) };
}

describe('an import of a staff user (PRV-12)', () => {
  it('with another address or name is rejected, with --allow-user-changes too', async () => {
    const before = [await userOf(ADMIN.id), await userOf(OLGA.id)];
    const users = [
      { ...ADMIN, email: 'eve@example.com' },
      { ...OLGA, name: 'Eve' },
    ];
    const { code, err } = await importRows({ users }, '--allow-user-changes');
    expect([code, err]).toEqual([1, expect.stringContaining('users.ndjson:1: id: user_admin is a staff user')]);
    expect(err).toContain('users.ndjson:2: id: user_operator is a staff user');
    expect([await userOf(ADMIN.id), await userOf(OLGA.id)]).toEqual(before);
  });

  it('as a member of a builder is rejected', async () => {
    const { code, err } = await importRows({ memberships: [membership('user_admin', 'buil_a')] });
    expect([code, err]).toEqual([
      1,
      expect.stringContaining('memberships.ndjson:1: userId: user_admin is a staff user'),
    ]);
  });

  it('as the author of a photo report is rejected, but not a user who has left the builder (PRP-13)', async () => {
    const [report] = await readSample('photo-reports');
    const pages = (await readSample('photo-report-pages')).filter(({ reportId }) => reportId === report!.id);
    const integrators = [{ id: 'intg_a', ...stamps, name: 'Sync', deepLinkSchemes: [] }];
    const mapTo = (mappedAdminUserId: string) => {
      const { projectId: _, ...rest } = report!.content as Row;
      const content = { ...rest, mappedAdminUserId };
      const fingerprint = createFingerprint(canonicalJson(content));
      const ids = { builderId: 'buil_a', integratorId: 'intg_a', projectId: null, mappedAdminUserId };
      const reports = [{ ...report, ...ids, content, fingerprint }];
      return importRows({ integrators, 'photo-reports': reports, 'photo-report-pages': pages });
    };
    expect(await mapTo('user_admin')).toMatchObject({
      code: 1,
      err: expect.stringContaining('photo-reports.ndjson:1: mappedAdminUserId: user_admin is a staff user'),
    });
    await cli.json(['membership', 'remove', '--user', SAM.id, '--builder', 'buil_a']);
    expect(await mapTo(SAM.id)).toMatchObject({ code: 0, err: '' });
    // The export of the builder has the user too, whom another region does not know.
    await cli.json(['builder', 'export', 'buil_a', join(folder, 'left')]);
    const { files } = await cli.json(['import', join(folder, 'left'), '--region', 'us1']);
    expect(files).toContainEqual(expect.objectContaining({ file: 'users.ndjson', inserted: 1 }));
  });

  it('who is the same changes nothing, and enables nobody', async () => {
    await execute(`update app_user set disabled_at = now() where id = 'user_admin'`);
    expect((await importRows({ users: [ADMIN] })).code).toBe(0);
    expect(await userOf('user_admin')).toMatchObject({ disabled_at: expect.anything(), staff_role: 'ADMIN' });
  });

  it('with a role, or with the issuer or the subject of an identity, is rejected', async () => {
    const secrets = { staffRole: 'ADMIN', oidcIssuer: 'https://login.example.com', oidcSubject: 'sub-1' };
    const users = Object.entries(secrets).map(([field, value], index) => ({
      ...SAM,
      id: `user_new${index}`,
      email: `${index}@x.example`,
      [field]: value,
    }));
    const { err } = await importRows({ users });
    Object.keys(secrets).forEach((field, index) => {
      expect(err).toContain(`users.ndjson:${index + 1}: ${field}: is never imported`);
    });
  });
});

describe('an address in another spelling', () => {
  const [composed, decomposed] = ['zoë.é@example.com', 'zoë.é@example.com'.normalize('NFD')];
  const zoe = { ...SAM, id: 'user_zoe', name: 'Zoë' };

  it('is stored like that of a new user of a command, is that of the user, whose stored one stays, and is not free for another', async () => {
    const addresses = [
      [decomposed, composed, decomposed],
      ['zoë@straße.example.com', 'zoë@straße.example.com', 'zoë@strasse.example.com'],
      ['ioάννης@example.com', 'ioάννης@example.com', 'ioάννησ@example.com'],
    ];
    const usersWith = (name: string, place: 0 | 2) =>
      addresses.map((each, index) => ({ ...zoe, id: `user_zoe${index}`, name, email: each[place] }));
    const emails = async () =>
      (await execute(`select email from app_user where id like 'user_zoe%' order by id`)).map(({ email }) => email);
    expect((await importRows({ users: usersWith('Zoë', 0) })).code).toBe(0);
    expect(await emails()).toEqual(addresses.map(([, stored]) => stored));
    const { code, entries } = await importRows({ users: usersWith('Zoe', 2) });
    expect([code, await emails()]).toEqual([0, addresses.map(([, stored]) => stored)]);
    const renamed = { values_before: { name: 'Zoë' }, values_after: { name: 'Zoe' } };
    expect(entries.filter(({ action }) => action === 'user.updated')).toMatchObject([renamed, renamed, renamed]);
    const others = usersWith('Zoe', 2).map((user, index) => ({ ...user, id: `user_other${index}` }));
    const { err } = await importRows({ users: others });
    for (const line of [1, 2, 3]) expect(err).toContain(`users.ndjson:${line}: email`);
  });
});

describe('an import of an existing user (PRV-12)', () => {
  it('with another address is rejected without --allow-user-changes', async () => {
    const { code, err } = await importRows({ users: [{ ...SAM, email: 'eve@example.com' }] });
    expect(code).toBe(1);
    expect(err).toContain('users.ndjson:1: email: is sam@example.com in the database; --allow-user-changes changes it');
    expect([await userOf(SAM.id), await countAccess()]).toMatchObject([{ email: SAM.email }, 2]);
  });

  it('with the address of an erased user is rejected, unless it is that user (PRV-3)', async () => {
    const users = [{ ...SAM, email: 'user_admin@erased.invalid' }];
    const { code, err } = await importRows({ users }, '--allow-user-changes');
    expect([code, err]).toEqual([1, expect.stringContaining('email: is an address of another user, who was erased')]);
    for (const email of ['user_admin@era\u017fed.invalid', 'user_adm\u0131n@erased.\u200binvalid'])
      expect((await importRows({ users: [{ ...SAM, email }] }, '--allow-user-changes')).code).toBe(1);
    expect((await importRows({ users: [{ ...SAM, email: `${SAM.id}@erased.invalid` }] })).code).toBe(1);
    await execute(`update app_user set email = 'user_other@erased.invalid' where id = '${SAM.id}'`);
    expect((await importRows({ users: [SAM] })).err).toContain('--allow-user-changes');
    await execute(`update app_user set email = id || '@erased.invalid' where id = '${SAM.id}'`);
    expect((await importRows({ users: [SAM] })).code).toBe(0);
  });

  it('with another address and --allow-user-changes ends sessions and links, and is recorded', async () => {
    const { code, entries } = await importRows(
      { users: [{ ...SAM, email: 'eve@example.com' }] },
      '--allow-user-changes',
    );
    expect([code, await countAccess()]).toEqual([0, 0]);
    expect(entries).toMatchObject([
      { action: 'region.imported', actor_type: 'IMPORT' },
      {
        ...{ action: 'user.updated', actor_type: 'IMPORT', object_id: SAM.id, person_id: SAM.id },
        ...{ values_before: { email: SAM.email }, values_after: { email: 'eve@example.com' } },
      },
    ]);
  });

  it('with another address and --allow-user-changes sends a message to both addresses, and to others although one is rejected (OAU-44)', async () => {
    const mail = await startMailServer();
    const settings = { SMTP_URL: mail.url, MAIL_FROM: 'no-reply@example.com', BASE_URL: 'https://api.example.com' };
    Object.assign(cli.env, settings);
    const kim = { ...SAM, id: 'user_kim', name: 'Kim', email: 'kim@example.com' };
    await execute(`insert into app_user (id, created_at, updated_at, name, email)
      values ('user_kim', '${stamps.createdAt}', '${stamps.updatedAt}', 'Kim', '${kim.email}')`);
    const users = [
      { ...SAM, email: 'eve@example.com' },
      { ...kim, email: 'moved@example.com' },
    ];
    expect((await importRows({ users: [{ ...SAM, name: 'Sam Lee' }] })).code).toBe(0);
    expect(mail.messages).toEqual([]);
    // An erasure that cannot be read, which the command reports after the commit.
    const erasures = join(cli.env.DATA_DIR!, 'storage/objects/au1/erasures');
    await mkdir(erasures, { recursive: true });
    await writeFile(join(erasures, 'era_broken.json'), '{');
    const lee = { ...SAM, name: 'Sam Lee', email: 'lee@example.com' };
    expect((await importRows({ users: [lee] }, '--allow-user-changes')).code).toBe(1);
    await rm(erasures, { recursive: true });
    expect(
      mail.messages
        .splice(0)
        .map(({ to: [address] }) => address)
        .sort(),
    ).toEqual(['lee@example.com', SAM.email]);
    await execute(`update app_user set email = '${SAM.email}' where id = 'user_sam'`);
    mail.isRejecting = SAM.email;
    const { code, err } = await importRows({ users }, '--allow-user-changes');
    await mail.close();
    for (const name of Object.keys(settings)) delete cli.env[name];
    expect([code, err]).toEqual([0, expect.stringMatching(/^The message to the user was not accepted: .*\n$/)]);
    expect(mail.messages.map(({ to: [address] }) => address).sort()).toEqual([
      'eve@example.com',
      'kim@example.com',
      'moved@example.com',
    ]);
    expect(mail.messages[0]!.text).toContain('The e-mail address of your account was changed.');
  });

  it('who is disabled leaves the user disabled', async () => {
    await execute(`update app_user set disabled_at = '2026-01-01' where id = 'user_sam'`);
    const { code, entries } = await importRows({ users: [{ ...SAM, name: 'Sam Lee' }] });
    expect([code, await userOf(SAM.id)]).toMatchObject([0, { name: 'Sam Lee', disabled_at: expect.anything() }]);
    expect(entries[1]).toMatchObject({ action: 'user.updated', values_after: { name: 'Sam Lee' } });
    expect(entries[1]!.values_after).not.toHaveProperty('disabledAt');
  });

  it('who is disabled during the import leaves the user disabled', async () => {
    const other = await ConcurrentTransaction.open(cli.databases.au1.url);
    const disable = `update app_user set disabled_at = '2026-01-01' where id = 'user_sam'`;
    const { imported } = await other.whileOpen(disable, [], async () => {
      const imported = importRows({ users: [{ ...SAM, name: 'Sam Lee' }] });
      await other.untilWaiting(1);
      return { imported };
    });
    expect((await imported).code).toBe(0);
    await other.close();
    expect(await userOf(SAM.id)).toMatchObject({ name: 'Sam Lee', disabled_at: expect.anything() });
  });

  it.each([
    [SAM, 'user_sam', `email = 'moved@example.com'`, [], 1],
    [SAM, 'user_sam', `email = 'moved@example.com'`, ['--allow-user-changes'], 0],
    [ADMIN, 'user_admin', `name = 'Ada Lovelace'`, ['--allow-user-changes'], 1],
  ])(
    'who is changed between the check and the write ends it where it may not change that: %j %s %s %j',
    async (row, id, change, options, code) => {
      const query = pg.Client.prototype.query as (...values: unknown[]) => Promise<unknown>;
      const spy = vi.spyOn(pg.Client.prototype, 'query');
      spy.mockImplementation(function (this: pg.Client, ...values: unknown[]) {
        const isChecked = String(values[0]).startsWith('insert into import_waiting');
        if (!isChecked) return query.apply(this, values);
        return execute(`update app_user set ${change} where id = '${id}'`).then(() => query.apply(this, values));
      } as never);
      const imported = await importRows({ users: [row] }, ...options);
      spy.mockRestore();
      expect(imported.code).toBe(code);
      if (code === 0) return;
      expect(imported.err).toBe('A user was changed during the import: import again.\n');
      expect(await execute(`select from app_user where id = '${id}' and ${change}`)).toHaveLength(1);
    },
  );

  it('who is renamed before the write, and disabled while it waits, stays disabled', async () => {
    const other = await ConcurrentTransaction.open(cli.databases.au1.url);
    const query = pg.Client.prototype.query as (...values: unknown[]) => Promise<unknown>;
    let disabling: Promise<void> | undefined;
    const change = async () => {
      await execute(`update app_user set name = 'Sam Hall' where id = 'user_sam'`);
      const disable = `update app_user set disabled_at = '2026-01-01' where id = 'user_sam'`;
      await new Promise<void>((disabled) => {
        disabling = other.whileOpen(disable, [], () => {
          disabled();
          return other.untilWaiting(1);
        });
      });
    };
    const spy = vi.spyOn(pg.Client.prototype, 'query');
    spy.mockImplementation(function (this: pg.Client, ...values: unknown[]) {
      const isChecked = String(values[0]).startsWith('insert into import_waiting') && !disabling;
      return isChecked ? change().then(() => query.apply(this, values)) : query.apply(this, values);
    } as never);
    const imported = await importRows({ users: [SAM] });
    spy.mockRestore();
    await disabling;
    await other.close();
    expect(imported.err).toBe('A user was changed during the import: import again.\n');
    expect(await userOf(SAM.id)).toMatchObject({ name: 'Sam Hall', disabled_at: expect.anything() });
  });

  it('with another address is not survived by a sign-in that has found the account before', async () => {
    await execute(`update app_user set password_hash = 'hash' where id = 'user_sam'`);
    const [database, now] = [cli.databases.au1, cli.clock.now()];
    const account = (await findAccount(database, SAM.email, 'user'))!;
    await createSession(database, 'before', account, now);
    expect(await findSessionUser(database, 'before', now, 'user')).toMatchObject({ id: SAM.id });
    const other = await ConcurrentTransaction.open(database.url);
    const change = `update app_user set email = 'moved@example.com' where id = 'user_sam'`;
    const { created } = await other.whileOpen(change, [], async () => {
      const created = createSession(database, 'during', account, now);
      await other.untilWaiting(1);
      return { created };
    });
    await created;
    await createSession(database, 'after', account, now);
    for (const secret of ['during', 'after']) expect(await findSessionUser(database, secret, now, 'user')).toBeNull();
    await other.close();
  });

  it('does not wait for the use of a password link, which waits for the user (no deadlock)', async () => {
    await execute(`update password_link set digest = '${hashSecret('token')}', expires_at = '9999-01-01'`);
    const other = await ConcurrentTransaction.open(cli.databases.au1.url);
    const context = { database: cli.databases.au1, clock: cli.clock, source: OPERATOR };
    const { used, unlocked } = await other.whileOpen(
      `select from app_user where id = 'user_sam' for update`,
      [],
      async () => {
        const used = usePasswordLink(context, 'token', 'hash');
        await other.untilWaiting(1);
        return { used, unlocked: await execute('select from password_link for update skip locked') };
      },
    );
    expect(unlocked).toHaveLength(1);
    expect(await used).toMatchObject({ id: 'user_sam' });
    await other.close();
  });

  it('does not wait for the end of an authorisation by the user, which waits for the user (no deadlock)', async () => {
    await execute(`insert into integrator (id, created_at, updated_at, name) values ('intg_end', now(), now(), 'Sync');
      insert into oauth_client (id, created_at, updated_at, integrator_id, name, type, grants, scopes, redirect_uris)
        values ('client_end', now(), now(), 'intg_end', 'Sync', 'PUBLIC', '{}', '{}', '{}');
      insert into oauth_token_family (id, created_at, client_id, user_id, builder_id, scopes, expires_at)
        values ('family_end', now(), 'client_end', 'user_sam', 'buil_a', '{}', '9999-01-01')`);
    const other = await ConcurrentTransaction.open(cli.databases.au1.url);
    const source = { actor: { type: 'USER', id: 'user_sam' }, origin: {} } as const;
    const context = { database: cli.databases.au1, clock: cli.clock, source };
    const { revoked, unlocked } = await other.whileOpen(
      `select from app_user where id = 'user_sam' for update`,
      [],
      async () => {
        const key = { userId: 'user_sam', clientId: 'client_end', builderId: 'buil_a' };
        const revoked = revokeConsent(context, key, 'revoked by the user');
        await other.untilWaiting(1);
        return { revoked, unlocked: await execute('select from oauth_token_family for update skip locked') };
      },
    );
    expect(unlocked).toHaveLength(1);
    expect(await revoked).toEqual(['family_end']);
    await execute(`delete from oauth_token_family; delete from oauth_client where id = 'client_end';
      delete from integrator where id = 'intg_end'`);
    await other.close();
  });

  it('that disables the user ends sessions, and is recorded', async () => {
    const { entries } = await importRows({ users: [{ ...SAM, disabledAt: toTimestamp(CLI_START) }] });
    expect(await countAccess()).toBe(0);
    expect(entries[1]).toMatchObject({ action: 'user.disabled', values_after: { disabledAt: toTimestamp(CLI_START) } });
  });

  it('with another role is recorded, and new users and memberships are counted', async () => {
    const { entries } = await importRows({
      users: [{ ...SAM, id: 'user_new', email: 'new@example.com' }],
      memberships: [membership(SAM.id, 'buil_a', 'OWNER'), membership('user_new', 'buil_a')],
    });
    expect(entries).toMatchObject([
      {
        action: 'region.imported',
        values_after: {
          files: [
            { file: 'users.ndjson', inserted: 1, updated: 0 },
            { file: 'memberships.ndjson', inserted: 1, updated: 1 },
          ],
        },
      },
      {
        ...{ action: 'membership.updated', object_id: `${SAM.id}/buil_a`, builder_id: 'buil_a' },
        ...{ values_before: { role: 'MEMBER' }, values_after: { role: 'OWNER' } },
      },
    ]);
    expect(entries).toHaveLength(2);
  });
});

describe('an import that changes other access', () => {
  it('is recorded one by one: of integrators, builders, and of workers to sites (ACC-20)', async () => {
    const access = { builderId: 'buil_a', workerId: 'wkr_a', projectId: 'proj_a', grantedAt: toTimestamp(CLI_START) };
    const files = (revokedAt: string | null, name: string, deepLinkSchemes: string[], timeZone: string | null) => ({
      integrators: [{ id: 'intg_a', ...stamps, name, deepLinkSchemes }],
      builders: [{ id: 'buil_a', ...stamps, name: 'Builder A', logoKey: null, timeZone }],
      'site-accesses': [{ ...access, revokedAt }],
    });
    const revoked = toTimestamp(CLI_START + 1);
    expect((await importRows(files(revoked, 'Sync', [], null))).entries).toHaveLength(1);
    const { entries } = await importRows(files(null, 'Bank', ['bank'], 'Asia/Tokyo'));
    expect(entries.slice(1)).toMatchObject([
      {
        ...{ action: 'builder.updated', object_id: 'buil_a', builder_id: 'buil_a', actor_type: 'IMPORT' },
        ...{ values_before: { timeZone: null }, values_after: { timeZone: 'Asia/Tokyo' } },
      },
      {
        ...{ action: 'integrator.updated', object_id: 'intg_a', integrator_id: 'intg_a' },
        ...{ values_before: { name: 'Sync' }, values_after: { name: 'Bank', deepLinkSchemes: ['bank'] } },
      },
      {
        ...{ action: 'site_access.granted', object_id: 'wkr_a/proj_a', builder_id: 'buil_a', person_id: 'wkr_a' },
        ...{ values_before: { revokedAt: revoked }, values_after: { revokedAt: null } },
      },
    ]);
    expect(entries).toHaveLength(4);
    expect((await importRows(files(null, 'Bank', ['bank'], 'Asia/Tokyo'))).entries).toHaveLength(1);
    const { entries: again } = await importRows({ 'site-accesses': [{ ...access, revokedAt: revoked }] });
    expect(again).toMatchObject([{}, { action: 'site_access.revoked' }]);
  });

  it('is recorded one by one: of logos and pictures (ACC-20)', async () => {
    const [logoKey, pictureKey] = ['logos/buil_a/new.png', 'pictures/user_sam/new.png'];
    for (const key of [logoKey, pictureKey]) {
      const path = join(cli.env.DATA_DIR!, 'storage/objects/au1', key);
      await mkdir(dirname(path), { recursive: true });
      await writeFile(path, 'stored');
    }
    const builders = [{ id: 'buil_a', ...stamps, name: 'Builder A', logoKey }];
    expect((await importRows({ builders, users: [{ ...SAM, pictureKey }] })).entries).toMatchObject([
      { action: 'region.imported' },
      { action: 'builder.updated', values_before: { logoKey: null }, values_after: { logoKey } },
      { action: 'user.updated', values_before: { pictureKey: null }, values_after: { pictureKey } },
    ]);
  });
});

describe('export', () => {
  it('leaves staff users out', async () => {
    await cli.json(['export', join(folder, 'out')]);
    const text = await readFile(join(folder, 'out', 'users.ndjson'), 'utf8');
    expect(
      text
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line).id),
    ).toEqual([SAM.id]);
  });
});

describe('import --builder', () => {
  it('leaves users and integrators of other builders, and stored records of other builders, as they are', async () => {
    await cli.json(['membership', 'add', '--user', SAM.id, '--builder', 'buil_b']);
    await execute(`insert into integrator (id, name, deep_link_schemes, created_at, updated_at)
      values ('intg_b', 'Site Sync', '{}', now(), now())`);
    const worker = { id: 'wkr_b', ...stamps, builderId: 'buil_a', subcontractorId: 'sub_a', fullName: 'Taken' };
    const result = await importRows(
      {
        integrators: [{ id: 'intg_b', ...stamps, name: 'Taken', deepLinkSchemes: ['evil'] }],
        builders: [{ id: 'buil_b', ...stamps, name: 'Taken' }],
        users: [
          { ...SAM, name: 'Taken' },
          { ...SAM, id: 'user_stranger', email: 'x@example.com' },
        ],
        memberships: [membership(SAM.id, 'buil_b', 'OWNER'), membership(SAM.id, 'buil_a', 'OWNER')],
        workers: [worker, { ...worker, id: 'wkr_new', fullName: 'New' }],
      },
      ...['--builder', 'buil_a'],
    );
    expect(result).toMatchObject({ code: 0, err: '' });
    expect(await execute(`select id, full_name from worker order by id`)).toEqual([
      { id: 'wkr_a', full_name: 'Kim Tran' },
      { id: 'wkr_b', full_name: 'Kim Tran' },
      { id: 'wkr_new', full_name: 'New' },
    ]);
    expect(await execute('select builder_id, role from membership order by 1')).toEqual([
      { builder_id: 'buil_a', role: 'OWNER' },
      { builder_id: 'buil_b', role: 'MEMBER' },
    ]);
    const names = `select name from app_user union all select name from integrator union all select name from builder`;
    expect(JSON.stringify(await execute(names))).not.toContain('Taken');
    expect(await userOf('user_stranger')).toBeUndefined();
  });

  it('ends where a user becomes a member of another builder between the check and the write', async () => {
    const query = pg.Client.prototype.query as (...values: unknown[]) => Promise<unknown>;
    const spy = vi.spyOn(pg.Client.prototype, 'query');
    let joining: Promise<unknown> | undefined;
    spy.mockImplementation(function (this: pg.Client, ...values: unknown[]) {
      if (joining || !String(values[0]).startsWith('insert into import_waiting')) return query.apply(this, values);
      joining = execute(`insert into membership (user_id, builder_id, created_at, updated_at, role)
        values ('user_sam', 'buil_b', now(), now(), 'MEMBER')`);
      return joining.then(() => query.apply(this, values));
    } as never);
    const rows = { users: [{ ...SAM, name: 'Taken' }], memberships: [membership(SAM.id, 'buil_a', 'OWNER')] };
    const { code, err } = await importRows(rows, '--builder', 'buil_a');
    spy.mockRestore();
    expect([code, err]).toEqual([1, 'A user was changed during the import: import again.\n']);
    expect(await userOf(SAM.id)).toMatchObject({ name: SAM.name });
    expect(await importRows(rows, '--builder', 'buil_a')).toMatchObject({ code: 0 });
    expect(await userOf(SAM.id)).toMatchObject({ name: SAM.name });
  });

  it('leaves a user who has left another builder, whose report still names the author, as it is', async () => {
    const [report] = await readSample('photo-reports');
    const insert = `insert into photo_report (id, created_at, updated_at, builder_id, integrator_id, source_app, source_external_id,
        source_revision, status, title, source_created_at, walkthrough_date, source_author, mapped_admin_user_id, fingerprint, content)
      values ('phrep_b', now(), now(), 'buil_b', 'intg_left', 'app', 'b', 1, 'synced', 'Walk', now(), now(), '{}', 'user_sam', ?, '{}')`;
    await execute(
      `delete from membership; insert into integrator (id, name, created_at, updated_at) values ('intg_left', 'Sync', now(), now())`,
    );
    await cli.databases.au1.fork().execute(insert, [report!.fingerprint]);
    const users = [{ ...SAM, name: 'Taken', email: 'taken@example.com', disabledAt: stamps.createdAt }];
    const options = ['--builder', 'buil_a', '--allow-user-changes'];
    expect(await importRows({ users, memberships: [membership(SAM.id, 'buil_a')] }, ...options)).toMatchObject({
      code: 0,
    });
    expect(await userOf(SAM.id)).toMatchObject({ name: SAM.name, email: SAM.email, disabled_at: null });
  });

  it('rejects a member with U+0000 in the id, and names the field', async () => {
    const rows = { users: [SAM], memberships: [membership('user_\0', 'buil_a')] };
    const { code, err } = await importRows(rows, '--builder', 'buil_a');
    expect([code, err]).toEqual([1, expect.stringContaining('memberships.ndjson:1: userId: ')]);
  });

  it('rejects what is no id of a builder', async () => {
    expect(await cli.errorOf(['import', folder, '--builder', 'x'])).toBe(
      '--builder: "x" is not an id such as buil_a1b2c3.',
    );
  });

  it('imports the rows of one builder from a folder with several, and nothing else', async () => {
    const [first, second] = (await readSample('builders')).map(({ id }) => id as string);
    const { files } = await cli.json(['import', SAMPLES, '--builder', first!]);
    const other = new Set(Object.entries(await countBuilders()).filter(([, ids]) => ids.includes(second!)));
    expect(other).toEqual(new Set());
    expect(files).toContainEqual(expect.objectContaining({ file: 'builders.ndjson', inserted: 1, leftOut: 1 }));
    const all = await startCli({ au1: inject('cluster').sample });
    await cp(join(SAMPLES, 'files'), join(all.env.DATA_DIR!, 'storage/objects/au1'), { recursive: true });
    await all.json(['builder', 'export', first!, join(folder, 'all')]);
    await all.close();
    await cli.json(['builder', 'export', first!, join(folder, 'one')]);
    for (const { file } of files) {
      const [one, expected] = await Promise.all(
        ['one', 'all'].map((name) => readFile(join(folder, name, file), 'utf8')),
      );
      expect(one, file).toBe(expected);
    }
  });
});

/** Returns the builders of the rows of each table with a column for it. */
async function countBuilders(): Promise<Record<string, string[]>> {
  const tables = await execute(`select table_name as name from information_schema.columns
    where column_name = 'builder_id' and table_schema = 'public'`);
  const found: Record<string, string[]> = {};
  for (const { name } of tables) {
    const rows = await execute(`select distinct builder_id::text as id from "${name}" where builder_id is not null`);
    found[String(name)] = rows.map(({ id }) => String(id));
  }
  return found;
}
