/** Webhook endpoints of integrators, and their deliveries. */
export const webhookTypes = /* GraphQL */ `
  extend type WebhookEndpoint {
    integrator: Integrator!
    integratorId: ID!
    "The client whose scopes decide what it receives."
    client: Client!
    "Failed attempts since the last success."
    failures: Int!
    "When the first of them failed; null without one."
    failingSince: Timestamp
    "Nothing is attempted before this instant."
    suspendedUntil: Timestamp
    "Events of the log that a running replay has still to read; null where none is running."
    replayRemaining: Int
    deliveries(status: WebhookDeliveryStatus, after: String, limit: Int = 25): WebhookDeliveryPage!
  }

  "A type of events, and the scope that receiving them needs."
  type EventTypeDescription {
    type: String!
    scope: String!
  }

  "Where a replay begins."
  input ReplayStart {
    "Events after this instant are delivered again."
    since: Timestamp!
  }

  extend type Query {
    "Webhook endpoints of all integrators or of one, in the order of creation. With 'builderId' those that receive its events."
    webhookEndpoints(integratorId: ID, builderId: BuilderId, status: WebhookEndpointStatus, failing: Boolean, after: String, limit: Int = 50): WebhookEndpointPage!
    webhookEndpoint(endpointId: WebhookEndpointId!): WebhookEndpoint!
    eventTypes: [EventTypeDescription!]!
  }

  extend type Mutation {
    "Creates an endpoint, which receives the events from now on. The secret is returned once."
    createWebhookEndpoint(
      "A client-credentials client of the integrator."
      clientId: ID!
      url: WebhookUrl!
      types: [String!]
      builderIds: [BuilderId!]
    ): WebhookEndpointWithSecret
    "Absent properties are kept. Null types or builders are all."
    updateWebhookEndpoint(
      endpointId: WebhookEndpointId!
      url: WebhookUrl
      types: [String!]
      builderIds: [BuilderId!]
      status: WebhookEndpointSwitch
      expectedUpdatedAt: Timestamp!
    ): WebhookEndpoint
    deleteWebhookEndpoint(endpointId: WebhookEndpointId!, expectedUpdatedAt: Timestamp!): WebhookEndpoint
    "Deliveries are also signed with the previous secret for 24 hours."
    rotateWebhookSecret(endpointId: WebhookEndpointId!, expectedUpdatedAt: Timestamp!): WebhookEndpointWithSecret
    "Sends a test event once and returns what the receiver answered."
    testWebhookEndpoint(endpointId: WebhookEndpointId!): WebhookTestResult
    "Delivers events again, one replay at a time."
    replayWebhookEndpoint(endpointId: WebhookEndpointId!, from: ReplayStart!): WebhookReplay
  }
`;
