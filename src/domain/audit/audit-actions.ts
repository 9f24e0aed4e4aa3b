import type { StaffRole } from '../../../entities/user.entity.ts';

/**
 * Kinds of audited objects, with the properties that entries record. Other properties, such as digests and password hashes, are
 * never recorded, whatever a caller passes (ACC-22).
 */
export const AUDITED_PROPERTIES = {
  integrator: ['name', 'deepLinkSchemes'],
  client: [
    'integratorId',
    'internal',
    'name',
    'type',
    'grants',
    'scopes',
    'redirectUris',
    'origins',
    'pilotAgreement',
    'disabledAt',
  ],
  /** Of a client; secrets are named by their row's number and time. */
  client_secret: ['secretIds', 'createdAt'],
  connection: ['integratorId', 'builderId', 'status', 'scopes'],
  user: ['name', 'email', 'pictureKey', 'disabledAt'],
  /** A user who works for the operator. */
  staff: ['name', 'email', 'pictureKey', 'staffRole', 'oidcIssuer', 'disabledAt', 'purpose', 'expiresAt', 'emailed'],
  membership: ['userId', 'builderId', 'role', 'revokedConsents'],
  /** A user's authorisation of a client. */
  consent: ['clientId', 'userId', 'builderId', 'scopes', 'resource', 'reason'],
  password: ['endedSessions'],
  password_link: ['purpose', 'expiresAt', 'emailed'],
  signing_key: ['keyIds'],
  /** `receiver` is the origin of the URL, whose path may contain a secret. */
  webhook_endpoint: [
    'integratorId',
    'clientId',
    'receiver',
    'types',
    'builderIds',
    'status',
    'previousSecretUntil',
    'cursor',
    'disabledReason',
  ],
  snapshot: ['resources', 'records', 'bytes'],
  image_host: ['host'],
  site_access: ['workerId', 'projectId', 'grantedAt', 'revokedAt'],
  visit: ['workerId', 'projectId', 'signedOnAt', 'signedOffAt', 'closedAt', 'archivedAt', 'closingReason'],
  /** Of a gate, that waits for its sign-on. */
  sign_off: ['workerId', 'projectId', 'reason'],
  /** A gate's event that was refused with a conflict. */
  conflict: ['workerId', 'projectId', 'code', 'resolution', 'resolutionReason', 'closedAt'],
  /** A tool for agents, by name. */
  tool: ['clientId', 'userId'],
  region: ['files'],
  person: ['categories', 'rows', 'storedFiles', 'texts', 'place', 'reason'],
  builder: ['name', 'timeZone', 'logoKey', 'rows', 'storedFiles', 'effectiveAt', 'reason'],
} as const satisfies Record<string, readonly string[]>;

type AuditObjectType = keyof typeof AUDITED_PROPERTIES;

/**
 * Audited actions: the lowest role of a staff user who may do them, null for what no staff user does, and what each records. The first half
 * of a name is the kind of the object.
 */
const ACTIONS = {
  'integrator.created': ['OPERATOR', 'An integrator was registered.'],
  'integrator.updated': ['OPERATOR', 'Name or deep-link schemes of an integrator changed.'],
  'client.created': ['OPERATOR', 'An OAuth client was registered.'],
  'client.updated': ['OPERATOR', 'Name, redirect URIs, origins, scopes or grants of a client changed.'],
  'client.disabled': ['OPERATOR', 'A client was disabled.'],
  'client.enabled': ['OPERATOR', 'A disabled client was enabled.'],
  'client_secret.rotated': ['OPERATOR', 'A client got a new secret; older ones may have been dropped.'],
  'connection.created': ['OPERATOR', 'An integrator was connected to a builder.'],
  'connection.updated': ['OPERATOR', 'The scopes of a connection changed.'],
  'connection.reactivated': ['OPERATOR', 'A revoked connection was activated.'],
  'connection.revoked': ['OPERATOR', 'A connection was revoked.'],
  'user.created': ['OPERATOR', 'A user was registered.'],
  'user.updated': ['OPERATOR', 'Name, e-mail address or picture of a user changed.'],
  'user.disabled': ['OPERATOR', 'A user was disabled.'],
  'user.enabled': ['OPERATOR', 'A disabled user was enabled.'],
  'staff.created': ['ADMIN', 'A staff user was registered.'],
  'staff.updated': ['ADMIN', 'Name, e-mail address, picture or role of a staff user changed.'],
  'staff.disabled': ['ADMIN', 'A staff user was disabled.'],
  'staff.enabled': ['ADMIN', 'A disabled staff user was enabled.'],
  'staff.identity_bound': [null, 'A staff user signed in at the OpenID Connect provider for the first time.'],
  'staff.identity_refused': [
    null,
    'Another identity of the provider with the e-mail address of a staff user, who is bound to one, was refused.',
  ],
  'staff.password_link_created': ['ADMIN', 'A one-time link for choosing the password of a staff user was created.'],
  'membership.created': ['OPERATOR', "A user was added to a builder's account."],
  'membership.updated': ['OPERATOR', "A user's role in a builder's account changed."],
  'membership.deleted': [
    'OPERATOR',
    "A user was removed from a builder's account, and the user's consents for it ended.",
  ],
  'consent.granted': [null, 'A user authorised an application.'],
  'consent.revoked': ['OPERATOR', 'An authorisation of an application ended, with its tokens.'],
  'password.set': [null, 'A password was set; all sessions of the user ended.'],
  'password_link.created': ['OPERATOR', 'A one-time link for choosing a password was created.'],
  'password_link.deleted': ['OPERATOR', 'A one-time link that could not be sent was deleted.'],
  'signing_key.changed': [null, 'The keys that sign and verify access tokens changed.'],
  'webhook_endpoint.created': ['OPERATOR', 'A webhook endpoint was created.'],
  'webhook_endpoint.updated': ['OPERATOR', 'Receiver, filters or status of a webhook endpoint changed.'],
  'webhook_endpoint.deleted': ['OPERATOR', 'A webhook endpoint was deleted.'],
  'webhook_endpoint.disabled': [
    null,
    'The service disabled a webhook endpoint, whose receiver is gone or has failed for five days.',
  ],
  'webhook_endpoint.secret_rotated': [
    'OPERATOR',
    'A webhook endpoint got a new secret; the one before signs for 24 hours too.',
  ],
  'webhook_endpoint.replayed': ['OPERATOR', 'Events were to be delivered to a webhook endpoint again.'],
  'webhook_endpoint.tested': ['OPERATOR', 'A test event was to be sent to a webhook endpoint.'],
  'snapshot.created': [null, "An integrator requested a copy of a builder's records."],
  'snapshot.downloaded': [null, "An integrator got the addresses of the files of its copy of a builder's records."],
  'snapshot.deleted': [null, "An integrator cancelled or removed its copy of a builder's records."],
  'image_host.approved': ['OPERATOR', 'A host was approved for imageUrl.'],
  'image_host.revoked': ['OPERATOR', 'The approval of a host was revoked.'],
  'site_access.granted': ['OPERATOR', "A worker was given access to a project's site."],
  'site_access.revoked': ['OPERATOR', "A worker's access to a project's site was revoked."],
  'visit.created': ['OPERATOR', 'A visit was made of a sign-off that waited for its sign-on.'],
  'visit.closed': ['OPERATOR', 'A visit that no gate had ended was closed manually.'],
  'visit.archived': ['OPERATOR', 'A visit was archived manually.'],
  'sign_off.dismissed': ['OPERATOR', 'A sign-off that waited for its sign-on was rejected.'],
  'conflict.resolved': ['OPERATOR', 'Somebody decided about an event that a gate had sent and that was refused.'],
  'tool.called': [null, 'An assistant called a tool that changes records.'],
  'region.exported': [null, 'An export of the records of a region began.'],
  'region.imported': [null, 'Records were imported into a region.'],
  'person.exported': ['ADMIN', 'An export of the data of a person began.'],
  'person.erased': ['ADMIN', 'The data of a person was erased.'],
  'person.text_replaced': [null, 'The name of an erased person was replaced in a text.'],
  'person.read': ['OPERATOR', 'Staff read personal data of a person.'],
  'builder.updated': ['OPERATOR', 'Time zone or logo of a builder changed.'],
  'builder.exported': ['ADMIN', 'An export of the data of a builder began.'],
  'builder.erasure_scheduled': ['ADMIN', 'The erasure of a builder was scheduled.'],
  'builder.erasure_cancelled': ['ADMIN', 'The scheduled erasure of a builder was cancelled.'],
  'builder.erased': [null, 'The data of a builder was erased.'],
} as const satisfies Record<`${AuditObjectType}.${string}`, readonly [role: StaffRole | null, description: string]>;

export type AuditAction = keyof typeof ACTIONS;

/** Returns the kind of object that an action changes. */
export const toObjectType = (action: AuditAction) => action.slice(0, action.indexOf('.')) as AuditObjectType;

const mapActions = <T>(toValue: (action: (typeof ACTIONS)[AuditAction]) => T) =>
  Object.fromEntries(Object.entries(ACTIONS).map(([name, action]) => [name, toValue(action)])) as Record<
    AuditAction,
    T
  >;

/** What each action records. */
export const AUDIT_ACTIONS = mapActions(([, description]) => description);

/** The lowest role that may do each action. `recordAudit` requires it in the transaction of each change. ACC-27. */
export const AUDIT_ROLES = mapActions(([role]) => role);
