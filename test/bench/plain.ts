/**
 * The hand-written twin: the endpoints that are measured, on Fastify, pg and jose alone, as an engineer who knows them would
 * write them in a day. No ORM, no GraphQL. It answers byte for byte what the service answers, under the same checks.
 * Left out, because nothing that is measured uses them: CORS, logos in our own storage, and filters of timesheets by date.
 */
import { randomUUID } from 'node:crypto';
import Fastify, { type FastifyRequest } from 'fastify';
import { errors, type JWTPayload, jwtVerify } from 'jose';
import pg from 'pg';

const { BASE_URL, DATABASE_URL_AU1, DATABASE_URL_US1, LOG_LEVEL, PORT, TOKEN_KEY } = process.env;

const pools = new Map([
  ['au1', new pg.Pool({ connectionString: DATABASE_URL_AU1, max: 10 })],
  ['us1', new pg.Pool({ connectionString: DATABASE_URL_US1, max: 10 })],
]);

class HttpError extends Error {
  constructor(
    readonly status: number,
    readonly body: object,
    readonly headers: Record<string, string> = {},
  ) {
    super(`HTTP ${status}`);
  }
}

const invalid = (fields: { fieldName: string; message: string }[]) => new HttpError(400, { errors: fields });
const forbidden = (message: string) => new HttpError(403, { code: 'FORBIDDEN', message });
const notFound = (what: string) => new HttpError(404, { code: 'NOT_FOUND', message: `${what} not found.` });

function unauthenticated(message: string, tokenSent = true): HttpError {
  const challenge = tokenSent ? `Bearer error="invalid_token", error_description="${message}"` : 'Bearer';
  return new HttpError(401, { code: 'UNAUTHENTICATED', message }, { 'WWW-Authenticate': challenge });
}

function insufficientScope(scope: string, message: string): HttpError {
  const challenge = `Bearer error="insufficient_scope", scope="${scope}"`;
  return new HttpError(403, { code: 'INSUFFICIENT_SCOPE', message }, { 'WWW-Authenticate': challenge });
}

// Who calls.

interface Claims extends JWTPayload {
  sub: string;
  client_id: string;
  scope: string;
  jti: string;
  builder_id?: string;
}

interface Grants {
  internal: boolean;
  /** What the client may have at all. */
  scopes: string[];
  /** Scopes by connected builder. */
  connections: Record<string, string[]>;
}

interface Caller {
  pool: pg.Pool;
  claims: Claims;
  grants: Grants;
  /** `X-Service-Builder-Id`. */
  builderHeader: string | null;
}

// Imported once: jose would import the bytes again for every token.
const hmac = { name: 'HMAC', hash: 'SHA-256' };
const key = await crypto.subtle.importKey('raw', Buffer.from(TOKEN_KEY!, 'base64url'), hmac, false, ['verify']);

async function verify(authorization: string | undefined): Promise<Claims> {
  if (authorization === undefined) throw unauthenticated('An access token is required.', false);
  const token = /^Bearer +([\w.~+/-]+=*)$/i.exec(authorization)?.[1];
  if (!token) throw unauthenticated('The Authorization header must be Bearer and an access token.', false);
  try {
    const { payload } = await jwtVerify<Claims>(token, key, {
      algorithms: ['HS256'],
      issuer: BASE_URL!,
      audience: BASE_URL!,
      requiredClaims: ['sub', 'client_id', 'scope', 'jti', 'iat', 'exp'],
    });
    return payload;
  } catch (error) {
    if (error instanceof errors.JOSEError) throw unauthenticated('The access token is invalid, expired or revoked.');
    throw error;
  }
}

const GRANTS = {
  name: 'grants',
  text: `select internal, scopes, (
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

/** A revocation has to count within a second, so half a second of memory is allowed, to us as to the service. */
const FRESH_MS = 500;
const remembered = new Map<string, { at: number; grants: Promise<Grants | undefined> }>();

async function grantsOf(region: string, { client_id, builder_id, sub, jti }: Claims): Promise<Grants> {
  const token = `${region} ${jti}`;
  let known = remembered.get(token);
  if (!known || Date.now() - known.at >= FRESH_MS) {
    const family = jti.includes('.') ? jti.split('.')[0] : null;
    const values = [client_id, builder_id ?? null, builder_id ? sub : null, jti, family];
    const grants = pools
      .get(region)!
      .query<Grants>({ ...GRANTS, values })
      .then(({ rows }) => rows[0]);
    grants.catch(() => remembered.delete(token));
    known = { at: Date.now(), grants };
    remembered.set(token, known);
  }
  const grants = await known.grants;
  if (!grants || (builder_id && !grants.connections[builder_id])) {
    throw unauthenticated('The access token is invalid, expired or revoked.');
  }
  return grants;
}

async function enter(request: FastifyRequest, scope: string): Promise<Caller> {
  const region = request.headers['x-service-region-id'] ?? 'au1';
  const pool = pools.get(region as string);
  if (!pool) throw invalid([{ fieldName: 'X-Service-Region-Id', message: 'must be au1 or us1' }]);
  const claims = await verify(request.headers.authorization);
  const grants = await grantsOf(region as string, claims);
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
  return { pool, claims, grants, builderHeader };
}

function requireConnectionScope(granted: string[], scope: string): void {
  if (!granted.includes(scope)) {
    throw insufficientScope(scope, `The builder's connection does not allow ${scope}.`);
  }
}

/** The builder of an operation that cannot do without one, which the caller may use the scope in. */
async function requireBuilder({ pool, claims, grants, builderHeader }: Caller, scope: string): Promise<string> {
  const builderId = builderHeader ?? claims.builder_id;
  if (!builderId) throw invalid([{ fieldName: 'X-Service-Builder-Id', message: 'is required' }]);
  const granted = grants.connections[builderId];
  if (granted) {
    requireConnectionScope(granted, scope);
    return builderId;
  }
  const query = { name: 'builder-exists', text: 'select from builder where id = $1', values: [builderId] };
  const { rowCount } = await pool.query(query);
  throw rowCount ? forbidden('The builder is not connected to this integrator.') : notFound('Builder');
}

// What they ask for.

type Parser<T> = (text: string) => T | undefined;

const integer =
  (minimum: number, maximum: number): Parser<number> =>
  (text) => {
    const value = /^-?\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
    return value >= minimum && value <= maximum ? value : undefined;
  };

const matching =
  (pattern: RegExp): Parser<string> =>
  (text) =>
    pattern.test(text) ? text : undefined;

const STATUSES = ['APPROVED_1', 'APPROVED_2', 'REJECTED', 'WAITING_REVIEW'];

const PARAMETERS = {
  projectId: {
    parse: matching(/^proj_[a-z0-9]+$/),
    message: 'must be an identifier like proj_a0mkq3v8t2n4c7x1p9r5w6yzb',
  },
  status: {
    parse: (text: string) => (STATUSES.includes(text) ? text : undefined),
    message: `must be one of ${STATUSES.join(', ')}`,
  },
  offset: { parse: integer(0, 2147483647), message: 'must be an integer from 0 to 2147483647' },
  limit: { parse: integer(1, 25), message: 'must be an integer from 1 to 25' },
  includeBuilderCompany: {
    parse: (text: string) => (text === 'true' ? true : text === 'false' ? false : undefined),
    message: 'must be true or false',
  },
} satisfies Record<string, { parse: Parser<unknown>; message: string }>;

type Parameters = {
  [Name in keyof typeof PARAMETERS]?: Exclude<ReturnType<(typeof PARAMETERS)[Name]['parse']>, undefined>;
};

/** The query parameters of those names; 400 with each one that does not hold. */
function parametersOf(request: FastifyRequest, names: (keyof Parameters)[]): Parameters {
  const query = request.query as Record<string, string | string[] | undefined>;
  const values: Record<string, unknown> = {};
  const problems: { fieldName: string; message: string }[] = [];
  for (const name of names) {
    const given = query[name];
    if (given === undefined) continue;
    if (Array.isArray(given)) {
      problems.push({ fieldName: name, message: 'must be given once' });
      continue;
    }
    values[name] = PARAMETERS[name].parse(given);
    if (values[name] === undefined) problems.push({ fieldName: name, message: PARAMETERS[name].message });
  }
  if (problems.length > 0) throw invalid(problems);
  return values;
}

function pageOf(data: object[], totalCount: number, offset: number, limit: number) {
  return { data, meta: { totalCount, totalPages: Math.ceil(totalCount / limit), offset, limit } };
}

// The endpoints.

const app = Fastify({
  logger: { level: LOG_LEVEL ?? 'info' },
  genReqId: (request) => (request.headers['x-request-id'] as string | undefined) ?? randomUUID(),
});

app.addHook('onRequest', async (request, reply) => {
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
});

app.setErrorHandler((error, request, reply) => {
  if (error instanceof HttpError) return reply.code(error.status).headers(error.headers).send(error.body);
  request.log.error(error);
  return reply.code(500).send({ code: 'INTERNAL', message: 'Something went wrong on our side.' });
});

app.get('/health/live', async () => ({ status: 'ok' }));

app.get('/builders', async (request) => {
  const { pool, grants } = await enter(request, 'read:builders');
  const { offset = 0, limit = 25 } = parametersOf(request, ['offset', 'limit']);
  const ids = Object.keys(grants.connections).filter((id) => grants.connections[id]!.includes('read:builders'));
  const { rows } = await pool.query({
    name: 'builders',
    text: `select total, id, name, logo_url, created_at, updated_at
      from (select count(*)::int as total from builder where id = any($1)) counted
      left join (select * from builder where id = any($1) order by created_at, id limit $2 offset $3) page on true
      order by created_at, id`,
    values: [ids, limit, offset],
  });
  const data = rows.filter(({ id }) => id !== null).map(builderOf);
  return pageOf(data, rows[0].total, offset, limit);
});

function builderOf(row: Record<string, unknown>) {
  const builder = { id: row.id, createdAt: row.created_at, updatedAt: row.updated_at, name: row.name };
  return row.logo_url === null ? builder : { ...builder, logoUrl: row.logo_url };
}

app.get('/timesheets', async (request) => {
  const caller = await enter(request, 'read:timesheets');
  const builderId = await requireBuilder(caller, 'read:timesheets');
  const parameters = parametersOf(request, ['offset', 'limit', 'status', 'projectId']);
  const { offset = 0, limit = 25, status, projectId } = parameters;
  const conditions = ['builder_id = $1'];
  const values: unknown[] = [builderId, limit, offset];
  if (projectId !== undefined) conditions.push(`project_id = $${values.push(projectId)}`);
  if (status !== undefined) conditions.push(`status = $${values.push(status)}`);
  const where = conditions.join(' and ');
  const { rows } = await caller.pool.query({
    name: `timesheets ${projectId && 'project'} ${status && 'status'}`,
    text: `select total, t.id, t.status, t.date, t.hours, t.notes, t.timesheet_group_id, t.created_at, t.updated_at,
        time_type.name as time_type, cost_code.code || ' - ' || cost_code.description as cost_code,
        profile.id as profile_id, profile.full_name, profile.type as profile_type,
        project.id as project_id, project.name as project_name
      from (select count(*)::int as total from timesheet where ${where}) counted
      left join (
        select * from timesheet where ${where} order by created_at, id limit $2 offset $3
      ) t on true
      left join project on project.id = t.project_id
      left join person_profile profile on profile.id = t.profile_id
      left join timesheet_time_type time_type on time_type.id = t.time_type_id
      left join timesheet_cost_code cost_code on cost_code.id = t.cost_code_id
      order by t.created_at, t.id`,
    values,
  });
  const data = rows.filter(({ id }) => id !== null).map(timesheetOf);
  return pageOf(data, rows[0].total, offset, limit);
});

function timesheetOf(row: Record<string, unknown>) {
  return {
    id: row.id,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    status: row.status,
    date: row.date,
    hours: row.hours,
    notes: row.notes,
    timesheetGroupId: row.timesheet_group_id,
    timeType: row.time_type,
    costCode: row.cost_code,
    profile: { id: row.profile_id, fullName: row.full_name, type: row.profile_type },
    project: { id: row.project_id, name: row.project_name },
  };
}

const REACHED = [
  'INVITED',
  'ACCEPTED',
  'SWMS_UPLOADED',
  'SWMS_APPROVED',
  'INSURANCE_UPLOADED',
  'INSURANCE_EXPIRED',
  'PREQUALIFIED',
];

app.get<{ Params: { id: string } }>('/subcontractors/:id', async (request) => {
  const { pool, grants, builderHeader } = await enter(request, 'read:subcontractors');
  const { id } = request.params;
  if (!/^sub_[a-z0-9]+$/.test(id)) throw notFound('Resource');
  const { projectId, includeBuilderCompany } = parametersOf(request, ['includeBuilderCompany', 'projectId']);
  const onProject = projectId === undefined ? '' : 'and project_id = $2';
  const { rows } = await pool.query({
    name: `subcontractor ${onProject}`,
    text: `select id, builder_id, name, abn, is_builder, address, tags, integrations, created_at, updated_at, array(
        select unnest(statuses) from subcontractor_project where subcontractor_id = $1 ${onProject}) as statuses
      from subcontractor where id = $1 and archived_at is null`,
    values: projectId === undefined ? [id] : [id, projectId],
  });
  const [row] = rows;
  const granted = row && grants.connections[row.builder_id];
  if (!granted || (row.is_builder && !includeBuilderCompany)) throw notFound('Subcontractor');
  if (builderHeader !== null && builderHeader !== row.builder_id) {
    throw forbidden('X-Service-Builder-Id names another builder than the one the resource belongs to.');
  }
  requireConnectionScope(granted, 'read:subcontractors');
  return subcontractorOf(row);
});

// biome-ignore lint/suspicious/noExplicitAny: a row as pg gives it.
function subcontractorOf(row: any) {
  const { street, suburb, state, postcode, country } = row.address;
  return {
    id: row.id,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    name: row.name,
    abn: row.abn,
    isBuilder: row.is_builder,
    address: { street, suburb, state, postcode, country },
    statuses: REACHED.filter((status) => row.statuses.includes(status)),
    tags: row.tags,
    integrations: row.integrations.map(({ type, sourceId, companyId }: Record<string, string>) => ({
      type,
      sourceId,
      companyId,
    })),
  };
}

process.on('SIGTERM', () => void app.close().then(() => process.exit()));
await app.listen({ host: '127.0.0.1', port: Number(PORT) });
