import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AuditEntry } from '../../../entities/audit-entry.entity.ts';
import { Erasure } from '../../../entities/erasure.entity.ts';
import { User } from '../../../entities/user.entity.ts';
import { Database } from '../../../src/database/database.ts';
import { grantServiceRights } from '../../../src/database/grant-rights.ts';
import { AUDIT_ACTIONS, AUDITED_PROPERTIES, toObjectType } from '../../../src/domain/audit/audit-actions.ts';
import { listAuditEntries } from '../../../src/domain/audit/list-audit-entries.ts';
import { purgeAuditLog, recordErasure } from '../../../src/domain/audit/maintain-audit-log.ts';
import {
  type AuditedChange,
  recordAudit,
  recordPersonalDataRead,
  toAuditEntry,
} from '../../../src/domain/audit/record-audit.ts';
import { createDatabase } from '../../setup/database.ts';
import { OPERATOR } from '../../support/audit.ts';

let createdDatabase: Awaited<ReturnType<typeof createDatabase>>;
let database: Database;

beforeAll(async () => {
  createdDatabase = await createDatabase();
  database = new Database('au1', createdDatabase.url);
});
afterAll(async () => {
  await database.close();
  await createdDatabase.drop();
});

const NOW = new Date().toISOString();
const YEARS_AGO = '2020-03-02T07:30:00.000Z';

const aChange = (change: Partial<AuditedChange> = {}): AuditedChange => ({
  ...OPERATOR,
  ...{ at: NOW, action: 'client.created', objectId: 'cli_a1' },
  ...change,
});
const record = (change: Partial<AuditedChange>) => database.transaction((em) => recordAudit(em, aChange(change)));
/** Appends an entry of a user who has no row: only such a one can be erased in the log alone. */
const insert = (change: Partial<AuditedChange>) => database.fork().insert(AuditEntry, toAuditEntry(aChange(change)));
const entriesOf = (objectId: string) => database.fork().find(AuditEntry, { objectId }, { orderBy: { id: 'asc' } });
const execute = (sql: string) => database.fork().execute(sql);
const erase = (personId: string, pseudonym: string) =>
  recordErasure(
    database.fork(),
    {
      ...{ id: `era_${personId}`, kind: 'PERSON', subjectIds: [personId], builderIds: [], pseudonym },
      ...{ requestedAt: NOW, dueAt: NOW, cancelledAt: null },
    },
    anErasure(),
  );
/** Adds an administrator, unless the values say otherwise, and returns the id. */
async function addStaff(values: Partial<User>): Promise<string> {
  const user = { name: 'Kim', passwordHash: 'x', pictureKey: null, staffRole: 'ADMIN', disabledAt: null } as const;
  const row = { ...user, email: `${values.id}@operator.example`, createdAt: NOW, updatedAt: NOW, ...values };
  await database.fork().insert(User, row as User);
  return values.id!;
}
/** The function sets what the entry is about, and when it is older than a day. */
const anErasure = () =>
  aChange({ at: YEARS_AGO, action: 'person.erased', objectId: 'user_other', after: { rows: {} } });

describe('listAuditEntries', () => {
  it('returns every entry of one instant once, page by page, newest first', async () => {
    await Promise.all(Array.from({ length: 5 }, () => record({ objectId: 'cli_pages' })));
    const ids: string[] = [];
    for (let cursor: string | null = null; ; ) {
      const page = await listAuditEntries(database, { objectId: 'cli_pages' }, { limit: 2, cursor });
      ids.push(...page!.entries.map(({ id }) => id));
      cursor = page!.nextCursor;
      if (cursor === null) break;
    }
    expect(ids).toHaveLength(5);
    expect(ids).toEqual((await entriesOf('cli_pages')).map(({ id }) => id).reverse());
  });
});

describe('recordAudit', () => {
  it('appends an entry with actor, time, origin and the values before and after (ACC-20)', async () => {
    await record({
      ...{ action: 'connection.updated', objectId: 'intg_a/buil_a', builderId: 'buil_a', integratorId: 'intg_a' },
      before: { scopes: ['read:photos'], status: 'ACTIVE' },
      after: { scopes: ['read:photos', 'write:photos'], status: 'ACTIVE' },
    });
    expect(await entriesOf('intg_a/buil_a')).toEqual([
      {
        ...{ id: expect.stringMatching(/^aud_a[a-z0-9]{25}$/), at: NOW },
        ...{ actorType: 'OPERATOR', actorId: 'robin', origin: { host: 'ops-1', command: 'test' } },
        ...{ action: 'connection.updated', objectType: 'connection', objectId: 'intg_a/buil_a' },
        ...{ builderId: 'buil_a', integratorId: 'intg_a', personId: null },
        valuesBefore: { scopes: ['read:photos'] },
        valuesAfter: { scopes: ['read:photos', 'write:photos'] },
      },
    ]);
  });

  it('leaves no entry when the transaction is rolled back (ACC-21)', async () => {
    const work = database.transaction(async (em) => {
      await recordAudit(em, aChange({ objectId: 'cli_rolledback' }));
      throw new Error('rolled back');
    });
    await expect(work).rejects.toThrow('rolled back');
    expect(await entriesOf('cli_rolledback')).toEqual([]);
  });

  it('rejects an action that the role of the staff user does not allow (ACC-27)', async () => {
    const id = await addStaff({ id: 'user_viewing', staffRole: 'VIEWER' });
    const actor = { type: 'STAFF', id, role: 'VIEWER' } as const;
    await expect(record({ actor, objectId: 'cli_viewed' })).rejects.toMatchObject({ code: 'FORBIDDEN' });
    expect(await entriesOf('cli_viewed')).toEqual([]);
  });

  it('rejects a staff user who was disabled or got another role since the check (ACC-27)', async () => {
    const actorOf = async (user: Partial<User>) =>
      ({ type: 'STAFF', id: await addStaff(user), role: 'ADMIN' }) as const;
    const staff = await actorOf({ id: 'user_admin' });
    const disabled = await actorOf({ id: 'user_disabled', disabledAt: NOW });
    const demoted = await actorOf({ id: 'user_demoted', staffRole: 'OPERATOR' });
    for (const actor of [disabled, demoted]) {
      await expect(record({ actor, objectId: 'cli_staff' })).rejects.toMatchObject({ code: 'FORBIDDEN' });
      const read = { personIds: ['user_read'], categories: ['User'], builderId: null };
      const work = database.transaction((em) => recordPersonalDataRead(em, { actor, origin: {} }, NOW, read));
      await expect(work).rejects.toMatchObject({ code: 'FORBIDDEN' });
    }
    expect(await entriesOf('user_read')).toEqual([]);
    await record({ actor: staff, objectId: 'cli_staff' });
    expect(await entriesOf('cli_staff')).toMatchObject([{ actorId: 'user_admin' }]);
  });

  it('rejects a user who was disabled since the check, also one who acts through an application (PRV-3)', async () => {
    const personId = await addStaff({ id: 'user_left', staffRole: null, disabledAt: NOW });
    for (const change of [
      { actor: { type: 'USER', id: personId }, action: 'consent.granted' },
      { actor: { type: 'CLIENT', id: 'cli_a1' }, action: 'tool.called', personId },
    ] as const) {
      await expect(record({ ...change, objectId: 'left' })).rejects.toMatchObject({ code: 'FORBIDDEN' });
    }
    expect(await entriesOf('left')).toEqual([]);
    // What ends access is recorded of everybody.
    const revoked = { actor: { type: 'CLIENT', id: 'cli_a1' }, action: 'consent.revoked', personId } as const;
    await record({ ...revoked, objectId: 'left' });
    expect(await entriesOf('left')).toHaveLength(1);
  });

  it.each(Object.keys(AUDIT_ACTIONS) as (keyof typeof AUDIT_ACTIONS)[])(
    'leaves secrets out of %s, whatever the caller passes (ACC-22)',
    async (action) => {
      const secrets = {
        secret: 'SECRET',
        clientSecret: 'SECRET',
        digest: 'SECRET',
        passwordHash: 'SECRET',
        token: 'SECRET',
        key: 'SECRET',
      };
      const objectId = `x_${action}`;
      await record({ action, objectId, before: secrets, after: { ...secrets, password: 'SECRET' } });
      expect(JSON.stringify(await entriesOf(objectId))).not.toContain('SECRET');
    },
  );

  it('knows the audited properties of the object of each action', () => {
    const types = Object.keys(AUDIT_ACTIONS).map((action) => toObjectType(action as keyof typeof AUDIT_ACTIONS));
    expect([...new Set(types)].toSorted()).toEqual(Object.keys(AUDITED_PROPERTIES).toSorted());
  });
});

describe('recordPersonalDataRead', () => {
  beforeAll(() => addStaff({ id: 'user_kim', staffRole: 'OPERATOR' }));

  const read = (role: 'VIEWER' | 'OPERATOR', personIds: string[]) =>
    database.transaction((em) =>
      recordPersonalDataRead(em, { actor: { type: 'STAFF', id: 'user_kim', role }, origin: { requestId: 'r1' } }, NOW, {
        ...{ personIds, categories: ['SignOnVisit'], builderId: 'buil_a' },
      }),
    );

  it('appends one entry for each person whose data staff read (ACC-20)', async () => {
    await read('OPERATOR', ['work_a', 'work_b', 'work_a']);
    const [first, ...others] = await entriesOf('work_a');
    expect(others).toEqual([]);
    expect(first).toMatchObject({
      ...{ actorType: 'STAFF', actorId: 'user_kim', action: 'person.read', personId: 'work_a', builderId: 'buil_a' },
      ...{ origin: { requestId: 'r1' }, valuesBefore: null, valuesAfter: { categories: ['SignOnVisit'] } },
    });
    expect(await entriesOf('work_b')).toHaveLength(1);
  });

  it('appends nothing when nobody was read', async () => {
    const count = async () => (await database.fork().count(AuditEntry, {})) as number;
    const before = await count();
    await read('OPERATOR', []);
    expect(await count()).toBe(before);
  });

  it('rejects a role that does not allow it, also for an empty list (ACC-27)', async () => {
    await expect(read('VIEWER', ['work_c'])).rejects.toMatchObject({ status: 403 });
    await expect(read('VIEWER', [])).rejects.toMatchObject({ status: 403 });
    expect(await entriesOf('work_c')).toEqual([]);
  });
});

describe('the table', () => {
  it.each([
    "update audit_entry set actor_id = 'nobody'",
    'delete from audit_entry',
    'truncate audit_entry',
    "update audit_entry set actor_id = 'nobody' where false",
  ])('rejects: %s (ACC-20)', async (sql) => {
    await record({ objectId: 'cli_kept' });
    await expect(execute(sql)).rejects.toThrow(/The audit log is append-only/);
    expect(await entriesOf('cli_kept')).not.toEqual([]);
  });

  it('can be read and appended to, and not changed, by the role of the service (ACC-20)', async () => {
    const role = `audit_test_${randomBytes(6).toString('hex')}`;
    await execute(`create role ${role} login password 'only-a-test'`);
    await grantServiceRights(database, role);
    const url = new URL(createdDatabase.url);
    Object.assign(url, { username: role, password: 'only-a-test' });
    const client = new pg.Client({ connectionString: url.href });
    await client.connect();
    try {
      await record({ objectId: 'cli_role', at: YEARS_AGO });
      await client.query(`insert into audit_entry (id, at, actor_type, action, object_type, object_id, origin)
        values ('aud_role', now(), 'JOB', 'client.created', 'client', 'cli_role2', '{}')`);
      await client.query(`select set_config('audit_log.maintenance', 'on', false)`);
      for (const sql of [
        'update audit_entry set at = now()',
        'delete from audit_entry',
        'truncate audit_entry',
        `insert into erasure (id, kind, subject_ids, pseudonym, requested_at, due_at)
          values ('era_forged', 'PERSON', '{user_named}', 'Erased person 00000000a9', now(), now())`,
        `update erasure set subject_ids = '{user_named}'`,
        'delete from erasure',
        'delete from app_user',
        `select audit_pseudonymize('user_named', 'Erased person 00000000a9')`,
      ]) {
        await expect(client.query(sql), sql).rejects.toThrow(/permission denied/);
      }
      for (const sql of ['alter table audit_entry disable trigger all', 'drop function audit_purge']) {
        await expect(client.query(sql), sql).rejects.toThrow(/must be owner/);
      }
      expect((await client.query(`select audit_purge('2021-01-01', 100) as n`)).rows).toEqual([{ n: '1' }]);
      expect(await entriesOf('cli_role')).toEqual([]);
    } finally {
      await client.end();
      await execute(`drop owned by ${role}; drop role ${role}`);
    }
  });
});

describe('purgeAuditLog', () => {
  it('deletes entries of more than a year, oldest first', async () => {
    await record({ objectId: 'cli_old', at: YEARS_AGO });
    await record({ objectId: 'cli_older', at: '2019-03-02T07:30:00.000Z' });
    expect(await purgeAuditLog(database.fork(), '2021-01-01T00:00:00.000Z', 1)).toBe(1);
    expect([await entriesOf('cli_older'), (await entriesOf('cli_old')).length]).toEqual([[], 1]);
    expect(await purgeAuditLog(database.fork(), '2021-01-01T00:00:00.000Z')).toBe(1);
    await expect(execute('delete from audit_entry')).rejects.toThrow(/append-only/);
  });

  it('rejects an instant of the last 365 days', async () => {
    const yesterday = new Date(Date.now() - 86_400_000).toISOString();
    await expect(purgeAuditLog(database.fork(), yesterday)).rejects.toThrow(/kept for at least 365 days/);
  });
});

describe('recordErasure', () => {
  it('replaces the person as actor, object and in the values, and keeps all other entries (ACC-24)', async () => {
    const before = { name: 'Sam Hill', email: 'sam@old.example', disabledAt: null };
    await record({
      action: 'user.updated',
      objectId: 'user_sam',
      personId: 'user_sam',
      before,
      after: { ...before, name: 'Sam Lee', email: 'sam@new.example', pictureKey: 'pictures/user_sam/a.png' },
    });
    const membership = { userId: 'user_sam', builderId: 'buil_a', role: 'ADMIN' };
    await record({
      action: 'membership.created',
      objectId: 'user_sam/buil_a',
      personId: 'user_sam',
      after: membership,
    });
    const origin = { address: '192.0.2.7', requestId: 'r1' };
    await insert({
      objectId: 'cli_sam',
      actor: { type: 'USER', id: 'user_sam' },
      origin,
      after: { name: 'Sam Hill Apps' },
    });
    await record({
      objectId: 'user_other',
      personId: 'user_other',
      action: 'user.created',
      after: { name: 'Sam Hill' },
    });
    await record({
      objectId: 'cli_app',
      personId: 'user_sam',
      action: 'consent.revoked',
      actor: { type: 'CLIENT', id: 'cli_app' },
      origin,
    });
    expect(await erase('user_sam', 'Erased person 00000000a1')).toBe(4);
    expect((await entriesOf('Erased person 00000000a1'))[1]).toMatchObject({
      personId: 'Erased person 00000000a1',
      valuesBefore: { name: 'Erased person 00000000a1', email: 'Erased person 00000000a1' },
      valuesAfter: {
        name: 'Erased person 00000000a1',
        email: 'Erased person 00000000a1',
        pictureKey: 'Erased person 00000000a1',
      },
    });
    expect((await entriesOf('Erased person 00000000a1/buil_a'))[0]!.valuesAfter).toEqual({
      ...membership,
      userId: 'Erased person 00000000a1',
    });
    const [acted] = await entriesOf('cli_sam');
    expect(acted).toMatchObject({
      actorId: 'Erased person 00000000a1',
      origin: { requestId: 'r1' },
      valuesAfter: { name: 'Sam Hill Apps' },
    });
    expect(acted!.origin).not.toHaveProperty('address');
    // The application acted for the person, at the person's address.
    expect((await entriesOf('cli_app'))[0]!.origin).toEqual({ requestId: 'r1' });
    expect((await entriesOf('user_other'))[0]!.valuesAfter).toEqual({ name: 'Sam Hill' });
    const all = await database.fork().find(AuditEntry, {});
    expect(JSON.stringify(all)).not.toMatch(/user_sam|sam@|Sam Lee/);
  });
});

describe('recordErasure of what is not erased', () => {
  const pseudonym = 'Erased person 00000000a3';

  it('is rejected, so that it cannot attribute the actions of one person to another (ACC-24)', async () => {
    await database.fork().insert(User, {
      ...{ id: 'user_named', name: 'Kim Tran', email: 'kim@example.com', passwordHash: null, pictureKey: null },
      ...{ staffRole: 'ADMIN', disabledAt: null, createdAt: NOW, updatedAt: NOW },
    });
    await expect(erase('user_named', pseudonym)).rejects.toThrow('user_named is not erased');
    await expect(erase('user_3', 'user_2')).rejects.toThrow('not a pseudonym: user_2');
    await expect(erase('robin', pseudonym)).rejects.toThrow('robin is not erased');
    await erase('user_5', pseudonym);
    await expect(erase('user_5', 'Erased person 00000000a4')).rejects.toThrow('is another one');
    expect(await database.fork().count(Erasure, { pseudonym })).toBe(1);
  });

  it('leaves the entry of the erasure, also when a user had the form of an erased one for a moment (ACC-24)', async () => {
    const renamed = 'Erased person 00000000a5';
    await record({ actor: { type: 'USER', id: 'user_named' }, action: 'client.created', objectId: 'cli_named' });
    await execute(`update app_user set name = '${renamed}' where id = 'user_named'`);
    await erase('user_named', renamed);
    await execute(`update app_user set name = 'Kim Tran' where id = 'user_named'`);
    const [entry] = await entriesOf(renamed);
    expect(entry).toMatchObject({
      ...{ action: 'person.erased', objectType: 'person', personId: renamed, actorId: 'robin' },
      valuesAfter: { rows: { AuditEntry: 1 } },
    });
    expect(Date.now() - Date.parse(entry!.at)).toBeLessThan(2 * 86_400_000);
    const withoutEntry = { id: 'era_x', kind: 'PERSON', subject_ids: ['user_5'], pseudonym };
    await expect(execute(`select record_erasure('${JSON.stringify(withoutEntry)}', null)`)).rejects.toThrow('null');
    // It could never be completed: each replay of erasures would end with an error.
    const nobody = { subject_ids: [], pseudonym: 'Erased person 00000000b9', requested_at: NOW, due_at: NOW };
    const ofNobody = JSON.stringify({ ...withoutEntry, ...nobody });
    const own = JSON.stringify({
      id: 'aud_x',
      at: NOW,
      actor_type: 'OPERATOR',
      origin: {},
      values_after: { rows: {} },
    });
    await expect(execute(`select record_erasure('${ofNobody}', '${own}')`)).rejects.toThrow('another person');
  });

  it('with the pseudonym of another erased person is rejected; a later erasure of the same person has it (ACC-24)', async () => {
    const actor = { type: 'USER', id: 'user_6' } as const;
    await insert({ actor, action: 'client.created', objectId: 'cli_6' });
    await erase('user_5', pseudonym);
    await expect(erase('user_6', pseudonym)).rejects.toThrow(`${pseudonym} is another person`);
    expect((await entriesOf('cli_6'))[0]!.actorId).toBe('user_6');
    // The second erasure has a record of the first, the third one of the second only.
    for (const subjectIds of [['user_5', 'wkr_5'], ['wkr_5']]) {
      const dates = { requestedAt: NOW, dueAt: NOW, cancelledAt: null };
      const erasure = {
        id: `era_${subjectIds.join('')}`,
        kind: 'PERSON' as const,
        subjectIds,
        builderIds: [],
        pseudonym,
      };
      await recordErasure(database.fork(), { ...erasure, ...dates }, anErasure());
    }
    expect(await database.fork().count(Erasure, { pseudonym })).toBe(3);
  });
});

describe('recordErasure by a staff user', () => {
  it('is FORBIDDEN for a role that does not allow it (ACC-27)', async () => {
    const erasure = { id: 'era_staff', kind: 'PERSON', subjectIds: ['con_staff'], builderIds: [] } as const;
    const dates = { requestedAt: NOW, dueAt: NOW, cancelledAt: null };
    const actor = { type: 'STAFF', id: 'user_s', role: 'VIEWER' } as const;
    const recorded = { ...erasure, ...dates, pseudonym: 'Erased person 0123456789' };
    const change = { ...anErasure(), actor };
    await expect(recordErasure(database.fork(), recorded as never, change)).rejects.toMatchObject({
      code: 'FORBIDDEN',
    });
  });
});

describe('recordErasure of a short id', () => {
  it('replaces no other id that begins with it', async () => {
    const actor = { type: 'USER', id: 'user_1' } as const;
    await insert({ actor, action: 'consent.revoked', objectId: 'user_12/cli_a/buil_a', personId: 'user_12' });
    await insert({ actor, action: 'consent.revoked', objectId: 'user_1/cli_a/buil_a', personId: 'user_1' });
    expect(await erase('user_1', 'Erased person 00000000a2')).toBe(2);
    expect([
      (await entriesOf('user_12/cli_a/buil_a')).length,
      (await entriesOf('Erased person 00000000a2/cli_a/buil_a')).length,
    ]).toEqual([1, 1]);
  });
});

describe('listAuditEntries', () => {
  const at = (minute: number) => `2025-01-01T00:${String(minute).padStart(2, '0')}:00.000Z`;

  beforeAll(async () => {
    await database.fork().execute(`insert into app_user (id, name, email, staff_role, created_at, updated_at)
      values ('user_s', 'Kim', 'kim@operator.example', 'OPERATOR', now(), now())`);
    for (let minute = 0; minute < 7; minute++)
      await record({ objectId: 'cli_list', builderId: 'buil_l', at: at(minute) });
    await record({
      objectId: 'cli_list',
      action: 'client.disabled',
      actor: { type: 'STAFF', id: 'user_s', role: 'OPERATOR' },
      at: at(7),
    });
  });

  it('returns pages, newest first, that contain every entry once (ACC-23)', async () => {
    const seen: string[] = [];
    for (let cursor: string | null = null, more = true; more; ) {
      const page = await listAuditEntries(database, { objectId: 'cli_list' }, { limit: 3, cursor });
      seen.push(...page!.entries.map((entry) => entry.at));
      cursor = page!.nextCursor;
      more = cursor !== null;
    }
    expect(seen).toEqual([7, 6, 5, 4, 3, 2, 1, 0].map(at));
  });

  it.each([
    ['an actor', { actorId: 'user_s' }, 1],
    ['a type of actor', { actorType: 'STAFF' }, 1],
    ['an action', { action: 'client.disabled' }, 1],
    ['a kind of object', { action: 'client' }, 8],
    ['another kind of object', { action: 'user' }, 0],
    ['a builder', { builderId: 'buil_l' }, 7],
    ['a time from', { since: at(6) }, 2],
    ['a time until', { until: at(6) }, 6],
  ] as const)('filters by %s (ACC-23)', async (_name, filter, count) => {
    const page = await listAuditEntries(database, { objectId: 'cli_list', ...filter }, { limit: 100, cursor: null });
    expect(page!.entries).toHaveLength(count);
  });

  it('returns undefined for a cursor that is no entry', async () => {
    expect(await listAuditEntries(database, {}, { limit: 1, cursor: 'aud_none' })).toBeUndefined();
  });
});
