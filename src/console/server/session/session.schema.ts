/** Who is signed in to the console, and what the person may do. */
export const sessionTypes = /* GraphQL */ `
  "Role of a staff user. Each role includes the actions of those before it."
  enum StaffRole {
    VIEWER
    OPERATOR
    ADMIN
  }

  "An action that the signed-in staff user may not do."
  type OtherAction {
    action: String!
    "The lowest role that may do it."
    role: StaffRole!
  }

  "The signed-in staff user, in one region."
  type StaffUser {
    id: ID!
    name: String!
    email: String!
    role: StaffRole!
    "The region of the session that the request uses."
    regionId: RegionId!
    "Regions in which the browser is signed in. Select one with the header X-Service-Region-Id."
    regions: [RegionId!]!
    "Actions that the role allows, such as 'client.created'."
    actions: [String!]!
    "Actions that need a higher role."
    otherActions: [OtherAction!]!
    "Scopes with which the role reads builders' records."
    scopes: [String!]!
    "When the session ends at the latest."
    expiresAt: Timestamp!
  }

  "Where the next page of a list begins."
  type CursorMeta {
    "The value of 'after' for the next page; null on the last one."
    nextCursor: String
  }

  extend type Query {
    "The signed-in staff user, with the permissions."
    me: StaffUser!
  }

  extend type Mutation {
    "Ends the browser's sessions of all regions."
    signOut: Boolean
  }
`;
