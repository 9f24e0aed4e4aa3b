import type { Database, Databases } from '../database/database.ts';
import type { Statement } from '../database/pool/pg-pipeline.ts';
import type { Clock } from '../shared/clock.ts';
import { unauthenticated } from '../shared/errors.ts';
import type { RegionId } from '../shared/regions.ts';
import { type AccessClaims, type AccessTokens, familyOf } from './access-tokens.ts';
import { Caller } from './caller.ts';

/**
 * How long what the database said of a token is taken for true. A revoked client, connection, membership or token must
 * stop working within one second on every instance (ACC-5); this leaves half of it for the query.
 */
const FRESH_MS = 500;

/** Tokens remembered per process and region. */
const MAX_TOKENS = 10_000;

/** A longer token than ours are is verified, but not kept. */
const MAX_TOKEN_LENGTH = 2_048;

/** A token that has not been used for so long is dropped, with what its caller may reach. */
const IDLE_MS = 2_000;

const SCHEME = 'Bearer ';

const FACTS: Statement = {
  name: 'access.facts',
  text: `select client.integrator_id, client.name, client.internal, to_json(client.scopes),
      (select json_object_agg(connection.builder_id, connection.scopes) from connection
        where connection.integrator_id = client.integrator_id and connection.status = 'ACTIVE'
          and ($2::text is null or connection.builder_id = $2))
    from oauth_client client
    where client.id = $1 and client.disabled_at is null
      and ($3::text is null or exists (select from membership join app_user on app_user.id = membership.user_id
        where membership.user_id = $3 and membership.builder_id = $2 and app_user.disabled_at is null))
      and not exists (select from oauth_revoked_token revoked where revoked.jti = $4)
      and ($5::text is null
        or exists (select from oauth_token_family family where family.id = $5 and family.revoked_at is null))`,
};

interface Remembered {
  claims: AccessClaims;
  checkedAt: number;
  caller: Promise<Caller | null>;
}

/** Authenticates bearer tokens, against the database at most every half second per token. */
export class AccessTokenVerifier {
  readonly #tokens: AccessTokens;
  readonly #databases: Databases;
  readonly #clock: Clock;
  /** By token, those used last at the end. */
  readonly #remembered: Record<RegionId, Map<string, Remembered>> = { au1: new Map(), us1: new Map() };

  constructor(options: { tokens: AccessTokens; databases: Databases; clock: Clock }) {
    this.#tokens = options.tokens;
    this.#databases = options.databases;
    this.#clock = options.clock;
  }

  /**
   * The caller of an `Authorization` header; throws 401. A token holds in the region of its client alone, because a
   * client exists in one region's database.
   */
  async authenticate(authorization: string | undefined, region: RegionId): Promise<Caller> {
    if (authorization === undefined) throw unauthenticated('An access token is required.', false);
    const caller = await this.#callerOf(authorization, region);
    if (!caller) throw unauthenticated('The access token is invalid, expired or revoked.', true);
    return caller;
  }

  /** Whether the header holds a token that was verified a short time ago. It may have expired or been revoked since. */
  isVerified(authorization: string): boolean {
    if (!authorization.startsWith(SCHEME)) return false;
    const token = authorization.slice(SCHEME.length);
    return this.#remembered.au1.has(token) || this.#remembered.us1.has(token);
  }

  async #callerOf(authorization: string, region: RegionId): Promise<Caller | null> {
    const remembered = this.#remembered[region];
    const now = this.#clock.now();
    // Only tokens that were verified are keys, so that a header in another spelling is not found and is taken apart.
    const usual = authorization.startsWith(SCHEME) ? authorization.slice(SCHEME.length) : '';
    const token = remembered.has(usual) ? usual : tokenIn(authorization);
    let known = remembered.get(token);
    if (known && now >= known.claims.exp * 1000) {
      remembered.delete(token);
      return null;
    }
    if (!known || now - known.checkedAt >= FRESH_MS || now < known.checkedAt) {
      const claims = known?.claims ?? (await this.#tokens.verify(token));
      if (!claims) return null;
      known = { claims, checkedAt: now, caller: loadCaller(this.#databases[region], claims) };
      remember(remembered, token, known, now);
    }
    try {
      return await known.caller;
    } catch (error) {
      remembered.delete(token);
      throw error;
    }
  }

  /** Whether the token still holds, as the database says now. */
  async isLive(claims: AccessClaims, region: RegionId): Promise<boolean> {
    return (await loadCaller(this.#databases[region], claims)) !== null;
  }

  /**
   * Drops what is remembered of a token, by its `jti`, or of a family's tokens, by its id, so that a revocation holds at once
   * on the instance that made it. The others ask the database again soon enough.
   */
  evict(id: string): void {
    for (const remembered of Object.values(this.#remembered)) {
      for (const [token, { claims }] of remembered) {
        if (claims.jti === id || familyOf(claims.jti) === id) remembered.delete(token);
      }
    }
  }
}

function tokenIn(authorization: string): string {
  const match = /^Bearer +([\w.~+/-]+=*)$/i.exec(authorization);
  if (!match) throw unauthenticated('The Authorization header must be Bearer and an access token.', false);
  return match[1]!;
}

function remember(remembered: Map<string, Remembered>, token: string, known: Remembered, now: number): void {
  if (token.length > MAX_TOKEN_LENGTH) return;
  remembered.delete(token);
  remembered.set(token, known);
  for (const [oldest, { checkedAt }] of remembered) {
    if (now - checkedAt < IDLE_MS && checkedAt <= now && remembered.size <= MAX_TOKENS) break;
    remembered.delete(oldest);
  }
}

/** One set for each different list of scopes: most connections of an integrator allow the same. */
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

/** What the region's database says of the token's client, connections and membership; null when it no longer holds. */
async function loadCaller(database: Database, claims: AccessClaims): Promise<Caller | null> {
  const builderId = claims.builder_id ?? null;
  const userId = builderId === null ? null : claims.sub;
  const [row] = await database.runner.run(FACTS, [
    claims.client_id,
    builderId,
    userId,
    claims.jti,
    familyOf(claims.jti),
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
