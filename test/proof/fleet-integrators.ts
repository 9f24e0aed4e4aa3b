import { randomBytes } from 'node:crypto';
import type { Database } from '../../src/database/database.ts';

/** An integrator with a builder, a project and workers of its own. */
export interface FleetIntegrator {
  name: string;
  clientId: string;
  builderId: string;
  projectId: string;
  workers: string[];
  /** Requests that it has begun, over all hours. */
  sent: number;
}

const WORKERS = 10;

/** SQL that inserts a copy of one row with other values, whatever columns its table has. */
const copyRow = (table: string, changes: string) =>
  `insert into ${table} select copy.* from ${table} t, jsonb_populate_record(null::${table}, to_jsonb(t) || ${changes}) copy`;

/** Adds integrators as copies of a client's: its builder, a project, workers, a connection. Returns them. */
export async function addIntegrators(database: Database, clientId: string, count: number): Promise<FleetIntegrator[]> {
  const em = database.fork();
  const runId = randomBytes(3).toString('hex');
  const [source] = await em.execute<{ integrator: string; builder: string; project: string; subcontractor: string }[]>(
    `select c.integrator_id as integrator, n.builder_id as builder,
       (select min(id) from project p where p.builder_id = n.builder_id) as project,
       (select min(id) from subcontractor s where s.builder_id = n.builder_id) as subcontractor
     from oauth_client c join connection n using (integrator_id) where c.id = ? and n.status = 'ACTIVE' limit 1`,
    [clientId],
  );
  const { integrator, builder, project, subcontractor } = source!;
  const integrators: FleetIntegrator[] = [];
  for (let index = 0; index < count; index++) {
    const idSuffix = `${runId}${index}`;
    const ids = {
      integrator: `intg_${idSuffix}`,
      client: `cli_${idSuffix}`,
      builder: `buil_${idSuffix}`,
      project: `proj_${idSuffix}`,
      subcontractor: `sub_${idSuffix}`,
    };
    await em.transactional(async (transaction) => {
      const copy = (table: string, key: unknown, column: string, changes: object) =>
        transaction.execute(`${copyRow(table, '?::jsonb')} where t.${column} = ?`, [JSON.stringify(changes), key]);
      await copy('integrator', integrator, 'id', { id: ids.integrator, name: idSuffix });
      await copy('oauth_client', clientId, 'id', { id: ids.client, integrator_id: ids.integrator, name: idSuffix });
      await copy('builder', builder, 'id', { id: ids.builder, name: idSuffix });
      await copy('project', project, 'id', { id: ids.project, builder_id: ids.builder });
      await copy('subcontractor', subcontractor, 'id', { id: ids.subcontractor, builder_id: ids.builder });
      await transaction.execute(
        `insert into connection (created_at, updated_at, integrator_id, builder_id, status, scopes)
         select now(), now(), ?, ?, 'ACTIVE', scopes from connection where integrator_id = ? and builder_id = ?`,
        [ids.integrator, ids.builder, integrator, builder],
      );
      await transaction.execute(
        `insert into worker (id, created_at, updated_at, builder_id, subcontractor_id, full_name)
         select ? || n, now(), now(), ?, ?, 'Worker ' || n from generate_series(1, ?::int) n`,
        [`wkr_${idSuffix}x`, ids.builder, ids.subcontractor, WORKERS],
      );
      await transaction.execute(
        `insert into site_access (builder_id, worker_id, project_id, granted_at) select builder_id, id, ?, now() - interval '1 year'
         from worker where builder_id = ?`,
        [ids.project, ids.builder],
      );
    });
    const workers = Array.from({ length: WORKERS }, (_, worker) => `wkr_${idSuffix}x${worker + 1}`);
    integrators.push({
      name: idSuffix,
      clientId: ids.client,
      builderId: ids.builder,
      projectId: ids.project,
      workers,
      sent: 0,
    });
  }
  return integrators;
}
