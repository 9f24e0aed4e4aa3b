/**
 * What the hand-written services share, whatever they read their rows with: errors, headers, and the checks of a caller, as an
 * engineer who knows Fastify would write them. No ORM, no GraphQL. Left out, because nothing that is measured uses it: CORS.
 */
import { randomUUID } from 'node:crypto';
import Fastify, { type FastifyInstance, type FastifyRequest } from 'fastify';
import type { JWTPayload } from 'jose';
import { installLimits, type Limits, startRequest } from './limits.ts';

export class HttpError extends Error {
  constructor(
    readonly status: number,
    readonly body: object,
    readonly headers: Record<string, string> = {},
  ) {
    super(`HTTP ${status}`);
  }
}

export const invalid = (errors: { fieldName: string; message: string }[]) => new HttpError(400, { errors });
export const forbidden = (message: string) => new HttpError(403, { code: 'FORBIDDEN', message });
export const notFound = (what: string) => new HttpError(404, { code: 'NOT_FOUND', message: `${what} not found.` });
export const conflict = (code: string, message: string) => new HttpError(409, { code, message });

function unauthenticated(message: string, tokenSent = true): HttpError {
  const challenge = tokenSent ? `Bearer error="invalid_token", error_description="${message}"` : 'Bearer';
  return new HttpError(401, { code: 'UNAUTHENTICATED', message }, { 'WWW-Authenticate': challenge });
}

function insufficientScope(scope: string, message: string): HttpError {
  const challenge = `Bearer error="insufficient_scope", scope="${scope}"`;
  return new HttpError(403, { code: 'INSUFFICIENT_SCOPE', message }, { 'WWW-Authenticate': challenge });
}

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

/** What the database says of a token's client. */
export interface Grants {
  integrator_id: string;
  internal: boolean;
  /** What the client may have at all. */
  scopes: string[];
  /** Scopes by connected builder. */
  connections: Record<string, string[]>;
}

export interface Caller {
  region: Region;
  claims: Claims;
  grants: Grants;
  /** `X-Service-Builder-Id`. */
  builderHeader: string | null;
}

/** Whose limits a request counts towards. */
export const shareOf = ({ grants, claims }: Pick<Caller, 'grants' | 'claims'>): string =>
  grants.integrator_id ?? claims.client_id;

/** What each of them does in its own way. */
interface Lookups {
  /** Null when the token is not ours, has expired, or its client is gone. */
  recognise(token: string, region: Region): Promise<{ claims: Claims; grants: Grants } | null>;
  builderExists(id: string, region: Region): Promise<boolean>;
}

export const GRANTS = {
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

export function grantValues({ client_id, builder_id, sub, jti }: Claims): unknown[] {
  const family = jti.includes('.') ? jti.split('.')[0] : null;
  return [client_id, builder_id ?? null, builder_id ? sub : null, jti, family];
}

/** A revocation has to count within a second, so half a second of memory is allowed, to them as to the service. */
export const FRESH_MS = 500;

/** The checks of a call, in the order of the contract. */
export class Door {
  readonly #lookups: Lookups;
  readonly #limits: Limits;

  constructor(lookups: Lookups, limits: Limits) {
    this.#lookups = lookups;
    this.#limits = limits;
  }

  async enter(request: FastifyRequest, scope: string): Promise<Caller> {
    const region = (request.headers['x-service-region-id'] ?? 'au1') as Region;
    if (!REGIONS.includes(region)) throw invalid([{ fieldName: 'X-Service-Region-Id', message: 'must be au1 or us1' }]);
    const { authorization } = request.headers;
    if (authorization === undefined) throw unauthenticated('An access token is required.', false);
    const token = /^Bearer +([\w.~+/-]+=*)$/i.exec(authorization)?.[1];
    if (!token) throw unauthenticated('The Authorization header must be Bearer and an access token.', false);
    const known = await this.#lookups.recognise(token, region);
    if (!known || (known.claims.builder_id && !known.grants.connections[known.claims.builder_id])) {
      throw unauthenticated('The access token is invalid, expired or revoked.');
    }
    const { claims, grants } = known;
    await startRequest(this.#limits, request, shareOf(known));
    if (grants.internal) throw forbidden('An internal client calls through GraphQL only.');
    if (!claims.scope.split(' ').includes(scope) || !grants.scopes.includes(scope)) {
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
    return { region, claims, grants, builderHeader };
  }

  /** The builder of an operation that takes it from the header, in which the caller may use the scope. */
  async requireHeaderBuilder(caller: Caller, scope: string): Promise<string> {
    const builderId = caller.builderHeader ?? caller.claims.builder_id;
    if (!builderId) throw invalid([{ fieldName: 'X-Service-Builder-Id', message: 'is required' }]);
    await this.requireBuilder(caller, builderId, scope);
    return builderId;
  }

  /** The same for one in the path. */
  async requirePathBuilder(caller: Caller, builderId: string, scope: string): Promise<void> {
    if (!/^buil_[a-z0-9]+$/.test(builderId)) throw notFound('Resource');
    if (caller.builderHeader !== null && caller.builderHeader !== builderId) {
      throw forbidden('X-Service-Builder-Id names another builder than the request.');
    }
    await this.requireBuilder(caller, builderId, scope);
  }

  async requireBuilder({ region, grants }: Caller, builderId: string, scope: string): Promise<void> {
    const granted = grants.connections[builderId];
    if (granted) return requireConnectionScope(granted, scope);
    const exists = await this.#lookups.builderExists(builderId, region);
    throw exists ? forbidden('The builder is not connected to this integrator.') : notFound('Builder');
  }
}

export function requireConnectionScope(granted: string[], scope: string): void {
  if (!granted.includes(scope)) {
    throw insufficientScope(scope, `The builder's connection does not allow ${scope}.`);
  }
}

export function createService(limits: Limits): FastifyInstance {
  const app = Fastify({
    logger: { level: process.env.LOG_LEVEL ?? 'info' },
    genReqId: (request) => (request.headers['x-request-id'] as string | undefined) ?? randomUUID(),
  });
  installLimits(app, limits);
  app.addHook('onRequest', (request, reply, done) => {
    reply.headers({
      'X-Request-Id': request.id,
      'X-Service-Api-Version': 'v1',
      'X-Content-Type-Options': 'nosniff',
      'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
      'Referrer-Policy': 'no-referrer',
      'Cache-Control': 'no-store',
      'Strict-Transport-Security': 'max-age=31536000; includeSubDomains',
      Vary: 'Origin',
    });
    done();
  });
  app.setErrorHandler(
    (error: Error & { validation?: { instancePath: string; message?: string }[] }, request, reply) => {
      if (error instanceof HttpError) return reply.code(error.status).headers(error.headers).send(error.body);
      if (error.validation) {
        const errors = error.validation.map(({ instancePath, message }) => {
          return { fieldName: instancePath.slice(1).replaceAll('/', '.') || 'body', message: message ?? 'is invalid' };
        });
        return reply.code(400).send({ errors });
      }
      request.log.error(error);
      return reply.code(500).send({ code: 'INTERNAL', message: 'Something went wrong on our side.' });
    },
  );
  app.get('/health/live', async () => ({ status: 'ok' }));
  return app;
}

export async function listen(app: FastifyInstance): Promise<void> {
  process.on('SIGTERM', () => void app.close().then(() => process.exit()));
  await app.listen({ host: '127.0.0.1', port: Number(process.env.PORT) });
}
