import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { AuditEntry } from '../../../entities/audit-entry.entity.ts';
import { Database } from '../../../src/database/database.ts';
import {
  CONSOLE_ACTIONS,
  getStaffScopes,
  isStaffActionAllowed,
  requireStaffAction,
  STAFF_ACTIONS,
  STAFF_ROLES,
  type StaffAction,
} from '../../../src/domain/access/staff-roles.ts';
import { AUDIT_ACTIONS, type AuditAction } from '../../../src/domain/audit/audit-actions.ts';
import { recordAudit } from '../../../src/domain/audit/record-audit.ts';
import { createDatabase } from '../../setup/database.ts';

/** The table of roles and actions. It repeats the source, so that a test detects a change of permissions. */
const VIEWER = ['access.read', 'records.read'];
const OPERATOR = [
  ...['audit.read', 'person.read', 'integrator.created', 'integrator.updated', 'client.created', 'client.updated'],
  ...['client.disabled', 'client.enabled', 'client_secret.rotated', 'connection.created', 'connection.updated'],
  ...['connection.reactivated', 'connection.revoked', 'user.created', 'user.updated', 'user.disabled', 'user.enabled'],
  ...['membership.created', 'membership.updated', 'membership.deleted', 'consent.revoked', 'password_link.created'],
  ...[
    'password_link.deleted',
    'image_host.approved',
    'image_host.revoked',
    'site_access.granted',
    'site_access.revoked',
    'visit.created',
    'visit.closed',
  ],
  ...['visit.archived', 'sign_off.dismissed', 'conflict.resolved', 'builder.updated'],
  ...['webhook_endpoint.created', 'webhook_endpoint.updated', 'webhook_endpoint.deleted'],
  ...['webhook_endpoint.secret_rotated', 'webhook_endpoint.replayed', 'webhook_endpoint.tested'],
];
const ADMIN = [
  'internal_client.changed',
  ...['staff.created', 'staff.updated', 'staff.disabled', 'staff.enabled', 'staff.password_link_created'],
  ...['person.exported', 'person.erased', 'builder.exported', 'builder.erasure_scheduled', 'builder.erasure_cancelled'],
];
const EXPECTED = {
  VIEWER: new Set(VIEWER),
  OPERATOR: new Set([...VIEWER, ...OPERATOR]),
  ADMIN: new Set([...VIEWER, ...OPERATOR, ...ADMIN]),
};
const ALL = [...new Set([...STAFF_ACTIONS, ...(Object.keys(AUDIT_ACTIONS) as AuditAction[])])] as StaffAction[];
const CASES = STAFF_ROLES.flatMap((role) => ALL.map((action) => [role, action, EXPECTED[role].has(action)] as const));

describe('the roles of staff', () => {
  it.each(CASES)('%s and %s: %s (ACC-27)', (role, action, allowed) => {
    expect(isStaffActionAllowed(role, action)).toBe(allowed);
    if (allowed) expect(() => requireStaffAction(role, action)).not.toThrow();
    else expect(() => requireStaffAction(role, action)).toThrow(`The role ${role} does not allow ${action}.`);
  });

  it('do not commit a change that the role does not allow (ACC-27)', async () => {
    const created = await createDatabase();
    const database = new Database('au1', created.url);
    const record = (role: (typeof STAFF_ROLES)[number], objectId: string) =>
      database.transaction((em) =>
        recordAudit(em, {
          ...{ actor: { type: 'STAFF', id: 'user_s', role }, origin: {}, at: new Date().toISOString() },
          ...{ action: 'connection.revoked', objectId },
        }),
      );
    const staff = `insert into app_user (id, name, email, staff_role, created_at, updated_at)
      values ('user_s', 'Kim', 'kim@operator.example', 'OPERATOR', now(), now())`;
    try {
      await database.fork().execute(staff);
      await expect(record('VIEWER', 'a/b')).rejects.toMatchObject({ status: 403 });
      await record('OPERATOR', 'a/c');
      // The request began with a role that the user has no longer.
      await expect(record('ADMIN', 'a/d')).rejects.toMatchObject({ status: 403 });
      await database.fork().execute('update app_user set disabled_at = now()');
      await expect(record('OPERATOR', 'a/e')).rejects.toMatchObject({ status: 403 });
      expect((await database.fork().find(AuditEntry, {})).map(({ objectId }) => objectId)).toEqual(['a/c']);
    } finally {
      await database.close();
      await created.drop();
    }
  });

  it('give a viewer no scope for personal visits, and nobody a scope that writes', () => {
    expect(getStaffScopes('VIEWER')).not.toContain('read:attendance');
    for (const role of ['OPERATOR', 'ADMIN'] as const) expect(getStaffScopes(role)).toContain('read:attendance');
    expect(STAFF_ROLES.flatMap(getStaffScopes).filter((scope) => scope.startsWith('write:'))).toEqual([]);
  });
});

describe('docs/access.md', () => {
  it('has the table of roles and actions (`npx vitest run test/domain/access/staff-roles.test.ts -u` writes it)', async () => {
    const path = join(import.meta.dirname, '../../../docs/access.md');
    const page = await readFile(path, 'utf8');
    const rows = STAFF_ACTIONS.map((action) => {
      const cells = STAFF_ROLES.map((role) => (isStaffActionAllowed(role, action) ? 'yes' : '–'));
      const description = { ...AUDIT_ACTIONS, ...CONSOLE_ACTIONS }[action];
      return `| \`${action}\` | ${description} | ${cells.join(' | ')} |`;
    });
    const head = [
      `| Action | What it is | ${STAFF_ROLES.join(' | ')} |`,
      `|---|---|${STAFF_ROLES.map(() => ':-:').join('|')}|`,
    ];
    const table = `<!-- staff-roles:begin -->\n${[...head, ...rows].join('\n')}\n<!-- staff-roles:end -->`;
    await expect(page.replace(/<!-- staff-roles:begin -->[\s\S]*<!-- staff-roles:end -->/, table)).toMatchFileSnapshot(
      path,
    );
  });
});
