import type { LoggedRequest } from '../../../../entities/usage.entity.ts';
import { readRequestLog } from '../../../domain/request-log/read-request-log.ts';
import {
  readUsageByDay,
  readUsageOf,
  requireFewDays,
  type UsageRange,
} from '../../../domain/request-log/read-usage.ts';
import { loadClient, loadIntegrator } from '../access/find-access.ts';
import type { ConsoleArea } from '../console-area.ts';
import { loadBatched } from '../load-batched.ts';
import { toLimit } from '../page.ts';
import { usageTypes } from './usage.schema.ts';

const MAX_DAYS = 400;

/** Requests of integrators. */
export const usageArea: ConsoleArea = {
  types: usageTypes,
  queries: {
    usageByDay: {
      action: 'access.read',
      maxRecords: MAX_DAYS,
      resolve(_, { integratorId = null, ...range }, { database }) {
        requireFewDays(range, MAX_DAYS, 'until');
        return readUsageByDay(database.onReplica(), range, integratorId);
      },
    },
    requestLog: {
      action: 'access.read',
      async resolve(_, { limit, day, ...filter }, { database, clock }) {
        const range = day && { startDate: `${day}T00:00:00.000Z`, endDate: `${day}T23:59:59.999Z` };
        const page = { cursor: null, limit: toLimit(limit), now: clock.now() };
        return (await readRequestLog(database, { ...filter, ...range }, page)).data;
      },
    },
  },
  fields: {
    LoggedRequest: {
      integrator: ({ integratorId }: LoggedRequest, _, context) => loadIntegrator(context, integratorId),
      client: ({ clientId }: LoggedRequest, _, context) => loadClient(context, clientId),
    },
    Integrator: {
      usage({ integratorId }: { integratorId: string }, range: UsageRange, context) {
        requireFewDays(range, MAX_DAYS, 'until');
        return loadBatched(context, `usage ${range.since} ${range.until}`, integratorId, (database, ids) =>
          readUsageOf(database.onReplica(), ids, range),
        );
      },
    },
  },
};
