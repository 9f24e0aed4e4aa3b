import { MapperKind, mapSchema } from '@graphql-tools/utils';
import {
  type GraphQLField,
  type GraphQLFieldConfig,
  type GraphQLObjectType,
  type GraphQLSchema,
  GraphQLUnionType,
  getNamedType,
  isLeafType,
} from 'graphql';
import { buildSchemaSync, getMetadataStorage, type NonEmptyArray } from 'type-graphql';
import { Builder } from '../entities/builder.entity.ts';
import { requireBuilder } from '../resolvers/access.ts';
import { AttachmentResolver } from '../resolvers/attachment/attachment.resolver.ts';
import { SignOnEventResolver } from '../resolvers/attendance/attendance.resolver.ts';
import {
  BuilderAttendanceResolver,
  ProjectAttendanceResolver,
  SignOnEventVisitResolver,
  SignOnVisitResolver,
  WorkerVisitsResolver,
} from '../resolvers/attendance/attendance-edges.resolver.ts';
import { BuilderResolver } from '../resolvers/builder/builder.resolver.ts';
import type { Context } from '../resolvers/context.ts';
import {
  BuilderDefectsResolver,
  DefectCompanyResolver,
  DefectResolver,
  ProjectDefectsResolver,
} from '../resolvers/defect/defect.resolver.ts';
import { InductionResolver } from '../resolvers/induction/induction.resolver.ts';
import {
  ProjectInductionsResolver,
  SubcontractorInductionsResolver,
  WorkerInductionsResolver,
} from '../resolvers/induction/induction-edges.resolver.ts';
import {
  BuilderMeetingsResolver,
  MeetingNoteResolver,
  MeetingResolver,
  ProjectMeetingsResolver,
} from '../resolvers/meeting/meeting.resolver.ts';
import { MeetingWritesResolver } from '../resolvers/meeting/meeting-writes.resolver.ts';
import { PhotoFolderResolver, ProjectFoldersResolver } from '../resolvers/photo/folder.resolver.ts';
import { GalleryResolver } from '../resolvers/photo/gallery.resolver.ts';
import { PhotoResolver } from '../resolvers/photo/photo.resolver.ts';
import {
  BuilderPhotosResolver,
  DefectPhotosResolver,
  FolderPhotosResolver,
  ProjectPhotosResolver,
} from '../resolvers/photo/photo-edges.resolver.ts';
import { PhotoReportSyncResolver } from '../resolvers/photo-report/photo-report.resolver.ts';
import {
  BuilderPhotoReportsResolver,
  PhotoReportResolver,
  ProjectPhotoReportsResolver,
  ReportImageResolver,
  ReportPageResolver,
} from '../resolvers/photo-report/photo-report-reads.resolver.ts';
import {
  BuilderProjectsResolver,
  ProjectResolver,
  ProjectSummaryResolver,
} from '../resolvers/project/project.resolver.ts';
import { ContactResolver, SubcontractorContactsResolver } from '../resolvers/subcontractor/contact.resolver.ts';
import { InsuranceResolver, SubcontractorInsurancesResolver } from '../resolvers/subcontractor/insurance.resolver.ts';
import {
  PrequalificationResolver,
  SubcontractorPrequalificationsResolver,
} from '../resolvers/subcontractor/prequalification.resolver.ts';
import { SubcontractorResolver } from '../resolvers/subcontractor/subcontractor.resolver.ts';
import {
  BuilderSubcontractorsResolver,
  ProjectSubcontractorsResolver,
  SubcontractorSummaryResolver,
} from '../resolvers/subcontractor/subcontractor-edges.resolver.ts';
import { SubcontractorSwmsResolver, SwmsResolver } from '../resolvers/subcontractor/swms.resolver.ts';
import {
  SubcontractorWorkersResolver,
  WorkerResolver,
  WorkerSummaryResolver,
} from '../resolvers/subcontractor/worker.resolver.ts';
import { ProjectTimesheetsResolver, TimesheetResolver } from '../resolvers/timesheet/timesheet.resolver.ts';
import { ViewerResolver } from '../resolvers/viewer/viewer.resolver.ts';
import type { Budget } from '../src/context.ts';
import { ValidationError } from '../src/errors.ts';
import { type Begin, type FieldEdge, handlersOf } from './handlers.ts';
import { argumentErrors, boundsOf, isNotNull } from './input-rules.ts';
import type { MemberName } from './plan.ts';
import { jsonSize } from './response-meter.ts';
import type { RestRoute } from './rest.ts';
import type { Scope } from './scopes.ts';
import { recordType } from './selection.ts';

/** Every resolver of the service. */
const resolvers: NonEmptyArray<new () => object> = [
  BuilderResolver,
  ProjectResolver,
  BuilderProjectsResolver,
  ProjectSummaryResolver,
  TimesheetResolver,
  ProjectTimesheetsResolver,
  SubcontractorResolver,
  BuilderSubcontractorsResolver,
  ProjectSubcontractorsResolver,
  SubcontractorSummaryResolver,
  SwmsResolver,
  SubcontractorSwmsResolver,
  PrequalificationResolver,
  SubcontractorPrequalificationsResolver,
  InsuranceResolver,
  SubcontractorInsurancesResolver,
  ContactResolver,
  SubcontractorContactsResolver,
  WorkerResolver,
  SubcontractorWorkersResolver,
  WorkerSummaryResolver,
  InductionResolver,
  ProjectInductionsResolver,
  SubcontractorInductionsResolver,
  WorkerInductionsResolver,
  DefectResolver,
  DefectCompanyResolver,
  BuilderDefectsResolver,
  ProjectDefectsResolver,
  MeetingResolver,
  MeetingWritesResolver,
  MeetingNoteResolver,
  BuilderMeetingsResolver,
  ProjectMeetingsResolver,
  SignOnEventResolver,
  SignOnVisitResolver,
  SignOnEventVisitResolver,
  ProjectAttendanceResolver,
  BuilderAttendanceResolver,
  WorkerVisitsResolver,
  AttachmentResolver,
  PhotoResolver,
  BuilderPhotosResolver,
  ProjectPhotosResolver,
  FolderPhotosResolver,
  DefectPhotosResolver,
  PhotoFolderResolver,
  ProjectFoldersResolver,
  GalleryResolver,
  PhotoReportSyncResolver,
  PhotoReportResolver,
  ReportPageResolver,
  ReportImageResolver,
  BuilderPhotoReportsResolver,
  ProjectPhotoReportsResolver,
  ViewerResolver,
];

/** One REST operation of the contract. */
export interface Operation extends RestRoute {
  kind: 'Query' | 'Mutation';
  /** Root field that answers it. */
  field: string;
  /** Its name in the OpenAPI document: a verb first. Mutations have one, queries get `list` or `get`. */
  operationId: string;
}

/** The whole service as one executable schema, every check included. */
export function buildServiceSchema(): GraphQLSchema {
  const schema = buildSchemaSync({ resolvers, validate: false });
  const handlers = handlersOf(schema);
  const beginOf = ({ resolve }: Field, name: string, parent: string): Begin | null =>
    handlers.get(`${parent}.${name}`) ?? (resolve ? beginning(resolve) : null);
  return mapSchema(schema, {
    [MapperKind.ROOT_FIELD]: (field, name, parent) => {
      const resolve = guardOperation(field, name, resolving(beginOf(field, name, parent)!));
      return { ...field, resolve, extensions: { ...field.extensions, edge: { begin: beginning(resolve) } } };
    },
    [MapperKind.OBJECT_FIELD]: (field, name, parent) =>
      guardEdge(field, name, beginOf(field, name, parent), schema.getType(parent) as GraphQLObjectType),
    [MapperKind.UNION_TYPE]: withMemberName,
  });
}

/** type-graphql tells the member of a union asynchronously, although ours are known at once. */
function withMemberName(type: GraphQLUnionType): GraphQLUnionType {
  const { resolveType } = getMetadataStorage().unions.find(({ name }) => name === type.name)!;
  const memberName = resolveType as unknown as MemberName;
  return new GraphQLUnionType({ ...type.toConfig(), resolveType: memberName, extensions: { memberName } });
}

const beginning =
  (resolve: Resolve): Begin =>
  (args, context, info) =>
  (source) =>
    resolve(source, args, context, info as never);

const resolving =
  (begin: Begin): Resolve =>
  (source, args, context, info) =>
    begin(args, context, info as object)(source);

/** The REST operations, in the order of the schema. */
export function routeTable(schema: GraphQLSchema): Operation[] {
  const roots = [
    ['Query', schema.getQueryType()],
    ['Mutation', schema.getMutationType()],
  ] as const;
  return roots.flatMap(([kind, type]) =>
    Object.values(type?.getFields() ?? {}).flatMap((field) =>
      field.extensions.rest
        ? [
            {
              kind,
              field: field.name,
              operationId: operationIdOf(kind, field),
              ...(field.extensions.rest as RestRoute),
            },
          ]
        : [],
    ),
  );
}

/** `listBuilders`, `getMe`, `createPhoto`. */
function operationIdOf(kind: Operation['kind'], { name, type }: GraphQLField<unknown, unknown>): string {
  if (kind === 'Mutation') return name;
  const verb = getNamedType(type).extensions.envelope ? 'list' : 'get';
  return `${verb}${name[0]!.toUpperCase()}${name.slice(1)}`;
}

/** What a query or mutation takes from the records that a request may ask for, so that one of many aliases stays small. */
const OPERATION_RECORDS = 500;

type Field = GraphQLFieldConfig<unknown, Context>;
type Resolve = NonNullable<Field['resolve']>;

/** Scope and builder access of a query or mutation, before its resolver runs. */
function guardOperation({ args, extensions }: Field, name: string, call: Resolve): Resolve {
  if (!('scope' in (extensions ?? {}))) throw new Error(`${name} declares neither a scope nor that it needs none.`);
  const scope = extensions!.scope as Scope | null;
  const budget = (extensions!.rest as RestRoute | undefined)?.budget;
  const checked = hasRules(args) ? checking(args!, call) : call;
  const resolve = budget ? spending(budget, checked) : checked;
  if (!args?.builderId) {
    return (source, args, context, info) => {
      context.caller.requireScope(scope);
      context.loaders.take(OPERATION_RECORDS);
      return resolve(source, args, context, info);
    };
  }
  return async (source, args, context, info) => {
    context.caller.requireScope(scope);
    context.loaders.take(OPERATION_RECORDS);
    await requireBuilder(context, args.builderId as string, scope);
    return resolve(source, args, context, info);
  };
}

const hasRules = (args: Field['args']) =>
  Object.values(args ?? {}).some((argument) => isNotNull(argument as never) || boundsOf(argument as never));

/** Throws 400 for arguments that break a rule which their types cannot express. */
const checking =
  (declared: NonNullable<Field['args']>, resolve: Resolve): Resolve =>
  (source, args, context, info) => {
    const errors = argumentErrors(declared, args);
    if (errors.length > 0) throw new ValidationError(errors);
    return resolve(source, args, context, info);
  };

/** Takes from the operation's own budget, unless that was done when the request came in. Part 12 of the decisions. */
const spending =
  (budget: Budget, resolve: Resolve): Resolve =>
  async (source, args, context, info) => {
    if (context.spent) context.spent = false;
    else await context.spend(budget);
    return resolve(source, args, context, info);
  };

/**
 * A field that leads to records needs the scope of what it leads to, in the token and in the connection of the builder
 * that each record belongs to. Part 4 of the decisions.
 */
function guardEdge(field: Field, name: string, method: Begin | null, parent: GraphQLObjectType): Field {
  const scope = recordType(field.type).extensions.scope as Scope | undefined;
  const isGuarded = scope !== undefined && !parent.extensions.envelope;
  if (!method && !isGuarded) return field;
  const begin = method ?? (() => (source) => (source as Record<string, unknown>)[name]);
  const edge: FieldEdge = isGuarded ? { begin, ...guardOf(field, scope) } : { begin };
  const { enter, leave } = edge;
  const isLeaf = isLeafType(getNamedType(field.type));
  return {
    ...field,
    // It rejects and never throws: graphql-js would leave the promises of the list's other items without anyone to hear of them.
    async resolve(source, args, context, info) {
      enter?.(source, context);
      const result = await begin(args, context, info as object)(source);
      leave?.(result, context);
      if (isLeaf) context.meter.bytes += jsonSize(result);
      return result;
    },
    extensions: { ...field.extensions, resolved: method !== null, edge },
  };
}

function guardOf(field: Field, scope: Scope): Pick<FieldEdge, 'enter' | 'leave'> {
  const inEnvelope = Boolean(getNamedType(field.type).extensions.envelope);
  return {
    enter(source, { caller }) {
      caller.requireScope(scope);
      // A page without records still tells a count. What does not know its builder leads to what does.
      const owner = builderOf(source as object);
      if (owner !== undefined) caller.requireConnectionScope(owner, scope);
    },
    leave(result, { caller }) {
      requireRecords(caller, inEnvelope ? (result as { data: object[] } | null)?.data : result, scope);
    },
  };
}

/** Throws unless the connection of each record's builder allows the scope. */
function requireRecords(caller: Context['caller'], records: unknown, scope: Scope): void {
  if (Array.isArray(records)) {
    let last: string | null = null;
    for (const record of records) {
      const owner = builderOf(record)!;
      if (owner !== last) caller.requireConnectionScope(owner, scope);
      last = owner;
    }
  } else if (records) caller.requireConnectionScope(builderOf(records)!, scope);
}

function builderOf(record: object): string | undefined {
  return record instanceof Builder ? record.id : (record as { builderId?: string }).builderId;
}
