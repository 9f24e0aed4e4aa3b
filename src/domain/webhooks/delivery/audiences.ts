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
  text: `select client.id, to_json(client.scopes), (select json_object_agg(connection.builder_id, connection.scopes)
      from connection where connection.integrator_id = client.integrator_id and connection.status = 'ACTIVE')
    from oauth_client client where client.id = any($1::text[]) and client.disabled_at is null`,
};

interface CacheEntry {
  loadedAt: number;
  audience: Promise<EventAudience | null>;
}

/** What clients may see now: their scopes within the active connections of their integrator. Loads are batched and cached. */
export class Audiences {
  readonly #runner: StatementRunner;
  readonly #cache = new Map<string, CacheEntry>();
  #batch: { ids: Set<string>; rows: Promise<Map<string, EventAudience>> } | null = null;

  constructor(runner: StatementRunner) {
    this.#runner = runner;
  }

  /** Returns the audience of a client; null when the client is disabled. */
  async load(clientId: string): Promise<EventAudience | null> {
    const now = performance.now();
    let entry = this.#cache.get(clientId);
    if (!entry || now - entry.loadedAt >= MAX_AGE_MS) {
      entry = { loadedAt: now, audience: this.#loadBatched(clientId) };
      this.#cache.set(clientId, entry);
      entry.audience.catch(() => this.#cache.delete(clientId));
    }
    return entry.audience;
  }

  clear(): void {
    this.#cache.clear();
  }

  async #loadBatched(clientId: string): Promise<EventAudience | null> {
    if (!this.#batch) {
      const ids = new Set<string>();
      const rows = Promise.resolve().then(() => {
        this.#batch = null;
        return this.#query([...ids]);
      });
      this.#batch = { ids, rows };
    }
    this.#batch.ids.add(clientId);
    return (await this.#batch.rows).get(clientId) ?? null;
  }

  async #query(clientIds: string[]): Promise<Map<string, EventAudience>> {
    const rows = await this.#runner.run(SELECT, [clientIds]);
    return new Map(
      rows.map(([id, scopes, connections]) => {
        const connected = Object.entries(JSON.parse(connections ?? '{}') as Record<string, string[]>);
        const audience = {
          internal: false,
          scopes: new Set(JSON.parse(scopes!) as string[]),
          connections: new Map(connected.map(([builderId, allowed]) => [builderId, new Set(allowed)])),
        };
        return [id!, audience];
      }),
    );
  }
}
