/** Requests of integrators by day, and the latest rejections. */
export const usageTypes = /* GraphQL */ `
  "Requests on one day, in UTC."
  type UsageByDay {
    date: CalendarDate!
    "All requests with a valid token."
    requests: Int!
    "Responses with a status of 500 or more."
    errors: Int!
    "Responses with a status of 400 to 499, and GraphQL responses with errors of these statuses."
    rejections: Int!
  }

  "Requests of one integrator."
  type UsageSum {
    requests: Int!
    errors: Int!
    rejections: Int!
  }

  extend type Integrator {
    "Its requests from 'since' to 'until', both included; at most 400 days."
    usage(since: CalendarDate!, until: CalendarDate!): UsageSum!
  }

  "A request that was rejected."
  type Rejection {
    at: Timestamp!
    integratorId: ID!
    integratorName: String!
    clientId: ID!
    clientName: String!
    "The route or the GraphQL operation."
    operation: String!
    status: Int!
    code: String!
    "In words, such as 'scope missing: read:photos'."
    reason: String!
    "Value of X-Request-Id."
    requestId: String!
  }

  extend type Query {
    "Requests, errors and rejections of all integrators or of one by day, in at most 400 days. Days without requests are left out."
    usageByDay(integratorId: ID, since: CalendarDate!, until: CalendarDate!): [UsageByDay!]!
    "The latest rejections, the newest first."
    rejections(integratorId: ID, code: String, limit: Int = 50): [Rejection!]!
  }
`;
