/** Corrections of attendance, and changes for the attendance board. */
export const attendanceTypes = /* GraphQL */ `
  extend type SignOnVisit {
    "Why a person closed the visit; null for visits that nobody closed in the console."
    closingReason: String
  }

  "A sign-on event that was refused with 409, with what is recorded instead."
  type Conflict {
    id: ID!
    builderId: BuilderId!
    project: ProjectSummary!
    worker: WorkerSummary!
    "The integrator that operates the gate."
    integrator: IntegratorSummary!
    "Code of the latest response."
    code: SignOnConflictCode!
    "The code in words."
    description: String!
    "Number of times that the same request was rejected."
    answers: Int!
    "The event as it was sent."
    type: SignOnType!
    occurredAt: Timestamp!
    sourceEventId: String!
    sourceSignOnEventId: String
    deviceId: String
    "The recorded event of the same identity; null without one."
    recordedEvent: SignOnEvent
    "The visit that the event is about; null without one."
    visit: SignOnVisit
    state: SignOnConflictStatus!
    resolution: ConflictResolution
    resolutionReason: String
    resolvedAt: Timestamp
    "Name of the person who resolved it."
    resolvedBy: String
    createdAt: Timestamp!
    "The latest change of the conflict or of its visit."
    updatedAt: Timestamp!
  }

  "What changed since a cursor."
  type Changes {
    "The value of 'after' for the next poll."
    cursor: String!
    "Projects of whose site or records something changed, attendance included."
    projectIds: [ProjectId!]!
    "Builders of which something changed."
    builderIds: [BuilderId!]!
    "Whether everything is to be read again: the cursor is missing or too old, or too much has changed."
    reset: Boolean!
  }

  extend type Query {
    "Conflicts, the newest first. 'since' and 'until' bound when the gate saw the worker; 'until' is excluded."
    conflicts(
      builderId: BuilderId
      projectId: ProjectId
      state: SignOnConflictStatus
      since: Timestamp
      until: Timestamp
      after: String
      limit: Int = 50
    ): ConflictPage!
    conflict(id: ID!): Conflict!
    "Whether something changed since the cursor of the poll before, within two seconds of the change. Without 'after' it returns a cursor."
    changes(after: String): Changes!
  }

  extend type Mutation {
    "Ends a visit that no gate has ended."
    closeVisit(
      visitId: SignOnVisitId!
      "When the worker left. Default: now."
      at: Timestamp
      reason: String!
      expectedUpdatedAt: Timestamp!
    ): SignOnVisit
    "Removes a visit from attendance."
    archiveVisit(visitId: SignOnVisitId!, expectedUpdatedAt: Timestamp!): SignOnVisit
    "Rejects a sign-off that waits for its sign-on, which ends no visit."
    dismissSignOff(signOnEventId: SignOnEventId!, reason: String!, expectedUpdatedAt: Timestamp!): SignOnEvent
    "Makes a visit of a sign-off that waits for its sign-on."
    createVisit(
      signOnEventId: SignOnEventId!
      "When the worker signed on."
      signedOnAt: Timestamp!
      reason: String!
      expectedUpdatedAt: Timestamp!
    ): SignOnVisit
    resolveConflict(id: ID!, resolution: ConflictResolution!, reason: String!, expectedUpdatedAt: Timestamp!): Conflict
  }
`;
