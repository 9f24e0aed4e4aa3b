import type { FastifyInstance } from 'fastify';
import type pg from 'pg';
import { newId } from '../../../src/shared/ids.ts';
import { SIGN_ON_BODY, type SignOnBody } from './inputs.ts';
import type { Limits } from './limits.ts';
import { pools, transaction } from './plain-database.ts';
import { conflict, type Door, forbidden, invalid, notFound, shareOf } from './service.ts';

/** Worker, project, builder. */
const ACCESS = {
  name: 'access',
  text: `select exists (select from site_access where worker_id = $1 and project_id = $2) as access
    from project where id = $2 and builder_id = $3`,
};

const VISIT = {
  name: 'visit',
  text: `insert into sign_on_visit (id, created_at, updated_at, builder_id, project_id, worker_id, signed_on_at)
    values ($1, $2, $2, $3, $4, $5, $6)`,
};

const EVENT = {
  name: 'event',
  text: `insert into sign_on_event (id, created_at, updated_at, integrator_id, builder_id, project_id, worker_id,
      source_event_id, type, occurred_at, device_id, status, visit_id)
    values ($1, $2, $2, $3, $4, $5, $6, $7, 'SIGN_ON', $8, $9, 'APPLIED', $10)
    on conflict (integrator_id, builder_id, project_id, source_event_id) do nothing`,
};

/** Events that name each other wait for each other. */
const LOCK = { name: 'lock-event', text: 'select pg_advisory_xact_lock(hashtextextended($1, 0))' };

const WAITING = {
  name: 'waiting-sign-offs',
  text: `select 1 from sign_on_event where integrator_id = $1 and builder_id = $2 and project_id = $3
    and source_sign_on_event_id = $4 and status = 'PENDING_SIGN_ON'`,
};

const STORED = {
  name: 'stored-event',
  text: `select id, worker_id, type, occurred_at, device_id, visit_id from sign_on_event
    where integrator_id = $1 and builder_id = $2 and project_id = $3 and source_event_id = $4`,
};

class SentBefore extends Error {}

/**
 * Takes sign-ons, which are what is measured. Left out: sign-offs, and the record of conflicts. A sign-on for which sign-offs wait is
 * 409 here. A unique key makes an event count once; the transaction keeps event and visit together; its lock makes a sign-off that
 * arrives meanwhile wait.
 */
export function plainSignOns(app: FastifyInstance, door: Door, limits: Limits): void {
  app.post<{ Params: { builderId: string; projectId: string }; Body: SignOnBody }>(
    '/builders/:builderId/projects/:projectId/sign-on-events',
    { schema: { body: SIGN_ON_BODY } },
    async (request, reply) => {
      const { builderId, projectId } = request.params;
      const caller = await door.enter(request, 'write:sign_on_events');
      await door.requirePathBuilder(caller, builderId, 'write:sign_on_events');
      if (!/^proj_[a-z0-9]+$/.test(projectId)) throw notFound('Resource');
      const { sourceEventId, workerId, occurredAt, deviceId = null } = request.body;
      const now = new Date();
      if (Date.parse(occurredAt) > now.getTime() + 5_000) {
        throw invalid([{ fieldName: 'occurredAt', message: 'is too far in the future' }]);
      }
      const pool = pools[caller.region];
      const { rows } = await pool.query({ ...ACCESS, values: [workerId, projectId, builderId] });
      if (rows.length === 0) throw notFound('Project');
      if (!rows[0].access) throw forbidden('The worker has no site access, present or past, to this project.');
      const integratorId = caller.grants.integrator_id;
      const id = newId('signOnEvent', now.getTime());
      const visitId = newId('signOnVisit', now.getTime());
      const identity = [integratorId, builderId, projectId, sourceEventId];
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
          await client.query({ ...LOCK, values: [JSON.stringify(identity)] });
          await client.query({ ...VISIT, values: [visitId, now, builderId, projectId, workerId, occurredAt] });
          const { rowCount } = await client.query({ ...EVENT, values: event });
          if (rowCount === 0) throw new SentBefore();
          const waiting = await client.query({ ...WAITING, values: identity });
          if (waiting.rows.length > 0) throw conflict('EVENT_MISMATCH', 'Sign-offs wait for this sign-on.');
        };
        await limits.runWrite(shareOf(caller), () => transaction(pool, record));
      } catch (error) {
        if (!(error instanceof SentBefore)) throw error;
        const [stored] = (await pool.query({ ...STORED, values: identity })).rows;
        const same =
          stored.type === 'SIGN_ON' &&
          stored.worker_id === workerId &&
          stored.device_id === deviceId &&
          stored.occurred_at.getTime() === Date.parse(occurredAt);
        if (!same) {
          throw conflict('EVENT_MISMATCH', 'An event with this sourceEventId was sent before with other data.');
        }
        return answer(stored.id, sourceEventId, stored.visit_id, true);
      }
      reply.code(201);
      return answer(id, sourceEventId, visitId, false);
    },
  );
}

const answer = (id: string, sourceEventId: string, signOnId: string, duplicate: boolean) => {
  return { data: { id, sourceEventId, status: 'APPLIED', signOnId, duplicate } };
};
