import type { FastifyInstance } from 'fastify';
import { REGIONS, type Region } from './request-authorizer.ts';

/** Interval of the measured service. A killed process loses the counts of at most one interval (CON-10). */
const WRITE_INTERVAL_MS = 5_000;

interface Counts {
  requests: number;
  errors: number;
  rejections: number;
}

export const ADD_COUNTS = {
  name: 'add-counts',
  text: `insert into usage_day as day (integrator_id, date, requests, errors, rejections)
    select integrator_id, date, requests, errors, rejections from jsonb_to_recordset($1::jsonb)
      as counted (integrator_id text, date date, requests int, errors int, rejections int)
      where exists (select from integrator where id = integrator_id) order by integrator_id, date
    on conflict (integrator_id, date) do update set requests = day.requests + excluded.requests,
      errors = day.errors + excluded.errors, rejections = day.rejections + excluded.rejections`,
};

/**
 * Counts requests by integrator and UTC day, and adds the counts to the table at intervals. Reasons of rejections are omitted because no
 * measured request is rejected.
 *
 * @param add Executes `ADD_COUNTS`.
 */
export function countUsage(app: FastifyInstance, add: (region: Region, values: [rows: string]) => Promise<unknown>) {
  const countsByRegion: Record<Region, Map<string, Counts>> = { au1: new Map(), us1: new Map() };
  app.addHook('onResponse', ({ shareKey, headers }, { statusCode }, done) => {
    if (shareKey !== null) {
      const counts = countsByRegion[(headers['x-service-region-id'] ?? 'au1') as Region];
      const key = `${new Date().toISOString().slice(0, 10)} ${shareKey}`;
      const { requests, errors, rejections } = counts.get(key) ?? { requests: 0, errors: 0, rejections: 0 };
      counts.set(key, {
        requests: requests + 1,
        errors: errors + (statusCode >= 500 ? 1 : 0),
        rejections: rejections + (statusCode >= 400 && statusCode < 500 ? 1 : 0),
      });
    }
    done();
  });
  const write = async () => {
    for (const region of REGIONS) {
      const rows = [...countsByRegion[region]].map(([key, counts]) => {
        const [date, integrator_id] = key.split(' ');
        return { date, integrator_id, ...counts };
      });
      countsByRegion[region].clear();
      if (rows.length > 0) await add(region, [JSON.stringify(rows)]).catch((error) => app.log.error(error));
    }
  };
  const timer = setInterval(write, WRITE_INTERVAL_MS).unref();
  app.addHook('onClose', async () => {
    clearInterval(timer);
    await write();
  });
}
