import type { FilterParameters, LoggedEvent } from './event-log.ts';
import { eventTypes } from './event-types.ts';

/** What a reader of events may see: the scopes of its token or client, and those of its active connections (EVT-7). */
export interface EventAudience {
  /** Whether it reaches every builder of the region. */
  readonly internal: boolean;
  readonly scopes: ReadonlySet<string>;
  /** Scopes that each actively connected builder allows, by builder id. */
  readonly connections: ReadonlyMap<string, ReadonlySet<string>>;
}

/** Which of the visible events a reader selects; null for all. */
export interface EventSelection {
  types: readonly string[] | null;
  builderIds: readonly string[] | null;
}

/** The events that an audience may see and selects. Immutable: create it anew for each read, because connections change. */
export class EventFilter {
  /** Scope by type. */
  readonly #types: ReadonlyMap<string, string>;
  /** Scopes that count for each builder; null for every builder. */
  readonly #builders: ReadonlyMap<string, ReadonlySet<string>> | null;

  constructor({ internal, scopes, connections }: EventAudience, { types, builderIds }: EventSelection) {
    this.#types = new Map(
      [...eventTypes].filter(([type, scope]) => scopes.has(scope) && (!types || types.includes(type))),
    );
    if (internal) this.#builders = builderIds && new Map(builderIds.map((builderId) => [builderId, scopes]));
    else
      this.#builders = new Map([...connections].filter(([builderId]) => !builderIds || builderIds.includes(builderId)));
  }

  includes({ type, builderId }: Pick<LoggedEvent, 'type' | 'builderId'>): boolean {
    const scope = this.#types.get(type);
    if (scope === undefined) return false;
    return this.#builders === null || (this.#builders.get(builderId)?.has(scope) ?? false);
  }

  /** Whether it includes the same events. False also for connections in another order. */
  equals(other: EventFilter): boolean {
    return JSON.stringify(this.toParameters()) === JSON.stringify(other.toParameters());
  }

  toParameters(): FilterParameters {
    const builders = this.#builders && [...this.#builders].map(([builderId, scopes]) => [builderId, [...scopes]]);
    return { types: toJson(this.#types), builders: builders && toJson(builders) };
  }
}

const toJson = (entries: Iterable<readonly unknown[]>) => JSON.stringify(Object.fromEntries(entries));

/** Parameters that match every published event. */
export const EVERY_EVENT: FilterParameters = { types: toJson(eventTypes), builders: null };
