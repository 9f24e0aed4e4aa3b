/**
 * Kinds of audited objects, with the properties that entries record. Other properties, such as digests and password hashes, are
 * never recorded, whatever a caller passes (ACC-22).
 */
export const AUDITED_PROPERTIES = {
  integrator: ['name', 'deepLinkSchemes'],
  client: [
    ...['integratorId', 'internal', 'name', 'type', 'grants', 'scopes', 'redirectUris', 'origins'],
    ...['pilotAgreement', 'disabledAt'],
  ],
  /** Of a client; secrets are named by their row's number and time. */
  client_secret: ['secretIds', 'createdAt'],
  connection: ['integratorId', 'builderId', 'status', 'scopes'],
  user: ['name', 'email', 'disabledAt'],
  /** A user who works for the operator. */
  staff: ['name', 'email', 'staffRole', 'disabledAt', 'purpose', 'expiresAt', 'emailed'],
  membership: ['userId', 'builderId', 'role', 'revokedConsents'],
  /** A user's authorisation of a client. */
  consent: ['clientId', 'userId', 'builderId', 'scopes', 'reason'],
  password: ['endedSessions'],
  password_link: ['purpose', 'expiresAt', 'emailed'],
  signing_key: ['keyIds'],
  /** `receiver` is the origin of the URL, whose path may contain a secret. */
  webhook_endpoint: [
    ...['integratorId', 'clientId', 'receiver', 'types', 'builderIds', 'status', 'previousSecretUntil', 'cursor'],
    ...['succeeded', 'disabledReason'],
  ],
  image_host: ['host'],
  site_access: ['workerId', 'projectId', 'grantedAt', 'revokedAt'],
  visit: ['workerId', 'projectId', 'closedAt', 'archivedAt', 'closingReason'],
  /** A gate's event that was refused with 409. */
  conflict: ['workerId', 'projectId', 'code', 'resolution', 'resolutionReason', 'closedAt'],
  region: ['files'],
  person: ['categories', 'rows', 'storedFiles', 'texts', 'place', 'reason'],
  builder: ['name', 'timeZone', 'rows', 'storedFiles', 'effectiveAt', 'reason'],
} as const satisfies Record<string, readonly string[]>;

type AuditObjectType = keyof typeof AUDITED_PROPERTIES;

/** Audited actions and what each records. The first half of a name is the kind of the object. */
export const AUDIT_ACTIONS = {
  'integrator.created': 'An integrator was registered.',
  'integrator.updated': 'Name or deep-link schemes of an integrator changed.',
  'client.created': 'An OAuth client was registered.',
  'client.updated': 'Name, redirect URIs, origins, scopes or grants of a client changed.',
  'client.disabled': 'A client was disabled.',
  'client.enabled': 'A disabled client was enabled.',
  'client_secret.rotated': 'A client got a new secret; older ones may have been dropped.',
  'connection.created': 'An integrator was connected to a builder.',
  'connection.updated': 'The scopes of a connection changed.',
  'connection.reactivated': 'A revoked connection was activated.',
  'connection.revoked': 'A connection was revoked.',
  'user.created': 'A user was registered.',
  'user.updated': 'Name or e-mail address of a user changed.',
  'user.disabled': 'A user was disabled.',
  'user.enabled': 'A disabled user was enabled.',
  'staff.created': 'A staff user was registered.',
  'staff.updated': 'Name, e-mail address or role of a staff user changed.',
  'staff.disabled': 'A staff user was disabled.',
  'staff.enabled': 'A disabled staff user was enabled.',
  'staff.password_link_created': 'A one-time link for choosing the password of a staff user was created.',
  'membership.created': "A user was added to a builder's account.",
  'membership.updated': "A user's role in a builder's account changed.",
  'membership.deleted': "A user was removed from a builder's account, and the user's consents for it ended.",
  'consent.granted': 'A user authorised an application.',
  'consent.revoked': 'An authorisation of an application ended, with its tokens.',
  'password.set': 'A password was set; all sessions of the user ended.',
  'password_link.created': 'A one-time link for choosing a password was created.',
  'password_link.deleted': 'A one-time link that could not be sent was deleted.',
  'signing_key.changed': 'The keys that sign and verify access tokens changed.',
  'webhook_endpoint.created': 'A webhook endpoint was created.',
  'webhook_endpoint.updated': 'Receiver, filters or status of a webhook endpoint changed.',
  'webhook_endpoint.deleted': 'A webhook endpoint was deleted.',
  'webhook_endpoint.disabled':
    'The service disabled a webhook endpoint, whose receiver is gone or has failed for five days.',
  'webhook_endpoint.secret_rotated': 'A webhook endpoint got a new secret; the one before signs for 24 hours too.',
  'webhook_endpoint.replayed': 'Events were to be delivered to a webhook endpoint again.',
  'image_host.approved': 'A host was approved for imageUrl.',
  'image_host.revoked': 'The approval of a host was revoked.',
  'site_access.granted': "A worker was given access to a project's site.",
  'site_access.revoked': "A worker's access to a project's site was revoked.",
  'visit.closed': 'A visit that no gate had ended was closed manually.',
  'visit.archived': 'A visit was archived manually.',
  'conflict.resolved': 'Somebody decided about an event that a gate had sent and that was refused.',
  'webhook_endpoint.tested': 'The operator sent a test event to a webhook endpoint.',
  'region.exported': 'An export of the records of a region began.',
  'region.imported': 'Records were imported into a region.',
  'person.exported': 'An export of the data of a person began.',
  'person.erased': 'The data of a person was erased.',
  'person.text_replaced': 'The name of an erased person was replaced in a text.',
  'person.read': 'Staff read personal data of a person.',
  'builder.updated': 'The time zone of a builder changed.',
  'builder.exported': 'An export of the data of a builder began.',
  'builder.erasure_scheduled': 'The erasure of a builder was scheduled.',
  'builder.erasure_cancelled': 'The scheduled erasure of a builder was cancelled.',
  'builder.erased': 'The data of a builder was erased.',
} as const satisfies Record<`${AuditObjectType}.${string}`, string>;

export type AuditAction = keyof typeof AUDIT_ACTIONS;

/** Returns the kind of object that an action changes. */
export const toObjectType = (action: AuditAction) => action.slice(0, action.indexOf('.')) as AuditObjectType;
