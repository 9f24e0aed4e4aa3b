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

const EVERY_BUILDER = '0';

/** The events that an audience may see and selects. Immutable: create it anew for each read, because connections change. */
export class EventFilter {
  /** Types by group of builders. */
  readonly #types: Record<string, string[]> = {};
  /** Group by builder; null for every builder. */
  readonly #groups: Map<string, string> | null;

  constructor(audience: EventAudience, { types, builderIds }: EventSelection) {
    const { internal, scopes, connections } = audience;
    const selected = [...eventTypes].filter(([type, scope]) => scopes.has(scope) && (!types || types.includes(type)));
    const all = selected.map(([type]) => type);
    if (internal) {
      this.#types[EVERY_BUILDER] = all;
      this.#groups = builderIds && new Map(builderIds.map((builderId) => [builderId, EVERY_BUILDER]));
      return;
    }
    // Most connections allow the same scopes.
    const groups = new Map<string, string>();
    const selectedBuilders = builderIds && new Set(builderIds);
    this.#groups = new Map();
    for (const [builderId, allowed] of connections) {
      if (selectedBuilders && !selectedBuilders.has(builderId)) continue;
      const key = [...allowed].sort().join(' ');
      let group = groups.get(key);
      if (group === undefined) {
        group = String(groups.size);
        groups.set(key, group);
        this.#types[group] = selected.filter(([, scope]) => allowed.has(scope)).map(([type]) => type);
      }
      this.#groups.set(builderId, group);
    }
  }

  includes({ type, builderId }: Pick<LoggedEvent, 'type' | 'builderId'>): boolean {
    const group = this.#groups ? this.#groups.get(builderId) : EVERY_BUILDER;
    return group !== undefined && this.#types[group]!.includes(type);
  }

  /** Whether it includes the same events. False also for connections in another order. */
  equals(other: EventFilter): boolean {
    return JSON.stringify(this.toParameters()) === JSON.stringify(other.toParameters());
  }

  toParameters(): FilterParameters {
    return {
      types: JSON.stringify(this.#types),
      groups: this.#groups && JSON.stringify(Object.fromEntries(this.#groups)),
    };
  }
}

/** Parameters that match every published event. */
export const EVERY_EVENT: FilterParameters = {
  types: JSON.stringify({ [EVERY_BUILDER]: [...eventTypes.keys()] }),
  groups: null,
};
