/** Integrators, their OAuth clients and their connections to builders. */
export const accessTypes = /* GraphQL */ `
  "An application vendor, which owns clients."
  type Integrator {
    id: ID!
    name: String!
    "Schemes of deep links beyond https, without the colon."
    deepLinkSchemes: [String!]!
    "Clients that are not disabled."
    activeClients: Int!
    "Active connections."
    activeConnections: Int!
    webhookEndpoints: [WebhookEndpoint!]!
    createdAt: Timestamp!
    updatedAt: Timestamp!
  }

  enum ClientType {
    CONFIDENTIAL
    PUBLIC
    "Of the operator: belongs to no integrator and reads every builder, through GraphQL only."
    INTERNAL
  }

  "An OAuth client."
  type Client {
    "The client_id."
    id: ID!
    "Null for an internal client."
    integrator: Integrator
    integratorId: ID
    name: String!
    type: ClientType!
    grants: [String!]!
    scopes: [String!]!
    redirectUris: [String!]!
    "Browser origins of a public client."
    origins: [String!]!
    "Reference of the agreement that write:sign_on_events needs."
    pilotAgreement: String
    disabledAt: Timestamp
    "Valid secrets, the newest first. Their values are not stored."
    secrets: [ClientSecret!]!
    createdAt: Timestamp!
    updatedAt: Timestamp!
  }

  type ClientSecret {
    id: Int!
    createdAt: Timestamp!
  }

  "A client, with the secret that is returned once."
  type ClientWithSecret {
    client: Client!
    "Null for a public client, which has none."
    secret: String
  }

  enum ConnectionStatus {
    ACTIVE
    REVOKED
  }

  "An integrator's access to a builder's data."
  type Connection {
    integrator: Integrator!
    integratorId: ID!
    builder: Builder!
    builderId: BuilderId!
    status: ConnectionStatus!
    "Scopes that the builder allows."
    scopes: [String!]!
    createdAt: Timestamp!
    updatedAt: Timestamp!
  }

  "Description of a scope."
  type ScopeDescription {
    scope: String!
    description: String!
    "Whether only internal clients may have it."
    internal: Boolean!
  }

  "A builder to choose."
  type BuilderMatch {
    id: BuilderId!
    name: String!
    "Time zone of its days in the console."
    timeZone: TimeZone!
  }

  "The first builders that match, and how many there are."
  type BuilderMatchPage {
    data: [BuilderMatch!]!
    totalCount: Int!
  }

  extend type Query {
    "Integrators by creation, the newest first. 'name' has beginnings of words of the name, without accents and in any order."
    integrators(name: String, order: ListOrder = desc, after: String, limit: Int = 50): IntegratorPage!
    integrator(id: ID!): Integrator!
    "OAuth clients by creation, the newest first. 'name' is as for integrators."
    clients(name: String, integratorId: ID, type: ClientType, scope: String, disabled: Boolean, order: ListOrder = desc, after: String, limit: Int = 50): ClientPage!
    client(id: ID!): Client!
    "Connections of integrators and builders by creation, the newest first."
    connections(integratorId: ID, builderId: BuilderId, status: ConnectionStatus, scope: String, order: ListOrder = desc, after: String, limit: Int = 50): ConnectionPage!
    connection(integratorId: ID!, builderId: BuilderId!): Connection!
    "Builders by name. 'name' matches a part of the name, and 'id' one builder."
    findBuilders(id: BuilderId, name: String, limit: Int = 25): BuilderMatchPage!
    "All scopes, in the documented order."
    scopes: [ScopeDescription!]!
  }

  extend type Mutation {
    createIntegrator(name: String!, deepLinkSchemes: [String!]! = []): Integrator
    "Absent properties are kept."
    updateIntegrator(id: ID!, name: String, deepLinkSchemes: [String!], expectedUpdatedAt: Timestamp!): Integrator
    "The secret is returned once. Without grants the client may use every grant of its type."
    createClient(
      "Absent for an internal client."
      integratorId: ID
      name: String!
      type: ClientType!
      scopes: [String!]!
      grants: [String!]! = []
      redirectUris: [String!]! = []
      origins: [String!]! = []
      pilotAgreement: String
    ): ClientWithSecret
    "Absent properties are kept; a list replaces the whole list. Tokens lose a removed scope within a second."
    updateClient(
      id: ID!
      name: String
      scopes: [String!]
      grants: [String!]
      redirectUris: [String!]
      origins: [String!]
      pilotAgreement: String
      expectedUpdatedAt: Timestamp!
    ): Client
    "Adds a secret, which is returned once. The newest two are valid."
    rotateClientSecret(id: ID!, expectedUpdatedAt: Timestamp!): ClientWithSecret
    "The client's tokens end within a second."
    disableClient(id: ID!, expectedUpdatedAt: Timestamp!): Client
    enableClient(id: ID!, expectedUpdatedAt: Timestamp!): Client
    "Connects an integrator to a builder, or reactivates a revoked connection."
    createConnection(integratorId: ID!, builderId: BuilderId!, scopes: [String!]!): Connection
    "Replaces the scopes. Tokens lose a removed scope within a second."
    updateConnection(integratorId: ID!, builderId: BuilderId!, scopes: [String!]!, expectedUpdatedAt: Timestamp!): Connection
    revokeConnection(integratorId: ID!, builderId: BuilderId!, expectedUpdatedAt: Timestamp!): Connection
  }
`;
