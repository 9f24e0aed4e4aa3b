import { Field, Int, ObjectType } from 'type-graphql';
import {
  ConflictResolution,
  InductionStatus,
  SignOnConflictCode,
  SignOnEventStatus,
  SignOnType,
  SiteAccessStatus,
} from '../schema/enums.ts';
import { ID_PREFIXES } from '../schema/ids.ts';
import { RosterEntryId, SignOnEventId, SignOnVisitId, Timestamp, WorkerId } from '../schema/scalars.ts';
import { toSnakeCase } from './columns.ts';
import { SubcontractorSummary } from './summaries.type.ts';

/*
 * Items of the lists that gates read (ATT-35 to ATT-40). PostgreSQL makes them as JSON, so that each property has its SQL beside its type.
 * SQL is over the row `t` of the list's table and the list's joins.
 */

/** @param sql Default: the column that is named like the property. */
const property = (type: object, description?: string, sql?: string) => ({ type, description, sql, nullable: false });
const nullable = (...values: Parameters<typeof property>) => ({ ...property(...values), nullable: true });

/** Declares a type of the schema. Returns it with the SQL of its values, whose instants are as the API writes them. */
function declareItem(name: string, description: string, properties: Record<string, ReturnType<typeof property>>) {
  const Item = { [name]: class {} }[name]!;
  ObjectType({ description, simpleResolvers: true })(Item);
  const members = Object.entries(properties).map(([key, { type, sql = `t.${toSnakeCase(key)}`, ...options }]) => {
    Field(() => type, options)(Item.prototype, key);
    return `'${key}', ${type === Timestamp ? `to_char(${sql}, 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')` : sql}`;
  });
  return { type: Item, properties, sql: `json_build_object(${members.join(', ')})` };
}

const CHANGE_TIME = property(
  Timestamp,
  'Time of the last change in the order of the list: shortly after its commit.',
  't.listed_at',
);

/** A list of a table with `ListsChanges`. */
export interface ChangeList {
  /** Of the list's statements, and of what its cursors are bound to. */
  name: string;
  from: string;
  /** Column that identifies a row. Default: `t.id`. */
  id?: string;
  /** Conditions of filters, with `?` for the value. Default: the column that is named like the filter has the value. */
  filters?: Record<string, string>;
  item: ReturnType<typeof declareItem>;
}

/** The roster of a project: whoever ever had access is in it. It informs and decides nothing (ATT-35). */
export const ROSTER: ChangeList = {
  name: 'gate.roster',
  from: `site_access t join worker on worker.id = t.worker_id
    left join subcontractor on subcontractor.id = worker.subcontractor_id and subcontractor.archived_at is null`,
  id: 't.worker_id',
  item: declareItem(
    'RosterEntry',
    'A worker who has or had access to the site of a project. It informs; it does not decide who may enter.',
    {
      id: property(
        RosterEntryId,
        'Identifies the entry in the roster of its project.',
        `'${ID_PREFIXES.rosterEntry}_' || substr(t.worker_id, ${ID_PREFIXES.worker.length + 2})`,
      ),
      workerId: property(WorkerId, 'The worker, as sign-on events name them.'),
      fullName: property(String, 'First and last name of the worker.', 'worker.full_name'),
      subcontractor: nullable(
        SubcontractorSummary,
        'The company that the worker works for; null once it is archived.',
        `case when subcontractor.id is not null
          then json_build_object('id', subcontractor.id, 'name', subcontractor.name, 'builderId', t.builder_id) end`,
      ),
      status: property(SiteAccessStatus, undefined, `case when t.revoked_at is null then 'ACTIVE' else 'REVOKED' end`),
      inductionStatus: nullable(
        InductionStatus,
        "Status of the worker's newest induction to the project; null without one, and unless token and connection have `read:inductions`.",
        `(select induction.status from induction where induction.worker_id = t.worker_id
          and induction.project_id = t.project_id order by induction.created_at desc, induction.id desc limit 1)`,
      ),
      grantedAt: property(Timestamp, 'When the present or last access began.'),
      revokedAt: nullable(Timestamp, 'When the access was revoked; null while it is valid.'),
      updatedAt: CHANGE_TIME,
    },
  ),
};

const SENT_EVENT = declareItem('SentSignOnEvent', 'A sign-on event as it was sent.', {
  sourceEventId: property(String, 'Identifier of the physical event.'),
  sourceSignOnEventId: nullable(String, 'On a SIGN_OFF: the `sourceEventId` of its sign-on.'),
  workerId: property(String, 'The worker who passed the gate.'),
  type: property(SignOnType),
  occurredAt: property(Timestamp, 'Time of the event at the gate.'),
  deviceId: nullable(String, 'Identifier of the gate.'),
});

const OWN_VISIT = declareItem('OwnVisit', 'The visit that an event began or ended.', {
  signedOnAt: property(Timestamp, 'When the worker signed on.', 'visit.signed_on_at'),
  signedOffAt: nullable(Timestamp, 'When the worker signed off.', 'visit.signed_off_at'),
  closedAt: nullable(Timestamp, 'When the worker left, as stated by a person.', 'visit.closed_at'),
});

/** The events that an integrator has sent for a project, and what became of them (ATT-37). */
export const OWN_EVENTS: ChangeList = {
  name: 'gate.events',
  from: 'sign_on_event t left join sign_on_visit visit on visit.id = t.visit_id',
  filters: { startDate: 't.occurred_at >= ?::timestamptz', endDate: 't.occurred_at <= ?::timestamptz' },
  item: declareItem('OwnSignOnEvent', 'A sign-on event that the integrator sent, and what became of it.', {
    ...SENT_EVENT.properties,
    id: property(SignOnEventId, 'Identifies the event in this service.'),
    status: property(SignOnEventStatus),
    rejection: nullable(SignOnConflictCode, 'Why a sign-off that waited was rejected.'),
    signOnId: nullable(SignOnVisitId, 'The visit that it began or ended.', 't.visit_id'),
    receivedAt: property(Timestamp, 'When the event was received first.', 't.created_at'),
    updatedAt: CHANGE_TIME,
    visit: nullable(
      OWN_VISIT.type,
      'The visit that it began or ended.',
      `case when visit.id is not null then ${OWN_VISIT.sql} end`,
    ),
  }),
};

/** The events of an integrator that were rejected with 409 (ATT-38). */
export const OWN_CONFLICTS: ChangeList = {
  name: 'gate.conflicts',
  from: 'sign_on_conflict t',
  filters: { status: `(t.resolved_at is null) = (? = 'OPEN')` },
  item: declareItem('OwnSignOnConflict', 'A sign-on event of the integrator that was rejected with 409.', {
    code: property(SignOnConflictCode, 'Code of the latest response.'),
    event: property(SENT_EVENT.type, 'The event as it was sent.', SENT_EVENT.sql),
    firstReceivedAt: property(Timestamp, 'When the event was received first.', 't.created_at'),
    lastReceivedAt: property(Timestamp, 'When the event was received last.', 't.updated_at'),
    count: property(Int, 'Number of times that the event was received and rejected.', 't.answers'),
    resolvedAt: nullable(Timestamp, 'When a person resolved the conflict; null while it is open.'),
    resolution: nullable(ConflictResolution, 'What the person decided; null while it is open.'),
    updatedAt: CHANGE_TIME,
  }),
};
