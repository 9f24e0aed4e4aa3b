import { type ClassType, Field, ObjectType } from 'type-graphql';
import { type ChangeList, OWN_CONFLICTS, OWN_EVENTS, ROSTER } from '../../entities/gate-lists.type.ts';
import { SignOnConflictStatus, SignOnEventStatus } from '../../schema/enums.ts';
import { ListCursor } from '../../schema/list-cursor.scalar.ts';
import { createPageType } from '../../schema/page.ts';
import { toDateRange, UtcRangeArgs } from '../../schema/range.ts';
import { Rest } from '../../schema/rest.ts';
import { BuilderId, createIntegerScalar, ProjectId, RangeStart, SignOnEventId } from '../../schema/scalars.ts';
import type { RequestContext } from '../../src/auth/request-context.ts';
import { MAX_CHANGES, readChanges } from '../../src/domain/attendance/change-lists.ts';
import { notFound } from '../../src/shared/errors.ts';
import { DescribedType, declareQuery, type QueryDeclaration, splitPage } from '../fields.ts';
import { GateText, GateWorkerId } from './attendance.input.ts';

const ChangeLimit = createIntegerScalar('ChangeLimit', 'Changes to return', 1, MAX_CHANGES, MAX_CHANGES, MAX_CHANGES);

const WINDOW = {
  updatedSince: new DescribedType(RangeStart, 'Only items whose `updatedAt` is this time or later.'),
  cursor: new DescribedType(ListCursor, '`nextCursor` of an earlier page, or empty for the first page.'),
  limit: new DescribedType(ChangeLimit, `Items to return, 1 to ${MAX_CHANGES}. Default ${MAX_CHANGES}.`),
};

const EVENT_FILTERS = {
  status: new DescribedType(SignOnEventStatus, 'Events with this result.'),
  workerId: new DescribedType(GateWorkerId, 'Events of this worker.'),
  sourceEventId: new DescribedType(GateText, 'The event with this identifier.'),
};

@ObjectType({ description: 'Cursor of a page of changes.', simpleResolvers: true })
class ChangePageMeta {
  @Field(() => ListCursor, {
    description: 'The value of `cursor` for what follows: the next page, or later changes. Also on an empty page.',
  })
  nextCursor!: string;

  @Field(() => Boolean, { description: 'Whether to request the next page at once.' })
  hasMore!: boolean;
}

type Owner = Record<'integratorId' | 'builderId' | 'projectId', string>;

const toPageType = ({ item }: ChangeList) => createPageType(item.type, ChangePageMeta, 'time of change');

const ofGate = { scope: 'write:sign_on_events', tag: 'Gate attendance', extension: true } as const;

/** Declares a query of what a gate reads. It throws 403 unless an integrator calls. Returns a resolver class for the registry. */
function gateQuery(
  field: string,
  path: string,
  type: ClassType<object>,
  description: string,
  { required, args = [] }: Partial<QueryDeclaration>,
  read: (owner: Owner, values: ReturnType<typeof splitPage>, context: RequestContext) => Promise<unknown>,
) {
  const operation = Rest(`GET /builders/{builderId}/projects/{projectId}/${path}`, ofGate);
  const ofProject = { builderId: BuilderId, projectId: ProjectId, ...required };
  const declaration = { type, description, operation, required: ofProject, args };
  return declareQuery(field, declaration, async ({ builderId, projectId, ...values }, context) => {
    const integratorId = context.caller.requireIntegrator();
    return read({ integratorId, builderId, projectId } as Owner, splitPage(values), context);
  });
}

/** What a gate needs to know, and what became of the events that it sent. */
export const gateLists = [
  gateQuery(
    'siteAccess',
    'site-access',
    toPageType(ROSTER),
    'The workers who have or had access to the site of a project, in the order of their last change. Revoked ones stay in the list. It informs; it never decides who may enter.',
    { args: [WINDOW] },
    async ({ builderId, projectId }, { window }, { caller, database }) => {
      const page = await readChanges(database, ROSTER, { builderId, projectId }, {}, window);
      const scope = 'read:inductions';
      const showsInductions = caller.scopes.has(scope) && caller.connections.get(builderId)?.has(scope);
      if (!showsInductions) for (const entry of page.data) entry.inductionStatus = null;
      return page;
    },
  ),
  gateQuery(
    'signOnEvents',
    'sign-on-events',
    toPageType(OWN_EVENTS),
    'The sign-on events that the integrator has sent for a project and that were accepted, in the order of their last change. `startDate` and `endDate` bound `occurredAt`.',
    { args: [EVENT_FILTERS, UtcRangeArgs, WINDOW] },
    (owner, { filters, window }, { database }) =>
      readChanges(database, OWN_EVENTS, owner, { ...filters, ...toDateRange(filters) }, window),
  ),
  gateQuery(
    'signOnEvent',
    'sign-on-events/{signOnEventId}',
    OWN_EVENTS.item.type,
    'One sign-on event that the integrator has sent.',
    { required: { signOnEventId: SignOnEventId } },
    async (owner, { filters: { signOnEventId: id } }, { database }) => {
      const { data } = await readChanges(database, OWN_EVENTS, owner, { id }, {});
      return data[0] ?? Promise.reject(notFound('Sign-on event'));
    },
  ),
  gateQuery(
    'signOnConflicts',
    'sign-on-conflicts',
    toPageType(OWN_CONFLICTS),
    'The sign-on events of the integrator that were rejected with 409, and how people resolved them, in the order of their last change.',
    { args: [{ status: SignOnConflictStatus }, WINDOW] },
    (owner, { filters, window }, { database }) => readChanges(database, OWN_CONFLICTS, owner, filters, window),
  ),
];
