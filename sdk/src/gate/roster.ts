import type { Client } from '../client.ts';
import { ValidationError } from '../errors.ts';
import type { components } from '../generated/openapi.ts';
import type { CallOptions } from '../transport.ts';

/** A worker who has or had access to the site. */
export type RosterEntry = components['schemas']['RosterEntry'];

/** A roster as a store keeps it. */
export interface RosterState {
  entries: RosterEntry[];
  /** Position in the list of changes. */
  cursor: string;
  /** Milliseconds since 1970, on the clock of this computer; null before the first time. */
  refreshedAt: number | null;
}

/** Keeps a roster for times without a network. `createFileStore` (Node) and `createIndexedDbStore` (browsers) do. */
export interface RosterStore {
  loadRoster(): Promise<RosterState | null>;
  /** Replaces the stored roster as a whole. */
  saveRoster(state: RosterState): Promise<void>;
}

export interface RosterOptions {
  client: Pick<Client, 'siteAccess'>;
  builderId: string;
  projectId: string;
  store: RosterStore;
}

/** The workers whom a gate may expect, also without a network. It informs; it does not decide who may enter. */
export class Roster {
  readonly #options: RosterOptions;
  #state: RosterState;
  #entries: Map<string, RosterEntry>;

  private constructor(options: RosterOptions, state: RosterState) {
    this.#options = options;
    this.#state = state;
    this.#entries = toMap(state.entries);
  }

  /** Opens the stored roster, which is empty before its first `refresh`. */
  static async open(options: RosterOptions): Promise<Roster> {
    return new Roster(options, (await options.store.loadRoster()) ?? { entries: [], cursor: '', refreshedAt: null });
  }

  /** Workers with access and, with `status: 'REVOKED'`, those who had it. */
  get entries(): RosterEntry[] {
    return this.#state.entries;
  }

  /** When the roster was last current; null before its first `refresh`. */
  get refreshedAt(): Date | null {
    const { refreshedAt } = this.#state;
    return refreshedAt === null ? null : new Date(refreshedAt);
  }

  find(workerId: string): RosterEntry | undefined {
    return this.#entries.get(workerId);
  }

  /** Reads, stores and returns what has changed since the last time. When it throws, the roster is as it was. */
  async refresh(options: CallOptions = {}): Promise<RosterEntry[]> {
    const refreshedAt = Date.now();
    const { cursor } = this.#state;
    let known = this.#entries;
    let page = await this.#readChanges(cursor, options).catch((error: unknown) => {
      // The cursor is of another project, or the service's database was restored: everything is read again.
      if (cursor === '' || !(error instanceof ValidationError)) throw error;
      known = new Map();
      return this.#readChanges('', options);
    });
    const changed = toMap(page.data);
    while (page.meta.hasMore) {
      page = await this.#readChanges(page.meta.nextCursor, options);
      for (const entry of page.data) changed.set(entry.workerId, entry);
    }
    const entries = new Map([...known, ...changed]);
    const state = { entries: [...entries.values()], cursor: page.meta.nextCursor, refreshedAt };
    await this.#options.store.saveRoster(state);
    this.#state = state;
    this.#entries = entries;
    return [...changed.values()];
  }

  #readChanges(cursor: string, callOptions: CallOptions) {
    const { client, builderId, projectId } = this.#options;
    return client.siteAccess.list({ builderId, projectId, cursor }, callOptions).page();
  }
}

const toMap = (entries: RosterEntry[]) => new Map(entries.map((entry) => [entry.workerId, entry]));
