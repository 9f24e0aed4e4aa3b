/**
 * The hand-written twin of the attendance endpoint: Fastify, pg and jose alone, with the same checks of token, scope, builder,
 * site access and input, and the same two inserts in one transaction. It takes sign-ons only, which is what is measured, and
 * leaves out sign-offs, races between the two, and the record of conflicts.
 */
import { randomBytes } from 'node:crypto';
import Fastify from 'fastify';
import { type JWTPayload, jwtVerify } from 'jose';
import pg from 'pg';

const { BASE_URL, DATABASE_URL_AU1, PORT, TOKEN_KEY } = process.env;

const pool = new pg.Pool({ connectionString: DATABASE_URL_AU1, max: 10 });

class HttpError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

interface Claims extends JWTPayload {
  client_id: string;
  scope: string;
}

interface Grants {
  integrator_id: string;
  scopes: string[];
  connections: Record<string, string[]>;
}

// Imported once: jose would import the bytes again for every token.
const hmac = { name: 'HMAC', hash: 'SHA-256' };
const key = await crypto.subtle.importKey('raw', Buffer.from(TOKEN_KEY!, 'base64url'), hmac, false, ['verify']);

/** A revocation has to count within a second, so half a second of memory is allowed, to us as to the service. */
const FRESH_MS = 500;
const remembered = new Map<string, { at: number; grants: Promise<Grants | undefined> }>();

async function grantsOf(clientId: string): Promise<Grants | undefined> {
  let known = remembered.get(clientId);
  if (!known || Date.now() - known.at >= FRESH_MS) {
    const grants = pool
      .query<Grants>({
        name: 'grants',
        text: `select integrator_id, scopes, (
            select coalesce(json_object_agg(builder_id, c.scopes), '{}') from connection c
            where c.integrator_id = client.integrator_id and c.status = 'ACTIVE') as connections
          from oauth_client client where id = $1 and disabled_at is null`,
        values: [clientId],
      })
      .then(({ rows }) => rows[0]);
    known = { at: Date.now(), grants };
    remembered.set(clientId, known);
  }
  return known.grants;
}

const SCOPE = 'write:sign_on_events';

/** The integrator of the token, if it may report attendance to the builder. */
async function enter(authorization: string | undefined, builderId: string): Promise<string> {
  const token = /^Bearer +(\S+)$/i.exec(authorization ?? '')?.[1];
  const verified = token && (await jwtVerify<Claims>(token, key, { issuer: BASE_URL!, audience: BASE_URL! }));
  if (!verified) throw new HttpError(401, 'UNAUTHENTICATED', 'An access token is required.');
  const { client_id, scope } = verified.payload;
  const grants = await grantsOf(client_id);
  const connection = grants?.connections[builderId];
  if (!grants || !connection) throw new HttpError(403, 'FORBIDDEN', 'The builder is not connected.');
  for (const scopes of [scope.split(' '), grants.scopes, connection]) {
    if (!scopes.includes(SCOPE)) throw new HttpError(403, 'INSUFFICIENT_SCOPE', `This needs ${SCOPE}.`);
  }
  return grants.integrator_id;
}

interface Body {
  sourceEventId: string;
  workerId: string;
  occurredAt: string;
  deviceId?: string;
}

const text = { type: 'string', minLength: 1, maxLength: 200 };
const body = {
  type: 'object',
  required: ['sourceEventId', 'workerId', 'type', 'occurredAt'],
  properties: {
    sourceEventId: text,
    workerId: { ...text, pattern: '^wkr_[a-zA-Z0-9]+$' },
    type: { const: 'SIGN_ON' },
    occurredAt: { type: 'string', format: 'date-time' },
    deviceId: text,
  },
};

const newId = (prefix: string) => `${prefix}_a${Date.now().toString(36)}${randomBytes(10).toString('hex')}`;

const app = Fastify();

app.setErrorHandler((error: HttpError & { statusCode?: number }, _request, reply) =>
  reply.code(error.status ?? error.statusCode ?? 500).send({ code: error.code ?? 'INTERNAL', message: error.message }),
);

app.get('/health/live', () => ({ status: 'ok' }));

app.post<{ Params: { builderId: string; projectId: string }; Body: Body }>(
  '/builders/:builderId/projects/:projectId/sign-on-events',
  { schema: { body } },
  async (request, reply) => {
    const { builderId, projectId } = request.params;
    const integratorId = await enter(request.headers.authorization, builderId);
    const { sourceEventId, workerId, occurredAt, deviceId = null } = request.body;
    if (Date.parse(occurredAt) > Date.now()) throw new HttpError(400, 'BAD_USER_INPUT', 'occurredAt');
    const { rows: known } = await pool.query({
      name: 'access',
      text: `select (select count(*) from site_access where worker_id = $3 and project_id = $2) as access
        from project where id = $2 and builder_id = $1`,
      values: [builderId, projectId, workerId],
    });
    if (known.length === 0) throw new HttpError(404, 'NOT_FOUND', 'Project not found.');
    if (known[0].access === '0') throw new HttpError(403, 'FORBIDDEN', 'The worker has no site access.');
    const client = await pool.connect();
    try {
      const [id, visitId, now] = [newId('saevt'), newId('signon'), new Date()];
      await client.query('begin');
      await client.query({
        name: 'visit',
        text: `insert into sign_on_visit (id, created_at, updated_at, builder_id, project_id, worker_id, signed_on_at)
          values ($1, $2, $2, $3, $4, $5, $6)`,
        values: [visitId, now, builderId, projectId, workerId, occurredAt],
      });
      const { rowCount } = await client.query({
        name: 'event',
        text: `insert into sign_on_event (id, created_at, updated_at, integrator_id, builder_id, project_id, worker_id,
            source_event_id, type, occurred_at, device_id, status, visit_id)
          values ($1, $2, $2, $3, $4, $5, $6, $7, 'SIGN_ON', $8, $9, 'APPLIED', $10)
          on conflict (integrator_id, builder_id, project_id, source_event_id) do nothing`,
        values: [id, now, integratorId, builderId, projectId, workerId, sourceEventId, occurredAt, deviceId, visitId],
      });
      if (rowCount === 0) throw new HttpError(409, 'EVENT_MISMATCH', 'The event was sent before.');
      await client.query('commit');
      return reply
        .code(201)
        .send({ data: { id, sourceEventId, status: 'APPLIED', signOnId: visitId, duplicate: false } });
    } catch (error) {
      await client.query('rollback');
      throw error;
    } finally {
      client.release();
    }
  },
);

process.on('SIGTERM', () => void app.close().then(() => process.exit()));
await app.listen({ host: '127.0.0.1', port: Number(PORT) });
