import type { Database, Databases } from '../database/database.ts';
import { statement } from '../database/pool/pg-pipeline.ts';
import type { Clock } from '../shared/clock.ts';
import { unauthenticated } from '../shared/errors.ts';
import type { RegionId } from '../shared/regions.ts';
import { type AccessClaims, type AccessTokens, parseTokenFamily } from './access-tokens.ts';
import { Caller } from './caller.ts';

/**
 * Age at which a cached caller is loaded again. A revoked client, connection, membership or token must stop working within one second on
 * every instance (ACC-5); half of it is left for the query.
 */
export const MAX_AGE_MS = 500;

/** Maximum cached tokens per process and region. */
const MAX_TOKENS = 10_000;

/** Tokens of longer headers are verified and not cached. The service signs none that long. */
const MAX_HEADER_LENGTH = 2_048;

/** Time since the last load after which an entry is dropped. */
const IDLE_MS = 2_000;

const SCHEME = 'Bearer ';

const SELECT_CALLER = statement('access.facts')`
  select client.integrator_id, client.name, client.internal, to_json(client.scopes),
    (select json_object_agg(connection.builder_id, connection.scopes) from connection
      where connection.integrator_id = client.integrator_id and connection.status = 'ACTIVE'
        and ($2::text is null or connection.builder_id = $2))
  from oauth_client client
  where client.id = $1 and client.disabled_at is null
    and case when $3::text is null then 'client_credentials' else 'authorization_code' end = any (client.grants)
    and ($3::text is null or exists (select from membership join app_user on app_user.id = membership.user_id
      where membership.user_id = $3 and membership.builder_id = $2 and app_user.disabled_at is null
        and app_user.staff_role is null))
    and not exists (select from oauth_revoked_token revoked where revoked.jti = $4)
    and ($5::text is null
      or exists (select from oauth_token_family family where family.id = $5 and family.revoked_at is null))`;

interface CacheEntry {
  claims: AccessClaims;
  loadedAt: number;
  loading: Promise<Caller | null>;
  /** The caller once it is loaded; null before, and for a token that is no longer valid. */
  caller: Caller | null;
  /** Whether the last completed load found a caller. */
  wasAccepted: boolean;
}

/** Authenticates bearer tokens of one audience. The database is queried at most every half second per token. */
export class AccessTokenVerifier {
  readonly #tokens: AccessTokens;
  readonly #databases: Databases;
  readonly #clock: Clock;
  readonly #audience: string;
  /** By `Authorization` header in its usual notation, in the order of the last load. */
  readonly #cache: Record<RegionId, Map<string, CacheEntry>> = { au1: new Map(), us1: new Map() };

  /** @param options.audience by default the API. */
  constructor(options: { tokens: AccessTokens; databases: Databases; clock: Clock; audience?: string }) {
    this.#tokens = options.tokens;
    this.#databases = options.databases;
    this.#clock = options.clock;
    this.#audience = options.audience ?? options.tokens.audiences[0];
  }

  /**
   * Returns the caller of an `Authorization` header; throws 401. A token is valid only in the region of its client, whose database alone
   * contains the client.
   *
   * @param options.bypassCache Whether the caller is loaded after the call also where one is cached.
   */
  async authenticate(
    authorization: string | undefined,
    region: RegionId,
    { bypassCache = false } = {},
  ): Promise<Caller> {
    if (authorization === undefined) throw unauthenticated('An access token is required.', false);
    const caller = await this.#findCaller(authorization, region, bypassCache);
    if (!caller) throw unauthenticated('The access token is invalid, expired or revoked.', true);
    return caller;
  }

  /** Returns the caller of a token that was verified within `MAX_AGE_MS`; null where `authenticate` has to find it. */
  findCached(authorization: string | undefined, region: RegionId): Caller | null {
    const entry = authorization === undefined ? undefined : this.#cache[region].get(authorization);
    return entry && isFresh(entry, this.#clock.now()) ? entry.caller : null;
  }

  /** Whether the header holds a token that the region accepted a short time ago. It may have expired or been revoked since. */
  isVerified(authorization: string, region: RegionId): boolean {
    return this.#cache[region].get(authorization)?.wasAccepted === true;
  }

  async #findCaller(authorization: string, region: RegionId, bypassCache: boolean): Promise<Caller | null> {
    const cache = this.#cache[region];
    const now = this.#clock.now();
    // Only headers of verified tokens are keys, so that most requests need not be parsed.
    let key = authorization;
    let entry = cache.get(key);
    if (!entry) {
      key = SCHEME + parseBearerToken(authorization);
      entry = cache.get(key);
    }
    if (entry && now >= entry.claims.exp * 1000) {
      cache.delete(key);
      return null;
    }
    if (!entry || bypassCache || !isFresh(entry, now)) {
      const claims = entry?.claims ?? (await this.#tokens.verify(region, key.slice(SCHEME.length), [this.#audience]));
      if (!claims) return null;
      const loading = loadCaller(this.#databases[region], claims);
      entry = { claims, loadedAt: now, loading, caller: null, wasAccepted: entry?.wasAccepted ?? false };
      addToCache(cache, key, entry, now);
    }
    try {
      entry.caller = await entry.loading;
      entry.wasAccepted = entry.caller !== null;
      return entry.caller;
    } catch (error) {
      cache.delete(key);
      throw error;
    }
  }

  /** Returns whether the token is valid now, bypassing the cache. */
  async isLive(claims: AccessClaims, region: RegionId): Promise<boolean> {
    return (await loadCaller(this.#databases[region], claims)) !== null;
  }

  /**
   * Removes a token by its `jti`, or the tokens of a family by its id, from the cache, so that this instance applies a revocation at
   * once. Other instances apply it within `MAX_AGE_MS`.
   */
  evict(id: string): void {
    for (const cache of Object.values(this.#cache)) {
      for (const [key, { claims }] of cache) {
        if (claims.jti === id || parseTokenFamily(claims.jti) === id) cache.delete(key);
      }
    }
  }
}

/** Whether the token has not expired and its caller was loaded a short time ago. The clock may have been set back since. */
const isFresh = ({ claims, loadedAt }: CacheEntry, now: number): boolean =>
  now < claims.exp * 1000 && now - loadedAt < MAX_AGE_MS && now >= loadedAt;

function parseBearerToken(authorization: string): string {
  const match = /^Bearer +([\w.~+/-]+=*)$/i.exec(authorization);
  if (!match) throw unauthenticated('The Authorization header must be Bearer and an access token.', false);
  return match[1]!;
}

function addToCache(cache: Map<string, CacheEntry>, key: string, entry: CacheEntry, now: number): void {
  if (key.length > MAX_HEADER_LENGTH) return;
  cache.delete(key);
  cache.set(key, entry);
  for (const [oldest, { loadedAt }] of cache) {
    if (now - loadedAt < IDLE_MS && loadedAt <= now && cache.size <= MAX_TOKENS) break;
    cache.delete(oldest);
  }
}

/** Returns the scopes by builder. Equal lists share one set, as most connections of an integrator allow the same scopes. */
function toScopeSets(connections: [builderId: string, scopes: string[]][]): Map<string, ReadonlySet<string>> {
  const sets = new Map<string, ReadonlySet<string>>();
  return new Map(
    connections.map(([builderId, scopes]) => {
      const key = scopes.join(' ');
      const set = sets.get(key) ?? new Set(scopes);
      sets.set(key, set);
      return [builderId, set];
    }),
  );
}

/** Loads the token's client, connections and membership; null when the token is no longer valid. */
async function loadCaller(database: Database, claims: AccessClaims): Promise<Caller | null> {
  const builderId = claims.builder_id ?? null;
  const userId = builderId === null ? null : claims.sub;
  const [row] = await database.runner.run(SELECT_CALLER, [
    claims.client_id,
    builderId,
    userId,
    claims.jti,
    parseTokenFamily(claims.jti),
  ]);
  if (!row) return null;
  const [integratorId, clientName, internal, allowed, connections] = row;
  const allowedScopes = new Set(JSON.parse(allowed!) as string[]);
  const granted = claims.scope.split(' ').filter((scope) => allowedScopes.has(scope));
  const connected = Object.entries(JSON.parse(connections ?? '{}') as Record<string, string[]>);
  if (userId !== null && connected.length === 0) return null;
  return new Caller({
    clientId: claims.client_id,
    clientName: clientName!,
    integratorId: integratorId!,
    internal: internal === 't',
    userId,
    builderId,
    scopes: new Set(granted),
    connections: toScopeSets(connected),
  });
}
