import { StaffRole } from '../../../entities/user.entity.ts';
import { INTERNAL_SCOPES, SCOPES } from '../../../schema/scopes.ts';
import { forbidden } from '../../shared/errors.ts';
import { AUDIT_ROLES, type AuditAction } from '../audit/audit-actions.ts';

/** Roles of staff users, each with the actions of those before it. */
export const STAFF_ROLES = Object.values(StaffRole);

/** Reads of the console, beside the audited `person.read`, and what changes of internal clients need too: such a client reads all builders. */
export const CONSOLE_ACTIONS = {
  'access.read': 'List and show integrators, clients, connections and image hosts.',
  'records.read': "Read builders' records with the scopes of the role.",
  'audit.read': 'List the audit log.',
  'internal_client.changed': 'Create, change and enable internal clients, and rotate their secrets.',
} as const;

/** What a staff user does: an action of the console alone, or a change, which is named as in the audit log. */
export type StaffAction = keyof typeof CONSOLE_ACTIONS | AuditAction;

/**
 * The lowest role that may do an action; null for what no staff user does. `recordAudit` checks it in the transaction of each change, so
 * that no change of staff is committed without its permission. ACC-27.
 */
export const LOWEST_ROLE: Record<StaffAction, StaffRole | null> = {
  'access.read': 'VIEWER',
  'records.read': 'VIEWER',
  'audit.read': 'OPERATOR',
  'internal_client.changed': 'ADMIN',
  ...AUDIT_ROLES,
};

/** Whether a staff user with the role may do the action. */
export function isStaffActionAllowed(role: StaffRole, action: StaffAction): boolean {
  const lowest = LOWEST_ROLE[action];
  return lowest != null && STAFF_ROLES.indexOf(role) >= STAFF_ROLES.indexOf(lowest);
}

/** Throws `FORBIDDEN` unless a staff user with the role may do the action. */
export function requireStaffAction(role: StaffRole, action: StaffAction): void {
  if (!isStaffActionAllowed(role, action)) throw forbidden(`The role ${role} does not allow ${action}.`);
}

/** Actions that any role allows, with the reads first. */
export const STAFF_ACTIONS = (Object.keys(LOWEST_ROLE) as StaffAction[]).filter(
  (action) => LOWEST_ROLE[action] !== null,
);

const READ_SCOPES = SCOPES.filter((scope) => scope.startsWith('read:'));

/** Returns the scopes of the role's reads. Visits of workers are personal data, which a viewer does not see. */
export const getStaffScopes = (role: StaffRole): readonly string[] =>
  isStaffActionAllowed(role, 'person.read') ? [...READ_SCOPES, ...INTERNAL_SCOPES] : READ_SCOPES;
