import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createConnection, revokeConnection } from '../../src/domain/access/connections.ts';
import { revokeConsent } from '../../src/domain/access/consents.ts';
import { updateIntegrator } from '../../src/domain/access/integrators.ts';
import { addMembership, updateMembership } from '../../src/domain/access/memberships.ts';
import { requestPasswordReset, resetPassword, usePasswordLink } from '../../src/domain/access/password-links.ts';
import { grantSiteAccess, revokeSiteAccess } from '../../src/domain/access/site-access.ts';
import { findStaffUser } from '../../src/domain/access/staff-identities.ts';
import { createUser, updateUser } from '../../src/domain/access/users.ts';
import { archiveVisit, closeVisit } from '../../src/domain/attendance/manual-changes.ts';
import { resolveConflict } from '../../src/domain/attendance/resolve-conflict.ts';
import type { ChangeContext } from '../../src/domain/change-context.ts';
import { admitAttempt } from '../../src/oauth/interaction/sign-in-throttle.ts';
import { aSignOff, aSignOn, createGateFixture, sendEvent } from '../support/attendance.ts';
import { OPERATOR } from '../support/audit.ts';
import { ConcurrentTransaction } from '../support/concurrent-transaction.ts';
import { useService } from '../support/harness.ts';
import { useLongerTimeLimits } from '../support/longer-time-limits.ts';
import { addWorkerOnSite } from '../support/rows.ts';

const service = useService();
let other: ConcurrentTransaction;
let context: ChangeContext;
let builderId: string;
/** Of which the gate sends no events. */
let otherBuilderId: string;
let users = 0;

useLongerTimeLimits();
beforeAll(async () => {
  context = { database: service.databases.au1, clock: service.clock, source: OPERATOR };
  other = await ConcurrentTransaction.open(service.databases.au1.url);
  const { builderIds } = service.findDemoClient('A');
  builderId = builderIds[0]!;
  otherBuilderId = builderIds.at(-1)!;
});

afterAll(() => other.close());

const selectOne = async <T>(sql: string): Promise<T> => (await service.databases.au1.fork().execute<T[]>(sql))[0]!;

/** Begins a change while another transaction has changed its row, and returns its result or error after the commit of the other one. */
async function runAfter(sql: string, values: unknown[], change: () => Promise<unknown>): Promise<unknown> {
  let result: Promise<unknown> | undefined;
  await other.whileOpen(sql, values, async () => {
    result = change().catch((error: unknown) => error);
    await other.untilWaiting(1);
  });
  return result;
}

const aConnection = async (): Promise<{ integratorId: string; builderId: string }> => {
  const { id } = await selectOne<{ id: string }>(
    `select integrator_id as id from connection where builder_id = '${otherBuilderId}' and status = 'ACTIVE'`,
  );
  return { integratorId: id, builderId: otherBuilderId };
};

const aUser = async (): Promise<string> => {
  const user = { email: `user${++users}@builder.example`, name: 'Sam Lee', password: 'Concrete pour at dawn 7' };
  return (await createUser(context, user)).userId;
};

/** Begins a visit through the gate, and returns its id and the sign-on. */
async function aVisit(): Promise<{ visitId: string; on: ReturnType<typeof aSignOn> }> {
  const on = aSignOn(createGateFixture().workers.active[0]!);
  const { body } = await sendEvent(service.app, await service.tokenOf('A'), on);
  return { visitId: body.data.signOnId, on };
}

/** Refuses a sign-off of a visit that a person has closed, and returns the id of the conflict. */
async function aConflict(): Promise<{ id: number; visitId: string }> {
  const { visitId, on } = await aVisit();
  await closeVisit(context, { visitId, by: 'Robin' });
  await sendEvent(service.app, await service.tokenOf('A'), aSignOff(on));
  const { id } = await selectOne<{ id: number }>('select max(id)::int as id from sign_on_conflict');
  return { id, visitId };
}

const decide = (id: number) =>
  resolveConflict(context, { id, resolution: 'USE_EVENT_TIME', reason: 'Seen', by: 'Kim Tran' });

describe('a change that waits for another one of its row', () => {
  it('records the scopes of the connection that it has replaced', async () => {
    const key = await aConnection();
    const sql = `update connection set scopes = '{read:projects}' where integrator_id = $1 and builder_id = $2`;
    await runAfter(sql, Object.values(key), () =>
      createConnection(context, { ...key, scopes: ['read:photos'], replace: true }),
    );
    const entry = await selectOne(
      `select values_before from audit_entry where integrator_id = '${key.integratorId}' order by at desc, id desc limit 1`,
    );
    expect(entry).toEqual({ values_before: { scopes: ['read:projects'] } });
  });

  it('revokes a connection once', async () => {
    const key = await aConnection();
    const sql = `update connection set status = 'REVOKED' where integrator_id = $1 and builder_id = $2`;
    const revoke = () => revokeConnection(context, key);
    expect(await runAfter(sql, Object.values(key), revoke)).toMatchObject({ changed: false });
    await createConnection(context, { ...key, scopes: ['read:photos'], replace: false });
  });

  it('changes the name of an integrator once', async () => {
    const { integratorId } = await aConnection();
    const update = () => updateIntegrator(context, integratorId, { name: 'Sync' });
    expect(await runAfter(`update integrator set name = 'Sync' where id = $1`, [integratorId], update)).toMatchObject({
      changed: false,
    });
  });

  it('changes the role of a member once', async () => {
    const user = await aUser();
    await addMembership(context, { user, builderId, role: 'Engineer' });
    const update = () => updateMembership(context, { user, builderId, role: 'Foreman' });
    const sql = `update membership set role = 'Foreman' where user_id = $1`;
    expect(await runAfter(sql, [user], update)).toMatchObject({ changed: false });
  });

  it('changes the name of a user once', async () => {
    const user = await aUser();
    const update = () => updateUser(context, user, { name: 'Sam Hill' });
    expect(await runAfter(`update app_user set name = 'Sam Hill' where id = $1`, [user], update)).toMatchObject({
      changed: false,
    });
  });

  it('revokes access to a site once, and renews access that was revoked meanwhile', async () => {
    const key = await addWorkerOnSite(service, builderId);
    const sql = 'update site_access set revoked_at = now() where worker_id = $1 and revoked_at is null';
    const grant = () => grantSiteAccess(context, key);
    expect(await runAfter(sql, [key.workerId], grant)).toMatchObject({ changed: true });
    const revoke = () => revokeSiteAccess(context, key);
    expect(await runAfter(sql, [key.workerId], revoke)).toMatchObject({ changed: false });
  });

  it('creates no link for a password of a user who was disabled, and uses none', async () => {
    const disable = 'update app_user set disabled_at = now() where id = $1';
    const [asking, invited] = [await aUser(), await aUser()];
    const email = `user${users - 1}@builder.example`;
    expect(await runAfter(disable, [asking], () => requestPasswordReset(context, email))).toBeNull();
    const { path } = await resetPassword(context, invited, false);
    const token = new URLSearchParams(path.slice(path.indexOf('?'))).get('token')!;
    expect(await runAfter(disable, [invited], () => usePasswordLink(context, token, 'hash'))).toBeNull();
  });

  it('counts every attempt to sign in (OAU-27)', async () => {
    const attempt = {
      address: '203.0.113.9',
      email: 'sam@builder.example',
      kind: 'user',
      isKnownBrowser: true,
    } as const;
    const count = () => admitAttempt(context.database, attempt, service.clock.now());
    await count();
    await runAfter('update oauth_sign_in_attempt set failures = failures + 5', [], count);
    expect(await selectOne('select min(failures) as least from oauth_sign_in_attempt')).toEqual({ least: 7 });
  });

  it('uses a link for a password once', async () => {
    const user = await aUser();
    const { path } = await resetPassword(context, user, false);
    const token = new URLSearchParams(path.slice(path.indexOf('?'))).get('token')!;
    const use = () => usePasswordLink(context, token, 'hash');
    expect(await runAfter('delete from password_link where user_id = $1', [user], use)).toBeNull();
  });

  it('revokes a consent once (OAU-47)', async () => {
    const user = await aUser();
    const { clientId } = service.findDemoClient('A');
    await selectOne(`insert into oauth_token_family (id, created_at, client_id, user_id, builder_id, scopes, expires_at)
      values ('family', now(), '${clientId}', '${user}', '${builderId}', '{read:photos}', now()) returning id`);
    const revoke = () => revokeConsent(context, { userId: user, clientId, builderId }, 'Asked for');
    const sql = 'update oauth_token_family set revoked_at = now() where user_id = $1';
    expect(await runAfter(sql, [user], revoke)).toEqual([]);
  });

  it('closes and archives a visit once (ATT-33, ATT-34)', async () => {
    const { visitId } = await aVisit();
    const close = () => closeVisit(context, { visitId, by: 'Robin' });
    const closing = `update sign_on_visit set closed_at = now(), closed_by = 'Kim' where id = $1`;
    expect(await runAfter(closing, [visitId], close)).toMatchObject({ changed: false, closedBy: 'Kim' });
    const archive = () => archiveVisit(context, visitId);
    const archiving = 'update sign_on_visit set archived_at = now() where id = $1';
    expect(await runAfter(archiving, [visitId], archive)).toMatchObject({ changed: false });
  });

  it('does not resolve a conflict that was resolved, or whose visit was archived (CON-9)', async () => {
    const resolved = await aConflict();
    const resolving = `update sign_on_conflict set resolution = 'KEEP_RECORD', resolution_reason = 'Seen', resolved_by = 'Alex',
      resolved_at = now() where id = $1`;
    expect(await runAfter(resolving, [resolved.id], () => decide(resolved.id))).toMatchObject({
      code: 'EDIT_CONFLICT',
    });
    const archived = await aConflict();
    const archiving = 'update sign_on_visit set archived_at = now() where id = $1';
    expect(await runAfter(archiving, [archived.visitId], () => decide(archived.id))).toMatchObject({
      field: 'resolution',
    });
  });
});

describe('two identities of a provider that sign in at once with the address of one staff user', () => {
  it('bind one of them', async () => {
    const request = { email: 'ada@operator.example', name: 'Ada King', password: null, staffRole: 'VIEWER' };
    const { userId, email } = await createUser(context, request);
    const results: Promise<string | null>[] = [];
    await other.whileOpen('select 1 from app_user where id = $1 for update', [userId], async () => {
      for (const subject of ['first', 'second']) {
        results.push(findStaffUser(context, { issuer: 'https://sign-in.example', subject, email }, true));
      }
      await other.untilWaiting(2);
    });
    expect((await Promise.all(results)).sort()).toEqual([null, userId].sort());
  });
});
