import {
  type GraphQLField,
  type GraphQLInputType,
  type GraphQLSchema,
  getNamedType,
  isEnumType,
  isInputObjectType,
  isLeafType,
  isListType,
  isNonNullType,
} from 'graphql';
import type { StaffRole } from '../../entities/user.entity.ts';

/** Returns the queries and mutations of the console. */
export const consoleOperations = (schema: GraphQLSchema) =>
  (['Query', 'Mutation'] as const).flatMap((kind) =>
    Object.values((kind === 'Query' ? schema.getQueryType() : schema.getMutationType())!.getFields()).map((field) => ({
      kind,
      field,
    })),
  );

/** Operations by their lowest role. The list repeats the source, so that a test detects a change of permissions. */
const VIEWER = [
  ...['me', 'signOut', 'integrators', 'integrator', 'clients', 'client', 'connections', 'connection', 'scopes'],
  ...['changes', 'usageByDay', 'requestLog', 'webhookEndpoints', 'webhookEndpoint', 'eventTypes'],
  // Figures.
  ...[
    'hoursByWeek',
    'hoursByProject',
    'hoursByCostCode',
    'attendanceByDay',
    'signOnsByHour',
    'visitsOfDay',
    'workersOnSite',
    'projectsInProgress',
    'inductionsByStatus',
    'insurancesByMonth',
    'usualEnd',
    'attendanceAwaitingAction',
    'itemsAwaitingAction',
  ],
  'findBuilders',
  'find',
  'findTimesheets',
  'findInductions',
  'findInsurances',
  'findPhotoReports',
  'findWorkers',
];
const OPERATOR = [
  // Contacts are people.
  'subcontractorContacts',
  ...['people', 'person', 'audit', 'auditActions', 'conflicts', 'conflict', 'createIntegrator', 'updateIntegrator'],
  ...['createClient', 'updateClient', 'rotateClientSecret', 'disableClient', 'enableClient', 'createConnection'],
  ...['updateConnection', 'revokeConnection', 'createUser', 'inviteUser', 'resetPassword', 'updateUser', 'disableUser'],
  ...[
    'enableUser',
    'addMembership',
    'updateMembership',
    'removeMembership',
    'closeVisit',
    'archiveVisit',
    'resolveConflict',
    'dismissSignOff',
    'createVisit',
  ],
  ...['createWebhookEndpoint', 'updateWebhookEndpoint', 'deleteWebhookEndpoint', 'rotateWebhookSecret'],
  ...['testWebhookEndpoint', 'replayWebhookEndpoint'],
];

/**
 * Returns the lowest role that may call each operation of the console. Viewers may call the queries that integrators have, except those of
 * OPERATOR.
 */
export function createRoleTable(schema: GraphQLSchema, integratorSchema: GraphQLSchema): Record<string, StaffRole> {
  const own = schema.getQueryType()!.getFields();
  const records = Object.keys(integratorSchema.getQueryType()!.getFields()).filter((name) => name in own);
  return Object.fromEntries([
    ...[...records, ...VIEWER].map((name) => [name, 'VIEWER'] as const),
    ...OPERATOR.map((name) => [name, 'OPERATOR'] as const),
  ]);
}

const SAMPLES: Record<string, unknown> = {
  ...{ Int: 1, Float: 1, Boolean: true, Timestamp: '2026-06-01T00:00:00.000Z', CalendarDate: '2026-06-01' },
  ...{
    WebhookUrl: 'https://example.com/hook',
    RangeStart: '2026-06-01',
    RangeEnd: '2026-06-30',
    InductionKey: 'ind_none',
  },
};

/** Returns any value of a type. */
function sampleOf(type: GraphQLInputType): unknown {
  if (isNonNullType(type)) return sampleOf(type.ofType);
  if (isListType(type)) return [sampleOf(type.ofType)];
  if (isEnumType(type)) return type.getValues()[0]!.name;
  if (isInputObjectType(type)) {
    return Object.fromEntries(Object.values(type.getFields()).map((field) => [field.name, sampleOf(field.type)]));
  }
  const pattern = (type.extensions.jsonSchema as { pattern?: string } | undefined)?.pattern;
  const prefix = pattern && /^\^([a-z]+)_\[/.exec(pattern)?.[1];
  return prefix ? `${prefix}_none` : (SAMPLES[type.name] ?? 'none');
}

/** Returns an operation that calls a field with any values of its required arguments. */
export function callOf(kind: string, { name, args, type }: GraphQLField<unknown, unknown>) {
  const required = args.filter((argument) => isNonNullType(argument.type) && argument.defaultValue === undefined);
  const declared = required.map((argument) => `$${argument.name}: ${argument.type}`).join(', ');
  const given = required.map((argument) => `${argument.name}: $${argument.name}`).join(', ');
  const selection = isLeafType(getNamedType(type)) ? '' : '{ __typename }';
  const query = `${kind.toLowerCase()}${declared && `(${declared})`} { ${name}${given && `(${given})`} ${selection} }`;
  return { query, variables: Object.fromEntries(required.map((argument) => [argument.name, sampleOf(argument.type)])) };
}
