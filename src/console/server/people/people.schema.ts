/** Users of builders and of the operator, and the audit log. */
export const peopleTypes = /* GraphQL */ `
  "A user who can sign in."
  type User {
    id: ID!
    name: String!
    email: String!
    "Null for a user of builders."
    staffRole: StaffRole
    hasPassword: Boolean!
    disabledAt: Timestamp
    "The first memberships, in the order of creation."
    memberships(limit: Int = 100): [Membership!]!
    createdAt: Timestamp!
    updatedAt: Timestamp!
  }

  "A user's place in a builder's account."
  type Membership {
    builder: Builder!
    builderId: BuilderId!
    "In the builder's own words."
    role: String!
  }

  "A one-time link for choosing a password, valid for 24 hours."
  type PasswordLink {
    user: User!
    "Null where there is a mail server. Pass it on by a channel that only the user reads."
    url: String
    "Whether the mail server accepted the link. If it did not, and 'url' is null, create another link later: the user is registered."
    emailed: Boolean!
    expiresAt: Timestamp!
  }

  "Who caused an audited change."
  enum AuditActorType {
    "An operator at the command line."
    OPERATOR
    "A staff user in the console."
    STAFF
    "A user in a browser."
    USER
    CLIENT
    "A background job."
    JOB
    IMPORT
  }

  "An entry of the audit log."
  type AuditEntry {
    id: ID!
    at: Timestamp!
    actorType: AuditActorType!
    "Id of a user or client, or the name of an account or job."
    actorId: String
    "Such as 'client.created'."
    action: String!
    "The action in words."
    description: String!
    objectType: String!
    objectId: String!
    builderId: String
    integratorId: String
    personId: String
    "Present names of the records that the entry refers to, by id."
    names: JsonObject!
    "Reads of personal data of one response that the entry stands for; 1 for others."
    records: Int!
    "Address and request of a browser, or host and command."
    origin: JsonObject!
    "Changed properties before; null for a created object."
    before: JsonObject
    "Changed properties after; null for a deleted object."
    after: JsonObject
  }

  "An action that the audit log has entries of."
  type AuditAction {
    action: String!
    description: String!
  }

  extend type Query {
    "Users by registration, the newest first. 'search' has beginnings of words of the name and the e-mail address, without accents and in any order."
    people(search: String, order: ListOrder = desc, builderId: BuilderId, disabled: Boolean, staff: Boolean, hasPassword: Boolean, after: String, limit: Int = 50): UserPage!
    "A user, by id or e-mail address."
    person(user: String!): User!
    "The audit log of the region, newest first. 'action' is an action or a kind of object, such as 'client'."
    audit(
      actorType: AuditActorType
      actorId: String
      action: String
      objectId: String
      builderId: BuilderId
      personId: String
      "Reads of personal data, those of one response as one entry, or only changes. Both, each by itself, where it is absent."
      reads: Boolean
      "Inclusive."
      since: Timestamp
      "Exclusive."
      until: Timestamp
      after: String
      limit: Int = 50
    ): AuditEntryPage!
    auditActions: [AuditAction!]!
  }

  extend type Mutation {
    "Registers a user and, with a builder, adds the user to its account, or does neither. Returns a link for choosing a password."
    createUser(email: String!, name: String!, builderId: BuilderId, role: String = "MEMBER", staffRole: StaffRole): PasswordLink
    "Creates a link for a user without a password."
    inviteUser(id: ID!): PasswordLink
    "Creates a link for a user who has forgotten the password. The password remains until the link is used."
    resetPassword(id: ID!): PasswordLink
    "Absent properties are kept."
    updateUser(id: ID!, name: String, email: String, staffRole: StaffRole, expectedUpdatedAt: Timestamp!): User
    "Ends the user's sessions and tokens within a second."
    disableUser(id: ID!, expectedUpdatedAt: Timestamp!): User
    enableUser(id: ID!, expectedUpdatedAt: Timestamp!): User
    addMembership(userId: ID!, builderId: BuilderId!, role: String! = "MEMBER"): User
    updateMembership(userId: ID!, builderId: BuilderId!, role: String!): User
    removeMembership(userId: ID!, builderId: BuilderId!): User
  }
`;
