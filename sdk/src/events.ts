import type { components } from './generated/openapi.ts';
import type { Api } from './operations.ts';
import type { CallOptions } from './transport.ts';

export type Event = components['schemas']['Event'];

export interface FollowOptions extends CallOptions {
  /** Cursor to continue from. Absent: from now. */
  after?: string;
  types?: Event['type'][];
  builderId?: string;
}

/** Events, possibly none, and the cursor after them: store it together with what you did with the events. */
export interface FollowedEvents {
  events: Event[];
  cursor: string;
}

/**
 * Yields the events after a cursor, and waits for more, until the signal ends it. The first value without `after` is the present end of
 * the feed. Throws `CursorExpiredError` when the cursor is too old: copy the lists again.
 */
export async function* followEvents(api: Api, options: FollowOptions = {}): AsyncGenerator<FollowedEvents> {
  const { after, signal, timeoutMs, ...filters } = options;
  for (let cursor = after; ; ) {
    const wait = cursor === undefined ? undefined : 20;
    const page = await api.events.page({ ...filters, after: cursor, wait }, { signal, timeoutMs });
    cursor = page.meta.nextCursor;
    yield { events: page.data, cursor };
  }
}
