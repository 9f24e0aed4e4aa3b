import { INTERNAL_SCOPES, SCOPES } from '../../../schema/scopes.ts';
import { forbidden } from '../../shared/errors.ts';
import type { AuditAction } from '../audit/audited-objects.ts';

/** Roles of staff users, each with the actions of those before it. */
export const STAFF_ROLES = ['VIEWER', 'OPERATOR', 'ADMIN'] as const;
export type StaffRole = (typeof STAFF_ROLES)[number];

/** Reads of the console, and what changes of internal clients need in addition: such a client reads all builders. */
export const CONSOLE_ACTIONS = {
  'access.read': 'List and show integrators, clients, connections, users, memberships and image hosts.',
  'records.read': "Read builders' records with the scopes of the role.",
  'audit.read': 'List the audit log.',
  'internal_client.changed': 'Create, change and enable internal clients, and rotate their secrets.',
} as const;

/** What a staff user does: an action of the console alone, or a change, which is named as in the audit log. */
export type StaffAction = keyof typeof CONSOLE_ACTIONS | AuditAction;

/**
 * The lowest role that may do an action; other actions are for no staff user. `recordAudit` checks it in the transaction of each change,
 * so that no change of staff is committed without its permission. ACC-27.
 */
const LOWEST_ROLE: Partial<Record<StaffAction, StaffRole>> = {
  'access.read': 'VIEWER',
  'records.read': 'VIEWER',
  'audit.read': 'OPERATOR',
  'person.read': 'OPERATOR',
  'integrator.created': 'OPERATOR',
  'integrator.updated': 'OPERATOR',
  'client.created': 'OPERATOR',
  'client.updated': 'OPERATOR',
  'client.disabled': 'OPERATOR',
  'client.enabled': 'OPERATOR',
  'client_secret.rotated': 'OPERATOR',
  'connection.created': 'OPERATOR',
  'connection.updated': 'OPERATOR',
  'connection.reactivated': 'OPERATOR',
  'connection.revoked': 'OPERATOR',
  'user.created': 'OPERATOR',
  'user.updated': 'OPERATOR',
  'user.disabled': 'OPERATOR',
  'user.enabled': 'OPERATOR',
  'membership.created': 'OPERATOR',
  'membership.updated': 'OPERATOR',
  'membership.deleted': 'OPERATOR',
  'consent.revoked': 'OPERATOR',
  'password_link.created': 'OPERATOR',
  'password_link.deleted': 'OPERATOR',
  'webhook_endpoint.created': 'OPERATOR',
  'webhook_endpoint.updated': 'OPERATOR',
  'webhook_endpoint.deleted': 'OPERATOR',
  'webhook_endpoint.secret_rotated': 'OPERATOR',
  'webhook_endpoint.replayed': 'OPERATOR',
  'webhook_endpoint.tested': 'OPERATOR',
  'image_host.approved': 'OPERATOR',
  'image_host.revoked': 'OPERATOR',
  'builder.updated': 'OPERATOR',
  'site_access.granted': 'OPERATOR',
  'site_access.revoked': 'OPERATOR',
  'visit.closed': 'OPERATOR',
  'visit.archived': 'OPERATOR',
  'conflict.resolved': 'OPERATOR',
  'internal_client.changed': 'ADMIN',
  'staff.created': 'ADMIN',
  'staff.updated': 'ADMIN',
  'staff.disabled': 'ADMIN',
  'staff.enabled': 'ADMIN',
  'staff.password_link_created': 'ADMIN',
  'person.exported': 'ADMIN',
  'person.erased': 'ADMIN',
  'builder.exported': 'ADMIN',
  'builder.erasure_scheduled': 'ADMIN',
  'builder.erasure_cancelled': 'ADMIN',
};

/** Returns the lowest role that may do an action; null for an action that no role may do. */
export const getLowestRole = (action: StaffAction): StaffRole | null => LOWEST_ROLE[action] ?? null;

/** Whether a staff user with the role may do the action. */
export function isStaffActionAllowed(role: StaffRole, action: StaffAction): boolean {
  const lowest = LOWEST_ROLE[action];
  return lowest !== undefined && STAFF_ROLES.indexOf(role) >= STAFF_ROLES.indexOf(lowest);
}

/** Throws 403 unless a staff user with the role may do the action. */
export function requireStaffAction(role: StaffRole, action: StaffAction): void {
  if (!isStaffActionAllowed(role, action)) throw forbidden(`The role ${role} does not allow ${action}.`);
}

/** Actions that any role allows, with the reads first. */
export const STAFF_ACTIONS = Object.keys(LOWEST_ROLE) as StaffAction[];

const READ_SCOPES = SCOPES.filter((scope) => scope.startsWith('read:'));

/** Returns the scopes of the role's reads. Visits of workers are personal data, which a viewer does not see. */
export const getStaffScopes = (role: StaffRole): readonly string[] =>
  isStaffActionAllowed(role, 'person.read') ? [...READ_SCOPES, ...INTERNAL_SCOPES] : READ_SCOPES;
