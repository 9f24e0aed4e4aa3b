import type { Statement } from '../../database/pool/pg-pipeline.ts';
import type { ReadDatabase } from '../../database/read/read-database.ts';
import { parseObjects } from '../../database/read/select-objects.ts';
import { runSlowStatement } from '../../database/read/slow-read.ts';

/** Numbers of requests. */
interface Usage {
  requests: number;
  errors: number;
  rejections: number;
}

/** Days in UTC, both included. */
export interface UsageRange {
  since: string;
  until: string;
}

const SUMS = `'requests', sum(requests), 'errors', sum(errors), 'rejections', sum(rejections)`;

const SELECT_BY_DAY: Statement = {
  name: 'usage.by-day',
  text: `select json_build_object('date', date, ${SUMS}) from usage_day
    where date between $1::date and $2::date and ($3::text is null or integrator_id = $3) group by date order by date`,
};

const SELECT_BY_INTEGRATOR: Statement = {
  name: 'usage.by-integrator',
  text: `select json_build_object('id', integrator_id, ${SUMS}) from usage_day
    where date between $1::date and $2::date and integrator_id = any($3::text[]) group by integrator_id`,
};

/** Returns the days with requests, each with the sums of all integrators or of one. */
export const readUsageByDay = async (
  database: ReadDatabase,
  { since, until }: UsageRange,
  integratorId: string | null,
): Promise<(Usage & { date: string })[]> =>
  parseObjects(await runSlowStatement(database, SELECT_BY_DAY, [since, until, integratorId]));

/** Returns the sums of each integrator. */
export async function readUsageOf(
  database: ReadDatabase,
  integratorIds: readonly string[],
  { since, until }: UsageRange,
): Promise<Map<string, Usage>> {
  const rows = await runSlowStatement(database, SELECT_BY_INTEGRATOR, [since, until, integratorIds]);
  const sums = new Map(integratorIds.map((id) => [id, { requests: 0, errors: 0, rejections: 0 }]));
  for (const { id, ...sum } of parseObjects<Usage & { id: string }>(rows)) sums.set(id, sum);
  return sums;
}

const SELECT_REJECTIONS: Statement = {
  name: 'usage.rejections',
  text: `select json_build_object('at', to_char(rejection.at, 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
      'integratorId', rejection.integrator_id, 'integratorName', integrator.name, 'clientId', rejection.client_id,
      'clientName', client.name, 'operation', rejection.operation, 'status', rejection.status, 'code', rejection.code,
      'reason', rejection.reason, 'requestId', rejection.request_id)
    from rejection join integrator on integrator.id = rejection.integrator_id
      join oauth_client client on client.id = rejection.client_id
    where ($1::text is null or rejection.integrator_id = $1) and ($2::text is null or rejection.code = $2)
    order by rejection.id desc limit $3::int`,
};

/** Returns the latest rejections, the newest first. */
export const readRejections = async (
  database: ReadDatabase,
  { integratorId, code, limit }: { integratorId: string | null; code: string | null; limit: number },
): Promise<object[]> => parseObjects(await runSlowStatement(database, SELECT_REJECTIONS, [integratorId, code, limit]));
