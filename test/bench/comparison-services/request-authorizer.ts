import type { FastifyRequest } from 'fastify';
import type { JWTPayload } from 'jose';
import { beginRequest, type ConcurrencyLimits } from './concurrency-limits.ts';
import { forbidden, insufficientScope, invalid, notFound, unauthenticated } from './http-error.ts';

export const REGIONS = ['au1', 'us1'] as const;
export type Region = (typeof REGIONS)[number];

export interface Claims extends JWTPayload {
  sub: string;
  client_id: string;
  scope: string;
  jti: string;
  exp: number;
  builder_id?: string;
}

/** Scopes and connections of a client, read from the database. */
export interface ClientAccess {
  integrator_id: string;
  internal: boolean;
  /** Scopes that the client may request. */
  scopes: string[];
  /** Scopes by connected builder. */
  connections: Record<string, string[]>;
}

export interface Caller {
  region: Region;
  claims: Claims;
  access: ClientAccess;
  /** `X-Service-Builder-Id`. */
  builderHeader: string | null;
}

/** Returns the key of the share that a caller's requests are charged to: one per integrator, and one per internal client. */
export const getShareKey = ({ access, claims }: Pick<Caller, 'access' | 'claims'>): string =>
  access.integrator_id ?? claims.client_id;

/** Reads that each comparison service implements with its own database client. */
interface AuthorizationReads {
  /** Returns null when the token is invalid, expired or revoked, or its client is disabled. */
  authenticate(token: string, region: Region): Promise<{ claims: Claims; access: ClientAccess } | null>;
  builderExists(id: string, region: Region): Promise<boolean>;
}

export const READ_CLIENT_ACCESS = {
  name: 'grants',
  text: `select integrator_id, internal, to_json(scopes) as scopes, (
      select coalesce(json_object_agg(builder_id, c.scopes), '{}') from connection c
      where c.integrator_id = client.integrator_id and c.status = 'ACTIVE' and ($2::text is null or c.builder_id = $2)
    ) as connections
    from oauth_client client
    where id = $1 and disabled_at is null and ($3::text is null or exists (
      select from membership m join app_user u on u.id = m.user_id
      where m.user_id = $3 and m.builder_id = $2 and u.disabled_at is null))
    and not exists (select from oauth_revoked_token where jti = $4)
    and ($5::text is null or exists (select from oauth_token_family f where f.id = $5 and f.revoked_at is null))`,
};

/** Returns the parameters of `READ_CLIENT_ACCESS`. */
export function toClientAccessValues({ client_id, builder_id, sub, jti }: Claims): unknown[] {
  const family = jti.includes('.') ? jti.split('.')[0] : null;
  return [client_id, builder_id ?? null, builder_id ? sub : null, jti, family];
}

/** Lifetime of cached access. A revocation must take effect within a second; the measured service caches for as long. */
export const ACCESS_CACHE_MS = 500;

/** Checks the token, scope and builder of a request, in the order of the contract (ERR-23). */
export class RequestAuthorizer {
  readonly #reads: AuthorizationReads;
  readonly #limits: ConcurrencyLimits;

  constructor(reads: AuthorizationReads, limits: ConcurrencyLimits) {
    this.#reads = reads;
    this.#limits = limits;
  }

  /** Returns the caller. Throws 400, 401, 403, 429 or 503 where a check fails. */
  async authorize(request: FastifyRequest, scope: string): Promise<Caller> {
    const region = (request.headers['x-service-region-id'] ?? 'au1') as Region;
    if (!REGIONS.includes(region)) throw invalid([{ fieldName: 'X-Service-Region-Id', message: 'must be au1 or us1' }]);
    const { authorization } = request.headers;
    if (authorization === undefined) throw unauthenticated('An access token is required.', false);
    const token = /^Bearer +([\w.~+/-]+=*)$/i.exec(authorization)?.[1];
    if (!token) throw unauthenticated('The Authorization header must be Bearer and an access token.', false);
    const authenticated = await this.#reads.authenticate(token, region);
    const tokenBuilderId = authenticated?.claims.builder_id;
    if (!authenticated || (tokenBuilderId && !authenticated.access.connections[tokenBuilderId])) {
      throw unauthenticated('The access token is invalid, expired or revoked.');
    }
    const { claims, access } = authenticated;
    await beginRequest(this.#limits, request, getShareKey(authenticated));
    if (access.internal) throw forbidden('An internal client calls through GraphQL only.');
    if (!claims.scope.split(' ').includes(scope) || !access.scopes.includes(scope)) {
      throw insufficientScope(scope, `This operation needs the scope ${scope}.`);
    }
    const version = request.headers['x-service-api-version'] ?? 'v1';
    if (version !== 'v1') throw invalid([{ fieldName: 'X-Service-Api-Version', message: 'must be v1' }]);
    const builderHeader = (request.headers['x-service-builder-id'] ?? null) as string | null;
    if (builderHeader !== null && !/^buil_[a-z0-9]+$/.test(builderHeader)) {
      const message = 'must be a builder id, such as buil_a0mkq3v8t2n4c7x1p9r5w6yzb';
      throw invalid([{ fieldName: 'X-Service-Builder-Id', message }]);
    }
    if (builderHeader !== null && claims.builder_id !== undefined && builderHeader !== claims.builder_id) {
      throw forbidden('X-Service-Builder-Id names another builder than the access token.');
    }
    return { region, claims, access, builderHeader };
  }

  /** Returns the builder of the header or of the token. Throws unless its connection allows the scope. */
  async authorizeHeaderBuilder(caller: Caller, scope: string): Promise<string> {
    const builderId = caller.builderHeader ?? caller.claims.builder_id;
    if (!builderId) throw invalid([{ fieldName: 'X-Service-Builder-Id', message: 'is required' }]);
    await this.authorizeBuilder(caller, builderId, scope);
    return builderId;
  }

  /** Throws unless the connection of the builder in the path allows the scope. */
  async authorizePathBuilder(caller: Caller, builderId: string, scope: string): Promise<void> {
    if (!/^buil_[a-z0-9]+$/.test(builderId)) throw notFound('Resource');
    if (caller.builderHeader !== null && caller.builderHeader !== builderId) {
      throw forbidden('X-Service-Builder-Id names another builder than the request.');
    }
    await this.authorizeBuilder(caller, builderId, scope);
  }

  async authorizeBuilder({ region, access }: Caller, builderId: string, scope: string): Promise<void> {
    const connectionScopes = access.connections[builderId];
    if (connectionScopes) return requireConnectionScope(connectionScopes, scope);
    const exists = await this.#reads.builderExists(builderId, region);
    throw exists ? forbidden('The builder is not connected to this integrator.') : notFound('Builder');
  }
}

/** Throws 403 unless the scopes of a connection include the scope. */
export function requireConnectionScope(connectionScopes: string[], scope: string): void {
  if (!connectionScopes.includes(scope)) {
    throw insufficientScope(scope, `The builder's connection does not allow ${scope}.`);
  }
}
