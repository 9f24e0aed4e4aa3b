import type { FastifyInstance } from 'fastify';
import { REGIONS, type Region } from './request-authorizer.ts';

/** Interval of the measured service. A killed process loses the counts of at most one interval (REQ-7). */
const WRITE_INTERVAL_MS = 1_000;

interface Counts {
  requests: number;
  rejections: number;
  failures: number;
}

export const ADD_COUNTS = {
  name: 'add-counts',
  text: `insert into usage_day as day (integrator_id, date, client_id, operation, requests, rejections, failures)
    select client.integrator_id, date, client.id, operation, requests, rejections, failures from jsonb_to_recordset($1::jsonb)
      as counted (share_key text, date date, operation text, requests int, rejections int, failures int)
      join lateral (select id, integrator_id from oauth_client where integrator_id = share_key order by id limit 1) client on true
      order by integrator_id, date, operation
    on conflict (integrator_id, date, client_id, operation) do update set requests = day.requests + excluded.requests,
      rejections = day.rejections + excluded.rejections, failures = day.failures + excluded.failures`,
};

/**
 * Counts requests by integrator, UTC day and operation, and adds the counts to the table at intervals. Reasons of rejections are omitted because no
 * measured request is rejected.
 *
 * @param add Executes `ADD_COUNTS`.
 */
export function countUsage(app: FastifyInstance, add: (region: Region, values: [rows: string]) => Promise<unknown>) {
  const countsByRegion: Record<Region, Map<string, Counts>> = { au1: new Map(), us1: new Map() };
  app.addHook('onResponse', ({ shareKey, headers, method, routeOptions }, { statusCode }, done) => {
    if (shareKey !== null) {
      const counts = countsByRegion[(headers['x-service-region-id'] ?? 'au1') as Region];
      const key = `${new Date().toISOString().slice(0, 10)} ${shareKey} ${method} ${routeOptions.url}`;
      const { requests, rejections, failures } = counts.get(key) ?? { requests: 0, rejections: 0, failures: 0 };
      counts.set(key, {
        requests: requests + 1,
        rejections: rejections + (statusCode >= 400 && statusCode < 500 ? 1 : 0),
        failures: failures + (statusCode >= 500 ? 1 : 0),
      });
    }
    done();
  });
  const write = async () => {
    for (const region of REGIONS) {
      const rows = [...countsByRegion[region]].map(([key, counts]) => {
        const [date, share_key, ...operation] = key.split(' ');
        return { date, share_key, operation: operation.join(' '), ...counts };
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
