import type { TypedDocumentNode } from '@urql/core';

/* Types and texts of the operations in `*.graphql`. Written by `npm run console:types`; do not edit. */
/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
/** Internal type. DO NOT USE DIRECTLY. */
export type Incremental<T> = T | { [P in keyof T]?: P extends ' $fragmentName' | '__typename' ? T[P] : never };
export type InductionType =
  | 'PROJECT_INDUCTION'
  | 'COMPANY_INDUCTION';

export type InductionStatus =
  | 'REVIEWED'
  | 'WAITING_REVIEW'
  | 'CHANGES_REQUESTED';

export type ListOrder =
  | 'asc'
  | 'desc';

export type VisitAnomaly =
  | 'SIGN_OFF_BEFORE_SIGN_ON';

export type SignOnType =
  | 'SIGN_ON'
  | 'SIGN_OFF';

export type PhotoSource =
  | 'GALLERY'
  | 'SITE_DIARY'
  | 'PRE_START'
  | 'CHECKLIST'
  | 'ITP'
  | 'PLATFORM_ACTION'
  | 'DEFECT';

export type PhotoReportStatus =
  | 'synced'
  | 'partial';

export type BlockType =
  | 'TEXT'
  | 'HEADING'
  | 'BULLETED_LIST'
  | 'ORDERED_LIST'
  | 'CHECKLIST'
  | 'IMAGE'
  | 'PAGE';

export type TextMark =
  | 'BOLD'
  | 'ITALIC';

export type TimesheetStatus =
  | 'APPROVED_1'
  | 'APPROVED_2'
  | 'REJECTED'
  | 'WAITING_REVIEW';

export type ProfileType =
  | 'worker'
  | 'admin';

export type InsuranceType =
  | 'PUBLIC_LIABILITY'
  | 'WORK_COVER'
  | 'OTHER';

export type InsuranceStatus =
  | 'WAITING_REVIEW'
  | 'REVIEWED'
  | 'CHANGES_REQUESTED'
  | 'EXPIRED';

export type ConflictResolution =
  | 'KEEP_RECORD'
  | 'USE_EVENT_TIME';

export type SignOnConflictStatus =
  | 'OPEN'
  | 'RESOLVED';

export type RegionId =
  | 'au1'
  | 'us1';

export type WebhookEndpointStatus =
  | 'ACTIVE'
  | 'PAUSED'
  | 'DISABLED';

export type WebhookDisabledReason =
  | 'GONE'
  | 'NO_SUCCESS'
  | 'CLIENT_DISABLED';

export type WebhookDeliveryStatus =
  | 'PENDING'
  | 'DELIVERED'
  | 'FAILED'
  | 'DROPPED';

export type WebhookEndpointSwitch =
  | 'ACTIVE'
  | 'PAUSED';

export type StaffRole =
  | 'VIEWER'
  | 'OPERATOR'
  | 'ADMIN';

export type ClientType =
  | 'CONFIDENTIAL'
  | 'PUBLIC'
  | 'INTERNAL';

export type ConnectionStatus =
  | 'ACTIVE'
  | 'REVOKED';

export type AuditActorType =
  | 'OPERATOR'
  | 'STAFF'
  | 'USER'
  | 'CLIENT'
  | 'JOB'
  | 'IMPORT';

export type TimesheetSort =
  | 'DATE'
  | 'CREATED';

export type InductionSort =
  | 'CREATED';

export type InsuranceSort =
  | 'EXPIRY'
  | 'CREATED';

export type PhotoReportSort =
  | 'CREATED';

export type WorkerSort =
  | 'NAME'
  | 'CREATED';

export type MatchKind =
  | 'PROJECT'
  | 'SUBCONTRACTOR'
  | 'WORKER'
  | 'USER'
  | 'INTEGRATOR'
  | 'CLIENT'
  | 'REQUEST';

export type TodayQueryVariables = Exact<{
  builderId: string;
  date: string;
  from: string;
  attendance: boolean;
}>;


export type TodayQuery = { attendanceByDay?: Array<{ date: string, workers: number }>, workersOnSite?: Array<{ onSite: number, fromEarlierDays: number, project: { id: string, name: string } }>, signOnsByHour?: Array<{ hour: number, signOns: number, typicalSignOns: number }>, itemsAwaitingAction: { signOnConflicts: number | null, pendingSignOffs: number | null, timesheets: number, inductions: number, insurances: number, failingWebhookEndpoints: number } };

export type TimesheetFiguresQueryVariables = Exact<{
  builderId: string;
  projectId?: string | null | undefined;
  costCodeId?: string | null | undefined;
  status?: TimesheetStatus | null | undefined;
  from: string;
  until: string;
}>;


export type TimesheetFiguresQuery = { hoursByWeek: Array<{ week: string, status: TimesheetStatus, hours: number, timesheets: number }>, hoursByProject: Array<{ hours: number, project: { id: string, name: string } }>, hoursByCostCode: Array<{ hours: number, costCode: { id: string, code: string, description: string } | null }> };

export type InductionFiguresQueryVariables = Exact<{
  builderId: string;
  projectId?: string | null | undefined;
}>;


export type InductionFiguresQuery = { inductionsByStatus: Array<{ status: InductionStatus, inductions: number }> };

export type InsuranceFiguresQueryVariables = Exact<{
  builderId: string;
  type?: InsuranceType | null | undefined;
  status?: InsuranceStatus | null | undefined;
  from: string;
  until: string;
}>;


export type InsuranceFiguresQuery = { insurancesByMonth: Array<{ month: string, insurances: number }> };

export type ScopeQueryVariables = Exact<{
  builderId?: string | null | undefined;
  hasBuilder: boolean;
}>;


export type ScopeQuery = { me: { id: string, name: string, email: string, role: StaffRole, regionId: RegionId, regions: Array<RegionId>, actions: Array<string>, scopes: Array<string>, otherActions: Array<{ action: string, role: StaffRole }> }, chosen?: { data: Array<{ id: string, name: string, timeZone: string }> }, first: { data: Array<{ id: string, name: string, timeZone: string }> } };

export type BuilderChoiceFragment = { id: string, name: string, timeZone: string };

export type BuilderSearchQueryVariables = Exact<{
  id?: string | null | undefined;
  name?: string | null | undefined;
}>;


export type BuilderSearchQuery = { findBuilders: { totalCount: number, data: Array<{ id: string, name: string, timeZone: string }> } };

export type SignOutMutationVariables = Exact<{ [key: string]: never; }>;


export type SignOutMutation = { signOut: boolean | null };

export type ChangesQueryVariables = Exact<{
  after?: string | null | undefined;
}>;


export type ChangesQuery = { changes: { cursor: string, builderIds: Array<string>, reset: boolean } };

export type FindQueryVariables = Exact<{
  text: string;
  builderId?: string | null | undefined;
}>;


export type FindQuery = { find: Array<{ kind: MatchKind, id: string, name: string, detail: string | null, integratorId: string | null }> };

export type VisitPartFragment = { id: string, updatedAt: string, signedOnAt: string, signedOffAt: string | null, closedAt: string | null, closedBy: string | null, closingReason: string | null, anomaly: VisitAnomaly | null, project: { id: string, name: string }, worker: { id: string, fullName: string }, events: { data: Array<{ id: string, type: SignOnType, occurredAt: string, createdAt: string, deviceId: string | null, sourceEventId: string, integrator: { name: string } }> } };

export type ConflictPartFragment = { id: string, description: string, answers: number, type: SignOnType, occurredAt: string, sourceEventId: string, sourceSignOnEventId: string | null, deviceId: string | null, state: SignOnConflictStatus, resolution: ConflictResolution | null, resolutionReason: string | null, resolvedAt: string | null, resolvedBy: string | null, createdAt: string, updatedAt: string, integrator: { name: string }, worker: { id: string, fullName: string }, project: { name: string }, recordedEvent: { type: SignOnType, occurredAt: string, createdAt: string, deviceId: string | null, worker: { fullName: string }, integrator: { name: string } } | null, visit: { signedOnAt: string, signedOffAt: string | null, closedAt: string | null, closedBy: string | null, closingReason: string | null, worker: { fullName: string } } | null };

export type PendingPartFragment = { id: string, updatedAt: string, occurredAt: string, deviceId: string | null, sourceEventId: string, sourceSignOnEventId: string | null, integrator: { name: string }, worker: { id: string, fullName: string }, project: { name: string } };

export type PendingPageFragment = { meta: { totalCount: number, offset: number, limit: number }, data: Array<{ id: string, updatedAt: string, occurredAt: string, deviceId: string | null, sourceEventId: string, sourceSignOnEventId: string | null, integrator: { name: string }, worker: { id: string, fullName: string }, project: { name: string } }> };

export type PendingSignOffsQueryVariables = Exact<{
  builderId: string;
  projectId?: string | null | undefined;
  ofProject: boolean;
  offset?: number | null | undefined;
}>;


export type PendingSignOffsQuery = { builder?: { pendingSignOffs: { meta: { totalCount: number, offset: number, limit: number }, data: Array<{ id: string, updatedAt: string, occurredAt: string, deviceId: string | null, sourceEventId: string, sourceSignOnEventId: string | null, integrator: { name: string }, worker: { id: string, fullName: string }, project: { name: string } }> } }, project?: { pendingSignOffs: { meta: { totalCount: number, offset: number, limit: number }, data: Array<{ id: string, updatedAt: string, occurredAt: string, deviceId: string | null, sourceEventId: string, sourceSignOnEventId: string | null, integrator: { name: string }, worker: { id: string, fullName: string }, project: { name: string } }> } } };

export type AttendanceCountsQueryVariables = Exact<{
  builderId: string;
  projectId?: string | null | undefined;
}>;


export type AttendanceCountsQuery = { attendanceAwaitingAction: { signOnConflicts: number, pendingSignOffs: number, openVisits: number } };

export type UsualEndQueryVariables = Exact<{
  builderId: string;
  projectId: string;
  date: string;
}>;


export type UsualEndQuery = { usualEnd: string | null };

export type VisitsOfDayQueryVariables = Exact<{
  builderId: string;
  projectId?: string | null | undefined;
  date: string;
}>;


export type VisitsOfDayQuery = { visitsOfDay: Array<{ id: string, updatedAt: string, signedOnAt: string, signedOffAt: string | null, closedAt: string | null, closedBy: string | null, closingReason: string | null, anomaly: VisitAnomaly | null, project: { id: string, name: string }, worker: { id: string, fullName: string }, events: { data: Array<{ id: string, type: SignOnType, occurredAt: string, createdAt: string, deviceId: string | null, sourceEventId: string, integrator: { name: string } }> } }> };

export type OneProjectQueryVariables = Exact<{
  builderId: string;
  projectId: string;
}>;


export type OneProjectQuery = { project: { id: string, name: string } };

export type ProjectChoiceQueryVariables = Exact<{
  builderId: string;
}>;


export type ProjectChoiceQuery = { projectsInProgress: Array<{ id: string, name: string }> };

export type BoardQueryVariables = Exact<{
  builderId: string;
  projectId: string;
  date: string;
  timeZone: string;
  since: string;
  until: string;
}>;


export type BoardQuery = { visitsOfDay: Array<{ id: string, updatedAt: string, signedOnAt: string, signedOffAt: string | null, closedAt: string | null, closedBy: string | null, closingReason: string | null, anomaly: VisitAnomaly | null, project: { id: string, name: string }, worker: { id: string, fullName: string }, events: { data: Array<{ id: string, type: SignOnType, occurredAt: string, createdAt: string, deviceId: string | null, sourceEventId: string, integrator: { name: string } }> } }>, project: { pending: { meta: { totalCount: number }, data: Array<{ id: string, updatedAt: string, occurredAt: string, deviceId: string | null, sourceEventId: string, sourceSignOnEventId: string | null, integrator: { name: string }, worker: { id: string, fullName: string }, project: { name: string } }> }, morePending: { data: Array<{ id: string, updatedAt: string, occurredAt: string, deviceId: string | null, sourceEventId: string, sourceSignOnEventId: string | null, integrator: { name: string }, worker: { id: string, fullName: string }, project: { name: string } }> } }, conflicts: { data: Array<{ id: string, description: string, answers: number, type: SignOnType, occurredAt: string, sourceEventId: string, sourceSignOnEventId: string | null, deviceId: string | null, state: SignOnConflictStatus, resolution: ConflictResolution | null, resolutionReason: string | null, resolvedAt: string | null, resolvedBy: string | null, createdAt: string, updatedAt: string, integrator: { name: string }, worker: { id: string, fullName: string }, project: { name: string }, recordedEvent: { type: SignOnType, occurredAt: string, createdAt: string, deviceId: string | null, worker: { fullName: string }, integrator: { name: string } } | null, visit: { signedOnAt: string, signedOffAt: string | null, closedAt: string | null, closedBy: string | null, closingReason: string | null, worker: { fullName: string } } | null }>, meta: { nextCursor: string | null } } };

export type OneConflictQueryVariables = Exact<{
  id: string | number;
}>;


export type OneConflictQuery = { conflict: { id: string, description: string, answers: number, type: SignOnType, occurredAt: string, sourceEventId: string, sourceSignOnEventId: string | null, deviceId: string | null, state: SignOnConflictStatus, resolution: ConflictResolution | null, resolutionReason: string | null, resolvedAt: string | null, resolvedBy: string | null, createdAt: string, updatedAt: string, integrator: { name: string }, worker: { id: string, fullName: string }, project: { name: string }, recordedEvent: { type: SignOnType, occurredAt: string, createdAt: string, deviceId: string | null, worker: { fullName: string }, integrator: { name: string } } | null, visit: { signedOnAt: string, signedOffAt: string | null, closedAt: string | null, closedBy: string | null, closingReason: string | null, worker: { fullName: string } } | null } };

export type OpenConflictsQueryVariables = Exact<{
  builderId: string;
  projectId?: string | null | undefined;
  state?: SignOnConflictStatus | null | undefined;
  after?: string | null | undefined;
}>;


export type OpenConflictsQuery = { conflicts: { data: Array<{ id: string, description: string, answers: number, type: SignOnType, occurredAt: string, sourceEventId: string, sourceSignOnEventId: string | null, deviceId: string | null, state: SignOnConflictStatus, resolution: ConflictResolution | null, resolutionReason: string | null, resolvedAt: string | null, resolvedBy: string | null, createdAt: string, updatedAt: string, integrator: { name: string }, worker: { id: string, fullName: string }, project: { name: string }, recordedEvent: { type: SignOnType, occurredAt: string, createdAt: string, deviceId: string | null, worker: { fullName: string }, integrator: { name: string } } | null, visit: { signedOnAt: string, signedOffAt: string | null, closedAt: string | null, closedBy: string | null, closingReason: string | null, worker: { fullName: string } } | null }>, meta: { nextCursor: string | null } } };

export type CloseVisitMutationVariables = Exact<{
  visitId: string;
  at?: string | null | undefined;
  reason: string;
  expectedUpdatedAt: string;
}>;


export type CloseVisitMutation = { closeVisit: { id: string, updatedAt: string, signedOnAt: string, signedOffAt: string | null, closedAt: string | null, closedBy: string | null, closingReason: string | null, anomaly: VisitAnomaly | null, project: { id: string, name: string }, worker: { id: string, fullName: string }, events: { data: Array<{ id: string, type: SignOnType, occurredAt: string, createdAt: string, deviceId: string | null, sourceEventId: string, integrator: { name: string } }> } } | null };

export type ArchiveVisitMutationVariables = Exact<{
  visitId: string;
  expectedUpdatedAt: string;
}>;


export type ArchiveVisitMutation = { archiveVisit: { id: string } | null };

export type DismissSignOffMutationVariables = Exact<{
  signOnEventId: string;
  reason: string;
  expectedUpdatedAt: string;
}>;


export type DismissSignOffMutation = { dismissSignOff: { id: string } | null };

export type CreateVisitMutationVariables = Exact<{
  signOnEventId: string;
  signedOnAt: string;
  reason: string;
  expectedUpdatedAt: string;
}>;


export type CreateVisitMutation = { createVisit: { id: string } | null };

export type ResolveConflictMutationVariables = Exact<{
  id: string | number;
  resolution: ConflictResolution;
  reason: string;
  expectedUpdatedAt: string;
}>;


export type ResolveConflictMutation = { resolveConflict: { id: string, description: string, answers: number, type: SignOnType, occurredAt: string, sourceEventId: string, sourceSignOnEventId: string | null, deviceId: string | null, state: SignOnConflictStatus, resolution: ConflictResolution | null, resolutionReason: string | null, resolvedAt: string | null, resolvedBy: string | null, createdAt: string, updatedAt: string, integrator: { name: string }, worker: { id: string, fullName: string }, project: { name: string }, recordedEvent: { type: SignOnType, occurredAt: string, createdAt: string, deviceId: string | null, worker: { fullName: string }, integrator: { name: string } } | null, visit: { signedOnAt: string, signedOffAt: string | null, closedAt: string | null, closedBy: string | null, closingReason: string | null, worker: { fullName: string } } | null } | null };

export type OpenVisitsQueryVariables = Exact<{
  builderId: string;
  projectId?: string | null | undefined;
  ofProject: boolean;
  offset?: number | null | undefined;
}>;


export type OpenVisitsQuery = { builder?: { openVisits: { meta: { totalCount: number, offset: number, limit: number }, data: Array<{ id: string, updatedAt: string, signedOnAt: string, signedOffAt: string | null, closedAt: string | null, closedBy: string | null, closingReason: string | null, anomaly: VisitAnomaly | null, project: { id: string, name: string }, worker: { id: string, fullName: string }, events: { data: Array<{ id: string, type: SignOnType, occurredAt: string, createdAt: string, deviceId: string | null, sourceEventId: string, integrator: { name: string } }> } }> } }, project?: { openVisits: { meta: { totalCount: number, offset: number, limit: number }, data: Array<{ id: string, updatedAt: string, signedOnAt: string, signedOffAt: string | null, closedAt: string | null, closedBy: string | null, closingReason: string | null, anomaly: VisitAnomaly | null, project: { id: string, name: string }, worker: { id: string, fullName: string }, events: { data: Array<{ id: string, type: SignOnType, occurredAt: string, createdAt: string, deviceId: string | null, sourceEventId: string, integrator: { name: string } }> } }> } } };

export type OpenVisitsPartFragment = { meta: { totalCount: number, offset: number, limit: number }, data: Array<{ id: string, updatedAt: string, signedOnAt: string, signedOffAt: string | null, closedAt: string | null, closedBy: string | null, closingReason: string | null, anomaly: VisitAnomaly | null, project: { id: string, name: string }, worker: { id: string, fullName: string }, events: { data: Array<{ id: string, type: SignOnType, occurredAt: string, createdAt: string, deviceId: string | null, sourceEventId: string, integrator: { name: string } }> } }> };

export type FailingEndpointsQueryVariables = Exact<{
  builderId: string;
  after?: string | null | undefined;
}>;


export type FailingEndpointsQuery = { webhookEndpoints: { data: Array<{ id: string, url: string, status: WebhookEndpointStatus, failures: number, failingSince: string | null, integrator: { id: string, name: string } }>, meta: { nextCursor: string | null } } };

export type ClientPartFragment = { id: string, name: string, type: ClientType, grants: Array<string>, scopes: Array<string>, redirectUris: Array<string>, origins: Array<string>, pilotAgreement?: string | null, disabledAt: string | null, createdAt: string, updatedAt: string, secrets: Array<{ id: number, createdAt: string }> };

export type ConnectionPartFragment = { builderId: string, status: ConnectionStatus, scopes: Array<string>, createdAt: string, updatedAt: string, builder: { name: string } };

export type EndpointPartFragment = { id: string, url: string, types: Array<string> | null, builderIds: Array<string> | null, status: WebhookEndpointStatus, disabledReason: WebhookDisabledReason | null, failures: number, failingSince: string | null, suspendedUntil: string | null, replayRemaining: number | null, updatedAt: string, integrator: { name: string }, client: { name: string } };

export type LoggedRequestPartFragment = { requestId: string, at: string, integratorId: string, builderId: string | null, method: string, path: string, graphqlOperation: string | null, tool: string | null, status: number, code: string, message: string | null, integrator: { name: string }, client: { id: string, name: string }, errors: Array<{ fieldName: string, message: string }> | null };

export type IntegratorsQueryVariables = Exact<{
  name?: string | null | undefined;
  after?: string | null | undefined;
  requestId?: string | null | undefined;
  day?: string | null | undefined;
  since: string;
  until: string;
}>;


export type IntegratorsQuery = { integrators: { data: Array<{ id: string, name: string, activeClients: number, activeConnections: number, webhookEndpoints: Array<{ status: WebhookEndpointStatus, failures: number }>, usage: { requests: number, rejections: number, failures: number } }>, meta: { nextCursor: string | null } }, usageByDay: Array<{ date: string, requests: number, rejections: number, failures: number }>, requestLog: Array<{ requestId: string, at: string, integratorId: string, builderId: string | null, method: string, path: string, graphqlOperation: string | null, tool: string | null, status: number, code: string, message: string | null, integrator: { name: string }, client: { id: string, name: string }, errors: Array<{ fieldName: string, message: string }> | null }> };

export type OneIntegratorQueryVariables = Exact<{
  id: string | number;
  clientName?: string | null | undefined;
  clientsAfter?: string | null | undefined;
  connectedTo?: string | null | undefined;
  connectionsAfter?: string | null | undefined;
  texts: boolean;
  requestId?: string | null | undefined;
  day?: string | null | undefined;
  since: string;
  until: string;
}>;


export type OneIntegratorQuery = { integrator: { id: string, name: string, createdAt: string, webhookEndpoints: Array<{ id: string, url: string, types: Array<string> | null, builderIds: Array<string> | null, status: WebhookEndpointStatus, disabledReason: WebhookDisabledReason | null, failures: number, failingSince: string | null, suspendedUntil: string | null, replayRemaining: number | null, updatedAt: string, integrator: { name: string }, client: { name: string } }> }, clients: { data: Array<{ id: string, name: string, type: ClientType, grants: Array<string>, scopes: Array<string>, redirectUris: Array<string>, origins: Array<string>, pilotAgreement?: string | null, disabledAt: string | null, createdAt: string, updatedAt: string, secrets: Array<{ id: number, createdAt: string }> }>, meta: { nextCursor: string | null } }, enabled: { data: Array<{ id: string, name: string, type: ClientType, scopes: Array<string> }>, meta: { nextCursor: string | null } }, connections: { data: Array<{ builderId: string, status: ConnectionStatus, scopes: Array<string>, createdAt: string, updatedAt: string, builder: { name: string } }>, meta: { nextCursor: string | null } }, usageByDay: Array<{ date: string, requests: number, rejections: number, failures: number }>, requestLog: Array<{ requestId: string, at: string, integratorId: string, builderId: string | null, method: string, path: string, graphqlOperation: string | null, tool: string | null, status: number, code: string, message: string | null, integrator: { name: string }, client: { id: string, name: string }, errors: Array<{ fieldName: string, message: string }> | null }> };

export type EventTypesQueryVariables = Exact<{ [key: string]: never; }>;


export type EventTypesQuery = { eventTypes: Array<{ type: string, scope: string }> };

export type ScopesQueryVariables = Exact<{ [key: string]: never; }>;


export type ScopesQuery = { scopes: Array<{ scope: string, description: string, internal: boolean }> };

export type DeliveriesQueryVariables = Exact<{
  endpointId: string;
  status?: WebhookDeliveryStatus | null | undefined;
  after?: string | null | undefined;
}>;


export type DeliveriesQuery = { webhookEndpoint: { id: string, url: string, types: Array<string> | null, builderIds: Array<string> | null, status: WebhookEndpointStatus, disabledReason: WebhookDisabledReason | null, failures: number, failingSince: string | null, suspendedUntil: string | null, replayRemaining: number | null, updatedAt: string, deliveries: { data: Array<{ type: string, status: WebhookDeliveryStatus, attempts: number, createdAt: string, responseStatus: number | null, error: string | null }>, meta: { nextCursor: string | null } }, integrator: { name: string }, client: { name: string } } };

export type CreateIntegratorMutationVariables = Exact<{
  name: string;
}>;


export type CreateIntegratorMutation = { createIntegrator: { id: string } | null };

export type CreateClientMutationVariables = Exact<{
  integratorId?: string | number | null | undefined;
  name: string;
  type: ClientType;
  scopes: Array<string> | string;
  redirectUris: Array<string> | string;
  origins: Array<string> | string;
  pilotAgreement?: string | null | undefined;
  texts?: boolean | null | undefined;
}>;


export type CreateClientMutation = { createClient: { secret: string | null, client: { id: string, name: string, type: ClientType, grants: Array<string>, scopes: Array<string>, redirectUris: Array<string>, origins: Array<string>, pilotAgreement?: string | null, disabledAt: string | null, createdAt: string, updatedAt: string, secrets: Array<{ id: number, createdAt: string }> } } | null };

export type UpdateClientMutationVariables = Exact<{
  id: string | number;
  name?: string | null | undefined;
  scopes?: Array<string> | string | null | undefined;
  redirectUris?: Array<string> | string | null | undefined;
  origins?: Array<string> | string | null | undefined;
  pilotAgreement?: string | null | undefined;
  expectedUpdatedAt: string;
  texts?: boolean | null | undefined;
}>;


export type UpdateClientMutation = { updateClient: { id: string, name: string, type: ClientType, grants: Array<string>, scopes: Array<string>, redirectUris: Array<string>, origins: Array<string>, pilotAgreement?: string | null, disabledAt: string | null, createdAt: string, updatedAt: string, secrets: Array<{ id: number, createdAt: string }> } | null };

export type RotateClientSecretMutationVariables = Exact<{
  id: string | number;
  expectedUpdatedAt: string;
  texts?: boolean | null | undefined;
}>;


export type RotateClientSecretMutation = { rotateClientSecret: { secret: string | null, client: { id: string, name: string, type: ClientType, grants: Array<string>, scopes: Array<string>, redirectUris: Array<string>, origins: Array<string>, pilotAgreement?: string | null, disabledAt: string | null, createdAt: string, updatedAt: string, secrets: Array<{ id: number, createdAt: string }> } } | null };

export type DisableClientMutationVariables = Exact<{
  id: string | number;
  expectedUpdatedAt: string;
  texts?: boolean | null | undefined;
}>;


export type DisableClientMutation = { disableClient: { id: string, name: string, type: ClientType, grants: Array<string>, scopes: Array<string>, redirectUris: Array<string>, origins: Array<string>, pilotAgreement?: string | null, disabledAt: string | null, createdAt: string, updatedAt: string, secrets: Array<{ id: number, createdAt: string }> } | null };

export type EnableClientMutationVariables = Exact<{
  id: string | number;
  expectedUpdatedAt: string;
  texts?: boolean | null | undefined;
}>;


export type EnableClientMutation = { enableClient: { id: string, name: string, type: ClientType, grants: Array<string>, scopes: Array<string>, redirectUris: Array<string>, origins: Array<string>, pilotAgreement?: string | null, disabledAt: string | null, createdAt: string, updatedAt: string, secrets: Array<{ id: number, createdAt: string }> } | null };

export type CreateConnectionMutationVariables = Exact<{
  integratorId: string | number;
  builderId: string;
  scopes: Array<string> | string;
}>;


export type CreateConnectionMutation = { createConnection: { builderId: string, status: ConnectionStatus, scopes: Array<string>, createdAt: string, updatedAt: string, builder: { name: string } } | null };

export type UpdateConnectionMutationVariables = Exact<{
  integratorId: string | number;
  builderId: string;
  scopes: Array<string> | string;
  expectedUpdatedAt: string;
}>;


export type UpdateConnectionMutation = { updateConnection: { builderId: string, status: ConnectionStatus, scopes: Array<string>, createdAt: string, updatedAt: string, builder: { name: string } } | null };

export type RevokeConnectionMutationVariables = Exact<{
  integratorId: string | number;
  builderId: string;
  expectedUpdatedAt: string;
}>;


export type RevokeConnectionMutation = { revokeConnection: { builderId: string, status: ConnectionStatus, scopes: Array<string>, createdAt: string, updatedAt: string, builder: { name: string } } | null };

export type CreateWebhookEndpointMutationVariables = Exact<{
  clientId: string | number;
  url: string;
  types?: Array<string> | string | null | undefined;
  builderIds?: Array<string> | string | null | undefined;
}>;


export type CreateWebhookEndpointMutation = { createWebhookEndpoint: { secret: string | null } | null };

export type UpdateWebhookEndpointMutationVariables = Exact<{
  endpointId: string;
  url?: string | null | undefined;
  types?: Array<string> | string | null | undefined;
  builderIds?: Array<string> | string | null | undefined;
  status?: WebhookEndpointSwitch | null | undefined;
  expectedUpdatedAt: string;
}>;


export type UpdateWebhookEndpointMutation = { updateWebhookEndpoint: { id: string, url: string, types: Array<string> | null, builderIds: Array<string> | null, status: WebhookEndpointStatus, disabledReason: WebhookDisabledReason | null, failures: number, failingSince: string | null, suspendedUntil: string | null, replayRemaining: number | null, updatedAt: string, integrator: { name: string }, client: { name: string } } | null };

export type DeleteWebhookEndpointMutationVariables = Exact<{
  endpointId: string;
  expectedUpdatedAt: string;
}>;


export type DeleteWebhookEndpointMutation = { deleteWebhookEndpoint: { id: string } | null };

export type RotateWebhookSecretMutationVariables = Exact<{
  endpointId: string;
  expectedUpdatedAt: string;
}>;


export type RotateWebhookSecretMutation = { rotateWebhookSecret: { updatedAt: string, secret: string | null } | null };

export type TestWebhookEndpointMutationVariables = Exact<{
  endpointId: string;
}>;


export type TestWebhookEndpointMutation = { testWebhookEndpoint: { responseStatus: number | null, error: string | null } | null };

export type ReplayWebhookEndpointMutationVariables = Exact<{
  endpointId: string;
  since: string;
}>;


export type ReplayWebhookEndpointMutation = { replayWebhookEndpoint: { startedAt: string } | null };

export type PersonPartFragment = { id: string, name: string, email: string, staffRole: StaffRole | null, hasPassword: boolean, disabledAt: string | null, createdAt: string, updatedAt: string, memberships: Array<{ builderId: string, role: string, builder: { name: string } }> };

export type PeopleQueryVariables = Exact<{
  search?: string | null | undefined;
  order?: ListOrder | null | undefined;
  builderId?: string | null | undefined;
  staff?: boolean | null | undefined;
  disabled?: boolean | null | undefined;
  after?: string | null | undefined;
}>;


export type PeopleQuery = { people: { data: Array<{ id: string, name: string, email: string, staffRole: StaffRole | null, hasPassword: boolean, disabledAt: string | null, createdAt: string, updatedAt: string, memberships: Array<{ builderId: string, role: string, builder: { name: string } }> }>, meta: { nextCursor: string | null } } };

export type OnePersonQueryVariables = Exact<{
  user: string;
}>;


export type OnePersonQuery = { person: { id: string, name: string, email: string, staffRole: StaffRole | null, hasPassword: boolean, disabledAt: string | null, createdAt: string, updatedAt: string, memberships: Array<{ builderId: string, role: string, builder: { name: string } }> } };

export type AuditQueryVariables = Exact<{
  reads?: boolean | null | undefined;
  action?: string | null | undefined;
  objectId?: string | null | undefined;
  actorId?: string | null | undefined;
  actorType?: AuditActorType | null | undefined;
  builderId?: string | null | undefined;
  since?: string | null | undefined;
  until?: string | null | undefined;
  after?: string | null | undefined;
}>;


export type AuditQuery = { audit: { data: Array<{ id: string, at: string, actorType: AuditActorType, actorId: string | null, description: string, objectId: string, builderId: string | null, integratorId: string | null, names: Record<string, unknown>, records: number, origin: Record<string, unknown>, before: Record<string, unknown> | null, after: Record<string, unknown> | null }>, meta: { nextCursor: string | null } }, auditActions: Array<{ action: string, description: string }> };

export type CreateUserMutationVariables = Exact<{
  email: string;
  name: string;
  builderId?: string | null | undefined;
  role?: string | null | undefined;
  staffRole?: StaffRole | null | undefined;
}>;


export type CreateUserMutation = { createUser: { url: string | null, emailed: boolean, expiresAt: string } | null };

export type InviteUserMutationVariables = Exact<{
  id: string | number;
}>;


export type InviteUserMutation = { inviteUser: { url: string | null, emailed: boolean, expiresAt: string } | null };

export type ResetPasswordMutationVariables = Exact<{
  id: string | number;
}>;


export type ResetPasswordMutation = { resetPassword: { url: string | null, emailed: boolean, expiresAt: string } | null };

export type DisableUserMutationVariables = Exact<{
  id: string | number;
  expectedUpdatedAt: string;
}>;


export type DisableUserMutation = { disableUser: { id: string, name: string, email: string, staffRole: StaffRole | null, hasPassword: boolean, disabledAt: string | null, createdAt: string, updatedAt: string, memberships: Array<{ builderId: string, role: string, builder: { name: string } }> } | null };

export type EnableUserMutationVariables = Exact<{
  id: string | number;
  expectedUpdatedAt: string;
}>;


export type EnableUserMutation = { enableUser: { id: string, name: string, email: string, staffRole: StaffRole | null, hasPassword: boolean, disabledAt: string | null, createdAt: string, updatedAt: string, memberships: Array<{ builderId: string, role: string, builder: { name: string } }> } | null };

export type UpdateUserMutationVariables = Exact<{
  id: string | number;
  name?: string | null | undefined;
  email?: string | null | undefined;
  staffRole?: StaffRole | null | undefined;
  expectedUpdatedAt: string;
}>;


export type UpdateUserMutation = { updateUser: { id: string, name: string, email: string, staffRole: StaffRole | null, hasPassword: boolean, disabledAt: string | null, createdAt: string, updatedAt: string, memberships: Array<{ builderId: string, role: string, builder: { name: string } }> } | null };

export type AddMembershipMutationVariables = Exact<{
  userId: string | number;
  builderId: string;
  role: string;
}>;


export type AddMembershipMutation = { addMembership: { id: string, name: string, email: string, staffRole: StaffRole | null, hasPassword: boolean, disabledAt: string | null, createdAt: string, updatedAt: string, memberships: Array<{ builderId: string, role: string, builder: { name: string } }> } | null };

export type UpdateMembershipMutationVariables = Exact<{
  userId: string | number;
  builderId: string;
  role: string;
}>;


export type UpdateMembershipMutation = { updateMembership: { id: string, name: string, email: string, staffRole: StaffRole | null, hasPassword: boolean, disabledAt: string | null, createdAt: string, updatedAt: string, memberships: Array<{ builderId: string, role: string, builder: { name: string } }> } | null };

export type RemoveMembershipMutationVariables = Exact<{
  userId: string | number;
  builderId: string;
}>;


export type RemoveMembershipMutation = { removeMembership: { id: string, name: string, email: string, staffRole: StaffRole | null, hasPassword: boolean, disabledAt: string | null, createdAt: string, updatedAt: string, memberships: Array<{ builderId: string, role: string, builder: { name: string } }> } | null };

export type FolderPartFragment = { id: string, name: string, parentId: string | null, photos: { meta: { totalCount: number } } };

export type PhotoFoldersQueryVariables = Exact<{
  builderId: string;
  projectId: string;
}>;


export type PhotoFoldersQuery = { first: { meta: { totalCount: number }, data: Array<{ id: string, name: string, parentId: string | null, photos: { meta: { totalCount: number } } }> }, second: { data: Array<{ id: string, name: string, parentId: string | null, photos: { meta: { totalCount: number } } }> }, third: { data: Array<{ id: string, name: string, parentId: string | null, photos: { meta: { totalCount: number } } }> }, fourth: { data: Array<{ id: string, name: string, parentId: string | null, photos: { meta: { totalCount: number } } }> } };

export type PhotosQueryVariables = Exact<{
  builderId: string;
  projectId: string;
  folderId?: string | null | undefined;
  source?: Array<PhotoSource> | PhotoSource | null | undefined;
  offset?: number | null | undefined;
  texts: boolean;
}>;


export type PhotosQuery = { photos: { meta: { totalCount: number, offset: number, limit: number }, data: Array<{ id: string, fileName: string, description?: string | null, photoTakenDate: string | null, sortDate: string, imageUrl: string, folder: { name: string } | null, small: { url: string, width: number, height: number } | null, medium: { url: string, width: number, height: number } | null, large: { url: string, width: number, height: number } | null }> } };

export type ReportsQueryVariables = Exact<{
  builderId: string;
  projectId?: string | null | undefined;
  archived?: boolean | null | undefined;
  search?: string | null | undefined;
  sort?: PhotoReportSort | null | undefined;
  order?: ListOrder | null | undefined;
  offset?: number | null | undefined;
}>;


export type ReportsQuery = { findPhotoReports: { meta: { totalCount: number, offset: number, limit: number }, data: Array<{ id: string, title: string, status: PhotoReportStatus, sourceApp: string, walkthroughDate: string, createdAt: string, sourceAuthor: { name: string }, project: { name: string } | null }> } };

export type ReportBlocksFragment = { title: string, shortDescription: string | null, blocks: Array<
    | { __typename: 'ReportText', sourceBlockId: string, richText: Array<{ text: string, marks: Array<TextMark> }> }
    | { __typename: 'ReportHeading', sourceBlockId: string, richText: Array<{ text: string, marks: Array<TextMark> }> }
    | { __typename: 'ReportList', type: BlockType, sourceBlockId: string, items: Array<{ id: string, depth: number, checked: boolean | null, richText: Array<{ text: string, marks: Array<TextMark> }> }> }
    | { __typename: 'ReportImage', sourceBlockId: string, imageFailure: { message: string } | null, photo: { id: string, imageUrl: string, description: string | null, fileName: string, small: { url: string, width: number, height: number } | null, medium: { url: string, width: number, height: number } | null, large: { url: string, width: number, height: number } | null } | null }
    | { __typename: 'ReportChildPage', sourceBlockId: string }
  > };

export type ReportQueryVariables = Exact<{
  builderId: string;
  photoReportId: string;
}>;


export type ReportQuery = { photoReport: { title: string, status: PhotoReportStatus, sourceApp: string, sourceExternalId: string, sourceRevision: number, walkthroughDate: string, archivedAt: string | null, sourceAuthor: { name: string }, project: { name: string } | null, page: { title: string, shortDescription: string | null, blocks: Array<
        | { __typename: 'ReportText', sourceBlockId: string, richText: Array<{ text: string, marks: Array<TextMark> }> }
        | { __typename: 'ReportHeading', sourceBlockId: string, richText: Array<{ text: string, marks: Array<TextMark> }> }
        | { __typename: 'ReportList', type: BlockType, sourceBlockId: string, items: Array<{ id: string, depth: number, checked: boolean | null, richText: Array<{ text: string, marks: Array<TextMark> }> }> }
        | { __typename: 'ReportImage', sourceBlockId: string, imageFailure: { message: string } | null, photo: { id: string, imageUrl: string, description: string | null, fileName: string, small: { url: string, width: number, height: number } | null, medium: { url: string, width: number, height: number } | null, large: { url: string, width: number, height: number } | null } | null }
        | { __typename: 'ReportChildPage', sourceBlockId: string, childPage: { title: string, shortDescription: string | null, blocks: Array<
              | { __typename: 'ReportText', sourceBlockId: string, richText: Array<{ text: string, marks: Array<TextMark> }> }
              | { __typename: 'ReportHeading', sourceBlockId: string, richText: Array<{ text: string, marks: Array<TextMark> }> }
              | { __typename: 'ReportList', type: BlockType, sourceBlockId: string, items: Array<{ id: string, depth: number, checked: boolean | null, richText: Array<{ text: string, marks: Array<TextMark> }> }> }
              | { __typename: 'ReportImage', sourceBlockId: string, imageFailure: { message: string } | null, photo: { id: string, imageUrl: string, description: string | null, fileName: string, small: { url: string, width: number, height: number } | null, medium: { url: string, width: number, height: number } | null, large: { url: string, width: number, height: number } | null } | null }
              | { __typename: 'ReportChildPage', sourceBlockId: string, childPage: { title: string, shortDescription: string | null, blocks: Array<
                    | { __typename: 'ReportText', sourceBlockId: string, richText: Array<{ text: string, marks: Array<TextMark> }> }
                    | { __typename: 'ReportHeading', sourceBlockId: string, richText: Array<{ text: string, marks: Array<TextMark> }> }
                    | { __typename: 'ReportList', type: BlockType, sourceBlockId: string, items: Array<{ id: string, depth: number, checked: boolean | null, richText: Array<{ text: string, marks: Array<TextMark> }> }> }
                    | { __typename: 'ReportImage', sourceBlockId: string, imageFailure: { message: string } | null, photo: { id: string, imageUrl: string, description: string | null, fileName: string, small: { url: string, width: number, height: number } | null, medium: { url: string, width: number, height: number } | null, large: { url: string, width: number, height: number } | null } | null }
                    | { __typename: 'ReportChildPage', sourceBlockId: string }
                  > } }
            > } }
      > } } };

export type SourceFragment = { url: string, width: number, height: number };

export type SourcesFragment = { small: { url: string, width: number, height: number } | null, medium: { url: string, width: number, height: number } | null, large: { url: string, width: number, height: number } | null };

export type PhotoSourcesQueryVariables = Exact<{
  builderId: string;
  photoId: string;
}>;


export type PhotoSourcesQuery = { photo: { id: string, small: { url: string, width: number, height: number } | null, medium: { url: string, width: number, height: number } | null, large: { url: string, width: number, height: number } | null } };

export type TimesheetsQueryVariables = Exact<{
  builderId: string;
  projectId?: string | null | undefined;
  costCodeId?: string | null | undefined;
  status?: TimesheetStatus | null | undefined;
  firstDay?: string | null | undefined;
  lastDay?: string | null | undefined;
  timeZone: string;
  search?: string | null | undefined;
  sort?: TimesheetSort | null | undefined;
  order?: ListOrder | null | undefined;
  offset?: number | null | undefined;
  cursor?: string | null | undefined;
}>;


export type TimesheetsQuery = { findTimesheets: { meta: { totalCount: number, offset: number, limit: number, nextCursor: string | null }, data: Array<{ id: string, date: string, hours: number, status: TimesheetStatus, timeType: string | null, costCode: string | null, notes: string | null, profile: { fullName: string, type: ProfileType }, project: { name: string } }> } };

export type CostCodesQueryVariables = Exact<{
  builderId: string;
}>;


export type CostCodesQuery = { costCodes: { data: Array<{ id: string, code: string, description: string }> } };

export type InductionsQueryVariables = Exact<{
  builderId: string;
  projectId?: string | null | undefined;
  status?: InductionStatus | null | undefined;
  search?: string | null | undefined;
  sort?: InductionSort | null | undefined;
  order?: ListOrder | null | undefined;
  offset?: number | null | undefined;
  cursor?: string | null | undefined;
}>;


export type InductionsQuery = { findInductions: { meta: { totalCount: number, offset: number, limit: number, nextCursor: string | null }, data: Array<{ id: string, identifier: number, type: InductionType, status: InductionStatus, createdAt: string, updatedAt: string, project: { name: string }, worker: { id: string, fullName: string }, subcontractor: { name: string } }> } };

export type InsurancesQueryVariables = Exact<{
  builderId: string;
  type?: InsuranceType | null | undefined;
  status?: InsuranceStatus | null | undefined;
  firstDay?: string | null | undefined;
  lastDay?: string | null | undefined;
  timeZone: string;
  search?: string | null | undefined;
  sort?: InsuranceSort | null | undefined;
  order?: ListOrder | null | undefined;
  offset?: number | null | undefined;
  cursor?: string | null | undefined;
}>;


export type InsurancesQuery = { findInsurances: { meta: { totalCount: number, offset: number, limit: number, nextCursor: string | null }, data: Array<{ id: string, name: string, type: InsuranceType, customType: string | null, status: InsuranceStatus, expiry: string | null, subcontractor: { id: string, name: string } }> } };

export type InsuranceFileQueryVariables = Exact<{
  subcontractorId: string;
  insuranceId: string;
}>;


export type InsuranceFileQuery = { insurance: { url: string | null } };

export type WorkersQueryVariables = Exact<{
  builderId: string;
  search?: string | null | undefined;
  sort?: WorkerSort | null | undefined;
  order?: ListOrder | null | undefined;
  offset?: number | null | undefined;
}>;


export type WorkersQuery = { findWorkers: { meta: { totalCount: number, offset: number, limit: number }, data: Array<{ id: string, fullName: string, createdAt: string, subcontractor: { name: string } | null, inductions: { meta: { totalCount: number }, data: Array<{ project: { name: string } }> }, visits: { meta: { totalCount: number }, data: Array<{ signedOnAt: string }> } }> } };

export type OneWorkerQueryVariables = Exact<{
  builderId: string;
  id: string;
}>;


export type OneWorkerQuery = { findWorkers: { data: Array<{ id: string, fullName: string, createdAt: string, subcontractor: { name: string } | null, siteAccess: { data: Array<{ revokedAt: string | null, project: { name: string } }> }, inductions: { meta: { totalCount: number }, data: Array<{ status: InductionStatus, createdAt: string, project: { name: string } }> }, visits: { meta: { totalCount: number }, data: Array<{ signedOnAt: string, signedOffAt: string | null, closedAt: string | null, project: { name: string } }> } }> } };

export const TodayDocument = `query Today($builderId: BuilderId!, $date: CalendarDate!, $from: CalendarDate!, $attendance: Boolean!) {
  attendanceByDay(builderId: $builderId, startDate: $from, endDate: $date) @include(if: $attendance) {
    date
    workers
  }
  workersOnSite(builderId: $builderId) @include(if: $attendance) {
    onSite
    fromEarlierDays
    project {
      id
      name
    }
  }
  signOnsByHour(builderId: $builderId, date: $date) @include(if: $attendance) {
    hour
    signOns
    typicalSignOns
  }
  itemsAwaitingAction(builderId: $builderId) {
    signOnConflicts
    pendingSignOffs
    timesheets
    inductions
    insurances
    failingWebhookEndpoints
  }
}` as unknown as TypedDocumentNode<TodayQuery, TodayQueryVariables>;
export const TimesheetFiguresDocument = `query TimesheetFigures($builderId: BuilderId!, $projectId: ProjectId, $costCodeId: CostCodeId, $status: TimesheetStatus, $from: CalendarDate!, $until: CalendarDate!) {
  hoursByWeek(
    builderId: $builderId
    startDate: $from
    endDate: $until
    projectId: $projectId
    costCodeId: $costCodeId
    status: $status
  ) {
    week
    status
    hours
    timesheets
  }
  hoursByProject(
    builderId: $builderId
    startDate: $from
    endDate: $until
    projectId: $projectId
    costCodeId: $costCodeId
    status: $status
  ) {
    hours
    project {
      id
      name
    }
  }
  hoursByCostCode(
    builderId: $builderId
    startDate: $from
    endDate: $until
    projectId: $projectId
    costCodeId: $costCodeId
    status: $status
  ) {
    hours
    costCode {
      id
      code
      description
    }
  }
}` as unknown as TypedDocumentNode<TimesheetFiguresQuery, TimesheetFiguresQueryVariables>;
export const InductionFiguresDocument = `query InductionFigures($builderId: BuilderId!, $projectId: ProjectId) {
  inductionsByStatus(builderId: $builderId, projectId: $projectId) {
    status
    inductions
  }
}` as unknown as TypedDocumentNode<InductionFiguresQuery, InductionFiguresQueryVariables>;
export const InsuranceFiguresDocument = `query InsuranceFigures($builderId: BuilderId!, $type: InsuranceType, $status: InsuranceStatus, $from: CalendarDate!, $until: CalendarDate!) {
  insurancesByMonth(
    builderId: $builderId
    type: $type
    status: $status
    startDate: $from
    endDate: $until
  ) {
    month
    insurances
  }
}` as unknown as TypedDocumentNode<InsuranceFiguresQuery, InsuranceFiguresQueryVariables>;
export const ScopeDocument = `query Scope($builderId: BuilderId, $hasBuilder: Boolean!) {
  me {
    id
    name
    email
    role
    regionId
    regions
    actions
    otherActions {
      action
      role
    }
    scopes
  }
  chosen: findBuilders(id: $builderId) @include(if: $hasBuilder) {
    data {
      ...BuilderChoice
    }
  }
  first: findBuilders(limit: 1) {
    data {
      ...BuilderChoice
    }
  }
}
fragment BuilderChoice on BuilderMatch {
  id
  name
  timeZone
}` as unknown as TypedDocumentNode<ScopeQuery, ScopeQueryVariables>;
export const BuilderSearchDocument = `query BuilderSearch($id: BuilderId, $name: String) {
  findBuilders(id: $id, name: $name) {
    totalCount
    data {
      ...BuilderChoice
    }
  }
}
fragment BuilderChoice on BuilderMatch {
  id
  name
  timeZone
}` as unknown as TypedDocumentNode<BuilderSearchQuery, BuilderSearchQueryVariables>;
export const SignOutDocument = `mutation SignOut {
  signOut
}` as unknown as TypedDocumentNode<SignOutMutation, SignOutMutationVariables>;
export const ChangesDocument = `query Changes($after: String) {
  changes(after: $after) {
    cursor
    builderIds
    reset
  }
}` as unknown as TypedDocumentNode<ChangesQuery, ChangesQueryVariables>;
export const FindDocument = `query Find($text: String!, $builderId: BuilderId) {
  find(text: $text, builderId: $builderId) {
    kind
    id
    name
    detail
    integratorId
  }
}` as unknown as TypedDocumentNode<FindQuery, FindQueryVariables>;
export const PendingSignOffsDocument = `query PendingSignOffs($builderId: BuilderId!, $projectId: ProjectId = "proj_none", $ofProject: Boolean!, $offset: PageOffset) {
  builder(builderId: $builderId) @skip(if: $ofProject) {
    pendingSignOffs(offset: $offset) {
      ...PendingPage
    }
  }
  project(builderId: $builderId, projectId: $projectId) @include(if: $ofProject) {
    pendingSignOffs(offset: $offset) {
      ...PendingPage
    }
  }
}
fragment PendingPage on SignOnEventPage {
  meta {
    totalCount
    offset
    limit
  }
  data {
    ...PendingPart
  }
}
fragment PendingPart on SignOnEvent {
  id
  updatedAt
  occurredAt
  deviceId
  sourceEventId
  sourceSignOnEventId
  integrator {
    name
  }
  worker {
    id
    fullName
  }
  project {
    name
  }
}` as unknown as TypedDocumentNode<PendingSignOffsQuery, PendingSignOffsQueryVariables>;
export const AttendanceCountsDocument = `query AttendanceCounts($builderId: BuilderId!, $projectId: ProjectId) {
  attendanceAwaitingAction(builderId: $builderId, projectId: $projectId) {
    signOnConflicts
    pendingSignOffs
    openVisits
  }
}` as unknown as TypedDocumentNode<AttendanceCountsQuery, AttendanceCountsQueryVariables>;
export const UsualEndDocument = `query UsualEnd($builderId: BuilderId!, $projectId: ProjectId!, $date: CalendarDate!) {
  usualEnd(builderId: $builderId, projectId: $projectId, date: $date)
}` as unknown as TypedDocumentNode<UsualEndQuery, UsualEndQueryVariables>;
export const VisitsOfDayDocument = `query VisitsOfDay($builderId: BuilderId!, $projectId: ProjectId, $date: CalendarDate!) {
  visitsOfDay(builderId: $builderId, projectId: $projectId, date: $date) {
    ...VisitPart
  }
}
fragment VisitPart on SignOnVisit {
  id
  updatedAt
  signedOnAt
  signedOffAt
  closedAt
  closedBy
  closingReason
  anomaly
  project {
    id
    name
  }
  worker {
    id
    fullName
  }
  events(limit: 5) {
    data {
      id
      type
      occurredAt
      createdAt
      deviceId
      sourceEventId
      integrator {
        name
      }
    }
  }
}` as unknown as TypedDocumentNode<VisitsOfDayQuery, VisitsOfDayQueryVariables>;
export const OneProjectDocument = `query OneProject($builderId: BuilderId!, $projectId: ProjectId!) {
  project(builderId: $builderId, projectId: $projectId) {
    id
    name
  }
}` as unknown as TypedDocumentNode<OneProjectQuery, OneProjectQueryVariables>;
export const ProjectChoiceDocument = `query ProjectChoice($builderId: BuilderId!) {
  projectsInProgress(builderId: $builderId) {
    id
    name
  }
}` as unknown as TypedDocumentNode<ProjectChoiceQuery, ProjectChoiceQueryVariables>;
export const BoardDocument = `query Board($builderId: BuilderId!, $projectId: ProjectId!, $date: CalendarDate!, $timeZone: TimeZone!, $since: Timestamp!, $until: Timestamp!) {
  visitsOfDay(builderId: $builderId, projectId: $projectId, date: $date) {
    ...VisitPart
  }
  project(builderId: $builderId, projectId: $projectId) {
    pending: pendingSignOffs(date: $date, timeZone: $timeZone) {
      meta {
        totalCount
      }
      data {
        ...PendingPart
      }
    }
    morePending: pendingSignOffs(date: $date, timeZone: $timeZone, offset: 25) {
      data {
        ...PendingPart
      }
    }
  }
  conflicts(
    builderId: $builderId
    projectId: $projectId
    state: OPEN
    since: $since
    until: $until
    limit: 100
  ) {
    data {
      ...ConflictPart
    }
    meta {
      nextCursor
    }
  }
}
fragment VisitPart on SignOnVisit {
  id
  updatedAt
  signedOnAt
  signedOffAt
  closedAt
  closedBy
  closingReason
  anomaly
  project {
    id
    name
  }
  worker {
    id
    fullName
  }
  events(limit: 5) {
    data {
      id
      type
      occurredAt
      createdAt
      deviceId
      sourceEventId
      integrator {
        name
      }
    }
  }
}
fragment PendingPart on SignOnEvent {
  id
  updatedAt
  occurredAt
  deviceId
  sourceEventId
  sourceSignOnEventId
  integrator {
    name
  }
  worker {
    id
    fullName
  }
  project {
    name
  }
}
fragment ConflictPart on Conflict {
  id
  description
  answers
  type
  occurredAt
  sourceEventId
  sourceSignOnEventId
  deviceId
  state
  resolution
  resolutionReason
  resolvedAt
  resolvedBy
  createdAt
  updatedAt
  integrator {
    name
  }
  worker {
    id
    fullName
  }
  project {
    name
  }
  recordedEvent {
    type
    occurredAt
    createdAt
    deviceId
    worker {
      fullName
    }
    integrator {
      name
    }
  }
  visit {
    signedOnAt
    signedOffAt
    closedAt
    closedBy
    closingReason
    worker {
      fullName
    }
  }
}` as unknown as TypedDocumentNode<BoardQuery, BoardQueryVariables>;
export const OneConflictDocument = `query OneConflict($id: ID!) {
  conflict(id: $id) {
    ...ConflictPart
  }
}
fragment ConflictPart on Conflict {
  id
  description
  answers
  type
  occurredAt
  sourceEventId
  sourceSignOnEventId
  deviceId
  state
  resolution
  resolutionReason
  resolvedAt
  resolvedBy
  createdAt
  updatedAt
  integrator {
    name
  }
  worker {
    id
    fullName
  }
  project {
    name
  }
  recordedEvent {
    type
    occurredAt
    createdAt
    deviceId
    worker {
      fullName
    }
    integrator {
      name
    }
  }
  visit {
    signedOnAt
    signedOffAt
    closedAt
    closedBy
    closingReason
    worker {
      fullName
    }
  }
}` as unknown as TypedDocumentNode<OneConflictQuery, OneConflictQueryVariables>;
export const OpenConflictsDocument = `query OpenConflicts($builderId: BuilderId!, $projectId: ProjectId, $state: SignOnConflictStatus, $after: String) {
  conflicts(
    builderId: $builderId
    projectId: $projectId
    state: $state
    after: $after
  ) {
    data {
      ...ConflictPart
    }
    meta {
      nextCursor
    }
  }
}
fragment ConflictPart on Conflict {
  id
  description
  answers
  type
  occurredAt
  sourceEventId
  sourceSignOnEventId
  deviceId
  state
  resolution
  resolutionReason
  resolvedAt
  resolvedBy
  createdAt
  updatedAt
  integrator {
    name
  }
  worker {
    id
    fullName
  }
  project {
    name
  }
  recordedEvent {
    type
    occurredAt
    createdAt
    deviceId
    worker {
      fullName
    }
    integrator {
      name
    }
  }
  visit {
    signedOnAt
    signedOffAt
    closedAt
    closedBy
    closingReason
    worker {
      fullName
    }
  }
}` as unknown as TypedDocumentNode<OpenConflictsQuery, OpenConflictsQueryVariables>;
export const CloseVisitDocument = `mutation CloseVisit($visitId: SignOnVisitId!, $at: Timestamp, $reason: String!, $expectedUpdatedAt: Timestamp!) {
  closeVisit(
    visitId: $visitId
    at: $at
    reason: $reason
    expectedUpdatedAt: $expectedUpdatedAt
  ) {
    ...VisitPart
  }
}
fragment VisitPart on SignOnVisit {
  id
  updatedAt
  signedOnAt
  signedOffAt
  closedAt
  closedBy
  closingReason
  anomaly
  project {
    id
    name
  }
  worker {
    id
    fullName
  }
  events(limit: 5) {
    data {
      id
      type
      occurredAt
      createdAt
      deviceId
      sourceEventId
      integrator {
        name
      }
    }
  }
}` as unknown as TypedDocumentNode<CloseVisitMutation, CloseVisitMutationVariables>;
export const ArchiveVisitDocument = `mutation ArchiveVisit($visitId: SignOnVisitId!, $expectedUpdatedAt: Timestamp!) {
  archiveVisit(visitId: $visitId, expectedUpdatedAt: $expectedUpdatedAt) {
    id
  }
}` as unknown as TypedDocumentNode<ArchiveVisitMutation, ArchiveVisitMutationVariables>;
export const DismissSignOffDocument = `mutation DismissSignOff($signOnEventId: SignOnEventId!, $reason: String!, $expectedUpdatedAt: Timestamp!) {
  dismissSignOff(
    signOnEventId: $signOnEventId
    reason: $reason
    expectedUpdatedAt: $expectedUpdatedAt
  ) {
    id
  }
}` as unknown as TypedDocumentNode<DismissSignOffMutation, DismissSignOffMutationVariables>;
export const CreateVisitDocument = `mutation CreateVisit($signOnEventId: SignOnEventId!, $signedOnAt: Timestamp!, $reason: String!, $expectedUpdatedAt: Timestamp!) {
  createVisit(
    signOnEventId: $signOnEventId
    signedOnAt: $signedOnAt
    reason: $reason
    expectedUpdatedAt: $expectedUpdatedAt
  ) {
    id
  }
}` as unknown as TypedDocumentNode<CreateVisitMutation, CreateVisitMutationVariables>;
export const ResolveConflictDocument = `mutation ResolveConflict($id: ID!, $resolution: ConflictResolution!, $reason: String!, $expectedUpdatedAt: Timestamp!) {
  resolveConflict(
    id: $id
    resolution: $resolution
    reason: $reason
    expectedUpdatedAt: $expectedUpdatedAt
  ) {
    ...ConflictPart
  }
}
fragment ConflictPart on Conflict {
  id
  description
  answers
  type
  occurredAt
  sourceEventId
  sourceSignOnEventId
  deviceId
  state
  resolution
  resolutionReason
  resolvedAt
  resolvedBy
  createdAt
  updatedAt
  integrator {
    name
  }
  worker {
    id
    fullName
  }
  project {
    name
  }
  recordedEvent {
    type
    occurredAt
    createdAt
    deviceId
    worker {
      fullName
    }
    integrator {
      name
    }
  }
  visit {
    signedOnAt
    signedOffAt
    closedAt
    closedBy
    closingReason
    worker {
      fullName
    }
  }
}` as unknown as TypedDocumentNode<ResolveConflictMutation, ResolveConflictMutationVariables>;
export const OpenVisitsDocument = `query OpenVisits($builderId: BuilderId!, $projectId: ProjectId = "proj_none", $ofProject: Boolean!, $offset: PageOffset) {
  builder(builderId: $builderId) @skip(if: $ofProject) {
    openVisits(offset: $offset) {
      ...OpenVisitsPart
    }
  }
  project(builderId: $builderId, projectId: $projectId) @include(if: $ofProject) {
    openVisits(offset: $offset) {
      ...OpenVisitsPart
    }
  }
}
fragment OpenVisitsPart on SignOnVisitPage {
  meta {
    totalCount
    offset
    limit
  }
  data {
    ...VisitPart
  }
}
fragment VisitPart on SignOnVisit {
  id
  updatedAt
  signedOnAt
  signedOffAt
  closedAt
  closedBy
  closingReason
  anomaly
  project {
    id
    name
  }
  worker {
    id
    fullName
  }
  events(limit: 5) {
    data {
      id
      type
      occurredAt
      createdAt
      deviceId
      sourceEventId
      integrator {
        name
      }
    }
  }
}` as unknown as TypedDocumentNode<OpenVisitsQuery, OpenVisitsQueryVariables>;
export const FailingEndpointsDocument = `query FailingEndpoints($builderId: BuilderId!, $after: String) {
  webhookEndpoints(builderId: $builderId, failing: true, after: $after) {
    data {
      id
      url
      status
      failures
      failingSince
      integrator {
        id
        name
      }
    }
    meta {
      nextCursor
    }
  }
}` as unknown as TypedDocumentNode<FailingEndpointsQuery, FailingEndpointsQueryVariables>;
export const IntegratorsDocument = `query Integrators($name: String, $after: String, $requestId: String, $day: CalendarDate, $since: CalendarDate!, $until: CalendarDate!) {
  integrators(name: $name, after: $after) {
    data {
      id
      name
      activeClients
      activeConnections
      webhookEndpoints {
        status
        failures
      }
      usage(since: $since, until: $until) {
        requests
        rejections
        failures
      }
    }
    meta {
      nextCursor
    }
  }
  usageByDay(since: $since, until: $until) {
    date
    requests
    rejections
    failures
  }
  requestLog(requestId: $requestId, day: $day, limit: 100) {
    ...LoggedRequestPart
  }
}
fragment LoggedRequestPart on LoggedRequest {
  requestId
  at
  integratorId
  integrator {
    name
  }
  builderId
  client {
    id
    name
  }
  method
  path
  graphqlOperation
  tool
  status
  code
  message
  errors {
    fieldName
    message
  }
}` as unknown as TypedDocumentNode<IntegratorsQuery, IntegratorsQueryVariables>;
export const OneIntegratorDocument = `query OneIntegrator($id: ID!, $clientName: String, $clientsAfter: String, $connectedTo: BuilderId, $connectionsAfter: String, $texts: Boolean!, $requestId: String, $day: CalendarDate, $since: CalendarDate!, $until: CalendarDate!) {
  integrator(id: $id) {
    id
    name
    createdAt
    webhookEndpoints {
      ...EndpointPart
    }
  }
  clients(integratorId: $id, name: $clientName, after: $clientsAfter) {
    data {
      ...ClientPart
    }
    meta {
      nextCursor
    }
  }
  enabled: clients(integratorId: $id, disabled: false, limit: 200) {
    data {
      id
      name
      type
      scopes
    }
    meta {
      nextCursor
    }
  }
  connections(
    integratorId: $id
    builderId: $connectedTo
    after: $connectionsAfter
  ) {
    data {
      ...ConnectionPart
    }
    meta {
      nextCursor
    }
  }
  usageByDay(integratorId: $id, since: $since, until: $until) {
    date
    requests
    rejections
    failures
  }
  requestLog(integratorId: $id, requestId: $requestId, day: $day, limit: 100) {
    ...LoggedRequestPart
  }
}
fragment EndpointPart on WebhookEndpoint {
  id
  url
  types
  builderIds
  status
  disabledReason
  failures
  failingSince
  suspendedUntil
  replayRemaining
  updatedAt
  integrator {
    name
  }
  client {
    name
  }
}
fragment ClientPart on Client {
  id
  name
  type
  grants
  scopes
  redirectUris
  origins
  pilotAgreement @include(if: $texts)
  disabledAt
  createdAt
  updatedAt
  secrets {
    id
    createdAt
  }
}
fragment ConnectionPart on Connection {
  builderId
  status
  scopes
  createdAt
  updatedAt
  builder {
    name
  }
}
fragment LoggedRequestPart on LoggedRequest {
  requestId
  at
  integratorId
  integrator {
    name
  }
  builderId
  client {
    id
    name
  }
  method
  path
  graphqlOperation
  tool
  status
  code
  message
  errors {
    fieldName
    message
  }
}` as unknown as TypedDocumentNode<OneIntegratorQuery, OneIntegratorQueryVariables>;
export const EventTypesDocument = `query EventTypes {
  eventTypes {
    type
    scope
  }
}` as unknown as TypedDocumentNode<EventTypesQuery, EventTypesQueryVariables>;
export const ScopesDocument = `query Scopes {
  scopes {
    scope
    description
    internal
  }
}` as unknown as TypedDocumentNode<ScopesQuery, ScopesQueryVariables>;
export const DeliveriesDocument = `query Deliveries($endpointId: WebhookEndpointId!, $status: WebhookDeliveryStatus, $after: String) {
  webhookEndpoint(endpointId: $endpointId) {
    ...EndpointPart
    deliveries(status: $status, after: $after) {
      data {
        type
        status
        attempts
        createdAt
        responseStatus
        error
      }
      meta {
        nextCursor
      }
    }
  }
}
fragment EndpointPart on WebhookEndpoint {
  id
  url
  types
  builderIds
  status
  disabledReason
  failures
  failingSince
  suspendedUntil
  replayRemaining
  updatedAt
  integrator {
    name
  }
  client {
    name
  }
}` as unknown as TypedDocumentNode<DeliveriesQuery, DeliveriesQueryVariables>;
export const CreateIntegratorDocument = `mutation CreateIntegrator($name: String!) {
  createIntegrator(name: $name) {
    id
  }
}` as unknown as TypedDocumentNode<CreateIntegratorMutation, CreateIntegratorMutationVariables>;
export const CreateClientDocument = `mutation CreateClient($integratorId: ID, $name: String!, $type: ClientType!, $scopes: [String!]!, $redirectUris: [String!]!, $origins: [String!]!, $pilotAgreement: String, $texts: Boolean = true) {
  createClient(
    integratorId: $integratorId
    name: $name
    type: $type
    scopes: $scopes
    redirectUris: $redirectUris
    origins: $origins
    pilotAgreement: $pilotAgreement
  ) {
    client {
      ...ClientPart
    }
    secret
  }
}
fragment ClientPart on Client {
  id
  name
  type
  grants
  scopes
  redirectUris
  origins
  pilotAgreement @include(if: $texts)
  disabledAt
  createdAt
  updatedAt
  secrets {
    id
    createdAt
  }
}` as unknown as TypedDocumentNode<CreateClientMutation, CreateClientMutationVariables>;
export const UpdateClientDocument = `mutation UpdateClient($id: ID!, $name: String, $scopes: [String!], $redirectUris: [String!], $origins: [String!], $pilotAgreement: String, $expectedUpdatedAt: Timestamp!, $texts: Boolean = true) {
  updateClient(
    id: $id
    name: $name
    scopes: $scopes
    redirectUris: $redirectUris
    origins: $origins
    pilotAgreement: $pilotAgreement
    expectedUpdatedAt: $expectedUpdatedAt
  ) {
    ...ClientPart
  }
}
fragment ClientPart on Client {
  id
  name
  type
  grants
  scopes
  redirectUris
  origins
  pilotAgreement @include(if: $texts)
  disabledAt
  createdAt
  updatedAt
  secrets {
    id
    createdAt
  }
}` as unknown as TypedDocumentNode<UpdateClientMutation, UpdateClientMutationVariables>;
export const RotateClientSecretDocument = `mutation RotateClientSecret($id: ID!, $expectedUpdatedAt: Timestamp!, $texts: Boolean = true) {
  rotateClientSecret(id: $id, expectedUpdatedAt: $expectedUpdatedAt) {
    client {
      ...ClientPart
    }
    secret
  }
}
fragment ClientPart on Client {
  id
  name
  type
  grants
  scopes
  redirectUris
  origins
  pilotAgreement @include(if: $texts)
  disabledAt
  createdAt
  updatedAt
  secrets {
    id
    createdAt
  }
}` as unknown as TypedDocumentNode<RotateClientSecretMutation, RotateClientSecretMutationVariables>;
export const DisableClientDocument = `mutation DisableClient($id: ID!, $expectedUpdatedAt: Timestamp!, $texts: Boolean = true) {
  disableClient(id: $id, expectedUpdatedAt: $expectedUpdatedAt) {
    ...ClientPart
  }
}
fragment ClientPart on Client {
  id
  name
  type
  grants
  scopes
  redirectUris
  origins
  pilotAgreement @include(if: $texts)
  disabledAt
  createdAt
  updatedAt
  secrets {
    id
    createdAt
  }
}` as unknown as TypedDocumentNode<DisableClientMutation, DisableClientMutationVariables>;
export const EnableClientDocument = `mutation EnableClient($id: ID!, $expectedUpdatedAt: Timestamp!, $texts: Boolean = true) {
  enableClient(id: $id, expectedUpdatedAt: $expectedUpdatedAt) {
    ...ClientPart
  }
}
fragment ClientPart on Client {
  id
  name
  type
  grants
  scopes
  redirectUris
  origins
  pilotAgreement @include(if: $texts)
  disabledAt
  createdAt
  updatedAt
  secrets {
    id
    createdAt
  }
}` as unknown as TypedDocumentNode<EnableClientMutation, EnableClientMutationVariables>;
export const CreateConnectionDocument = `mutation CreateConnection($integratorId: ID!, $builderId: BuilderId!, $scopes: [String!]!) {
  createConnection(
    integratorId: $integratorId
    builderId: $builderId
    scopes: $scopes
  ) {
    ...ConnectionPart
  }
}
fragment ConnectionPart on Connection {
  builderId
  status
  scopes
  createdAt
  updatedAt
  builder {
    name
  }
}` as unknown as TypedDocumentNode<CreateConnectionMutation, CreateConnectionMutationVariables>;
export const UpdateConnectionDocument = `mutation UpdateConnection($integratorId: ID!, $builderId: BuilderId!, $scopes: [String!]!, $expectedUpdatedAt: Timestamp!) {
  updateConnection(
    integratorId: $integratorId
    builderId: $builderId
    scopes: $scopes
    expectedUpdatedAt: $expectedUpdatedAt
  ) {
    ...ConnectionPart
  }
}
fragment ConnectionPart on Connection {
  builderId
  status
  scopes
  createdAt
  updatedAt
  builder {
    name
  }
}` as unknown as TypedDocumentNode<UpdateConnectionMutation, UpdateConnectionMutationVariables>;
export const RevokeConnectionDocument = `mutation RevokeConnection($integratorId: ID!, $builderId: BuilderId!, $expectedUpdatedAt: Timestamp!) {
  revokeConnection(
    integratorId: $integratorId
    builderId: $builderId
    expectedUpdatedAt: $expectedUpdatedAt
  ) {
    ...ConnectionPart
  }
}
fragment ConnectionPart on Connection {
  builderId
  status
  scopes
  createdAt
  updatedAt
  builder {
    name
  }
}` as unknown as TypedDocumentNode<RevokeConnectionMutation, RevokeConnectionMutationVariables>;
export const CreateWebhookEndpointDocument = `mutation CreateWebhookEndpoint($clientId: ID!, $url: WebhookUrl!, $types: [String!], $builderIds: [BuilderId!]) {
  createWebhookEndpoint(
    clientId: $clientId
    url: $url
    types: $types
    builderIds: $builderIds
  ) {
    secret
  }
}` as unknown as TypedDocumentNode<CreateWebhookEndpointMutation, CreateWebhookEndpointMutationVariables>;
export const UpdateWebhookEndpointDocument = `mutation UpdateWebhookEndpoint($endpointId: WebhookEndpointId!, $url: WebhookUrl, $types: [String!], $builderIds: [BuilderId!], $status: WebhookEndpointSwitch, $expectedUpdatedAt: Timestamp!) {
  updateWebhookEndpoint(
    endpointId: $endpointId
    url: $url
    types: $types
    builderIds: $builderIds
    status: $status
    expectedUpdatedAt: $expectedUpdatedAt
  ) {
    ...EndpointPart
  }
}
fragment EndpointPart on WebhookEndpoint {
  id
  url
  types
  builderIds
  status
  disabledReason
  failures
  failingSince
  suspendedUntil
  replayRemaining
  updatedAt
  integrator {
    name
  }
  client {
    name
  }
}` as unknown as TypedDocumentNode<UpdateWebhookEndpointMutation, UpdateWebhookEndpointMutationVariables>;
export const DeleteWebhookEndpointDocument = `mutation DeleteWebhookEndpoint($endpointId: WebhookEndpointId!, $expectedUpdatedAt: Timestamp!) {
  deleteWebhookEndpoint(
    endpointId: $endpointId
    expectedUpdatedAt: $expectedUpdatedAt
  ) {
    id
  }
}` as unknown as TypedDocumentNode<DeleteWebhookEndpointMutation, DeleteWebhookEndpointMutationVariables>;
export const RotateWebhookSecretDocument = `mutation RotateWebhookSecret($endpointId: WebhookEndpointId!, $expectedUpdatedAt: Timestamp!) {
  rotateWebhookSecret(
    endpointId: $endpointId
    expectedUpdatedAt: $expectedUpdatedAt
  ) {
    updatedAt
    secret
  }
}` as unknown as TypedDocumentNode<RotateWebhookSecretMutation, RotateWebhookSecretMutationVariables>;
export const TestWebhookEndpointDocument = `mutation TestWebhookEndpoint($endpointId: WebhookEndpointId!) {
  testWebhookEndpoint(endpointId: $endpointId) {
    responseStatus
    error
  }
}` as unknown as TypedDocumentNode<TestWebhookEndpointMutation, TestWebhookEndpointMutationVariables>;
export const ReplayWebhookEndpointDocument = `mutation ReplayWebhookEndpoint($endpointId: WebhookEndpointId!, $since: Timestamp!) {
  replayWebhookEndpoint(endpointId: $endpointId, from: {since: $since}) {
    startedAt
  }
}` as unknown as TypedDocumentNode<ReplayWebhookEndpointMutation, ReplayWebhookEndpointMutationVariables>;
export const PeopleDocument = `query People($search: String, $order: ListOrder, $builderId: BuilderId, $staff: Boolean, $disabled: Boolean, $after: String) {
  people(
    search: $search
    order: $order
    builderId: $builderId
    staff: $staff
    disabled: $disabled
    after: $after
  ) {
    data {
      ...PersonPart
    }
    meta {
      nextCursor
    }
  }
}
fragment PersonPart on User {
  id
  name
  email
  staffRole
  hasPassword
  disabledAt
  createdAt
  updatedAt
  memberships {
    builderId
    role
    builder {
      name
    }
  }
}` as unknown as TypedDocumentNode<PeopleQuery, PeopleQueryVariables>;
export const OnePersonDocument = `query OnePerson($user: String!) {
  person(user: $user) {
    ...PersonPart
  }
}
fragment PersonPart on User {
  id
  name
  email
  staffRole
  hasPassword
  disabledAt
  createdAt
  updatedAt
  memberships {
    builderId
    role
    builder {
      name
    }
  }
}` as unknown as TypedDocumentNode<OnePersonQuery, OnePersonQueryVariables>;
export const AuditDocument = `query Audit($reads: Boolean, $action: String, $objectId: String, $actorId: String, $actorType: AuditActorType, $builderId: BuilderId, $since: Timestamp, $until: Timestamp, $after: String) {
  audit(
    reads: $reads
    action: $action
    objectId: $objectId
    actorId: $actorId
    actorType: $actorType
    builderId: $builderId
    since: $since
    until: $until
    after: $after
  ) {
    data {
      id
      at
      actorType
      actorId
      description
      objectId
      builderId
      integratorId
      names
      records
      origin
      before
      after
    }
    meta {
      nextCursor
    }
  }
  auditActions {
    action
    description
  }
}` as unknown as TypedDocumentNode<AuditQuery, AuditQueryVariables>;
export const CreateUserDocument = `mutation CreateUser($email: String!, $name: String!, $builderId: BuilderId, $role: String, $staffRole: StaffRole) {
  createUser(
    email: $email
    name: $name
    builderId: $builderId
    role: $role
    staffRole: $staffRole
  ) {
    url
    emailed
    expiresAt
  }
}` as unknown as TypedDocumentNode<CreateUserMutation, CreateUserMutationVariables>;
export const InviteUserDocument = `mutation InviteUser($id: ID!) {
  inviteUser(id: $id) {
    url
    emailed
    expiresAt
  }
}` as unknown as TypedDocumentNode<InviteUserMutation, InviteUserMutationVariables>;
export const ResetPasswordDocument = `mutation ResetPassword($id: ID!) {
  resetPassword(id: $id) {
    url
    emailed
    expiresAt
  }
}` as unknown as TypedDocumentNode<ResetPasswordMutation, ResetPasswordMutationVariables>;
export const DisableUserDocument = `mutation DisableUser($id: ID!, $expectedUpdatedAt: Timestamp!) {
  disableUser(id: $id, expectedUpdatedAt: $expectedUpdatedAt) {
    ...PersonPart
  }
}
fragment PersonPart on User {
  id
  name
  email
  staffRole
  hasPassword
  disabledAt
  createdAt
  updatedAt
  memberships {
    builderId
    role
    builder {
      name
    }
  }
}` as unknown as TypedDocumentNode<DisableUserMutation, DisableUserMutationVariables>;
export const EnableUserDocument = `mutation EnableUser($id: ID!, $expectedUpdatedAt: Timestamp!) {
  enableUser(id: $id, expectedUpdatedAt: $expectedUpdatedAt) {
    ...PersonPart
  }
}
fragment PersonPart on User {
  id
  name
  email
  staffRole
  hasPassword
  disabledAt
  createdAt
  updatedAt
  memberships {
    builderId
    role
    builder {
      name
    }
  }
}` as unknown as TypedDocumentNode<EnableUserMutation, EnableUserMutationVariables>;
export const UpdateUserDocument = `mutation UpdateUser($id: ID!, $name: String, $email: String, $staffRole: StaffRole, $expectedUpdatedAt: Timestamp!) {
  updateUser(
    id: $id
    name: $name
    email: $email
    staffRole: $staffRole
    expectedUpdatedAt: $expectedUpdatedAt
  ) {
    ...PersonPart
  }
}
fragment PersonPart on User {
  id
  name
  email
  staffRole
  hasPassword
  disabledAt
  createdAt
  updatedAt
  memberships {
    builderId
    role
    builder {
      name
    }
  }
}` as unknown as TypedDocumentNode<UpdateUserMutation, UpdateUserMutationVariables>;
export const AddMembershipDocument = `mutation AddMembership($userId: ID!, $builderId: BuilderId!, $role: String!) {
  addMembership(userId: $userId, builderId: $builderId, role: $role) {
    ...PersonPart
  }
}
fragment PersonPart on User {
  id
  name
  email
  staffRole
  hasPassword
  disabledAt
  createdAt
  updatedAt
  memberships {
    builderId
    role
    builder {
      name
    }
  }
}` as unknown as TypedDocumentNode<AddMembershipMutation, AddMembershipMutationVariables>;
export const UpdateMembershipDocument = `mutation UpdateMembership($userId: ID!, $builderId: BuilderId!, $role: String!) {
  updateMembership(userId: $userId, builderId: $builderId, role: $role) {
    ...PersonPart
  }
}
fragment PersonPart on User {
  id
  name
  email
  staffRole
  hasPassword
  disabledAt
  createdAt
  updatedAt
  memberships {
    builderId
    role
    builder {
      name
    }
  }
}` as unknown as TypedDocumentNode<UpdateMembershipMutation, UpdateMembershipMutationVariables>;
export const RemoveMembershipDocument = `mutation RemoveMembership($userId: ID!, $builderId: BuilderId!) {
  removeMembership(userId: $userId, builderId: $builderId) {
    ...PersonPart
  }
}
fragment PersonPart on User {
  id
  name
  email
  staffRole
  hasPassword
  disabledAt
  createdAt
  updatedAt
  memberships {
    builderId
    role
    builder {
      name
    }
  }
}` as unknown as TypedDocumentNode<RemoveMembershipMutation, RemoveMembershipMutationVariables>;
export const PhotoFoldersDocument = `query PhotoFolders($builderId: BuilderId!, $projectId: ProjectId!) {
  first: photoFolders(builderId: $builderId, projectId: $projectId) {
    meta {
      totalCount
    }
    data {
      ...FolderPart
    }
  }
  second: photoFolders(builderId: $builderId, projectId: $projectId, offset: 25) {
    data {
      ...FolderPart
    }
  }
  third: photoFolders(builderId: $builderId, projectId: $projectId, offset: 50) {
    data {
      ...FolderPart
    }
  }
  fourth: photoFolders(builderId: $builderId, projectId: $projectId, offset: 75) {
    data {
      ...FolderPart
    }
  }
}
fragment FolderPart on PhotoFolder {
  id
  name
  parentId
  photos(limit: 1) {
    meta {
      totalCount
    }
  }
}` as unknown as TypedDocumentNode<PhotoFoldersQuery, PhotoFoldersQueryVariables>;
export const PhotosDocument = `query Photos($builderId: BuilderId!, $projectId: ProjectId!, $folderId: FolderId, $source: [PhotoSource!], $offset: PageOffset, $texts: Boolean!) {
  photos(
    builderId: $builderId
    projectId: $projectId
    folderId: $folderId
    source: $source
    offset: $offset
    limit: 24
  ) {
    meta {
      totalCount
      offset
      limit
    }
    data {
      id
      fileName
      description @include(if: $texts)
      photoTakenDate
      sortDate
      imageUrl
      ...Sources
      folder {
        name
      }
    }
  }
}
fragment Sources on Photo {
  small: rendition(size: SMALL) {
    ...Source
  }
  medium: rendition(size: MEDIUM) {
    ...Source
  }
  large: rendition(size: LARGE) {
    ...Source
  }
}
fragment Source on Rendition {
  url
  width
  height
}` as unknown as TypedDocumentNode<PhotosQuery, PhotosQueryVariables>;
export const ReportsDocument = `query Reports($builderId: BuilderId!, $projectId: ProjectId, $archived: Boolean, $search: String, $sort: PhotoReportSort, $order: ListOrder, $offset: PageOffset) {
  findPhotoReports(
    builderId: $builderId
    projectId: $projectId
    archived: $archived
    search: $search
    sort: $sort
    order: $order
    offset: $offset
  ) {
    meta {
      totalCount
      offset
      limit
    }
    data {
      id
      title
      status
      sourceApp
      walkthroughDate
      createdAt
      sourceAuthor {
        name
      }
      project {
        name
      }
    }
  }
}` as unknown as TypedDocumentNode<ReportsQuery, ReportsQueryVariables>;
export const ReportDocument = `query Report($builderId: BuilderId!, $photoReportId: PhotoReportId!) {
  photoReport(builderId: $builderId, photoReportId: $photoReportId) {
    title
    status
    sourceApp
    sourceExternalId
    sourceRevision
    walkthroughDate
    archivedAt
    sourceAuthor {
      name
    }
    project {
      name
    }
    page {
      ...ReportBlocks
      blocks {
        ... on ReportChildPage {
          childPage {
            ...ReportBlocks
            blocks {
              ... on ReportChildPage {
                childPage {
                  ...ReportBlocks
                }
              }
            }
          }
        }
      }
    }
  }
}
fragment ReportBlocks on ReportPage {
  title
  shortDescription
  blocks {
    ... on ReportText {
      __typename
      sourceBlockId
      richText {
        text
        marks
      }
    }
    ... on ReportHeading {
      __typename
      sourceBlockId
      richText {
        text
        marks
      }
    }
    ... on ReportList {
      __typename
      type
      sourceBlockId
      items {
        id
        depth
        checked
        richText {
          text
          marks
        }
      }
    }
    ... on ReportImage {
      __typename
      sourceBlockId
      imageFailure {
        message
      }
      photo {
        id
        imageUrl
        ...Sources
        description
        fileName
      }
    }
    ... on ReportChildPage {
      __typename
      sourceBlockId
    }
  }
}
fragment Sources on Photo {
  small: rendition(size: SMALL) {
    ...Source
  }
  medium: rendition(size: MEDIUM) {
    ...Source
  }
  large: rendition(size: LARGE) {
    ...Source
  }
}
fragment Source on Rendition {
  url
  width
  height
}` as unknown as TypedDocumentNode<ReportQuery, ReportQueryVariables>;
export const PhotoSourcesDocument = `query PhotoSources($builderId: BuilderId!, $photoId: AttachmentId!) {
  photo(builderId: $builderId, photoId: $photoId) {
    id
    ...Sources
  }
}
fragment Sources on Photo {
  small: rendition(size: SMALL) {
    ...Source
  }
  medium: rendition(size: MEDIUM) {
    ...Source
  }
  large: rendition(size: LARGE) {
    ...Source
  }
}
fragment Source on Rendition {
  url
  width
  height
}` as unknown as TypedDocumentNode<PhotoSourcesQuery, PhotoSourcesQueryVariables>;
export const TimesheetsDocument = `query Timesheets($builderId: BuilderId!, $projectId: ProjectId, $costCodeId: CostCodeId, $status: TimesheetStatus, $firstDay: CalendarDate, $lastDay: CalendarDate, $timeZone: TimeZone!, $search: String, $sort: TimesheetSort, $order: ListOrder, $offset: PageOffset, $cursor: ListCursor) {
  findTimesheets(
    builderId: $builderId
    projectId: $projectId
    costCodeId: $costCodeId
    status: $status
    firstDay: $firstDay
    lastDay: $lastDay
    timeZone: $timeZone
    search: $search
    sort: $sort
    order: $order
    offset: $offset
    cursor: $cursor
  ) {
    meta {
      totalCount
      offset
      limit
      nextCursor
    }
    data {
      id
      date
      hours
      status
      timeType
      costCode
      notes
      profile {
        fullName
        type
      }
      project {
        name
      }
    }
  }
}` as unknown as TypedDocumentNode<TimesheetsQuery, TimesheetsQueryVariables>;
export const CostCodesDocument = `query CostCodes($builderId: BuilderId!) {
  costCodes(builderId: $builderId) {
    data {
      id
      code
      description
    }
  }
}` as unknown as TypedDocumentNode<CostCodesQuery, CostCodesQueryVariables>;
export const InductionsDocument = `query Inductions($builderId: BuilderId!, $projectId: ProjectId, $status: InductionStatus, $search: String, $sort: InductionSort, $order: ListOrder, $offset: PageOffset, $cursor: ListCursor) {
  findInductions(
    builderId: $builderId
    projectId: $projectId
    status: $status
    search: $search
    sort: $sort
    order: $order
    offset: $offset
    cursor: $cursor
  ) {
    meta {
      totalCount
      offset
      limit
      nextCursor
    }
    data {
      id
      identifier
      type
      status
      createdAt
      updatedAt
      project {
        name
      }
      worker {
        id
        fullName
      }
      subcontractor {
        name
      }
    }
  }
}` as unknown as TypedDocumentNode<InductionsQuery, InductionsQueryVariables>;
export const InsurancesDocument = `query Insurances($builderId: BuilderId!, $type: InsuranceType, $status: InsuranceStatus, $firstDay: CalendarDate, $lastDay: CalendarDate, $timeZone: TimeZone!, $search: String, $sort: InsuranceSort, $order: ListOrder, $offset: PageOffset, $cursor: ListCursor) {
  findInsurances(
    builderId: $builderId
    type: $type
    status: $status
    firstDay: $firstDay
    lastDay: $lastDay
    timeZone: $timeZone
    search: $search
    sort: $sort
    order: $order
    offset: $offset
    cursor: $cursor
  ) {
    meta {
      totalCount
      offset
      limit
      nextCursor
    }
    data {
      id
      name
      type
      customType
      status
      expiry
      subcontractor {
        id
        name
      }
    }
  }
}` as unknown as TypedDocumentNode<InsurancesQuery, InsurancesQueryVariables>;
export const InsuranceFileDocument = `query InsuranceFile($subcontractorId: SubcontractorId!, $insuranceId: InsuranceId!) {
  insurance(id: $subcontractorId, insuranceId: $insuranceId) {
    url
  }
}` as unknown as TypedDocumentNode<InsuranceFileQuery, InsuranceFileQueryVariables>;
export const WorkersDocument = `query Workers($builderId: BuilderId!, $search: String, $sort: WorkerSort, $order: ListOrder, $offset: PageOffset) {
  findWorkers(
    builderId: $builderId
    search: $search
    sort: $sort
    order: $order
    offset: $offset
  ) {
    meta {
      totalCount
      offset
      limit
    }
    data {
      id
      fullName
      createdAt
      subcontractor {
        name
      }
      inductions {
        meta {
          totalCount
        }
        data {
          project {
            name
          }
        }
      }
      visits(limit: 1, order: desc) {
        meta {
          totalCount
        }
        data {
          signedOnAt
        }
      }
    }
  }
}` as unknown as TypedDocumentNode<WorkersQuery, WorkersQueryVariables>;
export const OneWorkerDocument = `query OneWorker($builderId: BuilderId!, $id: WorkerId!) {
  findWorkers(builderId: $builderId, id: $id) {
    data {
      id
      fullName
      createdAt
      subcontractor {
        name
      }
      siteAccess {
        data {
          revokedAt
          project {
            name
          }
        }
      }
      inductions(order: desc) {
        meta {
          totalCount
        }
        data {
          status
          createdAt
          project {
            name
          }
        }
      }
      visits(limit: 10, order: desc) {
        meta {
          totalCount
        }
        data {
          signedOnAt
          signedOffAt
          closedAt
          project {
            name
          }
        }
      }
    }
  }
}` as unknown as TypedDocumentNode<OneWorkerQuery, OneWorkerQueryVariables>;
