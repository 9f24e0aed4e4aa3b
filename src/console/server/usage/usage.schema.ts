/** Requests of integrators by day, and those that failed. */
export const usageTypes = /* GraphQL */ `
  "Requests on one day, in UTC."
  type UsageByDay {
    date: CalendarDate!
    "All requests with a valid token."
    requests: Int!
    "Requests that failed with a status of 400 to 499."
    rejections: Int!
    "Requests that failed with a status of 500 or more."
    failures: Int!
  }

  "Requests of one integrator."
  type UsageSum {
    requests: Int!
    rejections: Int!
    failures: Int!
  }

  extend type Integrator {
    "Its requests from 'since' to 'until', both included; at most 400 days."
    usage(since: CalendarDate!, until: CalendarDate!): UsageSum!
  }

  extend type LoggedRequest {
    integratorId: ID!
    integrator: Integrator!
    client: Client!
  }

  extend type Query {
    "Requests, rejections and failures of all integrators or of one by day, in at most 400 days. Days without requests are left out."
    usageByDay(integratorId: ID, since: CalendarDate!, until: CalendarDate!): [UsageByDay!]!
    "The requests that failed in the last seven days or on one of them, in UTC; the newest first."
    requestLog(integratorId: ID, requestId: String, code: String, day: CalendarDate, limit: Int = 50): [LoggedRequest!]!
  }
`;
