import type { FastifyInstance } from 'fastify';
import type pg from 'pg';
import { newId } from '../../../schema/ids.ts';
import type { ConcurrencyLimits } from './concurrency-limits.ts';
import { conflict, forbidden, invalid, notFound } from './http-error.ts';
import { pools, runInTransaction } from './plain-database.ts';
import { getShareKey, type RequestAuthorizer } from './request-authorizer.ts';
import { SIGN_ON_BODY, type SignOnBody } from './request-bodies.ts';

/** Parameters: worker id, project id, builder id. */
const READ_SITE_ACCESS = {
  name: 'access',
  text: `select exists (select from site_access where worker_id = $1 and project_id = $2) as access
    from project where id = $2 and builder_id = $3`,
};

const INSERT_VISIT = {
  name: 'visit',
  text: `insert into sign_on_visit (id, created_at, updated_at, builder_id, project_id, worker_id, signed_on_at)
    values ($1, $2, $2, $3, $4, $5, $6)`,
};

const INSERT_EVENT = {
  name: 'event',
  text: `insert into sign_on_event (id, created_at, updated_at, integrator_id, builder_id, project_id, worker_id,
      source_event_id, type, occurred_at, device_id, status, visit_id)
    values ($1, $2, $2, $3, $4, $5, $6, $7, 'SIGN_ON', $8, $9, 'APPLIED', $10)
    on conflict (integrator_id, builder_id, project_id, source_event_id) do nothing`,
};

/** Serializes a sign-on and the sign-offs that refer to it. */
const LOCK_EVENT = { name: 'lock-event', text: 'select pg_advisory_xact_lock(hashtextextended($1, 0))' };

const FIND_PENDING_SIGN_OFFS = {
  name: 'waiting-sign-offs',
  text: `select 1 from sign_on_event where integrator_id = $1 and builder_id = $2 and project_id = $3
    and source_sign_on_event_id = $4 and status = 'PENDING_SIGN_ON'`,
};

const FIND_EVENT = {
  name: 'stored-event',
  text: `select id, worker_id, type, occurred_at, device_id, visit_id from sign_on_event
    where integrator_id = $1 and builder_id = $2 and project_id = $3 and source_event_id = $4`,
};

/** The unique key of the event is already stored. */
class DuplicateEventError extends Error {}

/**
 * Registers sign-ons. Sign-offs and the recording of conflicts are omitted; a sign-on with pending sign-offs is answered with 409. A unique
 * key makes events idempotent, and the advisory lock blocks a concurrent sign-off that refers to the sign-on.
 */
export function registerPlainSignOns(
  app: FastifyInstance,
  authorizer: RequestAuthorizer,
  limits: ConcurrencyLimits,
): void {
  app.post<{ Params: { builderId: string; projectId: string }; Body: SignOnBody }>(
    '/builders/:builderId/projects/:projectId/sign-on-events',
    { schema: { body: SIGN_ON_BODY } },
    async (request, reply) => {
      const { builderId, projectId } = request.params;
      const caller = await authorizer.authorize(request, 'write:sign_on_events');
      await authorizer.authorizePathBuilder(caller, builderId, 'write:sign_on_events');
      if (!/^proj_[a-z0-9]+$/.test(projectId)) throw notFound('Resource');
      const { sourceEventId, workerId, occurredAt, deviceId = null } = request.body;
      const now = new Date();
      if (Date.parse(occurredAt) > now.getTime() + 5_000) {
        throw invalid([{ fieldName: 'occurredAt', message: 'is too far in the future' }]);
      }
      const pool = pools[caller.region];
      const { rows } = await pool.query({ ...READ_SITE_ACCESS, values: [workerId, projectId, builderId] });
      if (rows.length === 0) throw notFound('Project');
      if (!rows[0].access) throw forbidden('The worker has no site access, present or past, to this project.');
      const integratorId = caller.access.integrator_id;
      const id = newId('signOnEvent', now.getTime());
      const visitId = newId('signOnVisit', now.getTime());
      const eventKey = [integratorId, builderId, projectId, sourceEventId];
      const event = [
        id,
        now,
        integratorId,
        builderId,
        projectId,
        workerId,
        sourceEventId,
        occurredAt,
        deviceId,
        visitId,
      ];
      try {
        const record = async (client: pg.PoolClient) => {
          await client.query({ ...LOCK_EVENT, values: [JSON.stringify(eventKey)] });
          await client.query({ ...INSERT_VISIT, values: [visitId, now, builderId, projectId, workerId, occurredAt] });
          const { rowCount } = await client.query({ ...INSERT_EVENT, values: event });
          if (rowCount === 0) throw new DuplicateEventError();
          const pendingSignOffs = await client.query({ ...FIND_PENDING_SIGN_OFFS, values: eventKey });
          if (pendingSignOffs.rows.length > 0) throw conflict('EVENT_MISMATCH', 'Sign-offs wait for this sign-on.');
        };
        await limits.runWrite(getShareKey(caller), () => runInTransaction(pool, record));
      } catch (error) {
        if (!(error instanceof DuplicateEventError)) throw error;
        const [stored] = (await pool.query({ ...FIND_EVENT, values: eventKey })).rows;
        const isSameEvent =
          stored.type === 'SIGN_ON' &&
          stored.worker_id === workerId &&
          stored.device_id === deviceId &&
          stored.occurred_at.getTime() === Date.parse(occurredAt);
        if (!isSameEvent) {
          throw conflict('EVENT_MISMATCH', 'An event with this sourceEventId was sent before with other data.');
        }
        return toResponse(stored.id, sourceEventId, stored.visit_id, true);
      }
      reply.code(201);
      return toResponse(id, sourceEventId, visitId, false);
    },
  );
}

const toResponse = (id: string, sourceEventId: string, signOnId: string, duplicate: boolean) => {
  return { data: { id, sourceEventId, status: 'APPLIED', signOnId, duplicate } };
};
