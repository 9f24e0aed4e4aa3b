import type { Statement } from '../../database/pool/pg-pipeline.ts';
import type { ReadDatabase } from '../../database/read/read-database.ts';
import { runSlowStatement } from '../../database/read/slow-read.ts';
import { invalidField } from '../../shared/errors.ts';

/** Requests of one integrator on one day, in UTC. */
interface UsageByDay {
  date: string;
  integratorId: string;
  integratorName: string;
  requests: number;
  errors: number;
  rejections: number;
}

/** Rows that one read returns at most. CON-14. */
export const MAX_USAGE_ROWS = 20_000;

const SELECT_USAGE: Statement = {
  name: 'usage.days',
  text: `select day.date::text, day.integrator_id, integrator.name, day.requests, day.errors, day.rejections
    from usage_day day join integrator on integrator.id = day.integrator_id
    where day.date between $1::date and $2::date and ($3::text is null or day.integrator_id = $3)
    order by day.date, integrator.name, day.integrator_id limit $4::int`,
};

/** Returns the days with requests, both dates included. Throws 400 for more than 20,000 days of integrators. */
export async function readUsage(
  database: ReadDatabase,
  { since, until, integratorId }: { since: string; until: string; integratorId: string | null },
): Promise<UsageByDay[]> {
  const rows = await runSlowStatement(database, SELECT_USAGE, [since, until, integratorId, MAX_USAGE_ROWS + 1]);
  if (rows.length > MAX_USAGE_ROWS)
    throw invalidField('since', 'must be later: there are too many integrators with requests');
  return rows.map(([date, id, name, ...counts]) => {
    const [requests, errors, rejections] = counts.map(Number) as [number, number, number];
    return { date: date!, integratorId: id!, integratorName: name!, requests, errors, rejections };
  });
}

const SELECT_REJECTIONS: Statement = {
  name: 'usage.rejections',
  text: `select to_char(rejection.at, 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), rejection.integrator_id, integrator.name,
      rejection.client_id, client.name, rejection.operation, rejection.status, rejection.code, rejection.reason, rejection.request_id
    from rejection join integrator on integrator.id = rejection.integrator_id
      join oauth_client client on client.id = rejection.client_id
    where ($1::text is null or rejection.integrator_id = $1) and ($2::text is null or rejection.code = $2)
    order by rejection.id desc limit $3::int`,
};

/** Returns the latest rejections, the newest first. */
export async function readRejections(
  database: ReadDatabase,
  { integratorId, code, limit }: { integratorId: string | null; code: string | null; limit: number },
) {
  const rows = await runSlowStatement(database, SELECT_REJECTIONS, [integratorId, code, limit]);
  return rows.map(
    ([at, id, integratorName, clientId, clientName, operation, status, rejectionCode, reason, requestId]) => ({
      ...{ at: at!, integratorId: id!, integratorName: integratorName!, clientId: clientId!, clientName: clientName! },
      ...{
        operation: operation!,
        status: Number(status),
        code: rejectionCode!,
        reason: reason!,
        requestId: requestId!,
      },
    }),
  );
}
