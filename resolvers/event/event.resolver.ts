import { Arg, Ctx, Extensions, Query, Resolver } from 'type-graphql';
import { Rest } from '../../schema/rest.ts';
import { BuilderId } from '../../schema/scalars.ts';
import type { Caller } from '../../src/auth/caller.ts';
import type { RequestContext } from '../../src/auth/request-context.ts';
import type { Database } from '../../src/database/database.ts';
import { decodeEventCursor, encodeEventCursor } from '../../src/domain/events/event-cursor.ts';
import { EventFilter, type EventSelection } from '../../src/domain/events/event-filter.ts';
import {
  type LogPage,
  type LogPosition,
  numberNextEvents,
  readHead,
  readLogPage,
} from '../../src/domain/events/event-log.ts';
import { toPublicEvent } from '../../src/domain/events/event-types.ts';
import { EVENT_PAGE_COST } from '../../src/limits/response-meter.ts';
import { invalidField } from '../../src/shared/errors.ts';
import { EventCursor, EventLimit, EventType, EventWait, MAX_EVENTS } from './event.scalars.ts';
import { EventPage } from './event.type.ts';

@Resolver()
export class EventResolver {
  @Query(() => EventPage, {
    description:
      'Changes of records, in the order of the feed, of the resources whose read scope the token has. Without `after`, the feed starts from now.',
  })
  @Extensions({ cost: EVENT_PAGE_COST })
  @Rest('GET /events', { scope: null, tag: 'Events', extension: true, builderIsInput: true, cursorExpires: true })
  async events(
    @Arg('after', () => EventCursor, { nullable: true, description: '`nextCursor` of the page before.' })
    after: string | null,
    @Arg('types', () => [EventType], { nullable: true, description: 'Types of events. Default: all.' })
    types: string[] | null,
    @Arg('builderId', () => BuilderId, { nullable: true, description: 'Events of this builder only.' })
    builderId: string | null,
    @Arg('limit', () => EventLimit, {
      nullable: true,
      description: `Events to return, 1 to ${MAX_EVENTS}. Default ${MAX_EVENTS}.`,
    })
    limit: number | null,
    @Arg('wait', () => EventWait, {
      nullable: true,
      description: 'Seconds to wait for events when there are none, 0 to 20. Default 0. In REST only.',
    })
    wait: number | null,
    @Ctx() context: RequestContext,
  ): Promise<InstanceType<typeof EventPage>> {
    const { region, caller } = context;
    // The log of a standby may end before the cursor.
    const database = context.database.primary;
    if (wait && !context.canWait) throw invalidField('wait', 'must be 0 in GraphQL: wait in REST');
    context.meter.readCost += EVENT_PAGE_COST;
    await numberNextEvents(database, null);
    const head = await readHead(database);
    const position = after == null ? head : decodeEventCursor(region, head, after);
    const selection = { types: types ?? null, builderIds: builderId == null ? null : [builderId] };
    const count = limit ?? MAX_EVENTS;
    const read = (after: LogPosition, reading: Caller) =>
      readVisibleEvents(database, after, count, { caller: reading, selection, refreshCaller: context.refreshCaller });
    let page = await read(position, caller);
    if (wait && page.events.length === 0 && !page.hasMore) {
      const found = await context.waitForEvents(page.next, selection, wait * 1000);
      if (found.hasEvents) page = await read(found.position, found.caller);
      else page = { events: [], next: found.position, hasMore: false };
    }
    const meta = { nextCursor: encodeEventCursor(region, head, page.next), hasMore: page.hasMore };
    return { data: page.events.map(toPublicEvent), meta };
  }
}

interface EventReader {
  caller: Caller;
  selection: EventSelection;
  refreshCaller: () => Promise<Caller>;
}

/**
 * Returns a page of the events that the caller sees once they are read (EVT-7). The caller may come from the cache. Where the page passes over
 * events, the caller is loaded again: a builder may have been connected, or a scope allowed, before these.
 */
async function readVisibleEvents(
  database: Database,
  position: LogPosition,
  limit: number,
  { caller, selection, refreshCaller }: EventReader,
): Promise<LogPage> {
  for (let filter = new EventFilter(caller, selection); ; ) {
    const page = await readLogPage(database, position, filter.toParameters(), limit);
    // Numbers have no gaps.
    if (page.next.number - position.number === page.events.length) return page;
    const current = new EventFilter(await refreshCaller(), selection);
    if (current.equals(filter)) return page;
    filter = current;
  }
}
