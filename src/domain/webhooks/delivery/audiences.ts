import type { Statement } from '../../../database/pool/pg-pipeline.ts';
import type { StatementRunner } from '../../../database/pool/statement-runner.ts';
import type { EventAudience } from '../../events/event-filter.ts';

/**
 * Age at which what a client may see is loaded again. A revocation must stop deliveries within one second (WHK-7); the rest is for the
 * query and for the interval at which pending deliveries are checked.
 */
const MAX_AGE_MS = 300;

const SELECT: Statement = {
  name: 'webhooks.audiences',
  text: `select client.id, to_json(client.scopes), (select json_object_agg(connection.builder_id,
        json_build_object('scopes', connection.scopes, 'activeAfter', connection.active_after))
      from connection where connection.integrator_id = client.integrator_id and connection.status = 'ACTIVE'),
      client.disabled_at is not null
    from oauth_client client where client.id = any($1::text[])`,
};

/** Scopes that clients have for builders. */
const SELECT_SCOPES: Statement = {
  name: 'webhooks.scopes-of-builders',
  text: `select client.id, connection.builder_id, to_json(array(select unnest(client.scopes) intersect select unnest(connection.scopes)))
    from oauth_client client join connection on connection.integrator_id = client.integrator_id
    where client.id = any($1::text[]) and connection.builder_id = any($2::text[]) and connection.status = 'ACTIVE'`,
};

/** What an endpoint may receive. */
export interface EndpointAudience extends EventAudience {
  /** Number of the event after which a builder was connected again, by builder id; earlier ones are not delivered (WHK-7). */
  readonly activeAfter: ReadonlyMap<string, number>;
  /** Whether the client is disabled: then it receives nothing. */
  readonly isDisabled: boolean;
}

interface StoredConnection {
  scopes: string[];
  activeAfter: number | null;
}

interface CacheEntry {
  loadedAt: number;
  audience: Promise<EndpointAudience | null>;
}

/** What clients may see now: their scopes within the active connections of their integrator. Loads are batched and cached. */
export class Audiences {
  readonly #runner: StatementRunner;
  readonly #cache = new Map<string, CacheEntry>();
  #batch: { ids: Set<string>; rows: Promise<Map<string, EndpointAudience>> } | null = null;

  constructor(runner: StatementRunner) {
    this.#runner = runner;
  }

  /** Returns the audience of a client; null when the client is disabled. */
  async load(clientId: string): Promise<EndpointAudience | null> {
    const now = performance.now();
    let entry = this.#cache.get(clientId);
    if (!entry || now - entry.loadedAt >= MAX_AGE_MS) {
      entry = { loadedAt: now, audience: this.#loadBatched(clientId) };
      this.#cache.set(clientId, entry);
      entry.audience.catch(() => this.#cache.delete(clientId));
    }
    return entry.audience;
  }

  /**
   * Drops cached values that allow less of the builders than what is stored. Called with the builders of new events before endpoints read
   * these, so that no endpoint passes over events that happen after a builder was connected (WHK-7).
   */
  async dropOutdated(builderIds: ReadonlySet<string>): Promise<void> {
    const cached = new Map(this.#cache);
    if (cached.size === 0 || builderIds.size === 0) return;
    const rows = await this.#runner.run(SELECT_SCOPES, [[...cached.keys()], [...builderIds]]);
    for (const [clientId, builderId, stored] of rows) {
      const entry = cached.get(clientId!)!;
      const audience = await entry.audience.catch(() => null);
      const allowed = audience?.connections.get(builderId!);
      const isCurrent = (JSON.parse(stored!) as string[]).every(
        (each) => audience?.scopes.has(each) && allowed?.has(each),
      );
      if (!isCurrent && this.#cache.get(clientId!) === entry) this.#cache.delete(clientId!);
    }
  }

  clear(): void {
    this.#cache.clear();
  }

  async #loadBatched(clientId: string): Promise<EndpointAudience | null> {
    if (!this.#batch) {
      const ids = new Set<string>();
      const rows = Promise.resolve().then(() => {
        this.#batch = null;
        return readAudiences(this.#runner, [...ids]);
      });
      this.#batch = { ids, rows };
    }
    this.#batch.ids.add(clientId);
    const audience = (await this.#batch.rows).get(clientId);
    return audience && !audience.isDisabled ? audience : null;
  }
}

/** Returns what clients may see now, by their ids. */
export async function readAudiences(
  runner: StatementRunner,
  clientIds: string[],
): Promise<Map<string, EndpointAudience>> {
  const rows = await runner.run(SELECT, [clientIds]);
  return new Map(
    rows.map(([id, scopes, connections, isDisabled]) => {
      const connected = Object.entries(JSON.parse(connections ?? '{}') as Record<string, StoredConnection>);
      const audience = {
        ...{ internal: false, isDisabled: isDisabled === 't' },
        scopes: new Set(JSON.parse(scopes!) as string[]),
        connections: new Map(connected.map(([builderId, { scopes }]) => [builderId, new Set(scopes)])),
        activeAfter: new Map(connected.map(([builderId, { activeAfter }]) => [builderId, activeAfter ?? 0])),
      };
      return [id!, audience];
    }),
  );
}
